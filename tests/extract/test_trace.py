"""Traces, and what they say of their end."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tracks import trace

PLACES = [(41.0, 2.0), (41.1, 2.1), (41.2, 2.2)]
UNTIMED = trace(PLACES, name="morning", subject="Ada")


def test_marked_points_are_taken_with_all_that_is_known_of_the_trace() -> None:
    whole = replace(trace(PLACES, [0.0, 1.0, 2.0], subject="Ada"), cut_off=True, page="a.gpx")
    taken = whole.take(np.array([True, False, True]))
    assert taken.lat.tolist() == [41.0, 41.2]
    assert taken.lon.tolist() == [2.0, 2.2]
    assert taken.time.tolist() == [0.0, 2.0]
    assert (taken.name, taken.subject, taken.cut_off, taken.page) == ("one", "Ada", True, "a.gpx")
    assert len(whole) == 3


@pytest.mark.parametrize(
    ("times", "is_timed"),
    [([math.nan] * 3, False), ([math.nan, 0.0, math.nan], True), ([math.inf] * 3, False)],
)
def test_one_time_makes_a_trace_timed(times: Sequence[float], is_timed: bool) -> None:
    assert trace(PLACES, times).is_timed == is_timed


def test_the_place_of_a_cut_is_the_last_time_or_unknown() -> None:
    timed = trace(PLACES, [1.0, 2.0, 3.0])
    assert math.isnan(timed.last_read)
    assert replace(timed, cut_off=True).last_read == 3.0
    without_last_time = replace(trace(PLACES, [1.0, 2.0, math.nan]), cut_off=True)
    assert without_last_time.last_read == math.inf
    assert replace(trace([]), cut_off=True).last_read == math.inf


def test_a_trace_shows_whose_it_is_and_how_long() -> None:
    assert repr(UNTIMED) == "<Trace: 'morning' of 'Ada'; 3 points>"
    assert repr(replace(UNTIMED, subject=None)) == "<Trace: 'morning' of nobody known; 3 points>"
