"""The windows that windows slide on, and how they share it."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from naive_sliding import (
    gaps,
    in_sight,
    room,
    slid_at_random,
    standardised,
    starts_allowed,
    tracks_of,
)
from sliding_towns import points_of, seeds, towns

from trajanon._kernels.window_records import read_record
from trajanon.align.windows import (
    build_windows,
    centred,
    in_order,
    part_of,
    records_at,
    start_ranges,
)
from trajanon.tracks import STEPS
from trajanon.trajectories import Trajectories


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
def test_windows_in_another_order_are_those_of_tracks_in_that_order(
    trajectories: Trajectories, seed: int
) -> None:
    tracks, m = tracks_of(trajectories), points_of(trajectories)
    order = np.random.default_rng(seed).permutation(len(trajectories))
    found = in_order(build_windows(tracks, m), order)
    expected = build_windows(replace(tracks, run=tracks.run[order], start=tracks.start[order]), m)
    for name in ("place", "most", "before", "after", "apart"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


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
