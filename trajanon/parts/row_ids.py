"""Numbers for the subjects and traces of rows: the same in all parts, whatever their type there."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Bools, Ints
from trajanon.errors import BadInput
from trajanon.hashing import hashed
from trajanon.subjects import key_of, spelled

ID_COLUMNS = ("subject", "trace")

NO_VALUES = "nothing"
"""The kind of a column without any value: it goes with any other kind."""

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


def row_ids(where: str, table: Any, *, exact: bool) -> RowIds:
    """Number what the rows of a table of Arrow say of subjects and traces."""
    found = [
        _numbered(where, table[name], name, exact=exact or name == "trace")
        for name in ID_COLUMNS
        if name in table.column_names
    ]
    return RowIds(*[*found, _nothing(table), _nothing(table)][: len(ID_COLUMNS)])


def kind_of(where: str, field: Any) -> str:
    """Tell numbers from names: two parts must not write one subject in two ways."""
    import pyarrow as pa

    kind = field.type
    if pa.types.is_null(kind):
        return NO_VALUES
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "numbers"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "names"
    msg = f"{where} has a column {field.name!r} that holds neither numbers nor names"
    raise BadInput(msg)


def _nothing(rows: Any) -> ColumnIds:
    number, spellings = np.zeros(len(rows), np.uint64), np.empty((0, 3), np.uint64)
    return ColumnIds(number, np.ones(len(rows), np.bool_), spellings)


def _numbered(where: str, column: Any, name: str, *, exact: bool) -> ColumnIds:
    """Make a number of each value, and tell which are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = _nothing(column)
    if pa.types.is_null(column.type):  # whatever kind it is in other parts
        return nothing
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    null = pc.is_null(column, nan_is_null=True)
    salt = _OF_TRACES if name == "trace" else np.uint64(0)
    if not pa.types.is_integer(column.type) and not pa.types.is_floating(column.type):
        try:
            values = pc.fill_null(column.cast(pa.string()), "").to_numpy()
        except (pa.ArrowException, UnicodeError) as error:
            msg = f"{where} has a {name} whose bytes are no text (UTF-8)"
            raise BadInput(msg) from error
        code, names = pd.factorize(values.astype(object))
        keys = [key_of(one, exact=exact) for one in names]
        written = (names, [spelled(one) for one in names], keys)
        hashes = [pd.util.hash_array(np.array(words, dtype=object)) for words in written]
        spellings = np.column_stack(hashes)
        blank = np.array([not key for key in keys], dtype=np.bool_)
        missing = null.to_numpy() | blank[code]
        return ColumnIds(spellings[code, 2] ^ salt, missing, spellings[~blank])
    try:
        filled = pc.if_else(null, pa.scalar(0, column.type), column)
        large = pa.types.is_uint64(column.type)
        whole = filled.cast(pa.uint64() if large else pa.int64()).to_numpy()
    except pa.ArrowException as error:
        msg = f"{where} has a {name} that is no whole number, or beyond 64 bits"
        raise BadInput(msg) from error
    if pa.types.is_floating(column.type):
        most = 2 ** (np.finfo(column.type.to_pandas_dtype()).nmant + 1)
        if ((whole >= most) | (whole <= -most)).any():
            # Another part may write the same one in full, and it would count as two.
            msg = (
                f"{where} has a {name} of {most:,} or more as a floating-point number "
                "that cannot tell it from the next one: write whole numbers, or names"
            )
            raise BadInput(msg)
    return nothing._replace(number=hashed(whole.view(np.uint64)) ^ salt, missing=null.to_numpy())
