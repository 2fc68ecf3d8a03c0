"""The times of a table, read in the format that its first rows show."""

import re
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from pandas.tseries.api import guess_datetime_format as guess

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.streams import Reading

UNREAD_TIMES = "times that could not be read"

_Reader = Callable[[pd.DataFrame], Floats]  # of rows to their times; NaN where there is none

_TIME_OF_DAY = re.compile(
    r"T?\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?|Z|[-+]\d\d:?\d\d)?"
)
# hhmmss, or hmmss. Five digits with more decimals are days, as spreadsheets count them.
_DIGITS_OF_DAY = re.compile(r"\d([0-5]\d){2}([.,]\d{1,3})?|([01]\d|2[0-3])([0-5]\d){2}([.,]\d+)?")
# What pandas would read wrong: it takes UTC+2 as two hours behind UTC, and seconds after a dash as
# a zone. CET+1 can mean either side of CET.
_UTC_BEFORE_OFFSET = re.compile(r"(?:GMT|UTC|Z)\s*(?=[-+]\d)")
_OFFSET_FROM_ZONE = re.compile(r"\d\s*[A-Z]{3,5}[-+]\d{1,2}(?::?\d\d)?\s*$")
_ZONE_TWICE = re.compile(r"([-+]\d\d:?\d\d)\s*\(?[A-Z]{3,5}\)?\s*$")  # +0000 UTC, as Go writes it
_TIME_WITH_ZONE = re.compile(
    r":\d\d([.,]\d+)?\s*(Z|UTC|GMT|(GMT|UTC)?[-+]\d\d(:?\d\d)?)(\s*\(?[A-Z]{3,5}\)?)?\s*$"
)
_TIME_WITH_DASHES = re.compile(r"^(\s*\d{4}-\d\d-\d\d)[-_ T](\d\d)-(\d\d)-(?=\d\d)")
_UNLIKE_PANDAS = (_UTC_BEFORE_OFFSET, _OFFSET_FROM_ZONE, _ZONE_TWICE, _TIME_WITH_DASHES)
_MIDNIGHT = re.compile(r"[ T]0?0:00(:00(\.0+)?)?(Z|\+00:?00)?$")
_MINUTES_AND_SECONDS = re.compile(r"\d{1,3}:\d{2}[.,]\d+|(2[5-9]|[3-9]\d|\d{3}):\d{2}")
# With a day, a month and a year: pandas would make up what is missing.
_WHOLE_DATE = (
    r"\d{8}|\d{4}[-/. ]\w{1,9}[-/. ]\d|\d{1,2}[-/. ]\w{1,9}[-/. ](?:\d{2}){1,2}(?:$|[ T,])"
    r"|[A-Za-z]{3,9} \d{1,2},? \d{4}"
)
WAY_OUT = "write them as 2020-09-13T12:26:40Z"

_VALUES_JUDGED = 100  # the first ones, which show the kind of times

_DAY = 86_400.0  # seconds
_WEEK = 604_800.0

# Seconds since 1970. No track is from before 1980 or after 2100; numbers that are times from 2000
# to 2033 are read without a warning.
EARLIEST = 315_532_800.0
LATEST = 4_102_444_800.0
_USUAL_TIMES = (946_684_800.0, 2_000_000_000.0)

_GPS_BEGINNING = 315_964_800.0  # the beginning of GPS's clock, which knows no leap seconds
_LEAP_SECONDS = {  # how far GPS's clock is before UTC, from these days on
    13: "1999-01-01", 14: "2006-01-01", 15: "2009-01-01", 16: "2012-07-01", 17: "2015-07-01",
    18: "2017-01-01",
}  # fmt: skip
_FIRST_CERTAIN_WEEK = 1_024  # of GPS: some receivers begin again at 0 after 1,023

_UNITS_PER_SECOND = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_STAMP_LIMITS = (1.98e13, 2.1e13)  # YYYYMMDDhhmmss of these years, as numbers

_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([-+])(\d\d|\d(?!\d)):?(\d\d)?(?::00)?", re.IGNORECASE)
_ZULU = ("z", "utc", "gmt")
_LARGEST_OFFSET = 14.0  # hours

# Seconds of a clock that began at an unknown time. Numbers that begin later, or go on in smaller
# steps, may be days or another unit.
_LATEST_BEGINNING = 10_000.0
_SHORTEST_STEP = 0.02


