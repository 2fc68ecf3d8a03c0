"""What is left of the hours of trips, against numbers worked out by hand."""

from dataclasses import asdict, replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import AWAY, HOME, WORK, on_earth

from trajanon.common.arrays import Floats
from trajanon.common.settings import TimesName
from trajanon.evaluation.usefulness import (
    CLASSES,
    HoursLeft,
    Seconds,
    duration_classes,
    hours_left,
    up_to_last,
    usefulness,
)
from trajanon.trajectories.distances import Summary
from trajanon.trajectories.times import DAY, HOUR, Clock, time_errors

OF_DAY = Clock("of-day", "Europe/Madrid", 300)


def seconds(*hours_and_minutes: tuple[float, float]) -> Floats:
    """Two points of each trip: an hour of departure, and the minutes it takes."""
    given = np.array(hours_and_minutes, dtype=np.float64)
    when: Floats = given[:, :1] * HOUR + given[:, 1:] * 60.0 * np.array([0.0, 1.0])
    return when


def left(before: Floats, after: Floats, lines: Floats, moved: Floats | None = None) -> HoursLeft:
    to = lines if moved is None else moved
    return hours_left(lines, to, Seconds(before, after, OF_DAY))


def test_errors_are_those_of_departure_and_duration() -> None:
    before, after = seconds((8, 10), (8, 20), (26, 5)), seconds((8.5, 15), (7, 20), (3, 5))
    departed, took = time_errors(before, after)
    # 02:00 of the night is 26:00 of its day: 23 hours from 03:00.
    assert departed.tolist() == [0.5 * HOUR, HOUR, 23 * HOUR]
    assert took.tolist() == [300.0, 0.0, 0.0]
    found = left(before, after, np.array([[HOME, WORK]] * 3))
    assert found.departure_error.median == HOUR
    assert found.duration_error == Summary(100.0, 0.0, 270.0, 300.0)


def test_hours_of_the_day_are_counted() -> None:
    before, after = seconds((8, 10), (8.9, 20), (26, 5)), seconds((8, 10), (9, 20), (26.9, 5))
    found = left(before, after, np.array([[HOME, WORK]] * 3))
    assert found.by_hour[0] == np.bincount([8, 8, 2], minlength=24).tolist()
    assert found.by_hour[1] == np.bincount([8, 9, 2], minlength=24).tolist()


def test_flows_are_those_of_the_hour() -> None:
    lines = np.array([[HOME, WORK], [HOME, WORK], [WORK, HOME], [HOME, AWAY]])
    before = seconds((8, 10), (8.5, 10), (17, 10), (8, 10))
    # One leaves home an hour later; who goes away comes home at work instead.
    after = seconds((8, 10), (9.5, 10), (17, 10), (8, 10))
    moved = lines.copy()
    moved[3, 1] = WORK
    assert left(before, after, lines).flow_similarity == 0.75
    # home-work at 8 is twice before and twice after, though one of these is another.
    assert left(before, after, lines, moved).flow_similarity == 0.75
    assert left(before, before, lines, moved).flow_similarity == 0.75
    assert left(before, before, lines).flow_similarity == 1.0
    assert left(before, before + 5 * HOUR, lines).flow_similarity == 0.0


def test_durations_are_classes_round_whole_steps() -> None:
    took = seconds((8, 0), (8, 2.4), (8, 2.6), (8, 7.4), (8, 9), (8, 1e4))
    assert duration_classes(took)[:5].tolist() == [0, 0, 1, 1, 2]
    found = up_to_last(duration_classes(took))
    assert (found[:3], found[-1], len(found), sum(found)) == ([2, 2, 1], 1, CLASSES, 6)


@given(st.integers(0, 10**6), st.sampled_from(["of-day", "of-week", "date"]))
@settings(max_examples=9)
def test_measures_keep_their_bounds_and_what_stays_is_whole(seed: int, times: TimesName) -> None:
    rng, n = np.random.default_rng(seed), 12
    points, moved = on_earth(rng.normal(0, 900, (2, n, 3, 2)))
    clock = Clock(times, "Europe/Madrid", 300)
    begin = 1_700_000_000.0 + rng.uniform(0, 9 * DAY, (2, n, 1))
    before, after = (clock.of(one + np.array([0.0, 300.0, 900.0])) for one in begin)
    same = usefulness(points, points, seconds=Seconds(before, before, clock)).times
    other = usefulness(points, moved, seconds=Seconds(before, after, clock)).times
    assert same is not None
    assert other is not None
    assert (same.flow_similarity, same.departure_error.max) == (1.0, 0.0)
    assert sum(same.by_hour[1]) == sum(other.by_duration[1]) == n
    assert 0.0 <= other.flow_similarity <= 1.0
    again = usefulness(points, moved, seconds=Seconds(before, after, clock)).times
    assert again is not None
    assert asdict(again) == asdict(other)


def test_times_change_nothing_of_places() -> None:
    points, moved = on_earth(np.random.default_rng(0).normal(0, 900, (2, 20, 3, 2)))
    when = np.tile([30_000.0, 30_300.0, 31_000.0], (20, 1))
    timed = usefulness(points, moved, seconds=Seconds(when, when, OF_DAY))
    assert replace(timed, times=None) == usefulness(points, moved)
