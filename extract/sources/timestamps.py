"""The times of a table, read in the format that its first rows show; and times in ISO 8601."""

import math
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.tseries.api import guess_datetime_format

from trajanon.common.arrays import Bools, Floats
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.time_zone_column import seconds_east

UNREAD_TIMES = "times that could not be read"

RowsToSeconds = Callable[[pd.DataFrame], Floats]
"""Reads the times of rows: seconds since 1970 UTC, (rows,); NaN where there is none."""

_VALUES_JUDGED = 100  # the first ones, which show the kind of times

_DAY = 86_400.0  # seconds
_WEEK = 604_800.0

# Texts that are times of day.
_TIME_OF_DAY = re.compile(
    r"T?\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?|Z|[-+]\d\d:?\d\d)?"
)
# hhmmss, or hmmss. Five digits with more decimals are days, as spreadsheets count them.
_DIGITS_OF_DAY = re.compile(r"\d([0-5]\d){2}([.,]\d{1,3})?|([01]\d|2[0-3])([0-5]\d){2}([.,]\d+)?")
_MINUTES_AND_SECONDS = re.compile(r"\d{1,3}:\d{2}[.,]\d+|(2[5-9]|[3-9]\d|\d{3}):\d{2}")
_READ_AS_ORDER = "{} first; if that is wrong, write them as 2020-09-13T12:26:40Z"
_FEW_TEXTS = 9  # of digits: so few need not be times of day

# What pandas would read wrong or not at all, and how it is written for it.
_FOR_PANDAS = (
    # 09:00:00 UTC+2 -> 09:00:00 +2: pandas takes UTC+2 as two hours behind UTC.
    (re.compile(r"(?:GMT|UTC|Z)\s*(?=[-+]\d)"), ""),
    # 2020-09-13-12-26-40 -> 2020-09-13 12:26:40: it takes seconds after a dash as a zone.
    (re.compile(r"^(\s*\d{4}-\d\d-\d\d)[-_ T](\d\d)-(\d\d)-(?=\d\d)"), r"\1 \2:\3:"),
    # 12:26:40 +0000 UTC, as Go writes it, -> 12:26:40 +0000.
    (re.compile(r"([-+]\d\d:?\d\d)\s*\(?[A-Z]{3,5}\)?\s*$"), r"\1"),
)
# CET+1 can mean either side of CET.
_OFFSET_FROM_ZONE = re.compile(r"\d\s*[A-Z]{3,5}[-+]\d{1,2}(?::?\d\d)?\s*$")
_TIME_WITH_ZONE = re.compile(
    r":\d\d(?:[.,]\d+)?\s*(?:Z|UTC|GMT|(?:GMT|UTC)?[-+]\d\d(?::?\d\d)?)(?:\s*\(?[A-Z]{3,5}\)?)?\s*$"
)
_MIDNIGHT = re.compile(r"[ T]0?0:00(:00(\.0+)?)?(Z|\+00:?00)?$")
# With a day, a month and a year: pandas would make up what is missing.
_WHOLE_DATE = (
    r"\d{8}|\d{4}[-/. ]\w{1,9}[-/. ]\d|\d{1,2}[-/. ]\w{1,9}[-/. ](?:\d{2}){1,2}(?:$|[ T,])"
    r"|[A-Za-z]{3,9} \d{1,2},? \d{4}"
)

# Seconds since 1970. No track is from before 1980 or after 2100; numbers that are times from 2000
# to 2033 are read without a warning.
EARLIEST = 315_532_800.0
LATEST = 4_102_444_800.0
_USUAL_TIMES = (946_684_800.0, 2_000_000_000.0)
_STAMPS = (1.98e13, 2.1e13)  # YYYYMMDDhhmmss of these years, as numbers

_GPS_BEGINNING = 315_964_800.0  # the beginning of GPS's clock, which knows no leap seconds
# Days that begin after a leap second: from each on, GPS's clock is one second more ahead of UTC.
_LEAP_DAYS = (
    *("1981-07-01", "1982-07-01", "1983-07-01", "1985-07-01", "1988-01-01", "1990-01-01"),
    *("1991-01-01", "1992-07-01", "1993-07-01", "1994-07-01", "1996-01-01", "1997-07-01"),
    *("1999-01-01", "2006-01-01", "2009-01-01", "2012-07-01", "2015-07-01", "2017-01-01"),
)
# When each of these days begins by GPS's clock, as seconds that are counted from 1970.
_LEAP_DAYS_BY_GPS = (
    np.array(_LEAP_DAYS, "datetime64[s]").astype(np.float64) + 1.0 + np.arange(len(_LEAP_DAYS))
)
_FIRST_CERTAIN_WEEK = 1_024  # of GPS: some receivers begin again at 0 after 1,023

