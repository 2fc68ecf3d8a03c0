"""What the times of a release count from: the day, the week, or 1970; and their local zone."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from zoneinfo import available_timezones

import numpy as np
import pandas as pd

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput

HOUR, DAY, WEEK = 3_600, 86_400, 604_800  # seconds

BEGINS = 3 * HOUR
"""Local time at which a day of transport begins: fewest are under way then."""

DOCUMENTED_DAY = datetime(2001, 1, 1)
"""A Monday: where a format wants a date, seconds of a day or of a week are counted from here.

kepler.gl takes no number of fewer than nine digits for a time.
"""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONDAY = 4 * DAY  # from 1970-01-01, a Thursday

_SENTENCES = {
    "of-day": "times are seconds since 00:00 local time ({zone}) of a day that begins at 03:00, "
    "rounded to {step} s",
    "of-week": "times are seconds since Monday 00:00 local time ({zone}) of a week that begins at "
    "03:00, rounded to {step} s",
    "date": "times are seconds since 1970-01-01 00:00 UTC, rounded to {step} s; local time is "
    "{zone}",
}


@cache
def _zones() -> frozenset[str]:
    """Names of all zones: to look for them on the disk takes tens of milliseconds."""
    return frozenset(available_timezones())


@dataclass(frozen=True, slots=True)
class Clock:
    """How the times of a release are counted.

    ``of-day``, in seconds since 00:00 local time of the day on which a trajectory departs; a day of
    transport begins at 03:00, so departures lie from 03:00 to 27:00. ``of-week``, the same since
    Monday. ``date``, in seconds since 1970-01-01 UTC.
    """

    times: str  # one of these
    timezone: str  # the local zone, by its name in the IANA database
    step: int  # seconds; what is written is a multiple

    def __post_init__(self) -> None:
        if self.timezone not in _zones():
            raise BadInput(
                f"`timezone` {self.timezone!r} is not known: name one of the IANA database, such "
                "as Europe/Madrid"
            )

    @property
    def sentence(self) -> str:
        """What the times of a release are: all the words that it may hold of them."""
        return _SENTENCES[self.times].format(zone=self.timezone, step=self.step)

    @classmethod
    def told(cls, sentence: str | None) -> "Clock | None":
        """Read a sentence; None if it is not exactly that of a clock."""
        for times, form in _SENTENCES.items():
            words = re.escape(form).replace(r"\{zone\}", "(?P<zone>[A-Za-z0-9_+/-]+)")
            words = words.replace(r"\{step\}", r"(?P<step>[1-9]\d{0,4})")
            found = re.fullmatch(words, sentence or "")
            if found is not None and found["zone"] in _zones():
                clock = cls(times, found["zone"], int(found["step"]))
                return clock if clock.step <= DAY else None
        return None

    @property
    def round(self) -> float:
        """Seconds after which the clock begins again; infinity if it never does."""
        return {"of-day": DAY, "of-week": WEEK}.get(self.times, np.inf)

    def of(self, times: Floats) -> Floats:
        """Count seconds since 1970-01-01 UTC by this clock, (n, m), the departure first.

        Local time for the departure; from there on seconds as they pass, also over midnight and
        where clocks are changed.
        """
        if self.times == "date":
            return times
        local = _local(times[:, 0], self.timezone) - (_MONDAY if self.times == "of-week" else 0)
        departure = np.mod(local - BEGINS, self.round) + BEGINS
        return departure[:, None] + (times - times[:, :1])

    def rounded(self, seconds: Floats) -> Floats:
        """Round seconds to the step; there is one zero."""
        return np.round(seconds / self.step) * self.step + 0.0

    def hour(self, seconds: Floats) -> Ints:
        """The local hour of the day, 0 to 23, of seconds of this clock."""
        local = _local(seconds, self.timezone) if self.times == "date" else seconds
        return (np.mod(local, DAY) // HOUR).astype(np.int64)

    def whole_hour(self, seconds: Floats) -> Floats:
        """When the local hours began in which these seconds of this clock lie."""
        local = _local(seconds, self.timezone) if self.times == "date" else seconds
        return seconds - np.mod(local, HOUR)

    def text(self, second: float) -> str:
        """Write a second of this clock: 08:05, Mon 08:05 or 2008-06-08 08:05."""
        if self.times == "date":
            local = float(_local(np.array([second]), self.timezone)[0])
            return f"{pd.Timestamp(local, unit='s'):%Y-%m-%d %H:%M}"
        days, rest = divmod(int(second), DAY)
        text = f"{rest // HOUR:02d}:{rest % HOUR // 60:02d}"
        return text if self.times == "of-day" else f"{WEEKDAYS[days % 7]} {text}"


def _local(times: Floats, timezone: str) -> Floats:
    """Seconds since 1970-01-01 that a clock on the wall showed, as if it were in UTC."""
    whole = np.floor(times)
    there = pd.to_datetime(whole.astype(np.int64), unit="s", utc=True).tz_convert(timezone)
    wall = there.tz_localize(None).as_unit("s").asi8
    return np.asarray(wall + (times - whole))


def zone_of(lat: float, lon: float) -> str:
    """Name the local zone of a place, in degrees."""
    import tzfpy

    return str(tzfpy.get_tz(lon, lat))
