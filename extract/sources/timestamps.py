"""The times of a table: its first rows show the format, which holds for all."""

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

_Reader = Callable[[pd.DataFrame], Floats]  # gives the times of some rows; NaN where there is none

_OF_DAY = re.compile(
    r"T?\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?|Z|[-+]\d\d:?\d\d)?"
)
_DIGITS_OF_DAY = re.compile(  # of five, those with more decimals are days of a spreadsheet
    r"\d([0-5]\d){2}([.,]\d{1,3})?|([01]\d|2[0-3])([0-5]\d){2}([.,]\d+)?"
)
# What pandas reads otherwise: UTC+2 as two hours before UTC, seconds after a dash as a zone; and
# CET+1 can be on either side.
_UTC = re.compile(r"(?:GMT|UTC|Z)\s*(?=[-+]\d)")
_OTHER_ZONE = re.compile(r"\d\s*[A-Z]{3,5}[-+]\d{1,2}(?::?\d\d)?\s*$")
_ZONE_TWICE = re.compile(r"([-+]\d\d:?\d\d)\s*\(?[A-Z]{3,5}\)?\s*$")  # +0000 UTC, as Go writes it
_ZONED = re.compile(
    r":\d\d([.,]\d+)?\s*(Z|UTC|GMT|(GMT|UTC)?[-+]\d\d(:?\d\d)?)(\s*\(?[A-Z]{3,5}\)?)?\s*$"
)
_DASHES = re.compile(r"^(\s*\d{4}-\d\d-\d\d)[-_ T](\d\d)-(\d\d)-(?=\d\d)")
_ODD = (_UTC, _OTHER_ZONE, _ZONE_TWICE, _DASHES)
_MIDNIGHT = re.compile(r"[ T]0?0:00(:00(\.0+)?)?(Z|\+00:?00)?$")
_MINUTES_AND_SECONDS = re.compile(r"\d{1,3}:\d{2}[.,]\d+|(2[5-9]|[3-9]\d|\d{3}):\d{2}")
_WHOLE_DATE = (
    r"\d{8}|\d{4}[-/. ]\w{1,9}[-/. ]\d|\d{1,2}[-/. ]\w{1,9}[-/. ](?:\d{2}){1,2}(?:$|[ T,])"
    r"|[A-Za-z]{3,9} \d{1,2},? \d{4}"
)
WAY_OUT = "write them as 2020-09-13T12:26:40Z"

_JUDGED = 100  # values by which the kind of times is found

_DAY, _WEEK = 86_400.0, 604_800.0
EARLIEST, LATEST = 315_532_800.0, 4_102_444_800.0  # of tracks: the beginning of 1980 and 2100
_USUAL = (946_684_800.0, 2_000_000_000.0)  # 2000 to 2033: numbers are read without a note

_GPS = 315_964_800.0  # the beginning of GPS's clock, which knows no leap seconds
_LEAPS = {  # seconds that UTC is behind it, from these days on
    13: "1999-01-01", 14: "2006-01-01", 15: "2009-01-01", 16: "2012-07-01", 17: "2015-07-01",
    18: "2017-01-01",
}  # fmt: skip
_LEAST_WEEK = 1_024  # of GPS: smaller numbers may have begun anew

_UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_STAMPS = (1.98e13, 2.1e13)  # YYYYMMDDhhmmss of these years, as numbers

_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([-+])(\d\d|\d(?!\d)):?(\d\d)?(?::00)?", re.IGNORECASE)
_ZULU = ("z", "utc", "gmt")
_EASTMOST = 14.0  # hours before UTC

_SHIFT, _STEP = 10_000.0, 0.02  # seconds: the latest beginning, and the shortest step, of a clock
# that began at an unknown time; what begins later, or goes on in smaller steps, are days or others


