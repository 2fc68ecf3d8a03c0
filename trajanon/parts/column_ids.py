"""Whose a row is: one number in all parts, however it is written there."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Bools, Ints
from trajanon.errors import BadInput
from trajanon.hashing import hashed
from trajanon.subjects import key_of, spelled

WHOSE = ("subject", "trace")

NOTHING = "nothing"
"""The kind of a column that has no value at all: it goes with any other kind."""

_OF_TRACES = np.uint64(0x9E3779B97F4A7C15)
"""Keeps the numbers of traces from being those of subjects."""


class Said(NamedTuple):
    """What a column says of some rows."""

    number: NDArray[np.uint64]  # of each row's value, (r,): the same in all parts
    missing: Bools  # rows without a value, (r,); their numbers mean nothing
    spellings: NDArray[np.uint64] = np.empty((0, 3), dtype=np.uint64)


class Named(NamedTuple):
    """Subjects of traces that name them in some rows only."""

    trace: NDArray[np.uint64]  # their numbers, (t,), rising
    subject: NDArray[np.uint64]  # the subject that each names, (t,)

    @classmethod
    def none(cls) -> "Named":
        """No trace at all."""
        return cls(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64))

    def fill(self, said: dict[str, Said]) -> NDArray[np.uint64]:
        """Find whose each row is, (r,): who is named, in it or elsewhere; or the trace.

        Rows without both keep a number that means nothing.
        """
        subject, trace = said["subject"], said["trace"]
        numbers = np.where(subject.missing, trace.number, subject.number)
        if len(self.trace):
            place = np.searchsorted(self.trace, trace.number)
            place = place.clip(0, len(self.trace) - 1)
            found = self.trace[place] == trace.number
            found &= subject.missing & ~trace.missing
            numbers[found] = self.subject[place[found]]
        return numbers


def what_is_said(
    where: str, table: Any, kinds: Mapping[str, str], *, exact: bool
) -> dict[str, Said]:
    """Number what the columns say that are known, in the order of `WHOSE`."""
    said = {
        name: _numbered(where, table[name], name, kinds[name], exact=exact or name == "trace")
        for name in WHOSE
        if name in kinds
    }
    if "trace" in said:
        trace = said["trace"]
        said["trace"] = trace._replace(number=trace.number ^ _OF_TRACES)
    return said


def nameless(said: dict[str, Said]) -> NDArray[np.uint64]:
    """Find the traces that name no subject in some of the rows; rising, (t,)."""
    if len(said) < len(WHOSE):
        return np.empty(0, dtype=np.uint64)
    subject, trace = said["subject"], said["trace"]
    return np.unique(trace.number[subject.missing & ~trace.missing])


def missing(said: dict[str, Said]) -> Bools:
    """Tell the rows of which nothing is known, (r,)."""
    nobody: Bools = np.all([one.missing for one in said.values()], axis=0)
    return nobody


def subjects(said: dict[str, Said], named: Named, first: int) -> Ints:
    """Number subjects so that all parts do it alike; a trace without is its own.

    Two names may get one number, once in very many: then two subjects count as one, and groups are
    larger than they need be.
    """
    numbers = named.fill(said) if len(said) == len(WHOSE) else None
    nobody = missing(said)
    if numbers is None:
        (only,) = said.values()
        numbers = only.number
    if nobody.any():
        rows = first + np.flatnonzero(nobody)
        numbers[nobody] = hashed(hashed(rows.astype(np.uint64)) ^ _OF_TRACES)
    return numbers.view(np.int64)


def _numbered(where: str, column: Any, name: str, kind: str, *, exact: bool) -> Said:
    """Make a number of each value, and tell which are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_nothing(column.type):  # whatever kind it is in other parts
        nobody = np.zeros(len(column), dtype=np.uint64)
        return Said(nobody, np.ones(len(column), dtype=np.bool_))
    missing = pc.is_null(column, nan_is_null=True).to_numpy()
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
        return Said(digests[code, 2], missing | blank[code], digests[~blank])
    try:
        nothing = pc.is_null(column, nan_is_null=True)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        filled = pc.if_else(nothing, pa.scalar(0, column.type), column)
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
    return Said(hashed(whole.view(np.uint64)), missing)


def is_nothing(kind: Any) -> bool:
    """Whether a column of this type has no value, as pandas writes such ones."""
    import pyarrow as pa

    return bool(pa.types.is_null(kind))


def _exact_to(kind: Any) -> int | None:
    """From where on floating-point numbers leave out whole ones; None if they are."""
    import pyarrow as pa

    if not pa.types.is_floating(kind):
        return None
    return int(2 ** (np.finfo(kind.to_pandas_dtype()).nmant + 1))
