"""Which windows are near if either slides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sliding import at_all_starts, in_sight, nearest_in_reach, standardised, town, tracks_of
from sliding_towns import points_of, seeds, towns

from trajanon.align.windows import build_windows, exact_window_neighbours
from trajanon.arrays import Floats
from trajanon.trajectories import Trajectories


def far_apart(trajectories: Trajectories, pace: int) -> tuple[list[Floats], Floats]:
    """Every so many steps where each window may be, and where it is."""
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    now = tracks.start

    rows = [
        np.array(
            [
                record
                for s, record in at_all_starts(tracks, m, now, x).items()
                if (s - now[x]) % pace == 0 and in_sight(m, now[x], [s])
            ]
        )
        for x in range(len(now))
    ]
    return rows, standardised(tracks, m, now)


@given(trajectories=towns(most=10), count=st.integers(1, 12))
@settings(max_examples=25)
def test_near_windows_are_the_nearest_if_either_slides(
    trajectories: Trajectories, count: int
) -> None:
    """Where all places can be looked at: three times as many as are wanted."""
    tracks, m, n = tracks_of(trajectories), points_of(trajectories), len(trajectories)
    rows, here = far_apart(trajectories, 8)
    wanted = max(count, -(-sum(map(len, rows)) // 3))
    near = exact_window_neighbours(build_windows(tracks, m), tracks.start, np.eye(2 * m), wanted)
    assert near.shape == (n, wanted)
    expected = nearest_in_reach(rows, here, wanted)
    for x, found in enumerate(near.tolist()):
        others = min(wanted, n - 1)
        assert x not in found[:others]
        assert set(found[others:]) <= {x}
        assert len(set(found[:others])) == others
        away = {y: d for d, y in nearest_in_reach(rows, here, n)[x]}
        told = [away[y] for y in found[:others]]
        assert told == pytest.approx([d for d, _ in expected[x]], rel=1e-6, abs=1e-7)


@given(trajectories=towns(), count=st.integers(1, 6), seed=seeds)
@settings(max_examples=30)
def test_windows_that_are_near_know_of_each_other(
    trajectories: Trajectories, count: int, seed: int
) -> None:
    """Unless nearer ones fill the list; nobody is listed twice."""
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(2 * m, 2 * m)))[0]
    near = exact_window_neighbours(
        build_windows(tracks, m), tracks.start, axes[:, :2].copy(), count
    )
    for x, found in enumerate(near.tolist()):
        others = [y for y in found if y != x]
        assert found == others + [x] * (count - len(others))
        assert len(set(others)) == len(others)
        for y in others:
            assert x in near[y] or y not in near[y]  # or the list of y is full


def test_many_places_are_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    trajectories = town(1, 24, 3, slack=40)
    tracks = tracks_of(trajectories)
    windows = build_windows(tracks, 3)
    found = []
    for at_once in (20_000, 7, 1):
        monkeypatch.setattr("trajanon.align.windows._AT_ONCE", at_once)
        found.append(exact_window_neighbours(windows, tracks.start, np.eye(6), 6))
    assert all(np.array_equal(found[0], other) for other in found[1:])
