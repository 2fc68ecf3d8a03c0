"""Trips cut off: ends and hidden places left out, and the border of what a server gives."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from naive_trips import places_of, trips
from recorded_trips import RULES, drives, east, found, there_and_back_again, times_of
from tracks import GEOD, START, distance

from trajanon.extract.earth.area import Box, Region, around
from trajanon.extract.sources.trace_pieces import joined_pieces
from trajanon.extract.trace import Trace
from trajanon.extract.why_left_out import CUT_OFF, FOUND, WHY_BY_COUNTER


@given(drives(), st.floats(10, 200))
def test_no_trimmed_trip_comes_near_its_own_ends(recorded: Trace, metres: float) -> None:
    rules = replace(RULES, trim_ends=metres, min_length=0.0)
    whole, counts = found([recorded], rules)
    assert counts[FOUND] == len(whole) + sum(counts[why] for why in WHY_BY_COUNTER)
    ends = [(trip.fixes[0], trip.fixes[-1]) for trip in trips(recorded, rules) if not trip.why]
    at, time = places_of(recorded), recorded.time
    for points_of_trip, times in zip(whole.points, times_of(whole), strict=True):
        (mine,) = [(i, j) for i, j in ends if time[i] < times[0] and times[-1] < time[j]]
        for place, end in product(points_of_trip, mine):
            assert distance(place, at[end]) > metres


def test_a_trip_that_lost_its_ends_stays_and_its_new_length_counts() -> None:
    recorded = east(np.arange(0, 5_001, 50.0).tolist(), 5.0 * np.arange(101))
    whole, _ = found([recorded])
    trimmed, counts = found([recorded], replace(RULES, trim_ends=200.0))
    assert len(trimmed) == 1
    assert counts["points near the ends of a trace"] > 10
    assert set(map(tuple, trimmed.points[:, [0, -1]].reshape(-1, 2).tolist())) <= set(
        map(tuple, places_of(recorded).round(7).tolist())
    )
    assert times_of(trimmed)[0, 0] > times_of(whole)[0, 0]
    short, counts = found([recorded], replace(RULES, trim_ends=200.0, min_length=4_900.0))
    assert len(short) == 0
    assert counts["trips too short"] == 1


@pytest.mark.parametrize(("at", "left"), [(0.0, 1), (5_000.0, 1), (2_500.0, 0)])
def test_a_hidden_place_shortens_a_trip_at_its_end_and_spoils_it_in_its_middle(
    at: float, left: int
) -> None:
    lon, lat, _ = GEOD.fwd(START[1], START[0], 90.0, at)
    (circle,) = around(np.array([shapely.Point(lon, lat)]), 300.0)
    recorded = east(np.arange(0, 5_001, 50.0).tolist(), 5.0 * np.arange(101))
    whole, counts = found([recorded], hidden=Region(circle, "place"))
    assert len(whole) == left
    assert counts["trips with a gap"] == 1 - left
    for place in whole.points.reshape(-1, 2):
        assert distance(place, np.array([lat, lon])) > 300.0


def test_both_sides_of_a_stay_are_trimmed() -> None:
    recorded = there_and_back_again(600.0)
    whole, _ = found([recorded], replace(RULES, trim_ends=100.0))
    assert len(whole) == 2
    stop = found([recorded])[0].points[0, -1]
    assert min(distance(place, stop) for place in whole.points.reshape(-1, 2)) > 100.0


@pytest.mark.parametrize(("first", "true"), [(300.0, True), (50.0, False)])
def test_a_trip_of_the_server_that_ends_near_its_box_may_go_on_outside(
    first: float, true: bool
) -> None:
    recorded = east((first + np.arange(0, 3_001, 100.0)).tolist(), 10.0 * np.arange(31))
    box = Box(START[1], 40.3, -3.6, 40.5)
    assert found([recorded], area=box)[0].ends_are_true.tolist() == [[True, True]]
    whole, _ = found([recorded], area=box, boxes=[box])
    assert whole.ends_are_true.tolist() == [[true, True]]


def test_the_last_trip_of_a_recording_that_the_server_cut_off_may_go_on() -> None:
    box = Box(-3.8, 40.3, -3.5, 40.5)
    recorded = replace(there_and_back_again(600.0), cut_off=True)
    pieces = [replace(recorded, time=recorded.time - 1e5, cut_off=False), recorded]
    whole, counts = found(pieces, area=box, boxes=[box])
    assert times_of(whole)[:, 0].tolist() == [1e9 - 1e5, times_of(whole)[1, 0], 1e9]
    assert counts[CUT_OFF] == 1
    (joined,) = joined_pieces(pieces, Counter())
    assert joined.cut_off


@pytest.mark.parametrize("order", ["as it was", "newest first", "later part first", "untimed"])
def test_the_trip_at_which_a_file_was_cut_off_is_left_out(order: str) -> None:
    """Where that is, the order of the file tells, not the time."""
    both = there_and_back_again(600.0)
    numbers = {
        "newest first": np.arange(len(both))[::-1],
        "later part first": np.r_[20 : len(both), :20],
    }.get(order, np.arange(len(both)))
    read = replace(both, **{name: getattr(both, name)[numbers] for name in ("lat", "lon", "time")})
    if order == "untimed":
        read = replace(read, time=np.full(len(read), np.nan))
    whole, before = found([read])
    left, counts = found([replace(read, cut_off=True)])
    assert len(left) == len(whole) - 1
    assert (before[CUT_OFF], counts[CUT_OFF]) == (0, 1)
    if order == "as it was":
        assert times_of(left)[0, 0] == 1e9
    elif order != "untimed":
        assert times_of(left)[0, 0] > 1e9 + 600.0


@pytest.mark.parametrize(("after", "left"), [(200.0, 0), (310.0, 1)])
def test_a_trip_long_before_the_place_of_the_cut_is_whole(after: float, left: int) -> None:
    seconds = np.append(10.0 * np.arange(31), 300.0 + after)
    recorded = east(np.append(100.0 * np.arange(31), 3_000.0), seconds)
    whole, counts = found([replace(recorded, cut_off=True)])
    assert (len(whole), counts[CUT_OFF]) == (left, 1 - left)
