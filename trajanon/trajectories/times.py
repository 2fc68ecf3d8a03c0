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

BEGINS = 3 * HOUR
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
    def round(self) -> float:
        """Return the seconds after which the clock begins again; infinity if it never does."""
        return {"of-day": DAY, "of-week": WEEK}.get(self.times, np.inf)

    def of(self, times: Floats) -> Floats:
        """Count seconds since 1970-01-01 UTC by this clock, (n, m): local time at the departure."""
        if self.times == "date":
            return times
        local = _local(times[:, 0], self.timezone)
        local -= 4 * DAY * (self.times == "of-week")  # from 1970-01-01, a Thursday
        departure = np.mod(local - BEGINS, self.round) + BEGINS
        return departure[:, None] + (times - times[:, :1])

    def rounded(self, seconds: Floats) -> Floats:
        """Round seconds to the step; there is one zero."""
        return np.round(seconds / self.step) * self.step + 0.0

    def hour(self, seconds: Floats) -> Ints:
        """Compute the local hour of the day, 0 to 23, of seconds of this clock."""
        local = _local(seconds, self.timezone) if self.times == "date" else seconds
        return (np.mod(local, DAY) // HOUR).astype(np.int64)

    def whole_hour(self, seconds: Floats) -> Floats:
        """Compute when the local hours began in which these seconds of this clock lie."""
        local = _local(seconds, self.timezone) if self.times == "date" else seconds
        return seconds - np.mod(local, HOUR)

    def text(self, second: float) -> str:
        """Write a second of this clock: 08:05, Mon 08:05 or 2008-06-08 08:05."""
        if self.times == "date":
            local = float(_local(np.array([second]), self.timezone)[0])
            return f"{pd.Timestamp(local, unit='s'):%Y-%m-%d %H:%M}"
        days, of_day = divmod(int(second), DAY)
        text = f"{of_day // HOUR:02d}:{of_day % HOUR // 60:02d}"
        return text if self.times == "of-day" else f"{WEEKDAYS[days % 7]} {text}"


def _local(times: Floats, timezone: str) -> Floats:
    """Count seconds since 1970-01-01 that a clock on the wall showed, as if it were in UTC."""
    seconds = np.floor(times)
    dates = pd.to_datetime(seconds.astype(np.int64), unit="s", utc=True).tz_convert(timezone)
    wall = dates.tz_localize(None).as_unit("s").asi8
    return np.asarray(wall + (times - seconds))


def local_days(times: Floats, timezone: str) -> Ints:
    """Number the local days, which begin at 03:00, of seconds since 1970-01-01 UTC, (n,)."""
    return np.floor((_local(times, timezone) - BEGINS) / DAY).astype(np.int64)


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
    return np.where(np.isnan(departures), day.min() - 1 - np.arange(len(day)), day)


@dataclass(frozen=True, slots=True)
class Timing:
    """How times are released, and how much the departure counts in the search."""

    clock: Clock
    minute_worth: float  # metres at every point that a minute between departures counts as

    def seconds(self, trajectories: Trajectories) -> Floats:
        """Count the times of trajectories by the clock, (n, m)."""
        assert trajectories.times is not None
        return self.clock.of(trajectories.times)

    def hours_alone(self, times: Floats) -> tuple[list[str], int]:
        """Name the hours in which one line alone departs, and count all with departures."""
        hours, lines = np.unique(self.clock.whole_hour(times[:, 0]), return_counts=True)
        return [*map(self.clock.text, hours[lines == 1].tolist())], len(hours)

    def departures(self, tracks: Tracks) -> Floats:
        """Count the time by this clock at each point of the tracks, (t,)."""
        assert tracks.times is not None
        return self.clock.of(tracks.times[:, None])[:, 0]


def search_columns(
    trajectories: Trajectories, timing: Timing | None, spread: Floats | None = None
) -> tuple[Floats, Floats | None]:
    """Return what the search sees, (n, 2 m), with times also the departure, last; and weights."""
    columns = trajectories.records
    if timing is not None:
        columns = np.hstack([columns, timing.seconds(trajectories)[:, :1]])
    elif spread is None:
        return columns, None

    # Of a part of the data, columns count as they do in all of them.
    deviations = (columns - columns[:1]).std(axis=0, ddof=1)
    of_places = deviations[: trajectories.records.shape[1]]
    of_all = of_places if spread is None else spread
    weights = np.ones(len(of_all))  # also of what is constant, and counts nothing
    if spread is not None:
        weights[of_places > 0.0] = (of_places / of_all)[of_places > 0.0] ** 2

    if timing is not None:
        middle = trajectories.points.mean(axis=0)
        spreads = np.append(of_all, deviations[-1])
        weights = np.append(weights, departure_weight(middle, spreads, timing.minute_worth))
    return columns, weights


def departure_weight(middle: Floats, spread: Floats, minute_worth: float) -> float:
    """Weigh the departure: a minute counts as ``minute_worth`` metres at every point, any way."""
    degree = np.radians(np.column_stack(radii(np.radians(middle[:, 0])))).ravel()  # in metres
    metres = spread[:-1] * degree
    if not metres.any():  # all go the same way: hours alone tell them apart
        return 1.0
    squares = (minute_worth / metres[metres > 0.0]) ** 2
    return min(float(0.5 * squares.sum() * (spread[-1] / MINUTE) ** 2), HEAVIEST)


class EndsSeen(NamedTuple):
    """What is known of the departures and arrivals of trajectories."""

    unknown: int  # trajectories without times
    still: int  # those that end when they begin
    departures: Floats  # of some of the others

    @classmethod
    def of(cls, ends: Floats) -> "EndsSeen":
        """Look at departures and arrivals, (n, 2)."""
        departure, arrival = ends.T
        unknown = np.isnan(departure)
        return cls(int(unknown.sum()), int((arrival <= departure).sum()), departure[~unknown])


def timing_of(trajectories: Trajectories, settings: ReleaseSettings) -> Timing | None:
    """Make the timing that was asked for, or refuse it; None if times are not released."""
    tracks = trajectories.tracks
    times = trajectories.times
    if settings.align and tracks is not None and tracks.times is None:
        times = None
    ends = None if times is None else EndsSeen.of(times[:, [0, -1]])
    middle = trajectories.points.mean(axis=(0, 1))
    return timing_for(settings, trajectories.origin, len(trajectories), ends, middle)


def timing_for(
    settings: ReleaseSettings, origin: Provenance, n: int, ends: EndsSeen | None, middle: Floats
) -> Timing | None:
    """Make the timing of n trajectories from what is known of their ends, and their middle."""
    if settings.times is None:
        for name in ("minute_worth", "time_step", "timezone"):
            value = getattr(settings, name)
            of_days = name == "timezone" and settings.days is not None
            if value != getattr(ReleaseSettings, name) and not of_days:
                raise BadInput(
                    f"`{name}={value!r}` is for releases with times: add `times='of-day'`"
                )
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
    departures = clock.rounded(clock.of(ends.departures[:, None])[:, 0])
    if departures.min() == departures.max():
        raise BadInput(
            f"{option} would show nothing: all depart at {clock.text(departures[0])}, within "
            f"{clock.step} s; lower `time_step`, or release without times"
        )
    return Timing(clock, settings.minute_worth)


def time_errors(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Measure how far departures and durations are off, by a clock that does not go round."""
    departed: Floats = np.abs(released[:, 0] - original[:, 0])
    return departed, np.abs(durations(released) - durations(original))


def durations(seconds: Floats) -> Floats:
    """Measure how long trips take, (n,)."""
    return seconds[:, -1] - seconds[:, 0]
