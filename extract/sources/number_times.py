"""Numbers that are times: all values of a column tell the clock that they count on."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Bools, Floats

EARLIEST, LATEST = 315_532_800.0, 4_102_444_800.0
"""Seconds since 1970 of the beginning of 1980 and of 2100, between which tracks are recorded."""

_DAY = 86_400.0
_FINE = 0.02
"""The longest usual step of a clock that counts days or hours: 29 minutes, or 72 seconds. As
seconds this would be 50 points a second, which no receiver writes."""

_EARLY, _LATE = 946_684_800.0, 2_000_000_000.0
"""Seconds since 1970 of 2000 and of 2033, between which nobody has to be told how they are read.
Numbers of ten digits beyond are dates, if all of them can be; days beyond are another clock's."""

_LARGEST = 1e19  # ticks of any year are fewer; larger numbers overflow
_FEW = 10  # different numbers, too few to tell times of day from seconds


class Clock(NamedTuple):
    """What a number of a column stands for."""

    name: str  # in words
    seconds: Callable[[Floats], Floats]  # of the numbers, since 1970 UTC; NaN for impossible ones
    usual: bool = True  # whether nobody has to be told


def _parts(name: str, per_second: float, zero: float = 0.0) -> Clock:
    """Count parts of a second, from a beginning in seconds since 1970."""
    return Clock(name, lambda numbers: numbers / per_second + zero, usual=not zero)


def _days(name: str, zero: float) -> Clock:
    """Count days; on day ``zero`` 1970 begins."""
    return Clock(name, lambda numbers: np.round((numbers - zero) * _DAY, 3), usual=False)


_INSTANTS = (
    _parts("seconds since 1970", 1.0),
    _parts("milliseconds since 1970", 1e3),
    _parts("microseconds since 1970", 1e6),
    _parts("ticks of .NET", 1e7, -62_135_596_800.0),  # since the year 1
    _parts("nanoseconds since 1970", 1e9),
    _parts("ticks of Windows", 1e7, -11_644_473_600.0),  # since 1601
)
_DAYS = (
    _days("days of Excel", 25_569.0),
    _days("days since 1970", 0.0),
    _days("days of Matlab", 719_529.0),
    _days("Julian days", 2_440_587.5),
)
_HOURS = Clock("hours since 1970", lambda numbers: np.round(numbers * 3600.0, 3), usual=False)
_MINUTES = Clock("minutes since 1970", lambda numbers: numbers * 60.0, usual=False)
RELATIVE = Clock("seconds from an unknown beginning", lambda numbers: numbers, usual=False)


def clock_of(numbers: Floats) -> Clock | None:
    """Find the clock of most of the numbers; None if it cannot be told."""
    numbers = numbers[np.abs(numbers) < _LARGEST]
    if stamp := _stamp_of(numbers):
        return stamp
    if found := next((clock for clock in _INSTANTS if _fits(clock, numbers)), None):
        middle = float(np.median(found.seconds(numbers)))
        return found._replace(usual=found.usual and _EARLY <= middle < _LATE)
    if _is_fine(numbers):
        days = [clock for clock in (*_DAYS, _HOURS) if _fits(clock, numbers, _LATE)]
        return days[0] if len(days) == 1 else None
    if _fits(_MINUTES, numbers) and _are_whole(numbers):
        return _MINUTES
    return RELATIVE if _most(np.abs(numbers) < EARLIEST) else None


def within(seconds: Floats) -> Bools:
    """Tell which times lie between 1980 and 2100."""
    return np.asarray((seconds >= EARLIEST) & (seconds < LATEST))


def _fits(clock: Clock, numbers: Floats, latest: float = LATEST) -> bool:
    seconds = clock.seconds(numbers)
    return _most(within(seconds) & (seconds < latest))


def _most(which: Bools) -> bool:
    return bool(2 * which.sum() > len(which))


def _are_whole(numbers: Floats) -> bool:
    return bool((numbers % 1.0 == 0.0).all())


def _is_fine(numbers: Floats) -> bool:
    """Say whether most steps are so short that they must be parts of days."""
    steps = np.abs(np.diff(numbers))
    steps = steps[steps > 0.0]
    return len(steps) > 0 and float(np.median(steps)) < _FINE


_STAMPS: Mapping[tuple[float, float], Sequence[str]] = {
    (1e12, 3.2e13): ("YYYYMMDDhhmmss", "DDMMYYYYhhmmss"),
    (1.98e11, 2.1e11): ("YYYYMMDDhhmm",),
    (1e10, 9.91e11): ("YYMMDDhhmmss", "DDMMYYhhmmss", "MMDDYYhhmmss"),
    (_LATE, 9.92e9): ("YYMMDDhhmm",),
    (1.98e7, 2.1e7): ("YYYYMMDD",),
}
"""Dates in digits alone, by the numbers that they lie between; the first is the most usual."""


def _stamp_of(numbers: Floats) -> Clock | None:
    """Find the digits of dates that all of the numbers can be; the shorter span of time is right.

    A number out of the range is a fault; one within it that is no date tells of another kind.
    """
    per_second = 1000.0 if _most((numbers >= 1.98e16) & (numbers < 2.1e16)) else 1.0
    for (least, most), forms in _STAMPS.items():
        inside = (numbers >= least * per_second) & (numbers < most * per_second)
        found = [_digits(form, per_second) for form in forms if _most(inside)]
        read = [(clock, clock.seconds(numbers[inside])) for clock in found]
        whole = [(float(np.ptp(times)), clock) for clock, times in read if np.isfinite(times).all()]
        if whole:
            return min(whole, key=lambda one: one[0])[1]
    return None