class TimeColumn:
    """Reads the times of one table, part by part, as seconds since 1970 UTC."""

    def __init__(self, first: pd.DataFrame, reading: Reading) -> None:
        self._reading = reading
        self._judged = False
        self._role = "gps_seconds" if "gps_seconds" in first else "time"
        self._read = self._reader(first) if self._role in first else None

    def seconds(self, rows: pd.DataFrame) -> Floats:
        """Read the times of the next part of the table; NaN where there is none."""
        if self._read is None:
            return np.full(len(rows), np.nan)

        seconds = self._read(rows)
        is_given = rows[self._role].notna().to_numpy()
        if "zone" in rows:
            seconds = seconds - seconds_east(seconds, rows["zone"])
        if not self._judged:
            self._judge(seconds, rows[self._role][is_given])

        if unread := int((np.isnan(seconds) & is_given).sum()):
            self._reading.counts[UNREAD_TIMES] += unread
        return np.full(len(rows), np.nan) if self._read is None else seconds

    def _judge(self, seconds: Floats, texts: pd.Series) -> None:
        """Refuse times of which none is one; days alone tell no order."""
        self._judged = True
        known = seconds[np.isfinite(seconds)]
        if len(texts) and not len(known):
            way_out = f"{WAY_OUT}, or name another column with `columns` time=..."
            unread = f"none of the times of {self._reading.what} can be read"
            raise BadInput(f"{unread}, such as {texts.iloc[0]!r}: {way_out}")

        if len(seconds) > 1 and len(known) and not (known % _DAY).any():
            self._reading.warn_of_file("days", "has days but no times of day: it is untimed")
            self._read = None

    def _reader(self, first: pd.DataFrame) -> _Reader | None:
        """Find by its first rows how the column of times is read; None if it is empty."""
        if self._role == "gps_seconds":
            return _of_gps

        values = first["time"]
        known_values = values.dropna()
        if pd.api.types.is_timedelta64_dtype(values):
            if "date" in first:
                return self._of_texts(first, _with_dates)
            if len(known_values):
                self._say(str(known_values.iloc[0]), "seconds from an unknown beginning")
            return lambda rows: rows["time"].dt.total_seconds().to_numpy(np.float64)
        if pd.api.types.is_datetime64_any_dtype(values):
            return lambda rows: _seconds(rows["time"])
        if not len(known_values):
            return None
        return self._reader_of_values(first, known_values)

    def _reader_of_values(self, first: pd.DataFrame, known_values: pd.Series) -> _Reader:
        """Find how texts and numbers are read."""
        examples = [text.strip() for text in _texts(known_values.head(_JUDGED)).tolist()]
        if any(_MINUTES_AND_SECONDS.fullmatch(text) for text in examples):
            why = "have minutes and seconds but no hours, as spreadsheets do"
            raise BadInput(
                f"the times of {self._reading.what}, such as {examples[0]}, {why}: {WAY_OUT}"
            )

        dated = "date" in first
        if _are_of_day(examples, dated=dated):
            if not dated:
                way_out = (
                    "name a column with day and time, `columns` time=..., or the day, date=..."
                )
                raise BadInput(
                    f"{self._reading.what} holds times of day ({examples[0]}) alone: {way_out}"
                )
            return self._of_texts(first, _with_dates)

        if 2 * int(np.isfinite(numbers(known_values.head(_JUDGED))).sum()) > len(examples):
            return self._of_numbers(numbers(known_values), examples[0], dated=dated)
        return self._of_texts(first, lambda rows: _texts(rows["time"]))

    def _of_numbers(self, values: Floats, example: str, *, dated: bool) -> _Reader:
        """Read numbers on the clock that most of them tell."""
        for unit, per_second in _UNITS.items():
            if 2 * int(within(values / per_second).sum()) > len(values):
                middle = float(np.nanmedian(values / per_second))
                if unit == "nanoseconds" and middle < _USUAL[0]:
                    break  # ticks of .NET
                if not _USUAL[0] <= middle < _USUAL[1]:
                    self._say(example, f"{unit} since 1970, {np.datetime64(int(middle), 's')}Z")
                return lambda rows: _only_within(numbers(rows["time"]) / per_second)

        if _are_stamps(values):
            self._say(example, "YYYYMMDDhhmmss")
            return lambda rows: _only_within(_of_stamps(numbers(rows["time"])))

        steps = np.abs(np.diff(values))
        usual = np.median(steps[steps > 0.0]) if (steps > 0.0).any() else 1.0
        if dated or not (0.0 <= np.nanmin(values) < _SHIFT) or usual < _STEP:
            why = f"such as {example}, are numbers of no known clock: {WAY_OUT}"
            raise BadInput(f"the times of {self._reading.what}, {why}, or as seconds since 1970")
        self._say(example, "seconds from an unknown beginning")
        return lambda rows: numbers(rows["time"])

    def _of_texts(
        self, first: pd.DataFrame, texts_of: Callable[[pd.DataFrame], pd.Series]
    ) -> _Reader:
        """Read texts in ISO 8601, or in the format that reads most of the first ones."""
        begun = texts_of(first.head(_JUDGED)).dropna()
        if any(odd.search(text) for text in begun for odd in _ODD):
            return self._of_texts(first, lambda rows: _as_usual(texts_of(rows)))
        if 2 * int(np.isfinite(_iso_8601(begun)).sum()) >= len(begun):
            return lambda rows: _iso_8601(texts_of(rows))

        texts = texts_of(first).dropna()
        if not len(texts):  # they are refused
            return lambda rows: np.full(len(rows), np.nan)

        example = max(texts.head(_JUDGED).str.strip(), key=len)  # spreadsheets leave out midnight
        readings = list[tuple[Floats, str, dict[str, Any]]]()  # the times, what comes first, how
        for order in _orders(example):
            with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
                form = None if order == "year" else guess(example, dayfirst=order == "day")
            first_is = {} if form or order == "month" else {f"{order}first": True}
            form_options = {"format": form or "mixed", **first_is}
            seconds = _seconds(texts, **form_options)
            readings.append((seconds[np.isfinite(seconds)], order, form_options))

        # The most times, in the shortest span; of equal ones the first.
        known, order, form_options = min(
            readings, key=lambda way: (-len(way[0]), np.ptp(way[0]) if len(way[0]) else 0.0)
        )
        others = (values for values, _, _ in readings if len(values) == len(known))
        if any((values[:1] != known[:1]).any() for values in others):
            self._say(example, f"{order} first; if that is wrong, {WAY_OUT}")
        return lambda rows: _seconds(texts_of(rows), **form_options)

    def _say(self, example: str, read_as: str) -> None:
        """Warn of what is read in a way that is not the usual one, once for all files."""
        has = f"has times such as {example}: read as {read_as}"
        self._reading.warn_of_file(f"times as {read_as}", has, once=True)