# Seconds of a clock that began at an unknown time. Numbers that begin later, or go on in smaller
# steps, may be days or another unit.
UNKNOWN_BEGINNING = "seconds from an unknown beginning"
_LATEST_BEGINNING = 10_000.0
_SHORTEST_STEP = 0.02


def reader_of_times(first: pd.DataFrame, reading: Reading) -> RowsToSeconds:
    """Find by the first rows of a table how the times of rows are read; columns are roles."""
    role = "gps_seconds" if "gps_seconds" in first else "time"
    if role not in first:
        return lambda rows: np.full(len(rows), np.nan)

    read = _reader_of_role(role, first, reading)
    times_seen = False  # in rows before
    are_days = False  # without times of day, which show no order

    def seconds_of(rows: pd.DataFrame) -> Floats:
        nonlocal read, times_seen, are_days
        is_given = rows[role].notna().to_numpy()
        if read is None and is_given.any():  # the first rows had no time
            read = _reader_of_role(role, rows, reading)
        if read is None or are_days:
            return np.full(len(rows), np.nan)

        seconds = read(rows)
        if "zone" in rows:
            east = seconds_east(seconds, rows["zone"])
            seconds = np.where(_are_local(rows[role]), seconds - east, seconds)

        is_read = np.isfinite(seconds)
        are_first = not times_seen and bool(is_given.any())
        if are_first and not is_read.any():
            raise reading.refusal("no time can be read", example=rows[role][is_given].iloc[0])

        reading.count(UNREAD_TIMES, is_given & ~is_read)
        if are_first and _are_days(seconds[is_read]):
            reading.found("days")
            are_days = True
            seconds = np.full(len(rows), np.nan)
        times_seen |= are_first
        return seconds

    return seconds_of


def _reader_of_role(role: str, first: pd.DataFrame, reading: Reading) -> RowsToSeconds | None:
    """Find by its first rows how the column of times is read; None if it is empty."""
    if role == "gps_seconds":
        return _gps_seconds

    values = first["time"]
    known_values = values.dropna()
    is_dated = "date" in first
    if pd.api.types.is_datetime64_any_dtype(values):
        return lambda rows: _seconds(rows["time"])
    if not len(known_values):
        return None

    examples = [text.strip() for text in _as_texts(known_values.head(_VALUES_JUDGED)).tolist()]
    are_spans = pd.api.types.is_timedelta64_dtype(values)
    if are_spans and not is_dated:
        reading.found("times read as", example=known_values.iloc[0], read_as=UNKNOWN_BEGINNING)
        return lambda rows: rows["time"].dt.total_seconds().to_numpy(np.float64)

    if any(_MINUTES_AND_SECONDS.fullmatch(text) for text in examples):
        raise reading.refusal("minutes without hours", example=examples[0])

    if are_spans or _are_times_of_day(examples, is_dated=is_dated):
        if not is_dated:
            raise reading.refusal("times of day alone", example=examples[0])
        return _reader_of_texts(first, _days_with_times, reading)

    are_numbers = np.isfinite(numbers(known_values.head(_VALUES_JUDGED)))
    if 2 * int(are_numbers.sum()) > len(examples):
        read = _reader_of_numbers(numbers(known_values), examples[0], reading, is_dated=is_dated)
        return lambda rows: read(numbers(rows["time"]))
    return _reader_of_texts(first, lambda rows: _as_texts(rows["time"]), reading)


# Numbers that are times.


def _seconds_of_stamps(values: Floats) -> Floats:
    """Read numbers that are written YYYYMMDDhhmmss."""
    stamps = pd.Series(np.where(within(values, _STAMPS), values, 0.0).astype(np.int64))
    return _seconds(stamps.astype("string"), "%Y%m%d%H%M%S")


_NANOSECONDS = "nanoseconds since 1970"
_CLOCKS: Mapping[str, Callable[[Floats], Floats]] = {
    "seconds since 1970": lambda values: values,
    "milliseconds since 1970": lambda values: values / 1e3,
    "microseconds since 1970": lambda values: values / 1e6,
    _NANOSECONDS: lambda values: values / 1e9,
    "YYYYMMDDhhmmss": _seconds_of_stamps,
}
"""How numbers are written that are times, and how these are read."""

_SINCE_1970 = list(_CLOCKS)[:4]  # all but stamps


