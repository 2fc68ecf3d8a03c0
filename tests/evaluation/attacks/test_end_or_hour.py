"""What the nearest line shows is what slow twins find, and no more than it can."""

from dataclasses import replace

import naive_holdout as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import town as timed_town
from toy import ways

import trajanon
from trajanon.common.arrays import Floats
from trajanon.evaluation.attacks.end_or_hour import (
    NEAR_END,
    departures_guessed,
    departures_told,
    ends_guessed,
    ends_told,
    inferred,
)
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.holdout_and_membership import hold_out
from trajanon.release.report_files import checked
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR
from trajanon.trajectories.distances import displacement


def apart(one: float, other: float, cycle: float) -> float:
    """Seconds from one time of a clock to another, the shorter way round."""
    return min((one - other) % cycle, (other - one) % cycle)


def departing(
    points: Floats, departures: Floats, lines: Floats, of_lines: Floats, cycle: float = DAY
) -> Published:
    """Trajectories and lines that depart at these times, and take no time."""
    times, line_times = (
        np.repeat(hours[:, None], points.shape[1], axis=1) for hours in (departures, of_lines)
    )
    labels = np.zeros(len(points), int)
    return Published(points, lines, labels, 2, times=times, line_times=line_times, cycle=cycle)


@given(st.integers(0, 999))
def test_ends_and_departures_are_those_of_slow_twins(seed: int) -> None:
    some, lines = ways(12, 6, seed).points, ways(5, 5, seed + 1).points
    seen = Published(some, lines, np.zeros(12, int), 2)
    right, guessed = ends_told(seen), ends_guessed(seen, lines[:, -1])
    assert right.tolist() == naive.inferred(some, lines, NEAR_END)
    near = [(displacement(end, lines[:, -1]) <= NEAR_END).sum() for end in lines[:, -1]]
    best = lines[int(np.argmax(near)), -1]
    assert guessed.tolist() == [bool(displacement(one[-1], best) <= NEAR_END) for one in some]

    rng = np.random.default_rng(seed)
    departures, of_lines = rng.uniform(0, DAY, 12), rng.choice(rng.uniform(0, DAY, 4), 5)
    timed = departing(some, departures, lines, of_lines)
    right, guessed = departures_told(timed), departures_guessed(timed, of_lines)
    nearest = [int(np.argmin(naive.away(one, lines))) for one in some]
    told = [
        apart(when, of_lines[line], DAY) <= 3600
        for when, line in zip(departures, nearest, strict=True)
    ]
    assert right.tolist() == told
    ways_to_guess = [
        [apart(when, hour, DAY) <= 3600 for when in departures]
        for hour in sorted(set(of_lines))
        if sum(apart(hour, other, DAY) <= 3600 for other in of_lines)
        == max(sum(apart(one, other, DAY) <= 3600 for other in of_lines) for one in of_lines)
    ]
    assert guessed.tolist() == ways_to_guess[0]


def test_midnight_is_no_border_of_a_day_but_dates_go_on() -> None:
    places = ways(1, 1).points
    told = [
        departures_told(
            departing(places, np.array([DAY - 600.0]), places, np.array([600.0]), cycle)
        ).tolist()
        for cycle in (float(DAY), np.inf)
    ]
    assert told == [[True], [False]]


def test_originals_tell_all_of_themselves() -> None:
    places = ways(20, 20).points
    hours = np.tile(np.linspace(0.0, DAY - 1.0, 20)[:, None], (1, places.shape[1]))
    seen = Published(places, places, np.arange(20), 2, times=hours, line_times=hours, cycle=DAY)
    found = inferred(seen)
    assert [one.told for one in found] == [1.0, 1.0]
    assert all(one.guess < 0.5 for one in found)
    assert len(inferred(Published(places, places, np.arange(20), 2))) == 1


def test_the_hour_is_asked_for_where_times_are_released() -> None:
    some = timed_town(40)
    release = trajanon.anonymize(some, 3, times="of-day", timezone="Etc/UTC", effort="fast")
    found = trajanon.evaluate(some, release, holdout=True)
    assert found.holdout is not None
    assert "inference of the hour" in found.holdout.risks
    assert "departs within an hour" in found.holdout.beside
    assert [one["name"] for one in found.account["inferred"]] == [
        "the end of a trip (to 200 m)",
        "the hour of departure",
    ]
    section = found.html.partition("<h3>What the nearest line shows</h3>")[2]
    assert section.partition("</table>")[0].count('<th scope="row">') == 2
    without = trajanon.anonymize(some, 3, effort="fast")
    assert "inference of the hour" not in hold_out(some, checked(without.report)).risks
    lines = np.unique(without.trajectories.points, axis=0)
    assert trajanon.evaluate(some, without).account["inferred"][0]["told"] == pytest.approx(
        np.mean(ends_told(Published(some.points, lines, np.zeros(40, int), 3)))
    )


def test_lines_without_times_are_passed_over() -> None:
    """The adversary takes the nearest line that shows an hour."""
    points = np.array([[[40.0, -3.0], [40.0, -2.99]]])
    lines = np.concatenate([points, points + 0.001, points + 0.01])
    hour = np.array([10 * HOUR])
    departures = np.array([np.nan, 10 * HOUR, 15 * HOUR])
    seen = departing(points, hour, lines, departures)
    assert departures_told(seen).tolist() == [True]
    assert departures_guessed(seen, departures).tolist() == [True]


def test_where_hours_are_released_the_adversary_knows_them_for_the_end_too() -> None:
    """Two ways part; at either hour people go another way."""
    points = np.array([[[40.0, -3.0], [40.01, -3.0], [40.02, east]] for east in (-3.02, -2.98)])
    hours = np.array([0.0, 8.0 * HOUR])
    seen = departing(points, hours, points[::-1], hours[::-1])
    assert ends_told(seen).tolist() == [True, True]
    assert ends_told(replace(seen, line_times=None)).tolist() == [False, True]  # one is guessed
    assert [found.knows for found in inferred(seen)] == [
        "the first two thirds of a trajectory and when it was there",
        "all places of a trajectory",
    ]


def test_a_line_that_was_moved_shows_how_the_way_goes_on() -> None:
    """Its end is 333 m off, and so is all of it: the rest of the way is right."""
    points = np.array([[[40.0, -3.0], [40.01, -3.0], [40.02, -3.0]]])
    lines = points + np.array([0.003, 0.0])
    assert ends_told(Published(points, lines, np.zeros(1, int), 2)).tolist() == [True]