def within(seconds: Floats, limits: tuple[float, float] = (EARLIEST, LATEST)) -> Bools:
    """Mark which times lie between 1980 and 2100, or other limits."""
    return np.asarray((seconds >= limits[0]) & (seconds < limits[1]))


def _are_stamps(values: Floats) -> bool:
    """Return whether most numbers are YYYYMMDDhhmmss."""
    return 2 * int(within(values, _STAMPS).sum()) > len(values)


class TimesHeld(NamedTuple):
    """What the values of a column show that are dates with times of day, or days alone."""

    in_utc: bool = False  # whether each value says its zone, or counts from 1970
    numbers: bool = False  # which may be others that look like times
    days: bool = False


def times_held(values: pd.Series) -> TimesHeld | None:
    """Judge by its first values which times a column holds; None if it holds none."""
    begin = values.dropna().head(_JUDGED)
    dtype = begin.dtype
    if not len(begin) or dtype.kind in "bm":
        return None
    if dtype.kind == "M":
        return TimesHeld(isinstance(dtype, pd.DatetimeTZDtype), days=_are_days(_seconds(begin)))
    if sum(letter.isdigit() for letter in str(begin.iloc[0])) < len("130523"):
        return None

    clocks = numbers(begin)
    if np.isfinite(clocks).any():
        epochs = any(bool(within(clocks / unit, _USUAL).all()) for unit in _UNITS.values())
        held = epochs or _are_stamps(clocks)
        return TimesHeld(in_utc=epochs, numbers=True) if held else None

    texts = _texts(begin)
    seconds = _seconds(_as_usual(texts), format="mixed")
    if not np.isfinite(seconds).all():
        return None
    zoned = all(_ZONED.search(text) for text in texts)
    return TimesHeld(zoned, days=_are_days(seconds))