def clock_of(values: Floats) -> tuple[str, Floats] | None:
    """Find the clock by which most numbers are times from 1980 to 2100, and these times."""
    for clock, read in _CLOCKS.items():
        seconds = read(values)
        if 2 * int(within(seconds).sum()) > len(values):
            # Ticks of .NET, 100 ns since the year 1, look like nanoseconds of about 1990.
            are_ticks = clock == _NANOSECONDS and np.nanmedian(seconds) < _USUAL_TIMES[0]
            return None if are_ticks else (clock, _nan_outside_limits(seconds))
    return None


def times_in(measures: Floats) -> Floats | None:
    """Read numbers beside coordinates as times, if most of them are; else None."""
    clock_and_times = clock_of(measures[np.isfinite(measures)])
    if clock_and_times is None:
        return None
    clock, _ = clock_and_times
    return _nan_outside_limits(_CLOCKS[clock](measures))


def _reader_of_numbers(
    values: Floats, example: str, reading: Reading, *, is_dated: bool
) -> Callable[[Floats], Floats]:
    """Find the clock of numbers: since 1970, stamps, or seconds from an unknown beginning."""
    clock_and_times = clock_of(values)
    if clock_and_times is not None:
        clock, seconds = clock_and_times
        middle = np.nanmedian(seconds)
        if clock not in _SINCE_1970:
            reading.found("times read as", example=example, read_as=clock)
        elif not within(middle, _USUAL_TIMES):
            dated = f"{clock}, {np.datetime64(int(middle), 's')}Z"
            reading.found("times read as", example=example, read_as=dated)
        return lambda values: _nan_outside_limits(_CLOCKS[clock](values))

    steps = np.abs(np.diff(values))
    usual_step = np.median(steps[steps > 0.0]) if (steps > 0.0).any() else 1.0
    begins_early = 0.0 <= np.nanmin(values) < _LATEST_BEGINNING
    if is_dated or not begins_early or usual_step < _SHORTEST_STEP:
        raise reading.refusal("no known clock", example=example)
    reading.found("times read as", example=example, read_as=UNKNOWN_BEGINNING)
    return lambda values: values


def may_be_gps_seconds(values: Floats) -> bool:
    """Return whether all numbers, as seconds since 1980, are times from 2000 to now."""
    known = _GPS_BEGINNING + values[np.isfinite(values)]
    return bool(len(known) and ((known > _USUAL_TIMES[0]) & (known < time.time())).all())


def _gps_seconds(rows: pd.DataFrame) -> Floats:
    """Read seconds on GPS's clock: since 1980 or, beside a number of the week, since its Sunday."""
    seconds = numbers(rows["gps_seconds"])
    if "gps_week" in rows:
        week = numbers(rows["gps_week"])
        seconds = np.where(week >= _FIRST_CERTAIN_WEEK, _WEEK * week + seconds, np.nan)

    by_gps = _GPS_BEGINNING + seconds
    leap_seconds = np.searchsorted(_LEAP_DAYS_BY_GPS, by_gps, "right")
    return _nan_outside_limits(by_gps - leap_seconds)


def within(seconds: Floats | np.float64, limits: tuple[float, float] = (EARLIEST, LATEST)) -> Bools:
    """Mark which times lie between 1980 and 2100, or other limits."""
    return np.asarray((seconds >= limits[0]) & (seconds < limits[1]))


def _nan_outside_limits(seconds: Floats) -> Floats:
    return np.where(within(seconds), seconds, np.nan)


# Texts that are times.


class _TextFormat(NamedTuple):
    """How texts are read as dates: as pandas takes it."""

    order: str  # what comes first in a date: day, month or year
    form: str  # such as %Y-%m-%d; or ``mixed``, each text in its own
    seconds: Floats  # the times of the texts that are read so, since 1970


