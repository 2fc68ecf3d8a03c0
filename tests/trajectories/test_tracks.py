"""Tracks: what lies on them, and what is refused."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from timed_trajectories import windows_with_times
from tracks_laid_out import any_trajectories, example, laid_out, runs_of, shuffled, tracks_of

from trajanon.common.errors import BadInput
from trajanon.trajectories.tracks import STEPS, TrackPoints, joined_tracks
from trajanon.trajectories.trajectories import Trajectories

# What lies on tracks


@given(trajectories=any_trajectories())
def test_a_window_is_every_fourth_point_of_its_run(trajectories: Trajectories) -> None:
    tracks = tracks_of(trajectories)
    m = trajectories.points.shape[1]
    runs = runs_of(tracks)
    for i, window in enumerate(trajectories.points):
        begin = tracks.start[i]
        there = runs[tracks.run[i]][begin : begin + STEPS * (m - 1) + 1 : STEPS]
        np.testing.assert_array_equal(window, there)


@given(trajectories=any_trajectories(), data=st.data())
def test_windows_that_slide_stay_what_they_are(
    trajectories: Trajectories, data: st.DataObject
) -> None:
    """All to one end of their free ground: nothing but points and starts changes."""
    tracks = tracks_of(trajectories)
    m = trajectories.points.shape[1]
    window = STEPS * (m - 1) + 1
    start = tracks.start.copy()
    back = data.draw(st.booleans())
    for r, size in enumerate(np.diff(tracks.first)):
        on = np.flatnonzero(tracks.run == r)
        on = on[np.argsort(tracks.start[on])]
        close = np.arange(len(on)) * window
        start[on] = close if back else size - window - close[::-1]
    slid = trajectories.slid(start)
    np.testing.assert_array_equal(tracks_of(slid).start, start)
    np.testing.assert_array_equal(slid.points, replace(tracks, start=start).windows(m))
    assert tracks_of(slid).points is tracks.points
    assert slid.subject is trajectories.subject
    assert slid.trace is trajectories.trace
    assert slid.provenance is trajectories.provenance
    again = slid.slid(tracks.start)
    np.testing.assert_array_equal(again.points, trajectories.points)


def test_a_window_as_long_as_its_run_can_only_stay() -> None:
    alone = shuffled(laid_out(3, [[0, 0]]), 3)
    np.testing.assert_array_equal(alone.slid(np.array([0])).points, alone.points)
    for start in (-1, 1):
        with pytest.raises(BadInput, match=f"cannot start at {start}: its run has 9 "):
            alone.slid(np.array([start]))


@given(trajectories=any_trajectories(), data=st.data())
def test_some_of_the_trajectories_keep_their_whole_runs(
    trajectories: Trajectories, data: st.DataObject
) -> None:
    tracks = tracks_of(trajectories)
    m, n = trajectories.points.shape[1], len(trajectories)
    chosen = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    mask = np.array(chosen)
    for which in (mask, np.flatnonzero(mask)[::-1]):
        kept = tracks.take(which)
        np.testing.assert_array_equal(kept.windows(m), trajectories.points[which])
        assert len(kept.first) - 1 == len(set(tracks.run[which].tolist()))
        before = runs_of(tracks)
        for run, was in zip(kept.run, tracks.run[which], strict=True):
            np.testing.assert_array_equal(runs_of(kept)[run], before[was])


@given(parts=st.lists(any_trajectories(), min_size=1, max_size=4))
def test_batches_are_put_one_after_another(parts: list[Trajectories]) -> None:
    batches = [tracks_of(part) for part in parts]
    whole = joined_tracks(batches)
    expected = [run for batch in batches for run in runs_of(batch)]
    for run, other in zip(runs_of(whole), expected, strict=True):
        np.testing.assert_array_equal(run, other)
    windows = [window for batch in batches for window in batch.windows(2)]
    np.testing.assert_array_equal(whole.windows(2), windows)


def test_true_ends_go_with_their_runs() -> None:
    plain = tracks_of(example())
    marked = replace(plain, true_ends=np.array([[True, False], [False, False], [True, True]]))
    kept = marked.take(np.flatnonzero(plain.run != 1))
    assert kept.ends_are_true.tolist() == [[True, False], [True, True]]
    both = joined_tracks([plain, marked])
    assert both.ends_are_true[3:].tolist() == marked.ends_are_true.tolist()
    assert both.ends_are_true[:3].all()
    assert joined_tracks([plain, plain]).true_ends is None
    ends, are_true = marked.ends_of_runs
    for row, run in enumerate(marked.run.tolist()):
        np.testing.assert_array_equal(ends[row], runs_of(marked)[run][[0, -1]])
        assert are_true[row].tolist() == marked.ends_are_true[run].tolist()
    with pytest.raises(BadInput, match="whether both of its ends are true"):
        replace(plain, true_ends=np.ones((2, 2), dtype=np.bool_))


# What is refused


def changed(name: str, place: int, value: float) -> Callable[[], object]:
    def make() -> object:
        tracks = laid_out(3, [[2, 5, 3]] * 3)
        array: Any = getattr(tracks, name)[:].copy()
        array.reshape(-1)[place] = value
        array = TrackPoints.of(array) if name == "points" else array
        return replace(tracks, **{name: array})

    return make


def of_floats(name: str) -> Callable[[], object]:
    def make() -> object:
        numbers: Any = getattr(tracks_of(example()), name).astype(np.float64)
        return replace(tracks_of(example()), **{name: numbers})

    return make


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: replace(tracks_of(example()), points=TrackPoints.of(np.zeros((84, 3)))),
            "tracks are 84",
        ),
        (changed("points", 6, 91.0), "point 3 of the tracks is not on Earth"),
        (changed("points", 0, np.nan), "point 0 of the tracks is not on Earth"),
        (changed("first", 0, 1), "rising from 0 to 84"),
        (changed("first", 3, 85), "rising from 0 to 84"),
        (changed("first", 2, 28), "rising from 0 to 84"),
        (lambda: replace(tracks_of(example()), first=np.array([], int)), "rising from 0"),
        (lambda: replace(tracks_of(example()), run=np.zeros(5, int)), "a run and a start of each"),
        (of_floats("first"), "whole numbers"),
        (of_floats("start"), "whole numbers"),
        (
            lambda: replace(tracks_of(example()), first=np.array([0, 30, 20, 84], np.uint64)),
            "rising from 0 to 84",
        ),
        (changed("run", 4, 3), "trajectory 4 is on run 3; runs are 0 to 2"),
        (changed("run", 4, -1), "trajectory 4 is on run -1"),
        (changed("start", 4, -1), "trajectory 4 cannot start at -1"),
        (changed("start", 4, 28), "trajectory 4 cannot start at 28"),
    ],
)
def test_tracks_that_cannot_be_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_numbers_without_a_sign_are_those_with_one() -> None:
    tracks = tracks_of(example())
    unsigned = replace(
        tracks, first=tracks.first.astype(np.uint64), start=tracks.start.astype("u8")
    )
    assert unsigned.windows(3).tolist() == tracks.windows(3).tolist()


@pytest.mark.parametrize(
    ("some", "said"),
    [
        ([np.nan] * 3, "run 1 of the tracks has times at some points only"),
        ([9e18] * 3, "run 1 of the tracks has a time beyond the years 1 to 9999"),
        ([0.0] * 3, "run 1 of the tracks has times that run back"),
    ],
)
def test_odd_times_are_refused_where_windows_may_slide(some: list[float], said: str) -> None:
    tracks = windows_with_times(0).tracks
    assert tracks is not None
    assert tracks.times is not None
    times, end = tracks.times.copy(), tracks.first[2]
    times[end - 3 : end] = some
    with pytest.raises(BadInput, match=re.escape(said)):
        replace(tracks, times=times)