def _are_days(seconds: Floats) -> bool:
    return len(seconds) > 1 and not (seconds % _DAY).any()


def are_of_day(values: pd.Series) -> bool:
    """Return whether a column holds times of day, which need a day beside them."""
    begin = values.dropna().head(_JUDGED)
    if pd.api.types.is_timedelta64_dtype(values):
        return True
    if pd.api.types.is_datetime64_any_dtype(values):
        return False
    texts = [text.strip() for text in _texts(begin).tolist()]
    return _are_of_day(texts, dated=True)


def may_be_gps_seconds(values: Floats) -> bool:
    """Return whether numbers may be seconds since 1980 as well as since 1970, and past."""
    known = values[np.isfinite(values)]
    now = time.time()
    return bool(len(known) and (known > _USUAL[0] - _GPS).all() and (known < now - _GPS).all())


def _of_gps(rows: pd.DataFrame) -> Floats:
    """Read seconds on GPS's clock, since 1980 or, with a week, since its Sunday."""
    seconds = numbers(rows["gps_seconds"])
    if "gps_week" in rows:
        week = numbers(rows["gps_week"])
        seconds = np.where(week >= _LEAST_WEEK, _WEEK * week + seconds, np.nan)

    unix = _GPS + seconds
    leaps = np.zeros(len(unix))
    for count, day in _LEAPS.items():
        leaps[unix - count >= np.datetime64(day, "s").astype(np.float64)] = count
    return _only_within(unix - leaps)


def seconds_east(local: Floats, zones: pd.Series) -> Floats:
    """Read how far local times are before UTC; NaN where the zone, or the hour, is not certain."""
    code, written = pd.factorize(zones)
    east = np.full(len(local), np.nan)
    unit = _unit_of_zones(pd.Series(written))
    for number, text in enumerate(written):
        rows = code == number
        zone = zone_of(str(text), unit)
        if isinstance(zone, ZoneInfo):
            times = pd.DatetimeIndex(pd.to_datetime(local[rows], unit="s"))
            placed = times.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
            away = (times - placed.tz_convert("UTC").tz_localize(None)) / pd.Timedelta("1s")
            east[rows] = away.to_numpy(np.float64)
        elif zone is not None:
            east[rows] = zone.total_seconds()
    return east


def are_zones(values: pd.Series) -> bool:
    """Return whether all values of a column are zones: names, offsets, or numbers of one unit."""
    written = values.dropna().unique()[:_JUDGED]
    unit = _unit_of_zones(pd.Series(written))
    return len(written) > 0 and all(zone_of(str(text), unit) is not None for text in written)


def _unit_of_zones(written: pd.Series) -> float:
    """Find in which unit numbers of zones are: hours, minutes, seconds or milliseconds."""
    sizes = np.abs(numbers(written))
    largest = np.nanmax(sizes) if np.isfinite(sizes).any() else 0.0
    units = (3_600.0, 60.0, 1.0, 1e-3)
    return next((unit for unit in units if largest * unit <= _EASTMOST * 3_600.0), 0.0)


def zone_of(text: str, unit: float) -> ZoneInfo | timedelta | None:
    """Read a zone; None if it is none."""
    text = text.strip()
    if text.casefold() in _ZULU:
        return timedelta(0)
    match = _OFFSET.fullmatch(text)
    if match and float(match[2]) <= _EASTMOST and int(match[3] or 0) % 15 == 0:
        size = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return -size if match[1] == "-" else size
    with suppress(ValueError):
        seconds = unit * float(text)
        return timedelta(seconds=seconds) if unit and seconds % 900.0 == 0.0 else None
    with suppress(ValueError, OSError, KeyError):
        return ZoneInfo(text)
    return None