class _Trial(NamedTuple):
    """Dates of the first rows, read in one order of day, month and year."""

    order: str  # what comes first
    options: dict[str, Any]  # of pandas, to read them so
    times: Floats  # seconds since 1970, those that can be read


class TimeColumn:
    """The times of one table, read part by part as seconds since 1970 UTC."""

    def __init__(self, first: pd.DataFrame, reading: Reading) -> None:
        self._reading = reading
        self._is_checked = False
        self._role = "gps_seconds" if "gps_seconds" in first else "time"
        self._seconds_of = self._reader(first) if self._role in first else None

    def seconds(self, rows: pd.DataFrame) -> Floats:
        """Read the times of the next part of the table; NaN where there is none."""
        if self._seconds_of is None:
            return np.full(len(rows), np.nan)

        seconds = self._seconds_of(rows)
        if "zone" in rows:
            seconds = seconds - seconds_east(seconds, rows["zone"])

        is_given = rows[self._role].notna().to_numpy()
        if not self._is_checked:
            self._check(seconds, rows[self._role][is_given])

        if unread := int((np.isnan(seconds) & is_given).sum()):
            self._reading.counts[UNREAD_TIMES] += unread
        # The check may have found days alone.
        return np.full(len(rows), np.nan) if self._seconds_of is None else seconds

    def _check(self, seconds: Floats, texts: pd.Series) -> None:
        """Refuse a first part without any time; leave out days alone, which show no order."""
        self._is_checked = True
        known = seconds[np.isfinite(seconds)]
        if len(texts) and not len(known):
            way_out = f"{WAY_OUT}, or name another column with `columns` time=..."
            unread = f"none of the times of {self._reading.what} can be read"
            raise BadInput(f"{unread}, such as {texts.iloc[0]!r}: {way_out}")

        if len(seconds) > 1 and len(known) and not (known % _DAY).any():
            self._reading.warn_of_file("days", "has days but no times of day: it is untimed")
            self._seconds_of = None

    def _reader(self, first: pd.DataFrame) -> _Reader | None:
        """Find by its first rows how the column of times is read; None if it is empty."""
        if self._role == "gps_seconds":
            return _gps_seconds

        values = first["time"]
        known_values = values.dropna()
        if pd.api.types.is_timedelta64_dtype(values):
            if "date" in first:
                return self._reader_of_texts(first, _days_with_times)
            if len(known_values):
                self._warn_of_guess(str(known_values.iloc[0]), "seconds from an unknown beginning")
            return lambda rows: rows["time"].dt.total_seconds().to_numpy(np.float64)

        if pd.api.types.is_datetime64_any_dtype(values):
            return lambda rows: _seconds(rows["time"])
        if not len(known_values):
            return None
        return self._reader_of_values(first, known_values)

    def _reader_of_values(self, first: pd.DataFrame, known_values: pd.Series) -> _Reader:
        """Find how a column is read that holds texts or numbers."""
        examples = [text.strip() for text in _as_texts(known_values.head(_VALUES_JUDGED)).tolist()]
        if any(_MINUTES_AND_SECONDS.fullmatch(text) for text in examples):
            why = "have minutes and seconds but no hours, as spreadsheets do"
            raise BadInput(
                f"the times of {self._reading.what}, such as {examples[0]}, {why}: {WAY_OUT}"
            )

        dated = "date" in first
        if _are_times_of_day(examples, dated=dated):
            if not dated:
                way_out = (
                    "name a column with day and time, `columns` time=..., or the day, date=..."
                )
                raise BadInput(
                    f"{self._reading.what} holds times of day ({examples[0]}) alone: {way_out}"
                )
            return self._reader_of_texts(first, _days_with_times)

        are_numbers = np.isfinite(numbers(known_values.head(_VALUES_JUDGED)))
        if 2 * int(are_numbers.sum()) > len(examples):
            return self._reader_of_numbers(numbers(known_values), examples[0], dated=dated)
        return self._reader_of_texts(first, lambda rows: _as_texts(rows["time"]))

    def _reader_of_numbers(self, values: Floats, example: str, *, dated: bool) -> _Reader:
        """Find the clock of numbers: since 1970, stamps, or seconds from an unknown beginning."""
        for unit, per_second in _UNITS_PER_SECOND.items():
            if 2 * int(within(values / per_second).sum()) > len(values):
                middle = float(np.nanmedian(values / per_second))
                # Ticks of .NET, 100 ns since the year 1, look like nanoseconds of about 1990.
                if unit == "nanoseconds" and middle < _USUAL_TIMES[0]:
                    break
                if not _USUAL_TIMES[0] <= middle < _USUAL_TIMES[1]:
                    self._warn_of_guess(
                        example, f"{unit} since 1970, {np.datetime64(int(middle), 's')}Z"
                    )
                return lambda rows: _nan_outside_limits(numbers(rows["time"]) / per_second)

        if _are_stamps(values):
            self._warn_of_guess(example, "YYYYMMDDhhmmss")
            return lambda rows: _nan_outside_limits(_seconds_of_stamps(numbers(rows["time"])))

        steps = np.abs(np.diff(values))
        usual_step = np.median(steps[steps > 0.0]) if (steps > 0.0).any() else 1.0
        begins_early = 0.0 <= np.nanmin(values) < _LATEST_BEGINNING
        if dated or not begins_early or usual_step < _SHORTEST_STEP:
            why = f"such as {example}, are numbers of no known clock: {WAY_OUT}"
            raise BadInput(f"the times of {self._reading.what}, {why}, or as seconds since 1970")
        self._warn_of_guess(example, "seconds from an unknown beginning")
        return lambda rows: numbers(rows["time"])

    def _reader_of_texts(
        self, first: pd.DataFrame, texts_of: Callable[[pd.DataFrame], pd.Series]
    ) -> _Reader:
        """Find the format of texts: ISO 8601, or the one that reads most of the first rows."""
        examples = texts_of(first.head(_VALUES_JUDGED)).dropna()
        if any(pattern.search(text) for text in examples for pattern in _UNLIKE_PANDAS):
            return self._reader_of_texts(first, lambda rows: _as_pandas_reads(texts_of(rows)))
        if 2 * int(np.isfinite(_iso_8601(examples)).sum()) >= len(examples):
            return lambda rows: _iso_8601(texts_of(rows))

        texts = texts_of(first).dropna()
        if not len(texts):  # no time is read of any row, so that the check refuses them
            return lambda rows: np.full(len(rows), np.nan)

        # The longest shows the whole format: at midnight, spreadsheets leave out the time of day.
        example = max(texts.head(_VALUES_JUDGED).str.strip(), key=len)
        trials = list[_Trial]()
        for order in _possible_orders(example):
            with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
                form = None if order == "year" else guess(example, dayfirst=order == "day")
            which_first = {} if form or order == "month" else {f"{order}first": True}
            options = {"format": form or "mixed", **which_first}
            seconds = _seconds(texts, **options)
            trials.append(_Trial(order, options, seconds[np.isfinite(seconds)]))

        # The most times, in the shortest span; of equal ones the first.
        best = min(
            trials,
            key=lambda trial: (-len(trial.times), np.ptp(trial.times) if len(trial.times) else 0.0),
        )
        as_good = (trial for trial in trials if len(trial.times) == len(best.times))
        if any((trial.times[:1] != best.times[:1]).any() for trial in as_good):
            self._warn_of_guess(example, f"{best.order} first; if that is wrong, {WAY_OUT}")
        return lambda rows: _seconds(texts_of(rows), **best.options)

    def _warn_of_guess(self, example: str, read_as: str) -> None:
        """Warn, once for all files, of times that can also mean something else."""
        has = f"has times such as {example}: read as {read_as}"
        self._reading.warn_of_file(f"times as {read_as}", has, once=True)


