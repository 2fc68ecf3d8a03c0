"""The times of a table: its first rows tell how they are written, and that holds for all."""

import logging
import re
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.tseries.api import guess_datetime_format as guess

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.columns import Rows, Values, numbers

logger = logging.getLogger(__name__)

UNREAD_TIMES = "times that could not be read"

_OF_DAY = r"^\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*$"
_MIDNIGHT = r"[T ]00:00(:00(\.0+)?)?\s*$"
_LIKE_A_TIME = r"\d{4}[-/. ]?\d{2}|[-/. ]\d{4}\b|\d:\d\d"
_NAME_OF_TIMES = re.compile(r"time|date|stamp|epoch|utc|\bts$|_ts$", re.IGNORECASE)

_JUDGED, _MOST = 100, 0.9
"""Values by which a column is judged, and the share of them that must be times."""

_ISO = np.frombuffer(b"0000-00-00T00:00:00", np.uint8)
_LAST_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0])  # of months 0 to 13
_DIGITS = {
    "%Y": range(4),
    "%m": range(5, 7),
    "%d": range(8, 10),
    "%H": range(11, 13),
    "%M": range(14, 16),
    "%S": range(17, 19),
}
"""Where the digits of a field stand in ISO 8601."""


class TimeColumn:
    """Reads the times of one table, part by part, as seconds since 1970 UTC.

    They may be dates, texts, or numbers of any unit; or texts in two columns, one of the day and
    one of the time of day. A column is one of numbers if most of its first values are.
    """

    def __init__(self, first: Rows, what: str, how: Reading) -> None:
        self._what = what
        self._rows_before = 0
        self._dated = False
        self._begun = np.empty(0)  # the times of the first rows
        self._read = self._reader(first, how) if "time" in first else None

    def _reader(self, first: Rows, how: Reading) -> Callable[[Values], Floats] | None:
        """Find what reads the times, by the first of them; None if they tell no order."""
        values = first["time"]
        if pd.api.types.is_timedelta64_dtype(values):
            return lambda part: np.asarray(part.dt.total_seconds().to_numpy(dtype=np.float64))
        read: Callable[[Values], Floats] = _seconds
        if not pd.api.types.is_datetime64_any_dtype(values):
            epochs = numbers(values)
            if 2 * np.isfinite(epochs).sum() > _given(values).sum():
                per_second = _unit(epochs)
                self._begun = epochs / per_second
                return lambda part: numbers(part) / per_second
            self._dated = self._are_of_day(first)
            values = self._values(first)
            read = partial(_seconds_of_texts, form=_format(_texts(values).drop_null()))
        self._begun = read(values)
        known = self._begun[np.isfinite(self._begun)]
        if len(values) > 1 and len(known) > 0 and not (known % 86_400).any():
            msg = f"{self._what} has days but no times of day: it is untimed"
            how.warn(logger, "days", msg, self._what)
            return None
        if len(known) == 0 and _given(values).any():
            one = str(np.asarray(values, object)[_given(values)][0])
            msg = (
                f"none of the times of {self._what} can be read, such as {one!r}: it is untimed; "
                "write them as 2020-09-13T12:26:40Z"
            )
            how.warn(logger, "no times", msg, self._what)
        return read

    def _are_of_day(self, first: Rows) -> bool:
        """Say whether times are times of day, of a day that another column tells."""
        texts = _texts(first["time"]).drop_null()
        of_day = pc.sum(pc.match_substring_regex(texts, _OF_DAY)).as_py() or 0
        if 2 * of_day <= len(texts) or "date" in first:
            return 2 * of_day > len(texts)
        raise BadInput(
            f"the column of times holds times of day ({texts[0]}), which do not tell "
            "one day from another: name a column with both, `columns` time=..., or one "
            "with the day, date=..."
        )

    def _values(self, rows: Rows) -> Values:
        if not self._dated:
            return rows["time"]
        days = pc.replace_substring_regex(_texts(rows["date"]), _MIDNIGHT, "")
        both = (pc.utf8_trim_whitespace(each) for each in (days, _texts(rows["time"])))
        return pa.chunked_array([pc.binary_join_element_wise(*both, " ")])

    def seconds(self, rows: Rows, how: Reading) -> Floats:
        """Read the times of the next part of the table; NaN where there is none."""
        size = len(rows["time" if "time" in rows else "lat"])
        before, self._rows_before = self._rows_before, self._rows_before + size
        if self._read is None:
            return np.full(size, np.nan)
        values = self._values(rows)
        read = self._begun[before : before + size]
        if len(read) < size:
            read = self._read(values)
        unread = np.isnan(read) & _given(values)
        if unread.any() and how.strict:
            row = int(np.argmax(unread))
            text = str(np.asarray(values, object)[row]).strip()
            raise FileProblem(
                f"the time {text!r} in row {before + row + 1:,} of "
                f"{self._what} cannot be read; mend it, or read not strictly"
            )
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
        seconds = epochs / _unit(epochs)
        return bool(_NAME_OF_TIMES.search(name) and ((seconds > 3.1e8) & (seconds < 4.1e9)).all())
    texts = _texts(some)
    if pc.sum(pc.match_substring_regex(texts, _LIKE_A_TIME)).as_py() < _MOST * len(texts):
        return False
    return bool(np.isfinite(_seconds(texts.to_pandas(), format="mixed")).mean() >= _MOST)


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


