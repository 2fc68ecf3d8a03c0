"""Numbers for the subjects and traces of rows: the same in all parts, whatever their type there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Bools, Hashes, Ints
from trajanon.errors import BadInput
from trajanon.files.geoparquet import written_column
from trajanon.hashing import hashed
from trajanon.subjects import Merged, key_of, spelled, text_of_subject

ID_COLUMNS = ("subject", "trace")

_OF_TRACES = np.uint64(0x9E3779B97F4A7C15)
"""Keeps the numbers of traces from being those of subjects."""


class ColumnIds(NamedTuple):
    """The values of a column, as numbers."""

    number: Hashes  # of each row's value, (r,): the same in all parts
    missing: Bools  # rows without a value, (r,); their numbers mean nothing
    spellings: Hashes  # of each different name: hashes of it as written, with blanks and accents
    # made alike, and with case, too, (names, 3)


@dataclass(frozen=True, eq=False)
class RowIds:
    """The subjects of rows; a trace without one is its own subject, and so is a row without both.

    A trace that names its subject in some rows only has the first of them in all. Two names may
    get one number, once in 2**64: then two subjects count as one, and groups are larger than they
    need be.
    """

    subject: Ints  # number of each row's subject, (r,)
    nobody: Bools  # rows that have neither a subject nor a trace, (r,)
    nameless: Bools  # rows of subjects without a name, (r,)
    merged: Merged  # names that were another one's spelling

    @property
    def unnamed(self) -> int:
        """How many subjects have no name."""
        return len(np.unique(self.subject[self.nameless]))

    @classmethod
    def of(cls, columns: Sequence[tuple[ColumnIds, ColumnIds]]) -> "RowIds":
        """Take subjects and traces of all rows, in several pieces."""
        (number, lacks, spellings), (trace, untraced, _) = (
            ColumnIds(*map(np.concatenate, zip(*some, strict=True)))
            for some in zip(*columns, strict=True)
        )
        names = ~lacks & ~untraced
        named = pd.Series(number[names], index=trace[names])
        named = named[~named.index.duplicated()]
        place = named.index.get_indexer(trace)
        place[untraced] = -1
        nobody = lacks & untraced
        subject = np.where(lacks, trace, number)
        known = lacks & (place >= 0)
        subject[known] = named.to_numpy()[place[known]]
        rows = np.flatnonzero(nobody).astype(np.uint64)
        subject[nobody] = hashed(hashed(rows) ^ _OF_TRACES)
        merged = Merged.among(*({*column.tolist()} for column in spellings.T))
        return cls(subject.view(np.int64), nobody, lacks & (place < 0), merged)


def row_ids(where: object, file: Any, *, exact: bool) -> tuple[ColumnIds, ColumnIds]:
    """Number what a file says of the subjects and traces of its rows; traces may be subjects."""
    nothing = ColumnIds(
        np.zeros(file.n, np.uint64), np.ones(file.n, np.bool_), np.empty((0, 3), np.uint64)
    )
    columns = {name: written_column(where, file, name) for name in ID_COLUMNS}
    found = [
        _numbered(where, values, name, exact or name == "trace")
        for name, values in columns.items()
        if values is not None
    ]
    one, other = [*found, nothing, nothing][: len(ID_COLUMNS)]
    return one, other


def _numbered(where: object, column: NDArray[Any], name: str, exact: bool) -> ColumnIds:
    """Make a number of each value, equal for 7 and "7", and mark missing ones."""
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