def _reader_of_texts(
    first: pd.DataFrame, texts_of: Callable[[pd.DataFrame], pd.Series], reading: Reading
) -> RowsToSeconds:
    """Find the format of texts: ISO 8601, or the one that reads most of the first rows."""
    texts = texts_of(first).dropna()
    if not len(texts):  # no time is read of any row, so that the check refuses them
        return lambda rows: np.full(len(rows), np.nan)

    examples = texts.head(_VALUES_JUDGED)
    patterns = [_OFFSET_FROM_ZONE, *(pattern for pattern, _ in _FOR_PANDAS)]
    if any(pattern.search(text) for text in examples for pattern in patterns):
        return _reader_of_texts(first, lambda rows: _as_pandas_reads(texts_of(rows)), reading)
    if 2 * int(np.isfinite(_iso_8601(examples)).sum()) >= len(examples):
        return lambda rows: _iso_8601(texts_of(rows))

    # The longest shows the whole format: at midnight, spreadsheets leave out the time of day.
    example = max(examples.str.strip(), key=len)
    trials = [_tried(texts, example, order) for order in _possible_orders(example)]

    # The most times, in the shortest span; of equal ones the first.
    best = min(
        trials,
        key=lambda trial: (
            -len(trial.seconds),
            np.ptp(trial.seconds) if len(trial.seconds) else 0.0,
        ),
    )
    as_many = [trial for trial in trials if len(trial.seconds) == len(best.seconds)]
    if not all(np.array_equal(trial.seconds, best.seconds) for trial in as_many):
        reading.found("times read as", example=example, read_as=_READ_AS_ORDER.format(best.order))
    return lambda rows: _seconds(texts_of(rows), best.form, best.order)


def _tried(texts: pd.Series, example: str, order: str) -> _TextFormat:
    """Read texts with one thing first in a date, in the format of an example if it has one."""
    form = None
    if order != "year":  # which pandas does not guess
        with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
            form = guess_datetime_format(example, dayfirst=order == "day")
    seconds = _seconds(texts, form or "mixed", order)
    return _TextFormat(order, form or "mixed", seconds[np.isfinite(seconds)])


def _possible_orders(example: str) -> list[str]:
    """List what may come first in a date (after a year of four digits), the likeliest first."""
    if re.match(r"\s*\d{4}\D", example):
        return ["month"]

    # Where people write AM and PM, they mostly write the month first.
    has_am_or_pm = re.search(r"[AaPp]\.?[Mm]", example)
    orders = ["month", "day"] if has_am_or_pm else ["day", "month"]
    if re.match(r"\s*\d\d([-/.])\d\d\1\d\d(?!\d)", example):
        orders.append("year")
    return orders


def _as_texts(values: pd.Series) -> pd.Series:
    """Return values as texts, whole numbers without decimals."""
    if isinstance(values.dtype, pd.StringDtype):
        return values
    if pd.api.types.is_timedelta64_dtype(values):
        return (pd.Timestamp(0) + values).dt.strftime("%H:%M:%S.%f")
    texts = values.astype("string")
    if not pd.api.types.is_float_dtype(values):
        return texts

    # A number beyond 64 bits is no time, and stays as it is.
    may_be_whole = values.where(values.abs() < 2.0**63)
    if not (may_be_whole.dropna() % 1.0 == 0.0).all():
        return texts
    return may_be_whole.astype("Int64").astype("string").fillna(texts)


def _are_local(times: pd.Series) -> Bools:
    """Mark the times that do not say their zone themselves."""
    if pd.api.types.is_numeric_dtype(times):
        return np.ones(len(times), dtype=np.bool_)
    # By Arrow, which takes an eighth of the time of pandas.
    texts = pa.array(_as_texts(times), pa.string(), from_pandas=True)
    says_zone = pc.match_substring_regex(texts, _TIME_WITH_ZONE.pattern).fill_null(False)
    return ~np.asarray(says_zone.to_numpy(zero_copy_only=False), np.bool_)


def _as_pandas_reads(texts: pd.Series) -> pd.Series:
    """Return texts with zones and seconds as pandas reads them; none where a zone is uncertain."""
    for pattern, replacement in _FOR_PANDAS:
        texts = texts.str.replace(pattern, replacement, regex=True)
    return texts.mask(texts.str.contains(_OFFSET_FROM_ZONE).fillna(False).astype(bool))


def _days_with_times(rows: pd.DataFrame) -> pd.Series:
    """Return day and time of day as one text; digits alone are hhmmss."""
    days = rows["date"]
    are_dates = pd.api.types.is_datetime64_any_dtype(days)
    day_texts = days.dt.strftime("%Y-%m-%d") if are_dates else _as_texts(days).str.strip()
    day_texts = day_texts.str.replace(_MIDNIGHT, "", regex=True)

    times_of_day = _as_texts(rows["time"]).str.strip()
    hhmmss = r"^(\d{1,2})(\d\d)(\d\d)(?=[.,]|$)"
    return day_texts + " " + times_of_day.str.replace(hhmmss, r"\1:\2:\3", regex=True)


def _iso_8601(texts: pd.Series) -> Floats:
    """Read texts in ISO 8601; a year, or a year and a month, are no time."""
    is_long_enough = texts.str.len().fillna(0).to_numpy(np.int64) >= len("20260131")
    return np.where(is_long_enough, _seconds(texts.str.strip(), "ISO8601"), np.nan)


