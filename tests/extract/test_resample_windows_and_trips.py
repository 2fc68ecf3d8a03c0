from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import START, Leg, bent, distance, line, points, walk

from trajanon.common.arrays import Floats
from trajanon.extract.clip_to_area import clip
from trajanon.extract.earth.area import Box
from trajanon.extract.gaps_and_stays import split_at_gaps
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.resample_windows_and_trips import WindowBatch, windows
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import cut
from trajanon.trajectories.tracks import TrackPoints, Tracks

legs = st.lists(st.tuples(st.floats(0, 360), st.floats(0.01, 400)), min_size=1, max_size=25)
starts = st.tuples(st.floats(-80, 80), st.floats(-170, 170))
spacings = st.floats(3, 250)
sizes = st.integers(2, 9)


def cut_windows(recorded: Trace, spacing: float, size: int) -> WindowBatch:
    return windows(
        points(recorded), Rules(per_recording=None, spacing=spacing, points=size, max_gap=None)
    )


def tracks_of(found: WindowBatch) -> Tracks:
    assert found.tracks is not None
    return found.tracks


def runs_of(tracks: Tracks) -> list[Floats]:
    return [tracks.points[a:b] for a, b in pairwise(tracks.first.tolist())]


def fixes(recorded: Trace) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.stack([recorded.lat, recorded.lon], axis=1)


@given(legs=legs, start=starts, spacing=spacings, size=sizes)
def test_windows_are_those_of_somebody_who_walks_along_the_track(
    legs: list[Leg], start: tuple[float, float], spacing: float, size: int
) -> None:
    recorded = bent(legs, start=start)
    found = cut_windows(recorded, spacing, size).points
    walked = walk(fixes(recorded), spacing)
    # Rounding may give or take the last point of an exact fit.
    assert abs(len(found) - len(walked) // size) <= 1
    assert found.shape[1:] == (size, 2)
    for point, place in zip(found.reshape(-1, 2), walked, strict=False):
        assert distance(point, place) < 0.03


@given(legs=legs, start=starts, spacing=spacings, size=sizes)
def test_the_run_is_the_whole_piece_in_quarter_steps(
    legs: list[Leg], start: tuple[float, float], spacing: float, size: int
) -> None:
    recorded = bent(legs, start=start)
    found = cut_windows(recorded, spacing, size)
    runs = runs_of(tracks_of(found))
    assert len(runs) == min(len(found.points), 1)
    for run in runs:
        walked = walk(fixes(recorded), spacing / 4)
        assert abs(len(run) - len(walked)) <= 1  # rounding, at an exact fit
        for point, place in zip(run, walked, strict=False):
            assert distance(point, place) < 0.03


@given(legs=legs, others=legs, spacing=spacings, size=sizes)
def test_runs_hold_the_windows_of_their_piece_in_order(
    legs: list[Leg], others: list[Leg], spacing: float, size: int
) -> None:
    """Every fourth point, one window behind the other, the first at the beginning."""
    rules = Rules(per_recording=None, spacing=spacing, points=size, max_gap=None)
    both = points(bent(legs), bent(others, start=(10.0, 20.0), name="other"))
    found = windows(both, rules)
    tracks = tracks_of(found)
    assert sorted(set(tracks.run.tolist())) == list(range(len(tracks.first) - 1))
    for number, run in enumerate(runs_of(tracks)):
        on = np.flatnonzero(tracks.run == number)
        assert len(set(found.trace[on].tolist())) == 1
        assert (np.diff(on) == 1).all()
        assert tracks.start[on].tolist() == [4 * size * i for i in range(len(on))]
        for i in on:
            begin = tracks.start[i]
            own = run[begin : begin + 4 * size - 3 : 4]
            np.testing.assert_array_equal(TrackPoints.of(found.points[i])[:], own)


@given(legs=legs, spacing=spacings)
def test_every_point_lies_in_the_box(legs: list[Leg], spacing: float) -> None:
    box = Box(START[1] - 0.003, START[0] - 0.003, START[1] + 0.003, START[0] + 0.003)
    rules = Rules(per_recording=None, spacing=spacing, points=2, max_gap=None)
    inside, _ = clip(split_at_gaps(points(bent(legs)), rules, Counter()), box)
    if len(windows(inside, rules).points):
        found = cut([bent(legs)], rules, area=box)
        assert found.tracks is not None
        for places in (found.points, found.tracks.points):
            assert box.contains(places[..., 0], places[..., 1]).all()


@pytest.mark.parametrize("azimuth", [0, 77, 180, 270])
@pytest.mark.parametrize("start", [(0.0, 0.0), (40.0, 179.999), (0.0, -180.0)])
@pytest.mark.parametrize("hop", [3.0, 450.0, 20_000.0])
def test_points_are_spaced_equally_wherever_the_track_lies(
    start: tuple[float, float], azimuth: float, hop: float
) -> None:
    """Over the antimeridian, and along the equator."""
    fixes = [hop * i for i in range(9)]
    straight = line(fixes, start=start, azimuth=azimuth)
    found = cut_windows(straight, hop / 1.7, 5)
    assert len(found.points) == 2  # 8 * 1.7 spacings hold 14 points
    assert (np.abs(found.points) <= (90.0, 180.0)).all()
    for here, there in pairwise(found.points.reshape(-1, 2)):
        assert distance(here, there) == pytest.approx(hop / 1.7, rel=1e-3, abs=0.02)
