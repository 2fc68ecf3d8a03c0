"""Trajectories with times: walks over two days, and windows that may slide."""

import numpy as np
from naive_sliding import street

from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import Trajectories

SUNDAY = 1_212_900_000.0  # 2008-06-08 04:40 UTC


def timed(n: int = 30, m: int = 4, *, people: int = 10, seed: int = 0) -> Trajectories:
    """Walks in San Francisco over two days."""
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.normal(0, 0.001, (n, m, 2)), axis=1)
    points += 37.77, -122.42
    points[..., 0] += 0.005 * np.arange(m)  # all go north, longer than any is moved
    times = SUNDAY + rng.uniform(0, 172_800, (n, 1)) + np.cumsum(rng.uniform(1, 300, (n, m)), 1)
    subject = np.arange(n) % people
    return Trajectories(points, subject=subject, trace=np.arange(n), times=times)


def windows_with_times(seed: int, n: int = 12, m: int = 4) -> Trajectories:
    """Windows of three runs, which may slide."""
    rng = np.random.default_rng(seed)
    size = STEPS * (m - 1) + 1
    each = -(-n // 3)
    runs = [street(rng, each * (size + 6)) * 1e-4 + (40.4, -3.7) for _ in range(3)]
    points = np.concatenate(runs)
    times = SUNDAY + np.cumsum(rng.uniform(0.5, 20.0, len(points)))
    tracks = Tracks(
        TrackPoints.of(points),
        np.cumsum([0, *map(len, runs)]),
        np.repeat(np.arange(3), each),
        np.tile((size + 6) * np.arange(each) + 3, 3),
        times,
    )
    count = 3 * each
    return Trajectories(
        tracks.windows(m),
        subject=np.arange(count) % 7,
        trace=np.arange(count),
        tracks=tracks,
        times=tracks.times_of_windows(m),
    )
