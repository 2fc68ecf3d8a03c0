"""What the first rows of a table show of each of its columns."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_list_like, is_object_dtype

from trajanon.common.arrays import Floats, Ints
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.timestamps import TimesHeld, times_held
from trajanon.trajectories.person_names import spelled

_FEW_ROWS = 10  # too few to say that a column counts them, or to be a recording on average
_ROWS_JUDGED = 1_000  # the first ones, by which most columns are dismissed
_LARGEST_SECOND = 63  # of the minute: AIS has codes beyond 59
_EXACT = 2.0**53  # below it, a float is not the neighbour of the number meant

_MEASURES = re.compile(
    r"(?<![a-z])(acc|accuracy|alt|altitude|azimuth|bearing|battery|cadence|comment|course"
    r"|direction|dist|distance|[hpv]?dop|elev?|elevation|event|fix|[hv]acc|heading|height|hgt|hr"
    r"|heart|heartrate|mode|note|odometer|power|pressure|quality|rate|rssi|sats?|satellites"
    r"|signal|speed|state|status|temp|temperature|vel|velocity)(?![a-z])",
    re.IGNORECASE,
)
"""Words in the names of columns that describe a point, not its owner."""


class Coded(NamedTuple):
    """The values of a column, each written once."""

    code: Ints  # of each row its value, or -1
    values: pd.Series


class Column:
    """The first rows of a column."""

    def __init__(self, name: str, values: pd.Series) -> None:
        self.name = name
        self.values = values

    @cached_property
    def coded(self) -> Coded:
        """Its values, numbered in the order of appearance."""
        code, values = pd.factorize(self.values)
        return Coded(np.asarray(code), pd.Series(values))

    @cached_property
    def is_key(self) -> bool:
        """Return whether it is unique in each row, and there are enough rows to say so."""
        values = self.values
        if len(values) < _FEW_ROWS or not values.head(_ROWS_JUDGED).is_unique:
            return False
        return bool(values.is_unique and values.notna().all())

    @cached_property
    def times(self) -> TimesHeld | None:
        """What whole times it holds."""
        return times_held(self.values)

    @cached_property
    def numbers(self) -> Floats:
        """Its values as numbers; NaN where there is none."""
        return numbers(self.values)

    @cached_property
    def describes(self) -> bool:
        """Return whether it measures a point, by its name, or holds fractions."""
        return _MEASURES.search(self.name) is not None or self.describes_numbers

    @cached_property
    def describes_numbers(self) -> bool:
        """Return whether it holds fractions, or numbers that measure a point, by its name."""
        first = numbers(self.values.head(_ROWS_JUDGED))
        measures = np.isfinite(first).any() and _MEASURES.search(self.name) is not None
        return bool(measures or (first % 1.0 > 0.0).any())

    @cached_property
    def holds_lists(self) -> bool:
        """Return whether a row holds a list, not a value."""
        return is_object_dtype(self.values) and bool(self.values.map(is_list_like).any())


class TableHead(dict[str, Column]):
    """The first rows of a table of points, by columns."""

    def __init__(self, rows: pd.DataFrame) -> None:
        super().__init__((str(name), Column(str(name), rows[name])) for name in rows)
        self.rows = len(rows)
        self._owners: Sequence[str] = ()

    def number_recordings_by(self, *names: str) -> None:
        """Number recordings by the values of these columns; without any, all rows are one."""
        self._owners = names
        self.__dict__.pop("recording", None)

    @cached_property
    def recording(self) -> Ints:
        """Of each row the number of its recording, or -1."""
        number = np.zeros(self.rows, np.int64)
        for name in self._owners:
            coded = self[name].coded
            is_missing = (number < 0) | (coded.code < 0)
            number = np.where(is_missing, -1, number * (len(coded.values) + 1) + coded.code)
        is_known = number >= 0
        number[is_known] = pd.factorize(number[is_known])[0]
        return number

    def is_constant(self, name: str) -> bool:
        """Return whether a column has one value in each recording, or none."""
        return _is_constant(self[name], self.recording)

    def divides(self, name: str, owner: Column) -> bool:
        """Return whether a column tells parts of what owners made apart, each of one owner."""
        coded = self[name].coded
        several = len(owner.coded.values) < len(coded.values) <= self.rows // _FEW_ROWS
        return several and bool((coded.code >= 0).all()) and _is_constant(owner, coded.code)

    def count_different(self, name: str) -> int:
        """Count the different values of a column in each recording, and add these up."""
        coded = self[name].coded
        pair = self.recording * (len(coded.values) + 1) + coded.code
        return len(pd.unique(pair[coded.code >= 0]))

    def numbers_points(self, name: str, *, gapless: bool) -> bool:
        """Return whether a column numbers the points of each recording; perhaps without any gap."""
        if self.rows < 2 or self[name].holds_lists:
            return False
        values = self[name].numbers
        if not (np.isfinite(values).all() and (values % 1.0 == 0.0).all()):
            return False
        order = np.lexsort((values, self.recording))
        is_within = np.diff(self.recording[order]) == 0
        steps = np.diff(values[order])[is_within]
        if not len(steps) or (steps == 0.0).any():
            return False
        counts_rows = np.ptp(values) == self.rows - 1 and self[name].is_key
        return not gapless or counts_rows or bool((steps == 1.0).all())

    def holds_seconds_of_minute(self, name: str) -> bool:
        """Return whether small whole numbers come again and again within a recording."""
        column = self[name]
        if column.times is not None:
            return False
        known = column.numbers[np.isfinite(column.numbers)]
        is_second = (known >= 0.0) & (known <= _LARGEST_SECOND) & (known % 1.0 == 0.0)
        return bool(is_second.all()) and 2 * self.count_different(name) < len(known)

    def names_in(self, name: str) -> list[str]:
        """List the different names in a column, as they are written."""
        return [text for text in as_given(self[name].coded.values) if text]


def _is_constant(column: Column, recording: Ints) -> bool:
    """Return whether a column has one value in each recording, or none."""
    is_known = (column.coded.code >= 0) & (recording >= 0)
    code = column.coded.code[is_known]
    recording_of_code = recording[is_known]
    first_code = np.full(int(recording.max(initial=-1)) + 1, -1)
    first_code[recording_of_code[::-1]] = code[::-1]
    return bool((first_code[recording_of_code] == code).all())


def as_given(values: pd.Series) -> list[str | None]:
    """Read names as they are written; None where there is none. Whole floats are no fractions."""
    if pd.api.types.is_float_dtype(values):
        is_integer = (values % 1 == 0) & (values.abs() < _EXACT)
        texts = values.astype("string")
        texts[is_integer] = values[is_integer].astype("Int64").astype("string")
        values = texts
    texts_or_none = (None if pd.isna(value) else str(value) for value in values.tolist())
    return [value if value and spelled(value) else None for value in texts_or_none]