def within(seconds: Floats, limits: tuple[float, float] = (EARLIEST, LATEST)) -> Bools:
    """Mark which times lie between 1980 and 2100, or other limits."""
    return np.asarray((seconds >= limits[0]) & (seconds < limits[1]))


def _are_stamps(values: Floats) -> bool:
    """Return whether most numbers are YYYYMMDDhhmmss."""
    return 2 * int(within(values, _STAMP_LIMITS).sum()) > len(values)


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
    if sum(letter.isdigit() for letter in str(first.iloc[0])) < len("130523"):
        return None

    clock_values = numbers(first)
    if np.isfinite(clock_values).any():
        since_1970 = any(
            bool(within(clock_values / per_second, _USUAL_TIMES).all())
            for per_second in _UNITS_PER_SECOND.values()
        )
        are_times = since_1970 or _are_stamps(clock_values)
        return TimesHeld(in_utc=since_1970, numbers=True) if are_times else None

    texts = _as_texts(first)
    seconds = _seconds(_as_pandas_reads(texts), format="mixed")
    if not np.isfinite(seconds).all():
        return None
    in_utc = all(_TIME_WITH_ZONE.search(text) for text in texts)
    return TimesHeld(in_utc, days=_are_days(seconds))


def _are_days(seconds: Floats) -> bool:
    """Return whether all of several times are at midnight."""
    return len(seconds) > 1 and not (seconds % _DAY).any()


