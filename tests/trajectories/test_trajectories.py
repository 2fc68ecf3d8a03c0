"""Trajectories: what they take and become, and what is refused."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from timed_trajectories import timed
from tracks_laid_out import example, laid_out

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.trajectories.trajectories import Trajectories, joined_trajectories


def test_points_that_are_not_on_their_tracks_are_refused() -> None:
    moved = example().points.copy()
    moved[2, 1, 0] += 1e-7  # a tick, which is a centimetre
    with pytest.raises(BadInput, match="trajectory 2 is not every 4th point"):
        replace(example(), points=moved)
    with pytest.raises(BadInput, match=r"trajectory \d cannot start at"):
        replace(example(), points=np.zeros((6, 9, 2)))
    with pytest.raises(BadInput, match="each trajectory needs a run: there are 2"):
        Trajectories(example().points[:2], tracks=example().tracks)


def test_windows_on_the_same_ground_are_refused() -> None:
    """From start 9 on the last point of the first is the first of the second."""
    tracks = replace(laid_out(3, [[2, 5, 3]]), start=np.array([0, 9]))
    pair = Trajectories(tracks.windows(3), tracks=tracks)
    with pytest.raises(BadInput, match="trajectories 0 and 1 share ground on run 0"):
        pair.slid(np.array([1, 9]))
    with pytest.raises(BadInput, match="more than 8 steps apart"):
        pair.slid(np.array([9, 9]))
    with pytest.raises(BadInput, match="trajectories 1 and 0 share ground"):
        pair.slid(np.array([12, 9]))
    assert len(pair.slid(np.array([18, 9]))) == 2


def test_without_tracks_nothing_slides() -> None:
    with pytest.raises(BadInput, match="extract them with tracks"):
        Trajectories(example().points).slid(np.zeros(6, dtype=np.int64))


@pytest.mark.parametrize("points", [0, 1])
def test_trajectories_have_two_points(points: int) -> None:
    with pytest.raises(BadInput, match=f"two points or more, and these trajectories have {points}"):
        Trajectories(np.zeros((4, points, 2)))


@pytest.mark.usefixtures("plain_means")
def test_trajectories_become_frames_and_come_back() -> None:
    roads = [40.0, 40.02, 41.0, 41.02]  # one of each person; two and two are near
    lon, lat = np.meshgrid(np.linspace(2.0, 2.02, 30), roads)
    people, times = np.array([7, 8, 7, 8]), 60.0 * np.arange(120.0).reshape(4, 30)
    given = trajanon.Trajectories(np.stack([lat, lon], axis=-1), people, times=times)
    rows = given.to_dataframe()
    assert list(rows) == ["trajectory", "subject", "lat", "lon", "time"]
    assert len(rows) == 120
    assert rows.loc[30].tolist() == [1, 8, 40.02, 2.0, 1800.0]
    for frame in (rows, given.to_geodataframe()):
        release = trajanon.anonymize(frame, k=2)
        assert release.report["subjects_per_group"] == [2, 2]
        starts = sorted(release.trajectories.points[:, 0, 0].tolist())
        assert starts == [40.01, 40.01, 41.01, 41.01]


def test_trajectories_of_small_types_become_floats() -> None:
    points: Any = np.random.default_rng(0).uniform((40, -4), (41, -3), (30, 3, 2)).astype("f4")
    times: Any = np.arange(90, dtype=np.uint8).reshape(30, 3)
    made = trajanon.Trajectories(points, subject=np.arange(30, dtype=np.uint8), times=times)
    assert made.points.dtype == np.float64
    assert made.times is not None
    assert made.times.dtype == np.float64
    with pytest.raises(trajanon.BadInput, match="points must be numbers"):
        trajanon.Trajectories(np.full((2, 2, 2), "x"))


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (np.zeros((30, 3)), "times must have shape (30, 4)"),
        (np.tile([0.0, 1.0, np.nan, 2.0], (30, 1)), "has times at some points only"),
        (np.tile([0.0, 2.0, 1.0, 3.0], (30, 1)), "has times that run back"),
        (np.full((30, 4), 1e300), "has a time beyond the years 1 to 9999"),
        (np.full((30, 4), np.inf), "has a time beyond the years 1 to 9999"),
    ],
)
def test_odd_times_are_refused(times: Floats, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        replace(timed(), times=times)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"points": np.zeros((2, 3))}, "points must have shape (n, points, 2), lat and lon"),
        ({"points": np.zeros((2, 3, 3))}, "points must have shape (n, points, 2), lat and lon"),
        ({"trace": [1, 2, 3]}, "trace must have shape (2,); got (3,)"),
        ({"true_ends": np.ones(2)}, "true_ends must have shape (2, 2); got (2,)"),
        ({"marks": np.ones((2, 17))}, "marks must be numbers: whole ones"),
        ({"points": np.full((2, 2, 2), 90.5)}, "trajectory 0 has a point that is not on Earth"),
        ({"points": [[[0, 0], [0, 0]], [[0, 0], [0, np.nan]]]}, "trajectory 1 has a point that"),
    ],
)
def test_what_cannot_be_trajectories_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        Trajectories(**{"points": np.zeros((2, 3, 2))} | fields)


def test_all_that_is_known_of_a_trajectory_is_taken_with_it() -> None:
    whole = replace(timed(), true_ends=np.arange(60).reshape(30, 2) % 3 == 0)
    taken = whole.take(np.array([7, 2]))
    for name in ("points", "subject", "trace", "times", "true_ends"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(whole, name)[[7, 2]])


def test_joined_parts_have_what_all_of_them_have() -> None:
    whole = timed()
    ends = np.zeros((10, 2), dtype=np.bool_)
    parts = [whole.take(np.arange(20)), replace(whole.take(np.arange(20, 30)), true_ends=ends)]
    joined = joined_trajectories(parts)
    for name in ("points", "subject", "trace", "times"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    # A part that says nothing of its ends has true ones.
    assert joined.ends_are_true.tolist() == [[True, True]] * 20 + [[False, False]] * 10
    without_times = joined_trajectories([parts[0], replace(parts[1], times=None)])
    assert without_times.times is None
