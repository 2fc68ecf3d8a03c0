"""Numbers for the subjects and traces of rows: the same in all parts, whatever their type there."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Bools, Ints
from trajanon.errors import BadInput
from trajanon.hashing import hashed
from trajanon.subjects import key_of, spelled, text_of_subject

ID_COLUMNS = ("subject", "trace")

_OF_TRACES = np.uint64(0x9E3779B97F4A7C15)
"""Keeps the numbers of traces from being those of subjects."""


class ColumnIds(NamedTuple):
    """The values of a column, as numbers."""

    number: NDArray[np.uint64]  # of each row's value, (r,): the same in all parts
    missing: Bools  # rows without a value, (r,); their numbers mean nothing
    spellings: NDArray[np.uint64]  # of each different name: hashes of it as written, with blanks
    # and accents made alike, and with case, too, (names, 3)


class RowIds(NamedTuple):
    """The subjects and traces of rows; where there are only traces, these are the subjects."""

    subject: ColumnIds
    trace: ColumnIds

    @property
    def nobody(self) -> Bools:
        """Rows that have neither a subject nor a trace, (r,)."""
        return self.subject.missing & self.trace.missing

    @property
    def nameless(self) -> NDArray[np.uint64]:
        """The traces that name no subject in some of the rows; rising, (t,)."""
        return np.unique(self.trace.number[self.subject.missing & ~self.trace.missing])

    def named_by(self, traces: NDArray[np.uint64]) -> pd.Series:
        """Find whom some of the traces name in a row; by trace, in the order of the rows."""
        names = ~self.subject.missing & ~self.trace.missing & np.isin(self.trace.number, traces)
        return pd.Series(self.subject.number[names], index=self.trace.number[names])

    def subjects(self, named: pd.Series, first: int) -> Ints:
        """Number the subject of each row, (r,); a trace without one is its own, and so is a row.

        Two names may get one number, once in 2**64: then two subjects count as one, and groups are
        larger than they need be.
        """
        number = np.where(self.subject.missing, self.trace.number, self.subject.number)
        place = named.index.get_indexer(self.trace.number)
        found = (place >= 0) & self.subject.missing & ~self.trace.missing
        number[found] = named.to_numpy()[place[found]]
        rows = first + np.flatnonzero(self.nobody)
        number[self.nobody] = hashed(hashed(rows.astype(np.uint64)) ^ _OF_TRACES)
        return number.view(np.int64)


def row_ids(
    where: str, columns: Mapping[str, NDArray[Any] | None], rows: int, *, exact: bool
) -> RowIds:
    """Number what columns, by their names, say of the subjects and traces of rows."""
    nothing = ColumnIds(
        np.zeros(rows, np.uint64), np.ones(rows, np.bool_), np.empty((0, 3), np.uint64)
    )
    found = [
        _numbered(where, values, name, exact=exact or name == "trace")
        for name, values in columns.items()
        if values is not None
    ]
    return RowIds(*[*found, nothing, nothing][: len(ID_COLUMNS)])


def _numbered(where: str, column: NDArray[Any], name: str, *, exact: bool) -> ColumnIds:
    """Make a number of each value, 7 and "7" alike, and tell which are missing."""
    code, values = pd.factorize(column)
    if values.dtype.kind == "f":
        most = 2.0 ** (np.finfo(values.dtype).nmant + 1)
        if (np.abs(values) >= most).any():
            # Another part may write the same one in full, and it would count as two.
            raise BadInput(
                f"{where} has a {name} of {most:,.0f} or more as a floating-point number "
                "that cannot tell it from the next one: write whole numbers, or names"
            )
    names = [text_of_subject(value) for value in values]
    spelt = [spelled(one) for one in names]
    keys = [key_of(one, exact=exact) for one in spelt]
    hashes = [
        pd.util.hash_array(np.array([*words, ""], dtype=object)) for words in (names, spelt, keys)
    ]
    spellings = np.column_stack(hashes)
    blank = np.array([not key for key in [*keys, ""]], dtype=np.bool_)
    salt = _OF_TRACES if name == "trace" else np.uint64(0)
    return ColumnIds(spellings[code, 2] ^ salt, blank[code], spellings[~blank])
