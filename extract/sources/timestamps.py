"""The times of a table: its first rows show the format, which holds for all."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.tseries.api import guess_datetime_format as guess

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.columns import Rows, Values, numbers
from trajanon.extract.sources.streams import Reading

_Reader = Callable[[Rows], Floats]  # gives the times of some rows; NaN where there is none

UNREAD_TIMES = "times that could not be read"

_OF_DAY = r"^\s*T?\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?|Z|[-+]\d\d:?\d\d)?\s*$"
_MINUTES_AND_SECONDS = r"^\s*\d{1,3}:\d{2}[.,]\d+\s*$"
_WHOLE_DATE = r"\d{4}|\d{1,2}[-/. ]\w{1,9}[-/. ]\d{2}($|[ T,])"
_OF_CAMERAS = r"^\s*(\d{4}):(\d\d):(\d\d)\b"  # dates of EXIF
_NO_DAY = (
    "the column of times holds times of day ({}), which do not tell one day from another: name a "
    "column with both, `columns` time=..., or one with the day, date=..."
)
_LIKE_A_TIME = r"\d{4}[-/. ]?\d{2}|[-/. ]\d{4}\b|\d:\d\d"
_NAME_OF_TIMES = re.compile(r"time|date|stamp|epoch|utc|\bts$|_ts$", re.IGNORECASE)

_JUDGED, _MOST = 100, 0.9  # values by which a column is judged; share that must be times

EARLIEST, LATEST = 315_532_800.0, 4_102_444_800.0  # of tracks: the beginning of 1980 and 2100

_DAY = 86_400.0
_YEAR_1000 = -30_610_224_000.0
_FINE = 0.02  # the longest usual step of a clock of days or hours; as seconds, none is so fast

_EARLY, _LATE = 946_684_800.0, 2_000_000_000.0
"""The years 2000 and 2033 in seconds since 1970: between them, numbers are read without a note.
Ten-digit numbers beyond are dates, if all of them can be; days beyond are of another clock."""

_LARGEST = 1e19  # ticks of any year are fewer; larger numbers overflow
_FEW = 10  # different numbers, too few to tell times of day from seconds


class TimeColumn:
    """Reads the times of one table, part by part, as seconds since 1970 UTC."""

    def __init__(self, first: Rows, what: str, how: Reading) -> None:
        self._what = what
        self._how = how
        self._rows_before = 0
        self._begun = np.empty(0)  # the times of the first rows
        self._is_relative = False  # to an unknown beginning
        self._read = self._reader(first) if "time" in first else None

    def _reader(self, first: Rows) -> _Reader | None:
        """Find what reads the times, by the first of them; None if they tell no order."""
        values = first["time"]
        if pd.api.types.is_timedelta64_dtype(values):
            return lambda rows: np.asarray(rows["time"].dt.total_seconds().to_numpy(np.float64))
        read: _Reader = _of_dates
        if not pd.api.types.is_datetime64_any_dtype(values):
            are_numbers = 2 * np.isfinite(numbers(values)).sum() > _given(values).sum()
            read = (self._of_numbers if are_numbers else self._of_texts)(first)
        self._begun = begun = read(first)
        known = begun[np.isfinite(begun)]
        if len(values) > 1 and len(known) > 0 and not (known % _DAY).any():
            msg = f"{self._what} has days but no times of day: it is untimed"
            self._how.warn("days", msg, self._what)
            return None
        if len(known) == 0 and _given(values).any():
            msg = (
                f"none of the times of {self._what} can be read, such as {_example(values)!r}: it "
                "is untimed; write them as 2020-09-13T12:26:40Z"
            )
            self._how.warn("no times", msg, self._what)
        elif not self._is_relative and 2 * within(known).sum() < len(known):
            first_time = np.datetime64(int(known.min()), "s")
            self._say("times outside 1980 to 2100", f"{first_time}Z", "they are")
        return read

    def _say(self, what: str, example: str, read_as: str) -> None:
        """Warn of what is read in a way that is not the usual one, once for all files."""
        msg = f"{self._what} has {what} such as {example}: read as {read_as}"
        self._how.warn(f"{what} as {read_as}", msg)

    def _of_numbers(self, first: Rows) -> _Reader:
        """Read numbers on the clock that all of them tell."""
        values = numbers(first["time"])
        example, digits = _example(first["time"]), _digits(first["time"])
        clock = clock_of(values)
        if clock in (RELATIVE, None) and "date" in first:
            of_day = clock_of_day(values, digits)
            if of_day is None:
                raise BadInput(
                    f"the times of {self._what}, such as {example}, are no times of day: write "
                    "them as 12:26:40, or name another column with `columns` time=..."
                )
            self._say("times of day", example, of_day.name)
            day = self._day(first["date"])
            return lambda rows: day(rows) + of_day.seconds(numbers(rows["time"]))
        zeros = digits == 6 and bool((values < 1e5).any())  # only a time of day has six of them
        if clock is RELATIVE and (seems_of_day(values) or zeros):
            raise BadInput(_NO_DAY.format(example))
        if clock is None:
            raise BadInput(
                f"the times of {self._what}, such as {example}, are numbers of no known clock: "
                "write them as 2020-09-13T12:26:40Z, or as seconds since 1970"
            )
        if not clock.usual:
            begun = clock.seconds(values[np.isfinite(values)][:1]).astype("datetime64[s]")
            day_said = "" if clock is RELATIVE else f", {begun.astype('datetime64[D]')[0]}"
            self._say("times", example, clock.name + day_said)
        self._is_relative = clock is RELATIVE

        def read(rows: Rows) -> Floats:
            with np.errstate(over="ignore"):
                seconds = clock.seconds(numbers(rows["time"]))
            return np.where(within(seconds) | self._is_relative, seconds, np.nan)

        return read

    def _of_texts(self, first: Rows) -> _Reader:
        texts = _texts(first["time"]).drop_null()
        if _most_match(texts, _MINUTES_AND_SECONDS) or _beyond_a_day(texts):
            raise BadInput(
                f"the times of {self._what}, such as {texts[0]}, have minutes and seconds but no "
                "hours, as a spreadsheet shows and saves them: export the table again with whole "
                "times, such as 2020-09-13T12:26:40Z"
            )
        if not _most_match(texts, _OF_DAY):
            return _reader_of_texts(lambda rows: _texts(rows["time"]), first)
        if "date" not in first:
            raise BadInput(_NO_DAY.format(texts[0]))
        # Who writes AM and PM writes the month first.
        day = self._day(first["date"], month_first=_most_match(texts, r"[AaPp]\.?[Mm]"))

        def in_1970(rows: Rows) -> pa.StringArray:
            of_day = pc.utf8_trim_whitespace(_texts(rows["time"]))
            return pc.binary_join_element_wise("1970-01-01", of_day, " ")

        of_day = _reader_of_texts(in_1970, first)
        return lambda rows: day(rows) + of_day(rows)

    def _day(self, values: Values, *, month_first: bool = False) -> _Reader:
        """Find how days are written, in digits alone or otherwise, and read them."""
        dates = pd.api.types.is_datetime64_any_dtype(values)
        digits = np.full(len(values), np.nan) if dates else numbers(values)
        if 2 * np.isfinite(digits).sum() <= _given(values).sum():
            first = {"date": values}
            read = _reader_of_texts(lambda rows: _texts(rows["date"]), first, month_first)
            return lambda rows: _DAY * np.floor(read(rows) / _DAY)
        forms = days_of(digits)
        example = _example(values)
        if len(forms) != 1:
            days = (seconds.astype("datetime64[s]").astype("datetime64[D]") for _, seconds in forms)
            may_be = " or ".join(str(day[0]) for day in days)
            raise BadInput(
                f"the days of {self._what}, such as {example}, may be {may_be or 'anything'}: "
                "write them as 2020-09-13"
            )
        form = forms[0][0]
        if form != "YYYYMMDD":
            self._say("days", example, form)
        return lambda rows: seconds_of_digits(numbers(rows["date"]), form)

    def seconds(self, rows: Rows, how: Reading) -> Floats:
        """Read the times of the next part of the table; NaN where there is none."""
        size = len(rows["time" if "time" in rows else "lat"])
        before, self._rows_before = self._rows_before, self._rows_before + size
        if self._read is None:
            return np.full(size, np.nan)
        read = self._begun[before : before + size]
        if len(read) < size:
            read = self._read(rows)
        unread = np.isnan(read) & _given(rows["time"])
        if unread.any():
            how.counts[UNREAD_TIMES] += int(unread.sum())
        return read


def _of_dates(rows: Rows) -> Floats:
    return _seconds(rows["time"])


def holds_times(values: pd.Series, name: str) -> bool:
    """Say whether a column holds times; numbers only if its name says so and they can be."""
    some = pd.Series(values.dropna().head(_JUDGED).tolist())  # of whatever type
    kind = pd.api.types.infer_dtype(some)
    if kind in ("datetime64", "timedelta64", "timedelta", "date", "datetime", "time"):
        return True
    if kind not in ("string", "integer", "floating", "decimal"):
        return False
    epochs = numbers(some)
    if np.isfinite(epochs).any():
        clock = clock_of(epochs)
        return bool(clock and _NAME_OF_TIMES.search(name) and within(clock.seconds(epochs)).all())
    texts = _texts(some)
    if pc.sum(pc.match_substring_regex(texts, _LIKE_A_TIME)).as_py() < _MOST * len(texts):
        return False
    return bool(np.isfinite(_seconds_of_mixed(texts)).mean() >= _MOST)


def _given(values: Values) -> Bools:
    known = values.is_valid() if isinstance(values, pa.ChunkedArray) else values.notna()
    return np.asarray(known)


def _texts(values: Values) -> pa.StringArray:
    if not isinstance(values, pa.ChunkedArray):
        if not pd.api.types.is_string_dtype(values):
            values = values.astype("string")
        values = pa.array(values, from_pandas=True)
    texts = values.cast(pa.string())
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _example(values: Values) -> str:
    """Give the first value, as it is written."""
    return str(np.asarray(values, object)[_given(values)][0]).strip()


def _digits(values: Values) -> int | None:
    """Count the digits before the point, if each value is written with as many, zeros and all."""
    if not isinstance(values, pa.ChunkedArray) and not pd.api.types.is_string_dtype(values):
        return None
    whole = pc.replace_substring_regex(_texts(values).drop_null(), r"[.,].*|\s", "")
    sizes = pc.unique(pc.utf8_length(whole))
    return int(sizes[0].as_py()) if len(sizes) == 1 else None


def _most_match(texts: pa.StringArray, pattern: str) -> bool:
    return 2 * (pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0) > len(texts)


def _beyond_a_day(texts: pa.StringArray) -> bool:
    """Say whether times such as 25:40 tell that 10:20 has minutes and seconds, too."""
    short = texts.filter(pc.match_substring_regex(texts, r"^\s*\d{1,3}:\d{2}\s*$"))
    first = pc.cast(pc.utf8_trim_whitespace(pc.replace_substring_regex(short, ":.*", "")), "int64")
    return 2 * len(short) > len(texts) and (pc.max(first).as_py() or 0) > 24


def _reader_of_texts(
    texts_of: Callable[[Rows], pa.StringArray], first: Rows, month_first: bool = False
) -> _Reader:
    """Read texts, those first that are written in the format of most, then all others."""
    form = _format(texts_of(first).drop_null(), month_first)
    day_first = form.startswith("%d")
    ways: list[Callable[[pa.StringArray], Floats]] = [
        lambda some: _seconds_of_mixed(some, day_first=day_first)
    ]
    if form:
        ways.insert(0, lambda some: _seconds(some.to_pandas(), format=form))
    if form and not form.startswith("%Y-%m-%d"):
        ways.insert(0, lambda some: _by_arrow(some, form))

    def seconds(rows: Rows) -> Floats:
        texts = texts_of(rows)
        read = np.full(len(texts), np.nan)
        for way in ways:
            unread = np.isnan(read) & texts.is_valid().to_numpy(zero_copy_only=False)
            if unread.any():
                read[unread] = way(texts.filter(pa.array(unread)))
        return read

    return seconds


def _format(texts: pa.StringArray, month_first: bool) -> str:
    """Find the format that reads most of the texts; empty if there is none."""

    def likelihood(form: str) -> tuple[int, float, bool]:
        """Then the shorter span is right, or the order in most of the world."""
        read = _seconds(texts.to_pandas(), format=form)
        known = read[np.isfinite(read)]
        span = np.ptp(known) if len(known) else 0.0
        return len(known), -span, form.startswith("%d") != ("%p" in form or month_first)

    for text in texts[:_JUDGED].to_pylist():
        # After a year that comes first, the day is never next.
        orders = (False,) if text.strip()[:4].isdigit() else (False, True)
        with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
            forms = [guess(text, dayfirst=day_first) for day_first in orders]
        found = list(dict.fromkeys(form for form in forms if form))  # of equal ones the first wins
        if found:
            return str(max(found, key=likelihood) if found[1:] else found[0])
    return ""


def _seconds_of_mixed(texts: pa.StringArray, *, day_first: bool = False) -> Floats:
    """Read texts one by one; pandas would give those without a year, or a day, one of its own."""
    texts = pc.replace_substring_regex(texts, _OF_CAMERAS, r"\1-\2-\3")
    whole = pc.if_else(pc.match_substring_regex(texts, _WHOLE_DATE), texts, None)
    return _seconds(whole.to_pandas(), format="mixed", dayfirst=day_first)


def _by_arrow(texts: pa.StringArray, form: str) -> Floats:
    """Read texts in a format of whole seconds, which Arrow does many times as fast as pandas."""
    if not set(re.findall("%.", form)) <= {"%Y", "%m", "%d", "%H", "%M", "%S"}:
        return np.full(len(texts), np.nan)
    # Arrow makes 1 March of 30 February, and takes 60 seconds: such is left to pandas.
    risky = pc.match_substring_regex(texts, r"\b(29|3[01]|6\d)\b")
    times = pc.strptime(pc.if_else(risky, None, texts), form, "s", error_is_null=True)
    seconds = times.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.where(seconds > _YEAR_1000, seconds, np.nan)  # or a year of two digits


def _seconds(values: pd.Series, **how: str | bool) -> Floats:
    """Read dates, or texts of them, by pandas."""
    with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
        times = pd.to_datetime(values, utc=True, errors="coerce", **how)
    microseconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy()
    return np.where(times.isna().to_numpy(), np.nan, microseconds / 1e6)


class Clock(NamedTuple):
    """What a number of a column stands for."""

    name: str  # in words
    seconds: Callable[[Floats], Floats]  # of the numbers, since 1970 UTC; NaN for impossible ones
    usual: bool = False  # whether it is read without a note


def _parts(name: str, per_second: float, zero: float = 0.0) -> Clock:
    """Count parts of a second, from a beginning in seconds since 1970."""
    return Clock(name, lambda numbers: numbers / per_second + zero, usual=not zero)


def _days(name: str, zero: float, unit: float = _DAY) -> Clock:
    """Count days, or another unit of seconds; at ``zero`` 1970 begins."""
    return Clock(name, lambda numbers: np.round((numbers - zero) * unit, 3))


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
    _days("hours since 1970", 0.0, 3600.0),
)
_MINUTES = Clock("minutes since 1970", lambda numbers: numbers * 60.0)
RELATIVE = Clock("seconds from an unknown beginning", lambda numbers: numbers)


def clock_of(numbers: Floats) -> Clock | None:
    """Find the clock of most of the numbers; None if it cannot be determined."""
    numbers = numbers[np.abs(numbers) < _LARGEST]
    if stamp := _stamp_of(numbers):
        return stamp
    if found := next((clock for clock in _INSTANTS if _fits(clock, numbers)), None):
        middle = float(np.median(found.seconds(numbers)))
        return found._replace(usual=found.usual and _EARLY <= middle < _LATE)
    steps = np.abs(np.diff(numbers))
    if (steps > 0.0).any() and np.median(steps[steps > 0.0]) < _FINE:  # must be parts of days
        days = [clock for clock in _DAYS if _fits(clock, numbers, _LATE)]
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


_STAMPS: Mapping[tuple[float, float], Sequence[str]] = {
    (1e12, 3.2e13): ("YYYYMMDDhhmmss", "DDMMYYYYhhmmss"),
    (1.98e11, 2.1e11): ("YYYYMMDDhhmm",),
    (1e10, 9.91e11): ("YYMMDDhhmmss", "DDMMYYhhmmss", "MMDDYYhhmmss"),
    (_LATE, 9.92e9): ("YYMMDDhhmm",),
    (1.98e7, 2.1e7): ("YYYYMMDD",),
}
"""Dates in digits alone, by the numbers that they lie between; the first is the most usual."""


def _stamp_of(numbers: Floats) -> Clock | None:
    """Find the digits of dates that all of the numbers in range can be, of the shorter span."""
    per_second = 1000.0 if _most((numbers >= 1.98e16) & (numbers < 2.1e16)) else 1.0
    for (least, most), forms in _STAMPS.items():
        inside = (numbers >= least * per_second) & (numbers < most * per_second)
        found = [_clock_of_digits(form, per_second) for form in forms if _most(inside)]
        read = [(clock, clock.seconds(numbers[inside])) for clock in found]
        whole = [(float(np.ptp(times)), clock) for clock, times in read if np.isfinite(times).all()]
        if whole:
            return min(whole, key=lambda one: one[0])[1]
    return None


def _clock_of_digits(form: str, per_second: float = 1.0) -> Clock:
    name = form + "sss" * (per_second > 1.0)
    return Clock(name, lambda numbers: seconds_of_digits(numbers / per_second, form))


def seconds_of_digits(numbers: Floats, form: str) -> Floats:
    """Read digits as times from 1980 to 2100, or as a time of day; NaN where they are none."""
    whole = np.floor(numbers)
    zero = np.zeros_like(whole)
    fields = dict.fromkeys("hms", zero)
    places = [i for i, sign in enumerate(form) if i == 0 or sign != form[i - 1]]
    rest = whole
    for begin, end in reversed(list(pairwise([*places, len(form)]))):
        rest, fields[form[begin]] = np.divmod(rest, 10.0 ** (end - begin))
    right = (rest == 0.0) & (fields["h"] < 24.0) & (fields["m"] < 60.0) & (fields["s"] < 60.0)
    right &= np.isfinite(numbers)
    seconds = (fields["h"] * 60.0 + fields["m"]) * 60.0 + fields["s"] + (numbers - whole)
    if "Y" not in form:
        return np.where(right, seconds, np.nan)
    year = fields["Y"]
    if form.count("Y") == 2:
        year = np.where(year < 80.0, 2000.0, 1900.0) + year
    right &= (year >= 1980.0) & (year < 2100.0) & (fields["D"] >= 1.0)
    right &= (fields["M"] >= 1.0) & (fields["M"] <= 12.0)
    year, month = np.where(right, year, 1980.0), np.where(right, fields["M"], 1.0)
    months = ((year - 1970.0) * 12.0 + month - 1.0).astype("datetime64[M]")
    day = np.where(right, fields["D"] - 1.0, 0.0).astype("timedelta64[D]")
    days = months.astype("datetime64[D]") + day
    right &= days.astype("datetime64[M]") == months  # no 30 February
    return np.where(right, days.astype(np.int64) * _DAY + seconds, np.nan)


def seems_of_day(numbers: Floats) -> bool:
    """Say whether numbers without a day can hardly be other than hhmmss: 080000, 080020, 080100."""
    numbers = np.unique(numbers[np.isfinite(numbers)])
    return len(numbers) >= _FEW and numbers[-1] >= 100.0 and _all_of_day(numbers, "hhmmss")


def clock_of_day(numbers: Floats, digits: int | None) -> Clock | None:
    """Find how numbers with a given number of digits before the point give the time of day."""
    numbers = numbers[np.isfinite(numbers)]
    highest = float(numbers.max(initial=0.0))
    if highest < 1.0 and not _are_whole(numbers):
        return _days("shares of a day", 0.0)
    form = "hhmm" if digits == 4 or (digits != 6 and highest < 2400.0) else "hhmmss"
    if _all_of_day(numbers, form):
        return _clock_of_digits(form)
    if highest < _DAY and highest >= 2400.0:
        return RELATIVE._replace(name="seconds of the day")
    return None


def _all_of_day(numbers: Floats, form: str) -> bool:
    whole = form == "hhmmss" or _are_whole(numbers)
    return whole and bool(np.isfinite(seconds_of_digits(numbers, form)).all())


DAYS = ("YYYYMMDD", "DDMMYYYY", "MMDDYYYY", "YYMMDD", "DDMMYY", "MMDDYY")


def days_of(numbers: Floats) -> list[tuple[str, Floats]]:
    """List how digits can be read as days, and the seconds since 1970 of each, best first."""
    numbers = numbers[np.isfinite(numbers)]
    long = _most(numbers >= 1e6)
    read = [(form, seconds_of_digits(numbers, form)) for form in DAYS if ("YYYY" in form) == long]
    whole = [(form, seconds) for form, seconds in read if np.isfinite(seconds).all()]
    shortest = min((float(np.ptp(seconds)) for _, seconds in whole if len(seconds)), default=0.0)
    best = [(form, seconds) for form, seconds in whole if np.ptp(seconds) == shortest]
    return best[:1] if best and best[0][0] == "YYYYMMDD" else best
