"""A search that is soon over, for tests of what holds however much it loses."""

from contextlib import AbstractContextManager
from unittest import mock

from trajanon.common.effort_of_the_search import EFFORTS
from trajanon.grouping.refinements.annealing import MOVES_PER_PASS

FEW = {
    name: EFFORTS[name]._replace(moves_per_record=4 * MOVES_PER_PASS, runs=2)
    for name in ("balanced", "best")
}
"""Two passes of annealing with windows that slide, four without."""


def few_moves() -> AbstractContextManager[object]:
    """Every step of every effort, but of annealing no more than some passes."""
    return mock.patch.dict(EFFORTS, FEW)
