"""What is left of the hours of trips, against numbers worked out by hand."""

from dataclasses import replace

import numpy as np
from toy import HOME, WORK, on_earth

from trajanon.common.arrays import Floats
from trajanon.evaluation.usefulness_of_lines import usefulness
from trajanon.trajectories.clock_and_time_zones import HOUR
from trajanon.trajectories.distances import Summary
from trajanon.trajectories.release_timing import time_errors


def seconds(*hours_and_minutes: tuple[float, float]) -> Floats:
    """Two points of each trip: an hour of departure, and the minutes it takes."""
    given = np.array(hours_and_minutes, dtype=np.float64)
    when: Floats = given[:, :1] * HOUR + given[:, 1:] * 60.0 * np.array([0.0, 1.0])
    return when


def test_errors_are_those_of_departure_and_duration() -> None:
    before, after = seconds((8, 10), (8, 20), (26, 5)), seconds((8.5, 15), (7, 20), (3, 5))
    departed, took = time_errors(before, after)
    # 02:00 of the night is 26:00 of its day: 23 hours from 03:00.
    assert departed.tolist() == [0.5 * HOUR, HOUR, 23 * HOUR]
    assert took.tolist() == [300.0, 0.0, 0.0]
    lines = np.array([[HOME, WORK]] * 3)
    found = usefulness(lines, lines, seconds=before, released_seconds=after).times
    assert found is not None
    assert found.departure_error.median == HOUR
    assert found.duration_error == Summary(100.0, 0.0, 270.0, 300.0)


def test_times_change_nothing_of_places() -> None:
    points, moved = on_earth(np.random.default_rng(0).normal(0, 900, (2, 20, 3, 2)))
    when = np.tile([30_000.0, 30_300.0, 31_000.0], (20, 1))
    timed = usefulness(points, moved, seconds=when, released_seconds=when)
    assert replace(timed, times=None) == usefulness(points, moved)
