"""Whole trips: what is one, what is left out, and the points and times along it."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from naive_trips import along_way, equal_shares, places_of, trips
from recorded_trips import RULES, drives, east, found, there_and_back_again, times_of
from tracks import START, distance, points, trace

from trajanon.common.errors import NoTrajectories
from trajanon.extract import Rules, cut, traces_to_trajectories
from trajanon.extract.earth.area import Box, Region
from trajanon.extract.resample_windows_and_trips import windows
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import Cutter, finished_cut
from trajanon.extract.why_left_out import FOUND, WHY_BY_COUNTER

BOX = Box(-3.74, 40.375, -3.66, 40.425)


@given(drives(), st.sampled_from([None, BOX]), st.sampled_from([0.0, 500.0, 3_000.0]))
def test_trips_are_those_that_are_found_one_by_one(
    recorded: Trace, box: Box | None, least: float
) -> None:
    rules = replace(RULES, min_length=least)
    whole, counts = found([recorded], rules, area=box)
    expected = trips(recorded, rules, box)
    kept = [trip.fixes for trip in expected if not trip.why]
    assert whole.ends_are_true.tolist() == [trip.true_ends for trip in expected if not trip.why]
    at = places_of(recorded)
    assert whole.points[:, 0].tolist() == at[[fixes[0] for fixes in kept]].round(7).tolist()
    assert whole.points[:, -1].tolist() == at[[fixes[-1] for fixes in kept]].round(7).tolist()
    assert times_of(whole)[:, 0].tolist() == [recorded.time[fixes[0]] for fixes in kept]
    assert times_of(whole)[:, -1].tolist() == [recorded.time[fixes[-1]] for fixes in kept]
    why = Counter(trip.why for trip in expected if trip.why)
    assert {name: counts[name] for name in WHY_BY_COUNTER if counts[name]} == why
    assert counts[FOUND] == len(whole) + why.total()
    for row, fixes in enumerate(kept):
        places, seconds = equal_shares(recorded, fixes, rules.points)
        slowest = np.diff(recorded.time[fixes]) / [
            distance(at[one], at[other]) for one, other in pairwise(fixes)
        ]
        for place, near in zip(places, whole.points[row], strict=True):
            assert distance(place, near) < 0.05  # ways are straight in degrees, here geodesics
        assert times_of(whole)[row] == pytest.approx(seconds, abs=0.01 * slowest.max(), rel=0)


@given(st.lists(drives(), min_size=1, max_size=5), st.sampled_from([1, 20, 10_000]), st.booleans())
def test_trips_do_not_depend_on_batches(some: list[Trace], size: int, trims: bool) -> None:
    rules = replace(RULES, trim_ends=60.0 * trims)
    together, counts = found(some, rules)
    cutter = Cutter(rules, key=b"12345")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces_to_trajectories, "POINTS_PER_BATCH", size)
        parts = [cutter.cut(batch) for batch in cutter.batches(iter(some))]
    assert cutter.counts == counts
    for name in ("points", "times"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert joined.tobytes() == getattr(together, name).tobytes()


@given(drives(), st.floats(20, 250), st.integers(2, 9))
def test_times_of_windows_lie_along_each_hop(recorded: Trace, spacing: float, size: int) -> None:
    rules = Rules(spacing=spacing, points=size, per_recording=None)
    batch = windows(points(recorded), rules)
    at = places_of(recorded)
    hops = [distance(one, other) for one, other in pairwise(at)]
    many = batch.times.size
    assert batch.times.shape == batch.points.shape[:2]
    if not many:
        return
    expected = along_way(at, recorded.time, hops, [spacing * step for step in range(many)])
    slowest = 0.01 * (np.diff(recorded.time) / hops).max()
    assert batch.times.ravel() == pytest.approx([t for _, t in expected], abs=slowest, rel=0)
    assert (np.diff(batch.times.ravel()) >= 0.0).all()
    if batch.tracks is not None:
        tracks = batch.tracks
        assert tracks.times is not None
        of_windows = tracks.times_of_windows(size)
        assert of_windows is not None
        assert of_windows.tobytes() == batch.times.tobytes()
        steps = [spacing / 4 * step for step in range(len(tracks.times))]
        expected = along_way(at, recorded.time, hops, steps)
        assert tracks.times == pytest.approx([t for _, t in expected], abs=slowest, rel=0)


def test_times_beyond_all_calendars_are_no_times() -> None:
    way = east(np.linspace(0, 5_000, 60).tolist(), 1e12 + 10.0 * np.arange(60))
    assert cut([way], RULES).times is None
    assert cut([way], Rules(spacing=100, points=5)).times is None


@pytest.mark.parametrize("noise", [0.0, 20.0])
def test_a_stay_ends_a_trip_and_begins_the_next(noise: float) -> None:
    recorded = there_and_back_again(600.0, noise)
    whole, counts = found([recorded])
    assert len(whole) == 2
    assert counts["stays"] == 1
    times = times_of(whole)
    assert times[1, 0] - times[0, -1] >= 500.0
    assert distance(whole.points[0, -1], whole.points[1, 0]) <= 100.0
    assert whole.trace is not None
    assert whole.trace.tolist() == [0, 0]


def test_a_trip_that_leaves_the_area_between_two_points_is_cut_there() -> None:
    """Though both ends of each hop lie in the area."""
    lat, lon = START
    bay = shapely.box(lon - 0.02, lat - 0.01, lon + 0.02, lat + 0.01).difference(
        shapely.box(lon - 0.001, lat - 0.001, lon + 0.001, lat + 0.02)
    )
    area = Region(bay, "a bay")
    over = trace([(lat, lon - 0.01), (lat, lon - 0.002), (lat, lon + 0.002)], [1e9, 1e9 + 60, 2e9])
    over = replace(over, time=np.array([1e9, 1e9 + 60.0, 1e9 + 120.0]))
    whole, counts = found([over], replace(RULES, min_length=100.0), area=area)
    assert whole.ends_are_true.tolist() == [[True, False]]
    assert whole.points[0, -1].tolist() == [lat, lon - 0.002]
    assert counts["points of other parts inside the area"] == 1
    beside = trace([(lat - 0.005, lon - 0.01), (lat - 0.005, lon + 0.01)], [1e9, 1e9 + 60])
    assert found([beside], area=area)[0].ends_are_true.tolist() == [[True, True]]


def test_of_a_trip_that_comes_back_the_longest_part_inside_is_taken() -> None:
    way = east(np.arange(0, 6_001, 100.0).tolist(), 10.0 * np.arange(61))
    middle = Region(
        shapely.box(START[1] - 1, 40.3, START[1] + 0.012, 40.5).union(
            shapely.box(START[1] + 0.024, 40.3, START[1] + 0.2, 40.5)
        ),
        "two boxes",
    )
    cutter = Cutter(RULES, area=middle)
    whole = finished_cut([cutter.cut([way])], cutter)
    assert whole.ends_are_true.tolist() == [[False, True]]
    assert (whole.points[0, :, 1] > START[1] + 0.024 - 1e-9).all()

    # Both parts are runs of windows.
    rules = Rules(spacing=100.0, points=6, per_recording=None)
    for boxes, true_start in (
        ((), True),
        ((Box(START[1] - 1e-4, 40.3, START[1] + 1, 40.5),), False),
    ):
        cutter = Cutter(rules, area=middle, boxes=boxes)
        tracks = finished_cut([cutter.cut([way])], cutter).tracks
        assert tracks is not None
        assert tracks.ends_are_true.tolist() == [[true_start, False], [False, True]]


def test_what_became_of_recordings_adds_up() -> None:
    way = np.arange(0, 3_001, 100.0)
    some = [
        east(way, 10.0 * np.arange(31), "whole"),
        east(way, 10.0 * np.arange(31), "again"),
        east([0, 200], [0, 20], "short"),
        east([0, 2_500, 2_600], [0, 90, 99], "far"),
        east([0], [7], "place"),
        replace(east([0, 200], [0, 20], "nowhere"), lat=np.full(2, 91.0)),
        east(way, 1e5 + 10.0 * np.arange(31), "away", start=(41.0, 2.0)),
        east(way, 2e5 + 10.0 * np.arange(31), "second"),
    ]
    some = [replace(one, subject="Ann") for one in some]
    made = cut(some, RULES, area=BOX)
    assert made.provenance["recordings"] == {
        "read": 8,
        "with a trajectory": 2,
        "left out": {
            "repeats of others": 1,
            "without a point on Earth": 1,
            "of single places between pauses and stays": 1,
            "outside the area": 1,
            "with a gap": 1,
            "too short": 1,
        },
    }


@given(st.lists(drives(), min_size=1, max_size=6), st.booleans(), st.sampled_from([None, BOX]))
def test_each_recording_has_a_trajectory_or_a_reason(
    some: list[Trace], trips: bool, box: Box | None
) -> None:
    rules = RULES if trips else Rules(spacing=50, points=7)
    cutter = Cutter(rules, area=box)
    made = cutter.cut(some)
    assert made.subject is not None
    assert made.trace is not None
    taken = list(cutter.numbered([made])) if len(made) else [made]
    traces = np.concatenate([np.asarray(one.trace) for one in taken])
    told = cutter.provenance()["recordings"]
    assert told["read"] == cutter.counts["recordings read"]
    assert told["with a trajectory"] == len(np.unique(traces))
    assert told["read"] == told["with a trajectory"] + sum(told["left out"].values())


def test_clocks_that_stand_still_or_run_back() -> None:
    ways, seconds = np.arange(0, 2_001, 100.0).tolist(), 10.0 * np.arange(21)
    right = east(ways, seconds.tolist())
    back = replace(right, lat=right.lat[::-1], lon=right.lon[::-1], time=right.time[::-1])
    expected, _ = found([right])
    turned, _ = found([back])
    assert turned.points.tobytes() == expected.points.tobytes()
    assert times_of(turned).tobytes() == times_of(expected).tobytes()
    stands, counts = found([east(ways, np.zeros(21).tolist())])
    assert (len(stands), counts[FOUND]) == (0, 0)
    assert counts["points alone between pauses and stays"] == 1


# Rules, and what is said where nothing is left


_WAY = np.arange(0, 3_001, 100.0).tolist()


@pytest.mark.parametrize(
    ("recorded", "more", "says"),
    [
        (east(_WAY, np.zeros(31).tolist()), {}, "or give finer times"),
        (east([0], [0]), {}, "(1 of 1); a trip needs two points: raise `max_pause`"),
        (east(_WAY, (400.0 * np.arange(31)).tolist()), {}, "raise `max_pause`"),
        (east([0, 200], [0, 10]), {}, "1 shorter than 500 m; lower `min_l"),
        (east([0, 2_500, 2_600], [0, 90, 99]), {}, "1 with a gap; raise `max_gap`"),
        (east(_WAY, np.arange(31.0).tolist()), {}, "or `max_speed` for trains"),
        (
            east(_WAY, (10.0 * np.arange(31)).tolist()),
            {"area": Box(START[1], 40.3, START[1] + 0.002, 40.5)},
            "1 shorter than 500 m; lower `min_length`",
        ),
        (
            east(_WAY, (10.0 * np.arange(31)).tolist()),
            {"area": Box(2.0, 41.0, 2.1, 41.1)},
            "give the `area` that holds them",
        ),
        (
            east(_WAY, (10.0 * np.arange(31)).tolist()),
            {"rules": replace(RULES, trim_ends=900.0)},
            "lower `trim_ends`",
        ),
    ],
)
def test_where_no_trip_is_left_the_way_out_is_told(
    recorded: Trace, more: dict[str, Any], says: str
) -> None:
    rules = more.pop("rules", RULES)
    with pytest.raises(NoTrajectories) as why:
        cut([recorded], rules, **more)
    assert str(why.value).startswith("no trips: ")
    assert says in str(why.value)