def are_times_of_day(values: pd.Series) -> bool:
    """Return whether a column holds times of day, which need a day beside them."""
    if pd.api.types.is_timedelta64_dtype(values):
        return True
    if pd.api.types.is_datetime64_any_dtype(values):
        return False

    first = values.dropna().head(_VALUES_JUDGED)
    texts = [text.strip() for text in _as_texts(first).tolist()]
    return _are_times_of_day(texts, dated=True)


def may_be_gps_seconds(values: Floats) -> bool:
    """Return whether all numbers, as seconds since 1980, are times from 2000 to now."""
    known = values[np.isfinite(values)]
    earliest = _USUAL_TIMES[0] - _GPS_BEGINNING
    now = time.time() - _GPS_BEGINNING
    return bool(len(known) and (known > earliest).all() and (known < now).all())


def _gps_seconds(rows: pd.DataFrame) -> Floats:
    """Read seconds on GPS's clock: since 1980 or, beside a number of the week, since its Sunday."""
    seconds = numbers(rows["gps_seconds"])
    if "gps_week" in rows:
        week = numbers(rows["gps_week"])
        seconds = np.where(week >= _FIRST_CERTAIN_WEEK, _WEEK * week + seconds, np.nan)

    unix = _GPS_BEGINNING + seconds
    leaps = np.zeros(len(unix))
    for leap_seconds, day in _LEAP_SECONDS.items():
        leaps[unix - leap_seconds >= np.datetime64(day, "s").astype(np.float64)] = leap_seconds
    return _nan_outside_limits(unix - leaps)


def seconds_east(local: Floats, zones: pd.Series) -> Floats:
    """Compute how far local times are ahead of UTC; NaN where the zone, or the hour, is uncertain.

    An hour is uncertain where clocks are put back, as it comes twice.
    """
    zone_numbers, zone_texts = pd.factorize(zones)
    unit = _unit_of_zones(pd.Series(zone_texts))
    east = np.full(len(local), np.nan)
    for number, text in enumerate(zone_texts):
        rows = zone_numbers == number
        zone = zone_of(str(text), unit)
        if isinstance(zone, ZoneInfo):
            times = pd.DatetimeIndex(pd.to_datetime(local[rows], unit="s"))
            localized = times.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
            in_utc = localized.tz_convert("UTC").tz_localize(None)
            east[rows] = ((times - in_utc) / pd.Timedelta("1s")).to_numpy(np.float64)
        elif zone is not None:
            east[rows] = zone.total_seconds()
    return east


def are_zones(values: pd.Series) -> bool:
    """Return whether all values of a column are zones: names, offsets, or numbers of one unit."""
    different = values.dropna().unique()[:_VALUES_JUDGED]
    unit = _unit_of_zones(pd.Series(different))
    return len(different) > 0 and all(zone_of(str(text), unit) is not None for text in different)


def _unit_of_zones(zones: pd.Series) -> float:
    """Find the seconds in a unit of zones that are numbers: the longest that the largest allows."""
    sizes = np.abs(numbers(zones))
    largest = np.nanmax(sizes) if np.isfinite(sizes).any() else 0.0
    units = (3_600.0, 60.0, 1.0, 1e-3)  # hours, minutes, seconds and milliseconds
    return next((unit for unit in units if largest * unit <= _LARGEST_OFFSET * 3_600.0), 0.0)


def zone_of(text: str, unit: float) -> ZoneInfo | timedelta | None:
    """Read a zone: its name, its offset, or a number of units of so many seconds; None if none."""
    text = text.strip()
    if text.casefold() in _ZULU:
        return timedelta(0)

    match = _OFFSET.fullmatch(text)
    if match and float(match[2]) <= _LARGEST_OFFSET and int(match[3] or 0) % 15 == 0:
        size = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return -size if match[1] == "-" else size

    with suppress(ValueError):
        seconds = unit * float(text)
        # Zones lie quarters of an hour apart.
        return timedelta(seconds=seconds) if unit and seconds % 900.0 == 0.0 else None

    with suppress(ValueError, OSError, KeyError):
        return ZoneInfo(text)
    return None