def _unit(epochs: Floats) -> float:
    """Tell how many of these numbers make a second, since 1970.

    Seconds have ten digits today; milli-, micro- and nanoseconds have more. The median decides, so
    that one wrong number has no effect.
    """
    typical = np.nanmedian(np.abs(epochs))
    units = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
    return next((per_second for least, per_second in units if typical >= least), 1.0)


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


def _seconds_of_texts(values: Values, form: str | None) -> Floats:
    """Read texts, those first that are written in a format, then all others."""
    texts = _texts(values)
    if form is None:
        return _seconds(texts.to_pandas(), format="mixed")
    read = _fixed(texts, form)
    for how in ({"format": form}, {"format": "mixed", "dayfirst": form.startswith("%d")}):
        unread = np.isnan(read) & texts.is_valid().to_numpy(zero_copy_only=False)
        if unread.any():
            read[unread] = _seconds(texts.filter(pa.array(unread)).to_pandas(), **how)
    return read


def _fixed(texts: pa.StringArray, form: str) -> Floats:
    """Read the texts that are written to the letter in a format of fixed width.

    numpy reads ISO 8601 many times as fast as pandas reads other formats; unlike Arrow's strptime,
    what is read here has no blanks and no 30 February.
    """
    seconds = np.full(len(texts), np.nan)
    steps = re.findall("%.|.", form.replace("%z", "Z"))
    fields = {step for step in steps if len(step) == 2}
    width = sum(len(_DIGITS.get(step, step)) for step in steps)
    fits = pc.fill_null(pc.equal(pc.binary_length(texts), width), False)
    which = fits.to_numpy(zero_copy_only=False).copy()
    if not {"%Y", "%m", "%d"} <= fields <= _DIGITS.keys() or not which.any():
        return seconds
    fitting = texts if which.all() else texts.filter(fits)
    _, offsets, letters = fitting.buffers()
    start = np.frombuffer(offsets, np.int32)[fitting.offset]
    written = np.frombuffer(letters, np.uint8)[start : start + width * len(fitting)]
    iso = np.tile(_ISO, (len(fitting), 1))
    right = np.ones(len(fitting), dtype=np.bool_)
    columns = iter(written.reshape(-1, width).T)
    for step in steps:
        if step not in _DIGITS:
            right &= next(columns) == ord(step)
        for place in _DIGITS.get(step, ()):
            iso[:, place] = digit = next(columns)
            right &= digit - np.uint8(ord("0")) <= 9  # wraps below zero
    right &= _possible(iso)
    which[which] = right
    seconds[which] = iso[right].view("S19")[:, 0].astype("datetime64[s]").astype(np.int64)
    return seconds


def _possible(iso: NDArray[np.uint8]) -> Bools:
    """Tell which digits are a day and a time; numpy must not meet others, as it may crash."""
    month, day, hour, minute, second = (
        (iso[:, place] - ord("0")) * 10 + iso[:, place + 1] - ord("0")
        for place in (5, 8, 11, 14, 17)
    )
    year = (iso[:, :4] - ord("0")).astype(np.int64) @ np.array([1000, 100, 10, 1])
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = _LAST_DAYS[np.minimum(month, 13)] + (leap & (month == 2))
    of_day = (hour < 24) & (minute < 60) & (second < 60)
    return np.asarray(of_day & (day >= 1) & (day <= last))


def _seconds(values: pd.Series, **how: str | bool) -> Floats:
    """Read dates, or texts of them, by pandas."""
    with warnings.catch_warnings(action="ignore"):  # of what pandas has to guess
        times = pd.to_datetime(values, utc=True, errors="coerce", **how)
    microseconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy()
    return np.where(times.isna().to_numpy(), np.nan, microseconds / 1e6)
