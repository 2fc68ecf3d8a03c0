"""Regions annealed anew: nothing is lost, and k holds wherever the borders fall."""

from dataclasses import replace
from importlib import import_module

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_refine import Grouped, both, random_groups

from trajanon.common.arrays import renumbered
from trajanon.common.effort_of_the_search import Effort
from trajanon.common.progress import Progress, silent
from trajanon.grouping import loss
from trajanon.grouping.refinements.annealing import MOVES_PER_PASS, REGION_GROUPS, anneal_regions
from trajanon.grouping.refinements.descent import descend

ANNEALING = import_module("trajanon.grouping.refinements.annealing")

seeds = st.integers(0, 10**6)


def searched(work: Grouped, runs: int = 2, progress: Progress = silent) -> Grouped:
    return replace(
        work, budget=Effort(moves_per_record=2 * MOVES_PER_PASS, runs=runs), progress=progress
    )


@pytest.fixture(params=[REGION_GROUPS, 2], ids=["whole", "small regions"])
def region(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is one region, or falls into several."""
    monkeypatch.setattr(ANNEALING, "REGION_GROUPS", request.param)


@pytest.mark.usefixtures("region")
@pytest.mark.parametrize("people", [None, 9])
def test_nothing_is_lost_and_groups_keep_k(people: int | None) -> None:
    @settings(max_examples=20)
    @given(seed=seeds, n=st.integers(4, 60), k=st.integers(2, 7), grid=st.booleans())
    def test(seed: int, n: int, k: int, grid: bool) -> None:
        work = searched(random_groups(seed, n, k, people, grid))
        before = work.labels.copy()
        after = anneal_regions(work, work.labels)
        assert np.array_equal(work.labels, before), "the input was changed"
        assert np.array_equal(after, renumbered(after))
        assert naive.holds(after, work.subjects, work.k)
        records = work.records
        assert loss.sse(records, after) <= loss.sse(records, before)

    test()


def test_regions_find_what_descent_does_not() -> None:
    kept = []
    for seed in range(5):
        work = random_groups(seed, 300, 7, None, grid=False)
        work = replace(work, labels=renumbered(descend(work, work.labels)))
        lost = loss.sse(work.records, anneal_regions(*both(searched(work))))
        kept.append(lost / loss.sse(work.records, work.labels))
    assert max(kept) < 1.0
    assert sum(kept) / len(kept) < 0.98, kept
