"""Tracks laid out for tests, and the windows on them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from trajanon.common.arrays import Floats
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import Trajectories

NAMES = ("points", "first", "run", "start")


def places(t: int, *, seed: int = 0, few: bool = False) -> Floats:
    """Places on Earth; with few of them a track repeats itself to the bit."""
    rng = np.random.default_rng(seed)
    somewhere = rng.uniform((-90, -180), (90, 180), (2 if few else t, 2))
    return somewhere[rng.integers(0, 2, t)] if few else somewhere


def laid_out(m: int, runs: list[list[int]], points: Floats | None = None) -> Tracks:
    """Windows of m points on runs, told by the free steps before each and at the end.

    [[0, 3, 2]] is one run of two windows: the first begins with the run, the second
    three steps behind the first, and two steps are left behind it.
    """
    window = STEPS * (m - 1) + 1
    sizes = [sum(free) + window * (len(free) - 1) for free in runs]
    return Tracks(
        points=TrackPoints.of(places(sum(sizes)) if points is None else points),
        first=np.cumsum([0, *sizes]),
        run=np.repeat(np.arange(len(runs)), [len(free) - 1 for free in runs]),
        start=np.array(
            [sum(free[: i + 1]) + window * i for free in runs for i in range(len(free) - 1)],
            dtype=np.int64,
        ),
    )


def shuffled(tracks: Tracks, m: int, seed: int = 0) -> Trajectories:
    """The trajectories on tracks, in any order of rows."""
    order = np.random.default_rng(seed).permutation(len(tracks.run))
    tracks = replace(tracks, run=tracks.run[order], start=tracks.start[order])
    n = len(order)
    return Trajectories(tracks.windows(m), np.arange(n) // 2, np.arange(n), {"points": m}, tracks)


@st.composite
def any_trajectories(draw: st.DrawFn, few: bool = False) -> Trajectories:
    m, seed = draw(st.integers(2, 5)), draw(st.integers(0, 10**6))
    free = st.lists(st.integers(0, 9), min_size=2, max_size=6)
    runs = draw(st.lists(free, min_size=1, max_size=5))
    t = len(laid_out(m, runs).points)
    tracks = laid_out(m, runs, places(t, seed=seed, few=few))
    return shuffled(tracks, m, seed)


def example(n_runs: int = 3) -> Trajectories:
    """Windows of three points: two on each run, with room before, between, behind."""
    return shuffled(laid_out(3, [[2, 5, 3]] * n_runs), 3)


def tracks_of(trajectories: Trajectories) -> Tracks:
    assert trajectories.tracks is not None
    return trajectories.tracks


def runs_of(tracks: Tracks) -> list[Floats]:
    return [tracks.points[a:b] for a, b in pairwise(tracks.first.tolist())]


def assert_equal(one: Tracks | None, other: Tracks | None) -> None:
    assert one is not None
    assert other is not None
    for name in NAMES:
        a, b = (getattr(getattr(some, name), "ticks", getattr(some, name)) for some in (one, other))
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes(), name


@st.composite
def recordings(draw: st.DrawFn, m: int = 2) -> Tracks:
    """One window of m points on one of the runs of each recording."""
    window = STEPS * (m - 1) + 1
    free = draw(
        st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=3), min_size=1, max_size=4)
    )
    sizes = np.array([window + more for each in free for more in each])
    number = np.repeat(np.arange(len(free)), [len(each) for each in free])
    own = [draw(st.integers(0, len(each) - 1)) for each in free]
    run = np.searchsorted(number, np.arange(len(free))) + own
    t, seed = int(sizes.sum()), draw(st.integers(0, 10**6))
    return Tracks(
        points=TrackPoints.of(places(t, seed=seed)),
        first=np.append(0, np.cumsum(sizes)),
        run=run,
        start=np.array([draw(st.integers(0, int(sizes[one]) - window)) for one in run]),
        times=np.arange(float(t)),
        recording=number,
    )


def runs_with(tracks: Tracks, row: int) -> list[Floats]:
    """The runs of the recording that a trajectory is of."""
    assert tracks.recording is not None
    own = tracks.recording == tracks.recording[tracks.run[row]]
    return [run for run, mine in zip(runs_of(tracks), own, strict=True) if mine]
