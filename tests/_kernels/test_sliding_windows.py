"""Windows at every start, where they are nearest, and where their group loses least."""

from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sliding import (
    on_runs,
    put,
    random_labels,
    room,
    single_slides_that_gain,
    slid_losses,
    standardised,
    tracks_of,
    unsound,
)
from sliding_towns import Scene, laid, points_of, scenes, seeds, towns

from trajanon._kernels.descent_moves import Descent
from trajanon._kernels.sliding_windows import Windows, find_meeting, slide_pass
from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.descent import build_descent
from trajanon.grouping.sliding.possible_starts import build_windows, centred, records_at
from trajanon.trajectories.tracks import Tracks
from trajanon.trajectories.trajectories import Trajectories


@given(scene=scenes)
def test_windows_meet_where_they_are_nearest(scene: Scene) -> None:
    slides, near = scene.slides, scene.annealing.descent.neighbours
    for x, row in enumerate(near.tolist()):
        mine = slides.rows[slides.first[x] :][: slides.starts[x]]
        for y in row:
            there = slides.rows[slides.first[y] + slides.start[y]]
            away = ((mine - there) ** 2).sum(axis=1)
            met = find_meeting(slides, x, y)
            assert 0 <= met < slides.starts[x]
            assert away[met] == pytest.approx(away.min(), rel=1e-9, abs=1e-12)


class Slid(NamedTuple):
    """Windows in groups, about to slide, as a pass takes them."""

    descent: Descent
    windows: Windows
    start: Ints
    looked: Ints
    room: Floats

    def go(self, moves: int, begin: int = 0, end: int | None = None) -> int:
        """Let windows slide, and count moves on."""
        end = len(self.start) if end is None else end
        made = slide_pass(*self, moves, begin, end)
        assert isinstance(made, int)
        return made


def about_to_slide(tracks: Tracks, m: int, labels: Ints) -> Slid:
    n, start = len(labels), tracks.start.copy()
    windows = centred(build_windows(tracks, m), start)
    near = np.empty((n, 0), np.int64)
    records = records_at(windows, start)
    descent = build_descent(Problem(records, np.arange(n), n), records, labels, near)
    return Slid(descent, windows, start, np.full(n, -1), np.empty((2, 2 * m)))


def followed(slid: Slid, labels: Ints) -> bool:
    """Whether records, centroids and groups are those of the windows where they are."""
    groups, there = slid.descent.groups, records_at(slid.windows, slid.start)
    np.testing.assert_allclose(groups.records, there, rtol=0, atol=1e-6)
    assert np.array_equal(groups.labels, labels)
    return not unsound(groups)


@given(trajectories=towns(most=14, windows=1), seed=seeds, k=st.integers(2, 4))
@settings(max_examples=25)
def test_a_window_slides_to_where_its_group_loses_least(
    trajectories: Trajectories, seed: int, k: int
) -> None:
    tracks, m, n = tracks_of(trajectories), points_of(trajectories), len(trajectories)
    labels, moves = random_labels(seed, n, min(k, n)), 0
    slid = about_to_slide(tracks, m, labels)
    for x in np.random.default_rng(seed).permutation(n).tolist():
        before, changed = slid.start.copy(), slid.descent.groups.heads["changed"].copy()
        losses = slid_losses(tracks, m, before, labels, x)
        had, moves = moves, slid.go(moves, x, x + 1)
        assert np.array_equal(np.delete(slid.start, x), np.delete(before, x))
        least, now = min(losses.values()), losses[int(before[x])]
        there = losses[int(slid.start[x])]
        assert there == pytest.approx(least, rel=1e-8, abs=1e-8)
        went = slid.start[x] != before[x]
        assert moves == had + went
        assert went or now < least + 1e-6
        if went:
            assert there < now
            changed[labels[x]] = moves
        assert np.array_equal(slid.descent.groups.heads["changed"], changed)
    assert followed(slid, labels)


@given(trajectories=towns(most=20), seed=seeds, k=st.integers(2, 5))
@settings(max_examples=20)
def test_passes_gain_until_no_single_slide_does(
    trajectories: Trajectories, seed: int, k: int
) -> None:
    """Whether windows of a run are in one group, or in several."""
    tracks, m, n = tracks_of(trajectories), points_of(trajectories), len(trajectories)
    labels, moves = random_labels(seed, n, min(k, n)), 0
    slid = about_to_slide(tracks, m, labels)
    lost = [naive.sse(standardised(tracks, m, slid.start), labels)]
    for _ in range(100):
        before, had = slid.start.copy(), moves
        moves = slid.go(moves)
        assert room(tracks, m, slid.start)
        assert followed(slid, labels)
        lost.append(naive.sse(standardised(tracks, m, slid.start), labels))
        assert lost[-1] < lost[-2] + 1e-7
        assert (moves > had) == (slid.start != before).any()
        if moves == had:
            break
    assert moves == had, "it does not end"
    assert not single_slides_that_gain(tracks, m, slid.start, labels)


def test_on_a_very_long_run_a_window_goes_as_far_as_it_sees_at_once() -> None:
    """To the other of its group, 100 steps on; two lengths of a window are 16."""
    step = np.arange(1_000_100)
    way = np.column_stack([40 + 1e-7 * step, -3.7 + 1e-8 * step])
    points = np.concatenate([way, way[500_100:500_105]])
    tracks = tracks_of(on_runs(2, [[500_000, 500_095], [0, 0]], points))
    slid = about_to_slide(tracks, 2, np.zeros(2, dtype=np.int64))
    moves = 0
    for there in (*range(500_016, 500_100, 16), 500_100, 500_100):
        moves = slid.go(moves)
        assert slid.start.tolist() == [there, 0]
    assert moves == 7


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@given(trajectories=towns(), seed=seeds)
def test_rows_are_the_records_at_every_start_turned(
    kind: type[np.floating], trajectories: Trajectories, seed: int
) -> None:
    tracks, m, rng = (tracks_of(trajectories), points_of(trajectories), np.random.default_rng(seed))
    windows = build_windows(tracks, m)
    axes = rng.normal(size=(2 * m, rng.integers(1, 2 * m + 1)))
    none = np.empty((len(trajectories), 0), dtype=np.int64)
    slides = laid(windows, tracks.start, axes, none, kind)
    near = 1e-9 if kind is np.float64 else 1e-5
    for x, most in enumerate(windows.most.tolist()):
        there = [records_at(windows, put(tracks.start, x, s))[x] for s in range(most + 1)]
        found = slides.rows[slides.first[x] :][: most + 1]
        np.testing.assert_allclose(found, there @ axes, rtol=near, atol=10 * near)
    assert len(slides.rows) == (windows.most + 1).sum()
