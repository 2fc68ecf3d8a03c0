"""Alignment as a whole: what it leaves alone or refuses."""

from dataclasses import replace

import numpy as np
import pytest
from alignments import aligned, cut, same_but_for_order, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sliding import MADRID, on_runs, town

import trajanon
from trajanon.common.search_and_release_options import RefinementName
from trajanon.grouping.microaggregation import REFINEMENTS
from trajanon.trajectories.tracks import STEPS

pytestmark = pytest.mark.usefixtures("few_moves")


@given(
    seed=seeds,
    sizes=st.lists(st.integers(1, 5), min_size=5, max_size=8),
    refine=st.sampled_from(["none", *REFINEMENTS]),
    data=st.data(),
)
@settings(max_examples=15)
@pytest.mark.usefixtures("block")
def test_without_slack_alignment_changes_no_bit(
    seed: int, sizes: list[int], refine: RefinementName, data: st.DataObject
) -> None:
    """As long as their windows, with less than a spacing between two of them."""
    rng, m = np.random.default_rng(seed), 3
    free = [[0, *rng.integers(0, STEPS, size - 1).tolist(), 0] for size in sizes]
    t = sum(sum(steps) + (len(steps) - 1) * (STEPS * (m - 1) + 1) for steps in free)
    before = on_runs(m, free, MADRID + 1e-3 * rng.normal(size=(t, 2)))
    whose = np.arange(len(before)) % 5
    before = replace(before, subject=whose if data.draw(st.booleans()) else None)
    plain, release = [
        trajanon.anonymize(before, 2, align=on, refine=refine, seed=seed) for on in (False, True)
    ]
    assert release.report["alignment"] is None
    assert same_but_for_order(plain, release)
    partition = cut(before, 2)
    assert aligned(before, partition, 2) == (before, partition)


@pytest.mark.parametrize("refine", ["none", "anneal"])
def test_trajectories_without_tracks_are_left_alone(refine: RefinementName) -> None:
    before = replace(town(1, 24, 3), tracks=None)
    plain, release = [
        trajanon.anonymize(before, 3, align=on, refine=refine) for on in (False, True)
    ]
    assert release.report["alignment"] is None
    assert same_but_for_order(plain, release)
    partition = cut(before, 3)
    assert aligned(before, partition, 3) == (before, partition)


def test_tracks_on_both_sides_of_the_antimeridian_may_slide() -> None:
    points = np.column_stack([1e-3 * np.arange(30), np.full(30, 179.9)])
    other = points * (1.0, -1.0)
    before = on_runs(3, [[0, 21]] * 4, np.concatenate([points, other] * 2))
    released = trajanon.anonymize(before, 2).trajectories.points[..., 1]
    assert np.abs(released) == pytest.approx(179.9, abs=1e-3)


def test_equal_windows_stay_where_they_are() -> None:
    line = np.column_stack([40 + 1e-4 * np.arange(30), np.full(30, -3.7)])
    before = on_runs(3, [[5, 16]] * 6, np.concatenate([line] * 6))
    report = trajanon.anonymize(before, 3).report
    assert report["information_loss"] == 0.0
    assert report["alignment"] is None
