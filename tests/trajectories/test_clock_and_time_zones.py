"""What times of releases count from: the clock against Python's own calendar."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trajanon.common.search_and_release_options import TimesName
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR, WEEK, WEEKDAYS, Clock, zone_of
from trajanon.trajectories.trajectories import Trajectories

ZONES = (
    "Europe/Madrid",
    "America/Los_Angeles",
    "America/Sao_Paulo",  # without daylight saving since 2019
    "Australia/Sydney",  # summer in January
    "Australia/Lord_Howe",  # clocks are changed by half an hour
    "Asia/Kathmandu",  # 5:45
    "Pacific/Chatham",  # 12:45 and 13:45
    "Pacific/Apia",  # 30 December 2011 never was
    "Africa/Monrovia",  # 44 minutes and 30 seconds behind until 1972
    "UTC",
)
zones = st.sampled_from(ZONES)
instants = st.integers(-3_000_000_000, 4_500_000_000)  # 1874 to 2112
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wall(second: float, zone: str) -> datetime:
    """What a clock on the wall showed."""
    return (EPOCH + timedelta(seconds=second)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def at(zone: str, *date: int) -> float:
    """The instant of a local time."""
    # As many numbers as are given: none of them is a zone, as types fear.
    local = datetime(*date).replace(tzinfo=ZoneInfo(zone))  # type: ignore[arg-type]
    return (local - EPOCH).total_seconds()


def departure(clock: Clock, second: float) -> float:
    return float(clock.seconds(np.array([[float(second)]]))[0, 0])


# Counting


@given(instants, zones)
@example(int(at("Europe/Madrid", 2008, 3, 30, 3)), "Europe/Madrid")  # the hour before never was
@example(int(at("Europe/Madrid", 2008, 10, 26, 2)), "Europe/Madrid")  # this hour was twice
@example(int(at("Europe/Madrid", 2008, 10, 26, 2)) + HOUR, "Europe/Madrid")
@example(-1, "Africa/Monrovia")
def test_a_departure_of_day_is_the_local_time_from_03_00_to_27_00(second: int, zone: str) -> None:
    shown = wall(second, zone)
    of_day = shown.hour * HOUR + shown.minute * 60 + shown.second
    counted = departure(Clock("of-day", zone, 300), second)
    assert counted == (of_day if of_day >= 3 * HOUR else of_day + DAY)
    assert 3 * HOUR <= counted < 3 * HOUR + DAY


@given(instants, zones)
@example(int(at("UTC", 2008, 6, 9, 2, 59, 59)), "UTC")  # a Monday
@example(int(at("UTC", 2008, 6, 9, 3)), "UTC")
def test_a_departure_of_week_counts_from_monday(second: int, zone: str) -> None:
    shown = wall(second, zone)
    since = shown.weekday() * DAY + shown.hour * HOUR + shown.minute * 60 + shown.second
    counted = departure(Clock("of-week", zone, 300), second)
    assert counted == (since if since >= 3 * HOUR else since + WEEK)
    assert counted % DAY == departure(Clock("of-day", zone, 300), second) % DAY


@given(instants, zones, st.lists(st.floats(0, 1e5), min_size=1, max_size=5))
def test_from_the_departure_on_seconds_pass_as_they_do(
    second: int, zone: str, steps: list[float]
) -> None:
    """Also over midnight, the fold, and where clocks are changed."""
    times = second + np.cumsum([[0.0, *steps]], axis=1)
    for kind in ("of-day", "of-week"):
        counted = Clock(kind, zone, 300).seconds(times)
        assert np.diff(counted) == pytest.approx(np.diff(times), abs=1e-3)
    assert np.array_equal(Clock("date", zone, 300).seconds(times), times)


@given(instants, zones, st.floats(0, 1, exclude_max=True))
def test_parts_of_a_second_are_kept(second: int, zone: str, part: float) -> None:
    clock = Clock("of-day", zone, 300)
    assert departure(clock, second + part) == pytest.approx(
        departure(clock, second) + part, abs=1e-6
    )


@given(st.sampled_from(["of-day", "of-week", "date"]), zones)
def test_the_first_and_the_last_times_of_the_calendar_can_be_counted(
    kind: TimesName, zone: str
) -> None:
    clock, known = Clock(kind, zone, 300), np.array([[-62_135_510_400.0], [253_402_214_400.0]])
    Trajectories(np.zeros((2, 2, 2)), times=np.repeat(known, 2, axis=1))
    counted = clock.seconds(known)
    assert np.isfinite(counted).all()
    assert clock.hour(counted[:, 0]).min() >= 0
    assert all(clock.text(one) for one in counted[:, 0].tolist())


# Rounding, hours and texts


@pytest.mark.parametrize("kind", ["of-day", "of-week", "date"])
def test_times_that_are_not_known_stay_so(kind: TimesName) -> None:
    times = np.array([[np.nan, np.nan], [1.7e9, 1.7e9 + 60.0]])
    seconds = Clock(kind, "Europe/Madrid", 300).seconds(times)
    assert np.isnan(seconds).tolist() == [[True, True], [False, False]]


@given(st.floats(-1e9, 1e9), st.integers(1, DAY))
def test_what_is_written_is_a_multiple_of_the_step(seconds: float, step: int) -> None:
    rounded = Clock("of-day", "UTC", step).rounded(np.array([seconds]))[0]
    assert rounded % step == 0
    assert abs(rounded - seconds) <= step / 2 + 1e-6
    assert rounded or not np.signbit(rounded)  # there is one zero
    assert Clock("of-day", "UTC", step).rounded(np.array([rounded]))[0] == rounded


@given(instants, zones)
def test_hours_are_those_of_the_wall(second: int, zone: str) -> None:
    shown = wall(second, zone)
    for kind in ("of-day", "of-week", "date"):
        clock = Clock(kind, zone, 1)
        counted = np.array([departure(clock, second)])
        assert clock.hour(counted).tolist() == [shown.hour]
        began = counted[0] - clock.begin_of_hour(counted)[0]
        assert began == shown.minute * 60 + shown.second


@given(instants, zones)
def test_texts_are_what_the_wall_showed(second: int, zone: str) -> None:
    shown = wall(second, zone)
    texts = {
        kind: Clock(kind, zone, 1).text(departure(Clock(kind, zone, 1), second))
        for kind in ("of-day", "of-week", "date")
    }
    assert texts["of-day"] == f"{shown:%H:%M}"
    assert texts["of-week"] == f"{WEEKDAYS[shown.weekday()]} {shown:%H:%M}"
    assert texts["date"] == f"{shown:%Y-%m-%d %H:%M}"


# Words


@given(st.sampled_from(["of-day", "of-week", "date"]), zones, st.integers(1, DAY))
def test_the_sentence_tells_the_clock(kind: TimesName, zone: str, step: int) -> None:
    clock = Clock(kind, zone, step)
    assert Clock.parsed(clock.sentence) == clock


@pytest.mark.parametrize(
    "sentence",
    [
        None,
        "",
        "times are of Ann",
        Clock("of-day", "Europe/Madrid", 300).sentence + " and Ann was there",
        Clock("of-day", "Europe/Madrid", 300).sentence.replace("Madrid", "Ann"),
        Clock("of-day", "Europe/Madrid", 300).sentence.replace("300", "0"),
        Clock("of-day", "Europe/Madrid", 300).sentence.replace("300", "0300"),
        Clock("of-day", "Europe/Madrid", 300).sentence.replace("300", "86401"),
        Clock("of-day", "Europe/Madrid", 300).sentence.replace("300", "3\u0660\u0660"),
        Clock("of-day", "Europe/Madrid", 300).sentence + "\n",
    ],
)
def test_other_sentences_tell_none(sentence: str | None) -> None:
    assert Clock.parsed(sentence) is None


@pytest.mark.parametrize(
    ("places", "zone"),
    [
        ([[40.42, -3.70]], "Europe/Madrid"),
        ([[-44.0, -176.5]], "Pacific/Chatham"),
        # The middle of Fiji, which lies on both sides of the antimeridian.
        ([[-17.0, 177.5], [-17.0, -179.5], [-17.0, 179.0]], "Pacific/Fiji"),
        # East and west of Greenwich.
        ([[47.0, -80.0], [47.0, 110.0]], "Europe/Vienna"),
    ],
)
def test_the_middle_of_places_has_its_zone(places: list[list[float]], zone: str) -> None:
    assert zone_of(np.array(places)) == zone


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_every_place_has_a_zone_that_a_clock_knows(lat: float, lon: float) -> None:
    clock = Clock("of-day", zone_of(np.array([[lat, lon]])), 300)
    assert Clock.parsed(clock.sentence) == clock
