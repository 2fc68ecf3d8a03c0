"""Local time: zones, days that begin at 03:00, and the clock by which a release counts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from zoneinfo import available_timezones

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import TimesName
from trajanon.trajectories.geodesy import wrapped
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


def refuse_unknown_zone(timezone: str) -> None:
    """Refuse a zone that is not known."""
    if timezone not in _zones():
        raise BadInput(
            f"`timezone` {timezone!r} is not known: name one of the IANA database, such as "
            "Europe/Madrid"
        )


@dataclass(frozen=True, slots=True)
class Clock:
    """How the times of a release are counted, as its sentence says: departures from 03:00 on."""

    times: TimesName
    timezone: str  # the local zone, by its name in the IANA database
    step: int  # seconds; written times are multiples

    def __post_init__(self) -> None:
        """Refuse a zone that is not known."""
        refuse_unknown_zone(self.timezone)

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
            match = re.fullmatch(words, sentence or "", re.ASCII)
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
            local -= 4 * DAY  # the first Monday came four days after 1970-01-01
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
    # Zones are computed of whole seconds; the fractions are added again.
    whole_seconds = np.floor(times)
    # Times that are not known, NaN, stay so: what is computed of 0 in their place is NaN again.
    whole_numbers = np.nan_to_num(whole_seconds).astype(np.int64)
    dates = pd.to_datetime(whole_numbers, unit="s", utc=True)
    on_the_wall = dates.tz_convert(timezone).tz_localize(None).as_unit("s").asi8
    return np.asarray(on_the_wall + (times - whole_seconds))


def local_days(times: Floats, timezone: str) -> Ints:
    """Number the local days, which begin at 03:00, of seconds since 1970-01-01 UTC, (n,)."""
    refuse_unknown_zone(timezone)
    return np.floor((_local_seconds(times, timezone) - DAY_BEGINS) / DAY).astype(np.int64)


def zone_of(places: Floats) -> str:
    """Name the local zone of the middle of places, (..., 2), in degrees."""
    import tzfpy

    lat, lon = np.moveaxis(places, -1, 0)
    # On both sides of the antimeridian, longitudes are counted on to the east, beyond 180 degrees.
    if lon.max() - lon.min() > 180.0 and (np.abs(lon) > 90.0).all():
        lon = lon % 360.0
    return str(tzfpy.get_tz(float(wrapped(lon.mean())), float(lat.mean())))


def departure_days(trajectories: Trajectories) -> Ints | None:
    """Number the local days of departures, (n,), one each where unknown; None without times."""
    if trajectories.times is None:
        return None
    departures = trajectories.times[:, 0]
    zone = zone_of(trajectories.points)
    day = local_days(np.nan_to_num(departures), zone)

    # Where a departure is unknown, the day has a number of its own, below all others.
    days_of_their_own = day.min() - 1 - np.arange(len(day))
    return np.where(np.isnan(departures), days_of_their_own, day)