def _only_within(seconds: Floats) -> Floats:
    return np.where(within(seconds), seconds, np.nan)


def _texts(values: pd.Series) -> pd.Series:
    if isinstance(values.dtype, pd.StringDtype):
        return values
    if pd.api.types.is_timedelta64_dtype(values):
        return (pd.Timestamp(0) + values).dt.strftime("%H:%M:%S.%f")
    are_integers = pd.api.types.is_float_dtype(values) and bool(
        (values.dropna() % 1.0 == 0.0).all()
    )
    return (values.astype("Int64") if are_integers else values).astype("string")


def _are_of_day(texts: list[str], *, dated: bool) -> bool:
    """Return whether most texts are times of day; or all digits such as 080000, 080020, 080100."""
    if 2 * sum(_OF_DAY.fullmatch(text) is not None for text in texts) > len(texts):
        return True
    valid = all(_DIGITS_OF_DAY.fullmatch(text) for text in texts)
    return valid and (dated or len(texts) > 9 or any(text.startswith("0") for text in texts))


def _as_usual(texts: pd.Series) -> pd.Series:
    """Write zones and seconds as pandas reads them; none where a zone has two meanings."""
    texts = texts.str.replace(_UTC, "", regex=True).str.replace(_DASHES, r"\1 \2:\3:", regex=True)
    texts = texts.str.replace(_ZONE_TWICE, r"\1", regex=True)
    return texts.mask(texts.str.contains(_OTHER_ZONE).fillna(False).astype(bool))


def _orders(example: str) -> list[str]:
    """List what may come first in a date, the likelier before."""
    if re.match(r"\s*\d{4}\D", example):
        return ["month"]  # after the year
    orders = ["month", "day"] if re.search(r"[AaPp]\.?[Mm]", example) else ["day", "month"]
    return orders + ["year"] * bool(re.match(r"\s*\d\d([-/.])\d\d\1\d\d(?!\d)", example))


def _with_dates(rows: pd.DataFrame) -> pd.Series:
    """Put the day before the time of day; digits alone are hhmmss."""
    days = rows["date"]
    are_dates = pd.api.types.is_datetime64_any_dtype(days)
    day = days.dt.strftime("%Y-%m-%d") if are_dates else _texts(days).str.strip()
    day = day.str.replace(_MIDNIGHT, "", regex=True)

    of_day = _texts(rows["time"]).str.strip()
    digits = of_day.str.replace(r"[.,]\d+$", "", regex=True)
    bare = digits.str.fullmatch(r"\d+").fillna(False).astype(bool)
    return day + " " + of_day.mask(bare, digits.str.zfill(6))


def _of_stamps(values: Floats) -> Floats:
    stamps = pd.Series(np.where(np.isfinite(values), values, 0.0).astype(np.int64))
    return _seconds(stamps.astype("string"), format="%Y%m%d%H%M%S")


def _iso_8601(texts: pd.Series) -> Floats:
    """Read texts; a year, or a year and a month, are no time."""
    is_long_enough = texts.str.len().fillna(0).to_numpy(np.int64) >= len("20260131")
    return np.where(is_long_enough, _seconds(texts.str.strip(), format="ISO8601"), np.nan)


def _seconds(values: pd.Series, **form: Any) -> Floats:
    """Read whole dates, or texts of them, by pandas; times without a zone are UTC."""
    if form and form["format"] != "ISO8601":
        values = values.str.strip().str.replace(
            r"^(\d{4}):(\d\d):(\d\d)\b", r"\1-\2-\3", regex=True
        )
        is_whole_date = values.str.contains(_WHOLE_DATE, regex=True).fillna(False).astype(bool)
        values = values.where(is_whole_date)

    with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
        times = pd.to_datetime(values, utc=True, errors="coerce", **form)

    microseconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy()
    return np.where(times.isna().to_numpy(), np.nan, microseconds / 1e6)