def _nan_outside_limits(seconds: Floats) -> Floats:
    """Return times from 1980 to 2100; others become NaN."""
    return np.where(within(seconds), seconds, np.nan)


def _as_texts(values: pd.Series) -> pd.Series:
    """Return values as texts, whole numbers without decimals."""
    if isinstance(values.dtype, pd.StringDtype):
        return values
    if pd.api.types.is_timedelta64_dtype(values):
        return (pd.Timestamp(0) + values).dt.strftime("%H:%M:%S.%f")
    are_integers = pd.api.types.is_float_dtype(values) and bool(
        (values.dropna() % 1.0 == 0.0).all()
    )
    return (values.astype("Int64") if are_integers else values).astype("string")


def _are_times_of_day(texts: list[str], *, dated: bool) -> bool:
    """Return whether most texts are times of day; or all digits such as 080000, 080020, 080100."""
    if 2 * sum(_TIME_OF_DAY.fullmatch(text) is not None for text in texts) > len(texts):
        return True

    # A few numbers such as 101530 may be anything else; not beside a day, or with a 0 before.
    are_digits = all(_DIGITS_OF_DAY.fullmatch(text) for text in texts)
    return are_digits and (dated or len(texts) > 9 or any(text.startswith("0") for text in texts))


def _as_pandas_reads(texts: pd.Series) -> pd.Series:
    """Return texts with zones and seconds as pandas reads them; none where a zone is uncertain."""
    texts = texts.str.replace(_UTC_BEFORE_OFFSET, "", regex=True).str.replace(
        _TIME_WITH_DASHES, r"\1 \2:\3:", regex=True
    )
    texts = texts.str.replace(_ZONE_TWICE, r"\1", regex=True)
    return texts.mask(texts.str.contains(_OFFSET_FROM_ZONE).fillna(False).astype(bool))


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


def _days_with_times(rows: pd.DataFrame) -> pd.Series:
    """Return day and time of day as one text; digits alone are hhmmss."""
    days = rows["date"]
    are_dates = pd.api.types.is_datetime64_any_dtype(days)
    day_texts = days.dt.strftime("%Y-%m-%d") if are_dates else _as_texts(days).str.strip()
    day_texts = day_texts.str.replace(_MIDNIGHT, "", regex=True)

    times_of_day = _as_texts(rows["time"]).str.strip()
    whole_seconds = times_of_day.str.replace(r"[.,]\d+$", "", regex=True)
    are_digits = whole_seconds.str.fullmatch(r"\d+").fillna(False).astype(bool)
    return day_texts + " " + times_of_day.mask(are_digits, whole_seconds.str.zfill(6))


def _seconds_of_stamps(values: Floats) -> Floats:
    """Read numbers that are written YYYYMMDDhhmmss."""
    stamps = pd.Series(np.where(np.isfinite(values), values, 0.0).astype(np.int64))
    return _seconds(stamps.astype("string"), format="%Y%m%d%H%M%S")


def _iso_8601(texts: pd.Series) -> Floats:
    """Read texts in ISO 8601; a year, or a year and a month, are no time."""
    is_long_enough = texts.str.len().fillna(0).to_numpy(np.int64) >= len("20260131")
    return np.where(is_long_enough, _seconds(texts.str.strip(), format="ISO8601"), np.nan)


def _seconds(values: pd.Series, **options: Any) -> Floats:
    """Read dates, or texts with whole dates, by pandas; times without a zone are UTC."""
    if options and options["format"] != "ISO8601":
        # Cameras write 2020:09:13.
        values = values.str.strip().str.replace(
            r"^(\d{4}):(\d\d):(\d\d)\b", r"\1-\2-\3", regex=True
        )
        is_whole_date = values.str.contains(_WHOLE_DATE, regex=True).fillna(False).astype(bool)
        values = values.where(is_whole_date)

    with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
        times = pd.to_datetime(values, utc=True, errors="coerce", **options)

    microseconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy()
    return np.where(times.isna().to_numpy(), np.nan, microseconds / 1e6)
