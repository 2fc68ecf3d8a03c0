"""Alignment as a whole: the same from a seed, on any cores, in any parts."""

from typing import Any

import pytest
from alignments import aligned, bits, cut
from naive_sliding import town

import trajanon
from trajanon.common import threads_and_dask
from trajanon.grouping.sliding import alignment

pytestmark = pytest.mark.usefixtures("few_moves")


def test_a_seed_repeats_every_bit_on_any_cores(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = town(7, 60, 3, people=20)
    partition = cut(before, 3)
    monkeypatch.setattr("trajanon.grouping.neighbours._POINTS_PER_QUERY", 7)
    found = []
    for cores in (1, 2, 5, 1):
        monkeypatch.setattr(threads_and_dask, "cores", lambda cores=cores: cores)
        found.append(bits(aligned(before, partition, 3)))
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("options", "moved"),
    [
        ({}, True),
        ({"effort": "fast"}, False),
        ({"refine": "descent"}, False),
        ({"refine": "none"}, False),
    ],
)
def test_random_moves_are_made_where_annealing_is_asked_for(
    options: dict[str, Any], moved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def count(annealing: Any, slides: Any, k: int, moves: int, *heats: float) -> None:
        made.append(moves)

    monkeypatch.setattr(alignment, "make_random_moves", count)
    trajanon.anonymize(town(7, 60, 3), 3, **options)
    assert (sum(made) > 0) == moved
