"""Departures by hour on the maps: what is counted, and what a public page may tell."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from browsing import LABELS, about, held, layer, means, timed, trajectories, without_times
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.search_and_release_options import TimesName
from trajanon.maps import compare, html, public
from trajanon.maps.drawing import counts_by_hour, hours_of
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import ReleasedTrajectories

ZONE = "America/Los_Angeles"
BY_DAY = {7: 1, 8: 4, 9: 2, 17: 2, 18: 2}  # of the originals
RELEASED = {8: 4, 9: 3, 17: 4}


def counted(counts: list[int]) -> dict[int, int]:
    """The hours in which anybody departs."""
    return {hour: count for hour, count in enumerate(counts) if count}


def page_of(times: TimesName = "of-day") -> str:
    return html(compare(*timed(times), tiles=None))


@pytest.mark.parametrize("times", ["of-day", "date", "of-week"])
def test_departures_are_counted_by_hour(times: TimesName) -> None:
    departures = about(page_of(times))["departures"]
    slots, later = (7 * 24, 24) if times == "of-week" else (24, 0)  # the last street's on Tuesday
    assert {len(departures[name]) for name in ("originals", "released", "groups")} == {slots}
    originals = {hour + later * (hour > 16): count for hour, count in BY_DAY.items()}
    released = {hour + later * (hour > 16): count for hour, count in RELEASED.items()}
    assert counted(departures["originals"]) == originals
    assert counted(departures["released"]) == released
    assert counted(departures["groups"]) == dict.fromkeys(released, 1)


@given(st.sampled_from(["of-day", "of-week", "date"]), st.lists(st.integers(0, 2 * 10**9)))
def test_each_departure_is_in_its_hour(times: TimesName, departures: list[int]) -> None:
    """Against the calendar, hour by hour."""
    clock = Clock(times, ZONE, 300)
    seconds = clock.seconds(
        np.array(departures, dtype=float).reshape(-1, 1) + np.array([0.0, 840.0])
    )
    hours = hours_of(clock, seconds)
    there = [datetime.fromtimestamp(second, ZoneInfo(ZONE)) for second in departures]
    week = 24 if times == "of-week" else 0
    assert hours.tolist() == [at.hour + week * at.weekday() for at in there]
    assert sum(counts_by_hour(clock, hours)) == len(departures)
    copies = np.arange(len(departures))
    assert sum(counts_by_hour(clock, hours, copies)) == copies.sum()


@pytest.mark.parametrize(
    ("times", "when", "clock"),
    [
        ("of-day", "17:30, 15 min", "Hours of the day, local time (Europe/Madrid). Released times"),
        ("of-week", "Tue 17:30, 15 min", "Hours of the week, local time"),
        ("date", "2024-06-04 17:30, 15 min", "Hours of the day, of all dates"),
    ],
)
def test_lines_know_their_hour_and_groups_say_when_they_depart(
    times: TimesName, when: str, clock: str
) -> None:
    page = page_of(times)
    said = about(page)
    assert said["groups"]["when"][2] == when
    assert said["departures"]["clock"].startswith(clock)
    assert said["departures"]["clock"].endswith("times are means of groups, rounded to 5 min.")
    hours = np.array([7, 8, 8, 17, 9, 8, 17, 18, 9, 18, 8])
    later = 24 * (times == "of-week") * (hours > 16)
    assert layer(page, "hours-originals") == (hours + later).tolist()


def test_the_panel_speaks_of_trips_and_of_times() -> None:
    said = about(page_of())
    assert said["facts"][0] == ["Trips, n", "11"]
    facts = dict(said["facts"])
    assert "Information loss, of places" in facts
    assert facts["Departure off by, mean"] == "22 min"
    words = str([said[part] for part in ("headline", "facts")]).lower()
    for word in ("window", "slid", "track", "trajector"):
        assert word not in words
    original, release, given = timed()
    said = about(html(compare(original, release, given | {"counted": "records"}, tiles=None)))
    assert said["headline"] == "k = 3 trips"
    assert ["Trips in each group", "at least 3"] in said["facts"]


def test_a_release_without_times_has_no_hours_whatever_the_originals_know() -> None:
    original, release, report = timed()
    page = html(compare(original, *without_times(release, report), tiles=None))
    assert "departures" not in about(page)
    assert "hour" not in about(page)["groups"]
    assert not {name for name in about(page)["layers"] if "hours" in name}


def test_a_public_page_tells_the_hours_of_the_release_alone() -> None:
    _, release, _ = timed()
    page = html(public(release, tiles=None))
    departures = about(page)["departures"]
    assert set(departures) == {"clock", "groups", "released"}
    assert counted(departures["released"]) == RELEASED
    assert set(about(page)["layers"]) == {"released"}
    assert "original" not in str(held(page)).lower()


def test_equal_lines_at_different_times_are_two_groups_of_a_public_page() -> None:
    line = means(trajectories().points, LABELS)[:1]
    hours = np.array([[8.0], [8.0], [17.0], [17.0], [17.0]]) * 3_600.0
    sentence = Clock("of-day", ZONE, 300).sentence
    release = ReleasedTrajectories(
        np.repeat(line, 5, axis=0),
        times=hours + np.linspace(0, 600, 30).round(-2),
        provenance={"times": sentence},
    )
    said = about(html(public(release, tiles=None)))
    assert sorted(zip(said["groups"]["size"], said["groups"]["when"], strict=True)) == [
        (2, "08:00, 10 min"),
        (3, "17:00, 10 min"),
    ]
