"""Times: what those of a release count from, and how they are released."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from zoneinfo import available_timezones

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats, Ints
from trajanon.common.declared_options import HEAVIEST, ReleaseSettings, TimesName
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.trajectories.geodesy import radii
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.tracks import Tracks
from trajanon.trajectories.trajectories import Trajectories

MINUTE = 60  # seconds
HOUR = 3_600
DAY = 86_400
WEEK = 604_800

DAY_BEGINS = 3 * HOUR
"""Local time at which a day of transport begins: fewest are under way then."""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_SENTENCES: Mapping[TimesName, str] = {
    "of-day": "times are seconds since 00:00 local time ({zone}) of a day that begins at 03:00, "
    "rounded to {step} s",
    "of-week": "times are seconds since Monday 00:00 local time ({zone}) of a week that begins at "
    "03:00, rounded to {step} s",
    "date": "times are seconds since 1970-01-01 00:00 UTC, rounded to {step} s; local time is "
    "{zone}",
}


@cache
def _zones() -> frozenset[str]:
    """Return the names of all zones, found once: they are looked for on the disk."""
    return frozenset(available_timezones())


@dataclass(frozen=True, slots=True)
class Clock:
    """How the times of a release are counted, as its sentence says: departures from 03:00 on."""

    times: TimesName
    timezone: str  # the local zone, by its name in the IANA database
    step: int  # seconds; written times are multiples

    def __post_init__(self) -> None:
        """Refuse a zone that is not known."""
        if self.timezone not in _zones():
            raise BadInput(
                f"`timezone` {self.timezone!r} is not known: name one of the IANA database, such "
                "as Europe/Madrid"
            )

    @property
    def sentence(self) -> str:
        """Write what the times of a release are: all the words that it may hold of them."""
        return _SENTENCES[self.times].format(zone=self.timezone, step=self.step)

    @classmethod
    def parsed(cls, sentence: str | None) -> "Clock | None":
        """Read a sentence; None if it is not exactly that of a clock."""
        for times, form in _SENTENCES.items():
            words = re.escape(form).replace(r"\{zone\}", "(?P<zone>[A-Za-z0-9_+/-]+)")
            words = words.replace(r"\{step\}", r"(?P<step>[1-9]\d{0,4})")
            match = re.fullmatch(words, sentence or "")
            if match is not None and match["zone"] in _zones():
                clock = cls(times, match["zone"], int(match["step"]))
                return clock if clock.step <= DAY else None
        return None

    @property
    def period(self) -> float:
        """Return the seconds after which the clock begins again; infinity if it never does."""
        return {"of-day": DAY, "of-week": WEEK}.get(self.times, np.inf)

    def seconds(self, times: Floats) -> Floats:
        """Turn seconds since 1970-01-01 UTC to those of this clock, (n, m).

        Departures, in column 0, are in local time; later points stay as long after them.
        """
        if self.times == "date":
            return times
        local = _local_seconds(times[:, 0], self.timezone)
        if self.times == "of-week":
            local -= 4 * DAY  # 1970-01-01 was a Thursday, and a week begins on Monday
        departure = np.mod(local - DAY_BEGINS, self.period) + DAY_BEGINS
        return departure[:, None] + (times - times[:, :1])

    def rounded(self, seconds: Floats) -> Floats:
        """Round seconds to the step; there is one zero."""
        return np.round(seconds / self.step) * self.step + 0.0

    def _local(self, seconds: Floats) -> Floats:
        """Return local seconds of seconds of this clock; only of dates these are others."""
        return _local_seconds(seconds, self.timezone) if self.times == "date" else seconds

    def hour(self, seconds: Floats) -> Ints:
        """Compute the local hour of the day, 0 to 23, of seconds of this clock."""
        return (np.mod(self._local(seconds), DAY) // HOUR).astype(np.int64)

    def begin_of_hour(self, seconds: Floats) -> Floats:
        """Compute when the local hours began in which these seconds of this clock lie."""
        return seconds - np.mod(self._local(seconds), HOUR)

    def text(self, second: float) -> str:
        """Write a second of this clock: 08:05, Mon 08:05 or 2008-06-08 08:05."""
        if self.times == "date":
            local = float(self._local(np.array([second]))[0])
            return f"{pd.Timestamp(local, unit='s'):%Y-%m-%d %H:%M}"
        days, second_of_day = divmod(int(second), DAY)
        text = f"{second_of_day // HOUR:02d}:{second_of_day % HOUR // MINUTE:02d}"
        return text if self.times == "of-day" else f"{WEEKDAYS[days % 7]} {text}"


def _local_seconds(times: Floats, timezone: str) -> Floats:
    """Count seconds since 1970-01-01 that a clock on the wall showed, as if it were in UTC."""
    whole_seconds = np.floor(times)
    dates = pd.to_datetime(whole_seconds.astype(np.int64), unit="s", utc=True)
    on_the_wall = dates.tz_convert(timezone).tz_localize(None).as_unit("s").asi8
    return np.asarray(on_the_wall + (times - whole_seconds))


def local_days(times: Floats, timezone: str) -> Ints:
    """Number the local days, which begin at 03:00, of seconds since 1970-01-01 UTC, (n,)."""
    return np.floor((_local_seconds(times, timezone) - DAY_BEGINS) / DAY).astype(np.int64)


def zone_of(lat: float, lon: float) -> str:
    """Name the local zone of a place, in degrees."""
    import tzfpy

    return str(tzfpy.get_tz(lon, lat))


def departure_days(trajectories: Trajectories) -> Ints | None:
    """Number the local days of departures, (n,), one each where unknown; None where all are."""
    if trajectories.times is None:
        return None
    departures = trajectories.times[:, 0]
    zone = zone_of(*trajectories.points.mean(axis=(0, 1)))
    day = local_days(np.nan_to_num(departures), zone)
    days_of_their_own = day.min() - 1 - np.arange(len(day))
    return np.where(np.isnan(departures), days_of_their_own, day)


@dataclass(frozen=True, slots=True)
class Timing:
    """How times are released, and how much the departure counts in the search."""

    clock: Clock
    minute_worth: float  # metres, at every point, that count as much as a minute of departures

    def seconds(self, trajectories: Trajectories) -> Floats:
        """Return the times of trajectories by the clock, (n, m)."""
        assert trajectories.times is not None
        return self.clock.seconds(trajectories.times)

    def hours_alone(self, times: Floats) -> tuple[list[str], int]:
        """Name the hours in which one line alone departs, and count all with departures.

        ``times`` are of lines, by the clock, (l, m).
        """
        hours, lines_in_hour = np.unique(self.clock.begin_of_hour(times[:, 0]), return_counts=True)
        return [*map(self.clock.text, hours[lines_in_hour == 1].tolist())], len(hours)

    def departures(self, tracks: Tracks) -> Floats:
        """Return when windows depart, by this clock, that begin at each point of tracks, (t,)."""
        assert tracks.times is not None
        return self.clock.seconds(tracks.times[:, None])[:, 0]


def search_columns(
    trajectories: Trajectories, timing: Timing | None, spread: Floats | None = None
) -> tuple[Floats, Floats | None]:
    """Return the columns that the search compares, and how much each counts beside the others.

    These are the coordinates, (n, 2 m), and with times the departure as the last column. All count
    alike where None is returned. ``spread`` is the standard deviation of each coordinate in all
    data, of which the trajectories are a part.
    """
    columns = trajectories.records
    if timing is not None:
        columns = np.hstack([columns, timing.seconds(trajectories)[:, :1]])
    elif spread is None:
        return columns, None

    # The search gives each column a spread of 1. In a part, they shall count as in all data.
    own_spread = (columns - columns[:1]).std(axis=0, ddof=1)
    own_places = own_spread[: trajectories.records.shape[1]]
    places = own_places if spread is None else spread
    weights = np.ones(len(places))  # also of what is constant, and counts nothing
    if spread is not None:
        varies = own_places > 0.0
        weights[varies] = (own_places / places)[varies] ** 2

    if timing is not None:
        middle = trajectories.points.mean(axis=0)
        spreads = np.append(places, own_spread[-1])
        weights = np.append(weights, departure_weight(middle, spreads, timing.minute_worth))
    return columns, weights


def departure_weight(middle: Floats, spread: Floats, minute_worth: float) -> float:
    """Compute how much a column of departures counts beside those of coordinates.

    A minute counts as ``minute_worth`` metres at every point, in any direction. ``middle`` is the
    mean trajectory, (m, 2), and ``spread`` the standard deviation of each column, (2 m + 1,), in
    degrees and, at last, seconds.
    """
    metres_of_degree = np.radians(np.column_stack(radii(np.radians(middle[:, 0])))).ravel()
    metres = spread[:-1] * metres_of_degree
    if not metres.any():  # all go the same way: hours alone tell them apart
        return 1.0
    squares = (minute_worth / metres[metres > 0.0]) ** 2
    # A displacement in any direction has, on average, half of its square to the north.
    return min(float(0.5 * squares.sum() * (spread[-1] / MINUTE) ** 2), HEAVIEST)


class EndsSeen(NamedTuple):
    """What is known of the departures and arrivals of trajectories."""

    unknown: int  # trajectories without times
    still: int  # trajectories that end when they begin
    departures: Floats  # of those with times, or of a sample, in seconds since 1970 UTC

    @classmethod
    def of(cls, ends: Floats) -> "EndsSeen":
        """Count departures and arrivals, (n, 2)."""
        departure, arrival = ends.T
        is_unknown = np.isnan(departure)
        is_still = arrival <= departure
        return cls(int(is_unknown.sum()), int(is_still.sum()), departure[~is_unknown])


def timing_of(trajectories: Trajectories, settings: ReleaseSettings) -> Timing | None:
    """Make the timing that was asked for, or refuse it; None if times are not released."""
    tracks = trajectories.tracks
    times = trajectories.times
    if settings.align and tracks is not None and tracks.times is None:
        times = None  # windows slide to where no times are known
    ends = None if times is None else EndsSeen.of(times[:, [0, -1]])
    middle = trajectories.points.mean(axis=(0, 1))
    return timing_for(settings, trajectories.origin, len(trajectories), ends, middle)


def timing_for(
    settings: ReleaseSettings, origin: Provenance, n: int, ends: EndsSeen | None, middle: Floats
) -> Timing | None:
    """Make the timing of n trajectories, or refuse it, from what is known of their ends.

    ``middle`` is the place, in degrees, by which the time zone is found. None if times are not
    released.
    """
    if settings.times is None:
        _refuse_settings_of_times(settings)
        return None

    option = f"`times='{settings.times}'`"
    if origin.times is not None:
        raise BadInput(
            f"{option} needs the times of originals, and these are the times of a release: name "
            "what trajanon extract wrote"
        )
    unknown = n if ends is None else ends.unknown
    if ends is None or unknown:
        have = number_of(unknown, f"of {n:,} has", f"of {n:,} have")
        raise BadInput(
            f"{option} needs times, and {have} none: leave traces without times "
            "out with trajanon extract --untimed reject, or release without times"
        )
    if ends.still:
        bear = number_of(ends.still, f"of {n:,} bears", f"of {n:,} bear")
        raise BadInput(
            f"{option} needs times that go on, and {bear} one time from start "
            "to end: leave them out, or release without times"
        )

    zone = zone_of(*middle) if settings.timezone is None else settings.timezone
    clock = Clock(settings.times, zone, settings.time_step)
    departures = clock.rounded(clock.seconds(ends.departures[:, None])[:, 0])
    if departures.min() == departures.max():
        raise BadInput(
            f"{option} would show nothing: all depart at {clock.text(departures[0])}, within "
            f"{clock.step} s; lower `time_step`, or release without times"
        )
    return Timing(clock, settings.minute_worth)


def _refuse_settings_of_times(settings: ReleaseSettings) -> None:
    """Refuse settings that mean nothing in a release without times."""
    for name in ("minute_worth", "time_step", "timezone"):
        value = getattr(settings, name)
        is_for_days = name == "timezone" and settings.days is not None
        if value != getattr(ReleaseSettings, name) and not is_for_days:
            raise BadInput(f"`{name}={value!r}` is for releases with times: add `times='of-day'`")


def time_errors(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Measure how far departures and durations are off, (n,) each, in seconds.

    Both are times by a clock, (n, m), of which one before midnight and one after are a day apart.
    """
    departure_errors: Floats = np.abs(released[:, 0] - original[:, 0])
    return departure_errors, np.abs(durations(released) - durations(original))


def durations(seconds: Floats) -> Floats:
    """Measure how long trips take, (n,)."""
    return seconds[:, -1] - seconds[:, 0]