def _seconds(values: pd.Series, form: str | None = None, order: str = "month") -> Floats:
    """Read dates, or texts with whole dates in a format of pandas; without a zone they are UTC.

    What comes first in a date, its order, counts only where the format does not say it.
    """
    if form not in (None, "ISO8601"):
        # Cameras write 2020:09:13.
        values = values.str.strip().str.replace(
            r"^(\d{4}):(\d\d):(\d\d)\b", r"\1-\2-\3", regex=True
        )
        is_whole_date = values.str.contains(_WHOLE_DATE, regex=True).fillna(False).astype(bool)
        values = values.where(is_whole_date)

    is_mixed = form == "mixed"
    with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
        times = pd.to_datetime(
            values,
            utc=True,
            errors="coerce",
            format=form,
            dayfirst=is_mixed and order == "day",
            yearfirst=is_mixed and order == "year",
        )

    microseconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy()
    return np.where(times.isna().to_numpy(), np.nan, microseconds / 1e6)


def seconds_of_iso(value: object) -> float:
    """Read a time in ISO 8601, UTC unless it says otherwise; NaN if it is none, or a day alone."""
    if not isinstance(value, str) or len(value.strip()) <= len("2026-01-31"):
        return math.nan
    try:
        read = datetime.fromisoformat(value.strip())
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def seconds_of_iso_texts(texts: Sequence[str | None]) -> Floats:
    """Read times as `seconds_of_iso` does, but all at once if they are written as usual."""
    try:
        times = pa.array(texts, pa.string()).cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        seconds = pc.divide(times.cast(pa.float64(), safe=False), 1e6)
        return np.asarray(seconds.to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:
        return np.array([seconds_of_iso(text) for text in texts])


# What a column may hold, for the choice of the columns of times.


class TimesHeld(NamedTuple):
    """Which times the values of a column are."""

    in_utc: bool = False  # whether each value says its zone, or counts from 1970
    numbers: bool = False  # whether they are numbers, which may be no times at all
    days: bool = False  # whether they are days without times of day


def times_held(values: pd.Series) -> TimesHeld | None:
    """Judge by its first values which times a column holds; None if it holds none."""
    first = values.dropna().head(_VALUES_JUDGED)
    dtype = first.dtype
    if not len(first) or dtype.kind in "bm":  # truth values, and spans of time
        return None
    if dtype.kind == "M":
        return TimesHeld(isinstance(dtype, pd.DatetimeTZDtype), days=_are_days(_seconds(first)))
    if sum(letter.isdigit() for letter in str(first.iloc[0])) < len("130523"):  # a short date
        return None

    clock_values = numbers(first)
    if np.isfinite(clock_values).any():
        clock, seconds = clock_of(clock_values) or ("", np.empty(0))
        since_1970 = clock in _SINCE_1970
        are_times = clock != "" and (not since_1970 or within(seconds, _USUAL_TIMES).all())
        return TimesHeld(in_utc=since_1970, numbers=True) if are_times else None

    texts = _as_texts(first)
    seconds = _seconds(_as_pandas_reads(texts), "mixed")
    if not np.isfinite(seconds).all():
        return None
    in_utc = all(_TIME_WITH_ZONE.search(text) for text in texts)
    return TimesHeld(in_utc, days=_are_days(seconds))


def _are_days(seconds: Floats) -> bool:
    """Return whether all of several times are at midnight."""
    return len(seconds) > 1 and not (seconds % _DAY).any()


def are_times_of_day(values: pd.Series) -> bool:
    """Return whether a column holds times of day, which need a day beside them."""
    if pd.api.types.is_datetime64_any_dtype(values):
        return False
    texts = _as_texts(values.dropna().head(_VALUES_JUDGED)).str.strip().tolist()
    is_span = pd.api.types.is_timedelta64_dtype(values)
    return bool(texts) and (is_span or _are_times_of_day(texts, is_dated=True))


def _are_times_of_day(texts: list[str], *, is_dated: bool) -> bool:
    """Return whether most texts are times of day; or all digits such as 080000, 080020, 080100."""
    if 2 * sum(_TIME_OF_DAY.fullmatch(text) is not None for text in texts) > len(texts):
        return True

    # A few numbers such as 101530 may be anything else; not beside a day, or with a 0 before.
    are_digits = all(_DIGITS_OF_DAY.fullmatch(text) for text in texts)
    begins_with_0 = any(text[:1] == "0" for text in texts)
    return are_digits and (is_dated or len(texts) > _FEW_TEXTS or begins_with_0)
