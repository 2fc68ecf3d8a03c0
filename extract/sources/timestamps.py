"""The times of a table: its first rows tell how they are written, and that holds for all."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.tseries.api import guess_datetime_format as guess

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.columns import Rows, Values, numbers
from trajanon.extract.sources.number_times import (
    RELATIVE,
    clock_of,
    clock_of_day,
    days_of,
    seconds_of_digits,
    seems_of_day,
    within,
)
from trajanon.extract.sources.streams import Reading

_Reader = Callable[[Rows], Floats]
"""Gives the times of some rows; NaN where there is none."""

UNREAD_TIMES = "times that could not be read"

_OF_DAY = r"^\s*T?\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?\s*([AaPp]\.?[Mm]\.?|Z|[-+]\d\d:?\d\d)?\s*$"
_MINUTES_AND_SECONDS = r"^\s*\d{1,3}:\d{2}[.,]\d+\s*$"
_WHOLE_DATE = r"\d{4}|\d{1,2}[-/. ]\w{1,9}[-/. ]\d{2}($|[ T,])"
_OF_CAMERAS = r"^\s*(\d{4}):(\d\d):(\d\d)\b"  # dates of EXIF
_NO_DAY = (
    "the column of times holds times of day ({}), which do not tell one day from another: name a "
    "column with both, `columns` time=..., or one with the day, date=..."
)
_MIDNIGHT = r"[T ]00:00(:00(\.0+)?)?\s*$"
_LIKE_A_TIME = r"\d{4}[-/. ]?\d{2}|[-/. ]\d{4}\b|\d:\d\d"
_NAME_OF_TIMES = re.compile(r"time|date|stamp|epoch|utc|\bts$|_ts$", re.IGNORECASE)

_JUDGED, _MOST = 100, 0.9
"""Values by which a column is judged, and the share of them that must be times."""

_WIDTH = {"%Y": 4} | dict.fromkeys(("%m", "%d", "%H", "%M", "%S"), 2)
"""Letters of the fields of usual formats."""


class TimeColumn:
    """Reads the times of one table, part by part, as seconds since 1970 UTC.

    They may be dates, texts, or numbers of any clock; or stand in two columns, one of the day and
    one of the time of day. A column is one of numbers if most of its first values are.
    """

    def __init__(self, first: Rows, what: str, how: Reading) -> None:
        self._what = what
        self._how = how
        self._rows_before = 0
        self._begun = np.empty(0)  # the times of the first rows
        self._read = self._reader(first) if "time" in first else None

    def _reader(self, first: Rows) -> _Reader | None:
        """Find what reads the times, by the first of them; None if they tell no order."""
        values = first["time"]
        if pd.api.types.is_timedelta64_dtype(values):
            return lambda rows: np.asarray(rows["time"].dt.total_seconds().to_numpy(np.float64))
        if pd.api.types.is_datetime64_any_dtype(values):
            read: _Reader = self._of_dates
        else:
            are_numbers = 2 * np.isfinite(numbers(values)).sum() > _given(values).sum()
            read = (self._of_numbers if are_numbers else self._of_texts)(first)
        self._begun = begun = read(first)
        known = begun[np.isfinite(begun)]
        if len(values) > 1 and len(known) > 0 and not (known % 86_400).any():
            msg = f"{self._what} has days but no times of day: it is untimed"
            self._how.warn("days", msg, self._what)
            return None
        if len(known) == 0 and _given(values).any():
            msg = (
                f"none of the times of {self._what} can be read, such as {_example(values)!r}: it "
                "is untimed; write them as 2020-09-13T12:26:40Z"
            )
            self._how.warn("no times", msg, self._what)
        elif read != self._relative and 2 * within(known).sum() < len(known):
            first_time = np.datetime64(int(known.min()), "s")
            self._say("times outside 1980 to 2100", f"{first_time}Z", "they are")
        return read

    def _of_dates(self, rows: Rows) -> Floats:
        return _seconds(rows["time"])

    def _say(self, what: str, example: str, read_as: str) -> None:
        """Warn of what is read in a way that is not the usual one, once for all files."""
        msg = f"{self._what} has {what} such as {example}: read as {read_as}"
        self._how.warn(f"{what} as {read_as}", msg)

    def _of_numbers(self, first: Rows) -> _Reader:
        """Read numbers on the clock that all of them tell."""
        values = numbers(first["time"])
        clock = clock_of(values)
        if clock in (RELATIVE, None) and "date" in first:
            return self._of_day_and_number(first)
        digits = _digits(first["time"])
        zeros = digits == 6 and bool((values < 1e5).any())  # only a time of day has six of them
        if clock is RELATIVE and (seems_of_day(values) or zeros):
            raise BadInput(_NO_DAY.format(_example(first["time"])))
        if clock is None:
            raise BadInput(
                f"the times of {self._what}, such as {_example(first['time'])}, are numbers of no "
                "known clock: write them as 2020-09-13T12:26:40Z, or as seconds since 1970"
            )
        if not clock.usual:
            begun = clock.seconds(values[np.isfinite(values)][:1])
            day = "" if clock is RELATIVE else f", {_iso(begun)[0]}"
            self._say("times", _example(first["time"]), clock.name + day)
        if clock is RELATIVE:
            return self._relative

        def read(rows: Rows) -> Floats:
            with np.errstate(over="ignore"):
                seconds = clock.seconds(numbers(rows["time"]))
            return np.where(within(seconds), seconds, np.nan)

        return read

    def _relative(self, rows: Rows) -> Floats:
        return numbers(rows["time"])

    def _of_day_and_number(self, first: Rows) -> _Reader:
        """Read numbers that are times of the day in another column."""
        clock = clock_of_day(numbers(first["time"]), _digits(first["time"]))
        example = _example(first["time"])
        if clock is None:
            raise BadInput(
                f"the times of {self._what}, such as {example}, are no times of day: write them as "
                "12:26:40, or name another column with `columns` time=..."
            )
        self._say("times of day", example, clock.name)
        day = self._day(first["date"])
        form = _format(day(first).drop_null())

        def read(rows: Rows) -> Floats:
            return _seconds_of_texts(day(rows), form) + clock.seconds(numbers(rows["time"]))

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
            form = _format(texts)
            return lambda rows: _seconds_of_texts(rows["time"], form)
        if "date" not in first:
            raise BadInput(_NO_DAY.format(texts[0]))
        day = self._day(first["date"])

        def joined(rows: Rows) -> pa.StringArray:
            both = (pc.utf8_trim_whitespace(one) for one in (day(rows), _texts(rows["time"])))
            return pc.binary_join_element_wise(*both, " ")

        whole = _format(joined(first).drop_null())
        return lambda rows: _seconds_of_texts(joined(rows), whole)

    def _day(self, values: Values) -> Callable[[Rows], pa.StringArray]:
        """Find how days are written, in digits alone or otherwise, and give them as texts."""
        dates = pd.api.types.is_datetime64_any_dtype(values)
        digits = np.full(len(values), np.nan) if dates else numbers(values)
        if 2 * np.isfinite(digits).sum() <= _given(values).sum():
            return lambda rows: pc.replace_substring_regex(_texts(rows["date"]), _MIDNIGHT, "")
        forms = days_of(digits)
        example = _example(values)
        if len(forms) != 1:
            may_be = " or ".join(_iso(days)[0].as_py() for _, days in forms)
            raise BadInput(
                f"the days of {self._what}, such as {example}, may be {may_be or 'anything'}: "
                "write them as 2020-09-13"
            )
        form = forms[0][0]
        if form != "YYYYMMDD":
            self._say("days", example, form)
        return lambda rows: _iso(seconds_of_digits(numbers(rows["date"]), form))

    def seconds(self, rows: Rows, how: Reading) -> Floats:
        """Read the times of the next part of the table; NaN where there is none."""
        size = len(rows["time" if "time" in rows else "lat"])
        before, self._rows_before = self._rows_before, self._rows_before + size
        if self._read is None:
            return np.full(size, np.nan)
        values = rows["time"]
        read = self._begun[before : before + size]
        if len(read) < size:
            read = self._read(rows)
        unread = np.isnan(read) & _given(values)
        if unread.any():
            how.counts[UNREAD_TIMES] += int(unread.sum())
        return read


def holds_times(values: pd.Series, name: str) -> bool:
    """Say whether a column seems to hold times or dates, by its first values.

    Numbers are times if their column is named so, and they lie between 1980 and 2100.
    """
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


def _texts(values: Values | pa.StringArray) -> pa.StringArray:
    if isinstance(values, pa.StringArray):
        return values
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


def _iso(days: Floats) -> pa.StringArray:
    """Write days as 2020-09-13."""
    known = np.isfinite(days)
    written = np.datetime_as_string(np.where(known, days, 0.0).astype("datetime64[s]"), "D")
    return pa.array(written, mask=~known)


def _format(texts: pa.StringArray) -> str | None:
    """Find the format that reads most of the texts, if there is one."""
    for text in texts[:_JUDGED].to_pylist():
        # After a year that comes first, the day is never next.
        orders = (False,) if text.strip()[:4].isdigit() else (False, True)
        with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
            forms = [guess(text, dayfirst=day_first) for day_first in orders]
        found = list(dict.fromkeys(form for form in forms if form))  # of equal ones the first wins
        if len(found) == 1:
            return str(found[0])
        if found:
            return str(max(found, key=lambda form: _likelihood(form, texts)))
    return None


def _likelihood(form: str, texts: pa.StringArray) -> tuple[int, float, bool]:
    """Compare formats: by the texts they read, then by the shorter span of time.

    Of one day alone either may be right; more of the world writes it before the month.
    """
    read = _seconds(texts.to_pandas(), format=form)
    known = read[np.isfinite(read)]
    span = np.ptp(known) if len(known) else 0.0
    return len(known), -span, form.startswith("%d") != ("%p" in form)


def _seconds_of_texts(values: Values | pa.StringArray, form: str | None) -> Floats:
    """Read texts, those first that are written in a format, then all others."""
    texts = _texts(values)
    if form is None:
        return _seconds_of_mixed(texts)
    read = np.full(len(texts), np.nan) if form.startswith("%Y-%m-%d") else _fixed(texts, form)
    unread = _unread(read, texts)
    if unread.any():
        read[unread] = _seconds(texts.filter(pa.array(unread)).to_pandas(), format=form)
        unread = _unread(read, texts)
    if unread.any():
        others = texts.filter(pa.array(unread))
        read[unread] = _seconds_of_mixed(others, day_first=form.startswith("%d"))
    return read


def _unread(read: Floats, texts: pa.StringArray) -> Bools:
    return np.asarray(np.isnan(read) & texts.is_valid().to_numpy(zero_copy_only=False))


def _seconds_of_mixed(texts: pa.StringArray, *, day_first: bool = False) -> Floats:
    """Read texts one by one; pandas would give those without a year, or a day, one of its own."""
    texts = pc.replace_substring_regex(texts, _OF_CAMERAS, r"\1-\2-\3")
    whole = pc.if_else(pc.match_substring_regex(texts, _WHOLE_DATE), texts, None)
    return _seconds(whole.to_pandas(), format="mixed", dayfirst=day_first)


def _fixed(texts: pa.StringArray, form: str) -> Floats:
    """Read the texts that are written to the letter in a format of fixed width.

    As ISO 8601, which pandas reads many times as fast as other formats.
    """
    steps = re.findall("%.|.", form.replace("%z", "Z"))
    fields = [step for step in steps if len(step) == 2]
    if not {"%Y", "%m", "%d"} <= set(fields) <= _WIDTH.keys() or len(set(fields)) < len(fields):
        return np.full(len(texts), np.nan)
    part, end = dict[str, Any](), 0
    for step in steps:
        begin, end = end, end + _WIDTH.get(step, 1)
        if step in _WIDTH:
            part[step] = pc.utf8_slice_codeunits(texts, begin, end)
    as_written = (part.get(step, step) for step in steps)
    fits = pc.equal(pc.binary_join_element_wise(*as_written, ""), texts)
    days = pc.binary_join_element_wise(*(part[step] for step in ("%Y", "%m", "%d")), "-")
    of_day = (part.get(step, "00") for step in ("%H", "%M", "%S"))
    iso = pc.binary_join_element_wise(days, pc.binary_join_element_wise(*of_day, ":"), "T")
    return _seconds(pc.if_else(fits, iso, None).to_pandas(), format="%Y-%m-%dT%H:%M:%S")


def _seconds(values: pd.Series, **how: str | bool) -> Floats:
    """Read dates, or texts of them, by pandas."""
    with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
        times = pd.to_datetime(values, utc=True, errors="coerce", **how)
    microseconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy()
    return np.where(times.isna().to_numpy(), np.nan, microseconds / 1e6)
