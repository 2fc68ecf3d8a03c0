"""The windows that windows slide on, and how they share it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_sliding import (
    at_all_starts,
    gaps,
    in_sight,
    nearest_in_reach,
    room,
    slid_at_random,
    standardised,
    starts_allowed,
    town,
    tracks_of,
)
from sliding_towns import points_of, seeds, towns

from trajanon._kernels.sliding_windows import read_record
from trajanon.grouping import neighbours
from trajanon.grouping.sliding.possible_starts import (
    build_windows,
    centred,
    part_of,
    records_at,
    start_ranges,
    window_neighbours,
)
from trajanon.trajectories.tracks import STEPS
from trajanon.trajectories.trajectories import Trajectories


@given(trajectories=towns())
def test_the_ground_is_that_of_the_tracks(trajectories: Trajectories) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    windows = build_windows(tracks, m)
    assert np.array_equal(windows.points, tracks.points.ticks)
    assert np.array_equal(windows.place, tracks.first[tracks.run])
    assert windows.stride == STEPS
    behind = dict(gaps(tracks, tracks.start))
    pairs = {(int(x), y) for y, x in enumerate(windows.before) if x >= 0}
    assert pairs == {(x, int(y)) for x, y in enumerate(windows.after) if y >= 0}
    assert pairs == set(behind)
    for (_, y), apart in behind.items():
        assert windows.apart[y] == min(apart, STEPS * m)
    for x in range(len(trajectories)):
        end = tracks.first[tracks.run[x] + 1]
        assert windows.place[x] + windows.most[x] + STEPS * (m - 1) == end - 1


@given(trajectories=towns(), seed=seeds)
def test_a_window_reaches_as_far_as_the_others_leave_it_and_it_sees(
    trajectories: Trajectories, seed: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    windows, start = build_windows(tracks, m), slid_at_random(tracks, m, seed)
    first, last = start_ranges(windows, start)
    for x in range(len(start)):
        allowed = in_sight(m, start[x], starts_allowed(tracks, m, start, x))
        assert allowed == list(range(first[x], last[x] + 1))


@given(trajectories=towns(), seed=seeds, draw=seeds)
def test_whatever_all_do_within_their_shares_is_allowed(
    trajectories: Trajectories, seed: int, draw: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    start, rng = slid_at_random(tracks, m, seed), np.random.default_rng(draw)
    first, last = start_ranges(build_windows(tracks, m), start, rng)
    assert (first <= start).all()
    assert (start <= last).all()
    ways = [first, last, np.where(rng.random(len(start)) < 0.5, first, last)]
    for way in [*ways, rng.integers(first, last, endpoint=True)]:
        assert room(tracks, m, way)
        assert len(trajectories.slid(way)) == len(start)


@given(trajectories=towns(), seed=seeds)
def test_a_part_is_the_same_ground_for_each_window_alone(
    trajectories: Trajectories, seed: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    windows, rng = build_windows(tracks, m), np.random.default_rng(seed)
    first, last = start_ranges(windows, tracks.start, rng)
    rows = np.flatnonzero(rng.random(len(trajectories)) < 0.5)
    assume(len(rows))
    part, begin = part_of(windows, rows, first, last, chained=False)
    assert np.array_equal(begin, first[rows])
    there = rng.integers(first, last, endpoint=True)
    np.testing.assert_array_equal(
        records_at(part, (there - first)[rows]), records_at(windows, there)[rows]
    )
    assert np.array_equal(part.most, (last - first)[rows])
    assert (part.before == -1).all()
    assert (part.after == -1).all()


@given(trajectories=towns(), seed=seeds)
def test_records_are_standardised_as_those_that_were_cut(
    trajectories: Trajectories, seed: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    windows, start = build_windows(tracks, m), slid_at_random(tracks, m, seed)
    for found, expected in (
        (records_at(windows, tracks.start), standardised(tracks, m, tracks.start)),
        (records_at(windows, start), standardised(tracks, m, start)),
    ):
        # All may be off by what lies between two numbers as far from zero as the mean.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
        apart, there = found - found[0], expected - expected[0]
        np.testing.assert_allclose(apart, there, rtol=1e-9, atol=1e-9)
    own = centred(windows, start)
    found, before = records_at(own, start), records_at(windows, start)
    assert np.abs(found.mean(axis=0)).max() < 1e-7
    np.testing.assert_allclose(found - found[0], before - before[0], atol=1e-9)
    record = np.empty(2 * m)
    for x, begin_at in enumerate(start.tolist()):
        read_record(own, x, begin_at, record)
        np.testing.assert_allclose(record, found[x], rtol=1e-12, atol=1e-12)


@given(seed=seeds, m=st.integers(2, 4))
@settings(max_examples=20)
def test_neighbours_of_a_part_share_what_is_free(seed: int, m: int) -> None:
    """As they would slide on their runs with all others where their shares end."""
    rng = np.random.default_rng(seed)
    trajectories = town(seed, 24, m)
    tracks, whole = tracks_of(trajectories), build_windows(tracks_of(trajectories), m)
    first, last = start_ranges(whole, tracks.start, rng)
    rows = np.flatnonzero(rng.random(24) < 0.6)
    assume(len(rows))
    part, begin = part_of(whole, rows, first, last, chained=True)
    pairs = gaps(tracks, tracks.start)
    for place, x in enumerate(rows.tolist()):
        behind = [b for a, b in pairs if a == x and b in rows]
        assert [int(rows[y]) for y in part.after[[place]] if y >= 0] == behind
        for y in part.after[[place]]:
            if y >= 0:
                assert part.before[y] == place
                assert part.apart[y] == whole.apart[rows[y]]
                assert begin[y] == begin[place]
                assert part.most[y] == part.most[place]
        if part.before[place] < 0:
            assert begin[place] == first[x]
            assert part.apart[place] == 0
        if part.after[place] < 0:
            assert begin[place] + part.most[place] == last[x]
        assert part.place[place] == whole.place[x] + begin[place]
    # As far ahead as each may, one after the other; the rest at the end of its share.
    start = last.copy()
    for place in range(len(rows)):
        if part.before[place] >= 0:
            continue
        y, at = place, 0
        while y >= 0:
            at += int(part.apart[y])
            start[rows[y]] = begin[y] + at
            y = int(part.after[y])
    assert room(tracks, m, start)


@given(trajectories=towns(most=10))
def test_in_one_leaf_the_nearest_are_those_that_come_nearest_if_either_slides(
    trajectories: Trajectories,
) -> None:
    tracks, m, n = tracks_of(trajectories), points_of(trajectories), len(trajectories)
    rows = [
        np.array(
            [
                record
                for s, record in at_all_starts(tracks, m, tracks.start, x).items()
                if (s - tracks.start[x]) % 8 == 0 and in_sight(m, tracks.start[x], [s])
            ]
        )
        for x in range(n)
    ]
    here = standardised(tracks, m, tracks.start)
    near = window_neighbours(build_windows(tracks, m), tracks.start, np.eye(2 * m), n)
    expected = nearest_in_reach(rows, here, n)
    for x, found in enumerate(near.tolist()):
        assert found[-1] == x
        assert set(found[:-1]) == set(range(n)) - {x}
        away = {y: d for d, y in expected[x]}
        assert [away[y] for y in found[:-1]] == pytest.approx(
            [d for d, _ in expected[x]], rel=1e-3, abs=1e-3
        )


def test_trees_find_most_of_the_near_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    tracks = tracks_of(town(3, 200, 3))
    found = []
    for leaf in (10_000, 64):
        monkeypatch.setattr(neighbours, "LEAST_LEAF_SIZE", leaf)
        found.append(window_neighbours(build_windows(tracks, 3), tracks.start, np.eye(6), 6))
    shares = [np.isin(a, b).mean() for a, b in zip(*found, strict=True)]
    assert np.mean(shares) > 0.9
