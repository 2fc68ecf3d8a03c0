"""Alignment as a whole: what it promises."""

from typing import Any

import naive
import numpy as np
import pytest
from alignments import (
    ROUNDING,
    aligned,
    cut,
    lie_well,
    lines,
    loses_what_it_says,
    mean_metres,
    seeds,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_sliding import MADRID, STEP, standardised, town, tracks_of

import trajanon
from trajanon.common.arrays import Ints
from trajanon.common.effort_of_the_search import EFFORTS
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.grouping.microaggregation import METHODS, REFINEMENTS
from trajanon.grouping.refinements.annealing import MOVES_PER_PASS
from trajanon.grouping.sliding.alignment import WindowLog, may_slide
from trajanon.grouping.sliding.possible_starts import Aligned
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")

FAR = (80.0, 170.0)


def start_of(trajectories: Trajectories) -> Ints:
    return tracks_of(trajectories).start


@given(
    seed=seeds,
    n=st.integers(4, 24),
    m=st.integers(2, 4),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    noise=st.sampled_from([0.0, 0.4]),
    where=st.sampled_from([(MADRID, STEP), (FAR, 1e-7), ((0.0, 0.0), 0.1)]),
    regroup=st.booleans(),
    moves=st.sampled_from(
        [0, MOVES_PER_PASS, 2 * MOVES_PER_PASS, 4 * MOVES_PER_PASS, 8 * MOVES_PER_PASS + 1]
    ),
)
@settings(max_examples=20)
def test_windows_only_slide_and_groups_keep_k(
    block: int,
    seed: int,
    n: int,
    m: int,
    k: int,
    people: int | None,
    noise: float,
    where: tuple[tuple[float, float], float],
    regroup: bool,
    moves: int,
) -> None:
    place, scale = where
    before = town(seed, n, m, people=people, noise=noise, where=place, scale=scale)
    whose = before.subject
    assume(n >= k and (whose is None or len(set(whose.tolist())) >= k))
    partition = cut(before, k)
    labels, start = partition.labels.copy(), start_of(before).copy()
    after, found = aligned(before, partition, k, regroup=regroup, moves=moves, seed=seed)
    assert np.array_equal(partition.labels, labels), "the input was changed"
    assert np.array_equal(start_of(before), start), "the input was changed"
    assert lie_well(before, after)
    assert naive.holds(found.labels, whose, k)
    assert naive.holds(found.labels, None, k)
    assert loses_what_it_says(after, found)
    if not regroup:
        assert np.array_equal(found.labels, labels)
    had = len(partition.stages)
    assert found.stages[:had] == partition.stages
    for stage in found.stages[had:]:
        assert stage.name == "alignment"
        assert stage.information_loss == found.information_loss
    if after is before:
        assert found.labels is partition.labels
        assert found.information_loss == partition.information_loss
    else:
        assert mean_metres(after, found) < mean_metres(before, partition)
        assert len(found.stages) == had + 1
        # In the units of the windows as they were cut, too.
        tracks = tracks_of(before)
        less, more = [
            naive.sse(standardised(tracks, m, start_of(t)), p.labels)
            for t, p in ((after, found), (before, partition))
        ]
        assert less < more + 1e-7


@pytest.mark.parametrize("refine", ["none", *REFINEMENTS])
@given(
    seed=seeds,
    n=st.integers(6, 24),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    method=st.sampled_from(list(METHODS)),
)
@settings(max_examples=8)
@pytest.mark.usefixtures("plain_means", "far_lines")
def test_every_release_is_of_windows_that_only_slid(
    block: int, refine: str, seed: int, n: int, k: int, people: int | None, method: str
) -> None:
    before = town(seed, n, 3, people=people)
    whose = before.subject
    assume(whose is None or len(set(whose.tolist())) >= k)
    options: dict[str, Any] = {"method": method, "refine": refine, "seed": seed}
    release = trajanon.anonymize(before, k, **options)
    if refine == "anneal" and n > block and may_slide(before):  # so they are grouped at first
        options["effort"] = "fast"
    plain = trajanon.anonymize(before, k, align=False, **options)
    report, alignment = release.report, release.report["alignment"]
    labels = np.array(report["labels"])
    assert plain.report["alignment"] is None
    assert naive.holds(labels, whose, k)
    assert naive.holds(labels, None, k)
    if refine == "none":
        assert report["labels"] == plain.report["labels"]
    if alignment is None:
        assert lines(release.trajectories.points) == lines(plain.trajectories.points)
        return
    after = before.slid(np.array(alignment["starts"]))
    assert lie_well(before, after)
    exact = naive.standardise(after.records)
    lost = 100 * naive.sse(exact, labels) / (exact**2).sum()
    assert report["stages"][-1]["name"] == "alignment"
    found = report["stages"][-1]["information_loss"]
    assert found == pytest.approx(lost, rel=1e-8, abs=1e-8)
    assert report["information_loss"] == pytest.approx(lost, rel=1e-4, abs=1e-4)  # as written
    assert [s["information_loss"] for s in report["stages"][:-1]] == [
        s["information_loss"] for s in plain.report["stages"]
    ]
    means = np.array([after.points[labels == g].mean(axis=0) for g in labels])
    released = release.trajectories.points
    alike = np.abs(released[:, None] - means).max(axis=(2, 3)) <= 1e-7
    rows = subjects_per_group(labels, np.arange(n) if whose is None else whose)
    assert alike.any(axis=1).all()
    assert (alike.sum(axis=0) >= rows[labels]).all()  # more, if two groups have one line
    moved = displacement(after.points, means.round(7))
    assert report["displacement"]["mean"] == pytest.approx(moved.mean(), abs=ROUNDING)
    ceiling = plain.report["displacement"]["mean"] + ROUNDING
    assert report["displacement"]["mean"] < ceiling
    assert release.trajectories.tracks is None


def test_a_search_that_ends_farther_away_is_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it might end with a smaller SSE, in the units of before, and more metres."""
    before = town(3, 24, 3)
    partition = cut(before, 3)

    def lost(problem: object, log: WindowLog, **_: object) -> None:
        start, labels = log.aligned
        log.aligned = Aligned(start, labels[::-1].copy())

    monkeypatch.setattr("trajanon.grouping.sliding.alignment.search_windows", lost)
    after, found = aligned(before, partition, 3)
    assert after is before
    assert found.labels is partition.labels
    assert found.information_loss == partition.information_loss
    assert found.stages[-1].information_loss == partition.information_loss


def test_groups_that_break_the_promise_are_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    before = town(3, 24, 3, people=6)
    partition = cut(before, 3)

    def breaks(problem: object, log: WindowLog, **_: object) -> None:
        log.aligned = Aligned(log.aligned.start, np.arange(24))

    monkeypatch.setattr("trajanon.grouping.sliding.alignment.search_windows", breaks)
    with pytest.raises(trajanon.TrajanonError, match="left a group of fewer than 3"):
        aligned(before, partition, 3)


def test_many_windows_slide_by_a_schedule_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    before = town(11, 60, 3)
    partition = cut(before, 3)
    moves = EFFORTS["balanced"].moves_per_record
    long, _ = aligned(before, partition, 3, moves=moves)
    monkeypatch.setattr("trajanon.grouping.sliding.alignment.MANY", 1)
    short, groups = aligned(before, partition, 3, moves=moves)
    assert lie_well(before, short)
    assert naive.holds(groups.labels, None, 3)
    assert mean_metres(short, groups) < mean_metres(before, partition)
    assert not np.array_equal(start_of(long), start_of(short))
