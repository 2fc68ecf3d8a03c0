"""Numbers for the subjects and traces of rows: the same in all parts, whatever their type there."""

from collections.abc import Mapping
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
    """The values of a column ``subject`` or ``trace``, as numbers."""

    number: NDArray[np.uint64]  # of each row's value, (r,): the same in all parts
    missing: Bools  # rows without a value, (r,); their numbers mean nothing
    spellings: NDArray[np.uint64] = np.empty((0, 3), dtype=np.uint64)  # of each different name:
    # hashes of it as written, with blanks and accents made alike, and with case, too, (names, 3)


class TraceSubjects(NamedTuple):
    """Subjects of traces that name them in some rows only."""

    trace: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)  # their numbers, (t,), rising
    subject: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)  # the subject of each, (t,)


def column_ids(
    where: str, table: Any, kinds: Mapping[str, str], *, exact: bool
) -> dict[str, ColumnIds]:
    """Number the values of the known columns, in the order of `ID_COLUMNS`."""
    ids = {
        name: _numbered(where, table[name], name, kinds[name], exact=exact or name == "trace")
        for name in ID_COLUMNS
        if name in kinds
    }
    if "trace" in ids:
        trace = ids["trace"]
        ids["trace"] = trace._replace(number=trace.number ^ _OF_TRACES)
    return ids


def nameless_traces(ids: dict[str, ColumnIds]) -> NDArray[np.uint64]:
    """Find the traces that name no subject in some of the rows; rising, (t,)."""
    if len(ids) < len(ID_COLUMNS):
        return np.empty(0, dtype=np.uint64)
    subject, trace = ids["subject"], ids["trace"]
    return np.unique(trace.number[subject.missing & ~trace.missing])


def unknown_rows(ids: dict[str, ColumnIds]) -> Bools:
    """Tell the rows that have neither a subject nor a trace, (r,)."""
    unknown: Bools = np.all([one.missing for one in ids.values()], axis=0)
    return unknown


def subjects(ids: dict[str, ColumnIds], named: TraceSubjects, first: int) -> Ints:
    """Number the subject of each row, (r,); a trace without one is its own, and so is a row.

    Two names may get one number, once in 2**64: then two subjects count as one, and groups are
    larger than they need be.
    """
    number = next(iter(ids.values())).number
    if len(ids) == len(ID_COLUMNS):
        subject, trace = ids["subject"], ids["trace"]
        number = np.where(subject.missing, trace.number, subject.number)
        if len(named.trace):
            place = np.searchsorted(named.trace, trace.number)
            place = place.clip(0, len(named.trace) - 1)
            found = named.trace[place] == trace.number
            found &= subject.missing & ~trace.missing
            number[found] = named.subject[place[found]]
    unknown = unknown_rows(ids)
    if unknown.any():
        rows = first + np.flatnonzero(unknown)
        number[unknown] = hashed(hashed(rows.astype(np.uint64)) ^ _OF_TRACES)
    return number.view(np.int64)


def _numbered(where: str, column: Any, name: str, kind: str, *, exact: bool) -> ColumnIds:
    """Make a number of each value, and tell which are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):  # whatever kind it is in other parts
        nobody = np.zeros(len(column), dtype=np.uint64)
        return ColumnIds(nobody, np.ones(len(column), dtype=np.bool_))
    null = pc.is_null(column, nan_is_null=True)
    missing = null.to_numpy()
    if kind == "names":
        try:
            values = pc.fill_null(column.cast(pa.string()), "").to_numpy()
        except (pa.ArrowException, UnicodeError) as error:
            msg = f"{where} has a {name} whose bytes are no text (UTF-8)"
            raise BadInput(msg) from error
        code, names = pd.factorize(values.astype(object))
        keys = [key_of(name, exact=exact) for name in names]
        digests = np.column_stack(
            [
                pd.util.hash_array(np.array(words, dtype=object))
                for words in (names, [spelled(name) for name in names], keys)
            ]
        )
        blank = np.array([not key for key in keys], dtype=np.bool_)
        return ColumnIds(digests[code, 2], missing | blank[code], digests[~blank])
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        filled = pc.if_else(null, pa.scalar(0, column.type), column)
        large = pa.types.is_uint64(column.type)
        whole = filled.cast(pa.uint64() if large else pa.int64()).to_numpy()
    except pa.ArrowException as error:
        msg = f"{where} has a {name} that is no whole number, or beyond 64 bits"
        raise BadInput(msg) from error
    most = _exact_to(column.type)
    if most is not None and ((whole >= most) | (whole <= -most)).any():
        # Another part may write the same one in full, and it would count as two.
        msg = (
            f"{where} has a {name} of {most:,} or more as a floating-point number "
            "that cannot tell it from the next one: write whole numbers, or names"
        )
        raise BadInput(msg)
    return ColumnIds(hashed(whole.view(np.uint64)), missing)


def _exact_to(kind: Any) -> int | None:
    """The least whole number that is not exact in a floating-point type; None of other types."""
    import pyarrow as pa

    if not pa.types.is_floating(kind):
        return None
    return int(2 ** (np.finfo(kind.to_pandas_dtype()).nmant + 1))
