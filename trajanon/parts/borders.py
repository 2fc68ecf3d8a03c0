"""Groups on both sides of a border are searched together."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from trajanon.loss import sse
from trajanon.microaggregation import find_groups
from trajanon.partition import dense
from trajanon.parts.centroids import Tally, finish
from trajanon.parts.folder import Place
from trajanon.parts.plan import Plan
from trajanon.parts.shard_rows import read_pieces
from trajanon.parts.shard_search import Waiting
from trajanon.problem import whole_problem


class Border(NamedTuple):
    """What is searched at once."""

    number: int  # of the task
    waiting: tuple[Waiting, ...]  # the groups, of both sides

    @property
    def files(self) -> set[str]:
        """The files that it needs."""
        return {some.name for some in self.waiting}


def borders(waiting: Sequence[Waiting], capacity: int) -> list[Border]:
    """Take groups together that wait at the plane of one node.

    What is more than fits into memory at once is parted: between the groups of the same two shards
    only where these alone are more, as in data without any structure.
    """
    together: list[list[Waiting]] = []
    for _, at_node in groupby(sorted(waiting), lambda some: some.node):
        held = capacity
        for _, between in groupby(at_node, lambda some: some.between):
            some = list(between)
            for these in [some] if _rows(some) <= capacity else [[one] for one in some]:
                if held + _rows(these) > capacity:
                    together.append([])
                    held = 0
                together[-1] += these
                held += _rows(these)
    return [Border(number, tuple(some)) for number, some in enumerate(together)]


def _rows(waiting: Sequence[Waiting]) -> int:
    return sum(some.rows for some in waiting)


def mend(plan: Plan, border: Border) -> Tally:
    """Search among the groups near a border, beginning with them, and finish them."""
    piece = read_pieces(
        plan.scratch, [Place(some.name) for some in border.waiting], _rows(border.waiting)
    )
    begin = 0
    groups = np.int64(0)
    for some in border.waiting:  # each numbered its groups for itself
        theirs = piece.mark[begin : begin + some.rows]
        theirs += groups - theirs.min()
        begin, groups = begin + some.rows, theirs.max() + 1
    before = dense(piece.mark)
    records = plan.survey.standardised(piece.points)
    problem = whole_problem(
        records,
        plan.counted(piece.subject),
        plan.k,
        plan.settings,
        np.random.default_rng([plan.settings.seed, 2, border.number]),
        plan.progress,
    )
    found, stopped = find_groups(problem, before)
    if stopped:
        raise KeyboardInterrupt
    labels = found if sse(records, found) < sse(records, before) else before
    del records, problem
    return finish(plan, piece._replace(mark=labels), f"border-{border.number:06d}")
