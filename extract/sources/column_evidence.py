"""What the first rows of a table show of each of its columns."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_list_like, is_object_dtype

from trajanon.common.arrays import Floats, Ints
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.timestamps import TimesHeld, times_held
from trajanon.trajectories.person_names import tidied

_LEAST_ROWS = 10  # that show that a column counts them; and of a recording, on average
_ROWS_JUDGED = 1_000  # the first ones, which show whether a column measures something

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

    code: Ints  # of each row its value, as a place in `values`, or -1
    values: pd.Series


class Column:
    """The first rows of a column."""

    def __init__(self, name: str, values: pd.Series) -> None:
        self.values = values
        self.has_name_of_measure = _MEASURES.search(name) is not None

    @cached_property
    def coded(self) -> Coded:
        """Its different values, in the order of appearance, and which of them each row has."""
        code, values = pd.factorize(self.values)
        return Coded(np.asarray(code), pd.Series(values))

    @property
    def is_key(self) -> bool:
        """Return whether each row has a value of its own, and there are enough rows to say so."""
        return len(self.coded.values) == len(self.values) >= _LEAST_ROWS

    @cached_property
    def times(self) -> TimesHeld | None:
        """Which whole times it holds."""
        return times_held(self.values)

    @cached_property
    def numbers(self) -> Floats:
        """Its values as numbers; NaN where there is none."""
        return numbers(self.values)

    @cached_property
    def measures_points(self) -> bool:
        """Return whether it holds fractions, or numbers under a name of a measure."""
        first = numbers(self.values.head(_ROWS_JUDGED))
        holds_fractions = bool((first % 1.0 > 0.0).any())
        return holds_fractions or (self.has_name_of_measure and not np.isnan(first).all())


class TableHead(dict[str, Column]):
    """The first rows of a table of points, by columns; those are left out that hold lists."""

    def __init__(self, rows: pd.DataFrame) -> None:
        super().__init__(
            (str(name), Column(str(name), rows[name]))
            for name in rows
            if not _holds_lists(rows[name])
        )
        self.row_count = len(rows)
        self.recording = np.zeros(self.row_count, np.int64)  # of each row its number, or -1

    def number_recordings_by(self, names: Sequence[str]) -> None:
        """Number recordings by the values of these columns; without any, all rows are one."""
        if names:
            owners = pd.DataFrame({name: self[name].values for name in names})
            number = owners.groupby(list(owners), sort=False, observed=True).ngroup()
            self.recording = number.fillna(-1).to_numpy(np.int64)

    def is_constant(self, name: str) -> bool:
        """Return whether a column has one value in each recording, or none."""
        return _is_constant(self[name], self.recording)

    def divides(self, name: str, owner: Column) -> bool:
        """Return whether a column divides what each owner made, and no part has two owners."""
        coded = self[name].coded
        is_finer = len(owner.coded.values) < len(coded.values)
        are_few = _LEAST_ROWS * len(coded.values) <= self.row_count
        is_whole = bool((coded.code >= 0).all())
        return is_finer and are_few and is_whole and _is_constant(owner, coded.code)

    def count_different(self, name: str) -> int:
        """Count the different values of a column in each recording, and add these up."""
        return int(self[name].values.groupby(self.recording).nunique().sum())

    def numbers_points(self, name: str, *, gapless: bool) -> bool:
        """Return whether whole numbers tell the points of each recording apart.

        Gapless ones follow one another in each recording, or in the whole table.
        """
        values = self[name].numbers
        if not (values % 1.0 == 0.0).all():
            return False

        order = np.lexsort((values, self.recording))
        is_within = np.diff(self.recording[order]) == 0
        steps = np.diff(values[order])[is_within]
        if not len(steps) or (steps == 0.0).any():
            return False

        counts_rows = np.ptp(values) == self.row_count - 1 and self[name].is_key
        return not gapless or counts_rows or bool((steps == 1.0).all())

    def comes_again(self, name: str) -> bool:
        """Return whether numbers of no clock come again and again within a recording.

        Seconds of the minute do, as AIS has them, and temperatures; times do not, although some of
        them follow each other unchanged where fixes are many a second.
        """
        column = self[name]
        known = np.flatnonzero(~np.isnan(column.numbers))
        known = known[np.argsort(self.recording[known], kind="stable")]
        is_other = np.diff(column.numbers[known]) != 0.0
        is_other |= np.diff(self.recording[known]) != 0
        return column.times is None and 0 < 2 * self.count_different(name) <= is_other.sum()


def _holds_lists(values: pd.Series) -> bool:
    """Return whether a row of a column holds a list, not a value."""
    return is_object_dtype(values) and bool(values.map(is_list_like).any())


def _is_constant(column: Column, group: Ints) -> bool:
    """Return whether a column has one value in each group of rows, or none; -1 is no group."""
    pairs = pd.DataFrame({"group": group, "code": column.coded.code})
    is_known = (pairs >= 0).all(axis=1)
    return bool(pairs[is_known].drop_duplicates()["group"].is_unique)


def as_given(values: pd.Series) -> list[str | None]:
    """Read names as they are written, whole floats as integers; None where there is none."""
    if is_float_dtype(values):
        values = values.astype("string").str.removesuffix(".0")
    texts = (None if pd.isna(value) else _text_of(value) for value in values.tolist())
    return [text if text and tidied(text) else None for text in texts]


def _text_of(value: object) -> str:
    """Write a name; bytes, as frames of some libraries hold it, are read as UTF-8."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