def _digits(form: str, per_second: float) -> Clock:
    name = form + "sss" * (per_second > 1.0)
    return Clock(name, lambda numbers: seconds_of_digits(numbers / per_second, form), usual=False)


def seconds_of_digits(numbers: Floats, form: str) -> Floats:
    """Read numbers whose digits are dates; NaN where they are none between 1980 and 2100.

    Years of two digits are those from 1980 to 2079.
    """
    if "Y" not in form:
        return _of_day(numbers, form)
    whole = np.floor(numbers)
    fields: dict[str, Floats] = {}
    places = [i for i, sign in enumerate(form) if i == 0 or sign != form[i - 1]]
    rest = whole
    for begin, end in reversed(list(pairwise([*places, len(form)]))):
        rest, fields[form[begin]] = np.divmod(rest, 10.0 ** (end - begin))
    year = fields["Y"]
    if form.count("Y") == 2:
        year = np.where(year < 80.0, 2000.0, 1900.0) + year
    zero = np.zeros_like(whole)
    of_day = [fields.get(field, zero) for field in "hms"]
    right = (rest == 0.0) & (year >= 1980.0) & (year < 2100.0)
    right &= (fields["M"] >= 1.0) & (fields["M"] <= 12.0) & (fields["D"] >= 1.0)
    right &= (of_day[0] < 24.0) & (of_day[1] < 60.0) & (of_day[2] < 60.0)
    right &= np.isfinite(numbers)
    year, month = np.where(right, year, 1980.0), np.where(right, fields["M"], 1.0)
    months = ((year - 1970.0) * 12.0 + month - 1.0).astype("datetime64[M]")
    day = np.where(right, fields["D"] - 1.0, 0.0).astype("timedelta64[D]")
    days = months.astype("datetime64[D]") + day
    right &= days.astype("datetime64[M]") == months  # no 30 February
    seconds = days.astype(np.int64) * _DAY + _seconds(*of_day) + (numbers - whole)
    return np.where(right, seconds, np.nan)


def _seconds(hours: Floats, minutes: Floats, seconds: Floats) -> Floats:
    return hours * 3600.0 + minutes * 60.0 + seconds


def _of_day(numbers: Floats, form: str) -> Floats:
    rest, seconds = np.divmod(numbers, 100.0) if "s" in form else (numbers, np.zeros_like(numbers))
    hours, minutes = np.divmod(rest, 100.0)
    right = (hours >= 0.0) & (hours < 24.0) & (minutes < 60.0) & (seconds < 60.0)
    return np.where(right, _seconds(hours, minutes, seconds), np.nan)


def seems_of_day(numbers: Floats) -> bool:
    """Say whether numbers without a day can hardly be other than hhmmss: 080000, 080020, 080100."""
    numbers = np.unique(numbers[np.isfinite(numbers)])
    return len(numbers) >= _FEW and numbers[-1] >= 100.0 and _all_of_day(numbers, "hhmmss")


def clock_of_day(numbers: Floats, digits: int | None) -> Clock | None:
    """Find how numbers beside a day tell its time: as hhmmss, hhmm, a share of it, or seconds.

    ``digits`` is how many each has before the point, if they are written with zeros.
    """
    numbers = numbers[np.isfinite(numbers)]
    highest = float(numbers.max(initial=0.0))
    if highest < 1.0 and not _are_whole(numbers):
        return Clock("shares of a day", lambda part: np.round(part * _DAY, 3), usual=False)
    form = "hhmm" if digits == 4 or (digits != 6 and highest < 2400.0) else "hhmmss"
    if _all_of_day(numbers, form):
        return Clock(form, lambda part: seconds_of_digits(part, form), usual=False)
    if highest < _DAY and highest >= 2400.0:
        return Clock("seconds of the day", lambda part: part, usual=False)
    return None


def _all_of_day(numbers: Floats, form: str) -> bool:
    whole = form == "hhmmss" or _are_whole(numbers)
    return whole and bool(np.isfinite(seconds_of_digits(numbers, form)).all())


DAYS = ("YYYYMMDD", "DDMMYYYY", "MMDDYYYY", "YYMMDD", "DDMMYY", "MMDDYY")


def days_of(numbers: Floats) -> list[tuple[str, Floats]]:
    """List how digits can be read as days, and the seconds since 1970 of each, best first.

    The first reads most of them, over the shorter span of time; others as good stand beside it.
    """
    numbers = numbers[np.isfinite(numbers)]
    long = _most(numbers >= 1e6)
    read = [(form, seconds_of_digits(numbers, form)) for form in DAYS if ("YYYY" in form) == long]
    whole = [(form, seconds) for form, seconds in read if np.isfinite(seconds).all()]
    shortest = min((float(np.ptp(seconds)) for _, seconds in whole if len(seconds)), default=0.0)
    best = [(form, seconds) for form, seconds in whole if np.ptp(seconds) == shortest]
    return best[:1] if best and best[0][0] == "YYYYMMDD" else best
