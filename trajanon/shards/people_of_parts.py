"""Whose a row is, told by the row alone: numbers of people that every part gives alike."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.common.arrays import Bools
from trajanon.trajectories.person_names import key_of, text_of_subject
from trajanon.trajectories.subjects import column_of

Numbers = NDArray[np.uint64]


class PeopleOfRows(NamedTuple):
    """Whose rows are, as 64 bits: two people of whom these are equal count as one, never as two."""

    person: Numbers  # (n,)
    name: Numbers  # as it is spelled, (n,)
    missing: Bools  # whether a row has no name, (n,)
    kind: str  # of the column's values, as NumPy knows them


def people_of_names(values: NDArray[Any], *, exact: bool) -> PeopleOfRows:
    """Number whatever tells subjects apart, as `subjects.numbered` does."""
    column = column_of(values)
    are_numbers = column.dtype.kind in "iuf"
    if not are_numbers:
        column = column.astype(object)

    row, different = pd.factorize(column)
    names = [text_of_subject(value) for value in np.asarray(different).tolist()]
    keys = names if are_numbers else [key_of(name, exact=exact) for name in names]

    # Rows without a name are last.
    person = np.append(_hashed(keys), np.uint64(0))[row]
    name = np.append(_hashed(names), np.uint64(0))[row]
    missing = np.array([*(not key for key in keys), True], dtype=np.bool_)[row]
    return PeopleOfRows(person, name, missing, column.dtype.kind)


def people_of_recordings(trace: NDArray[Any], first: int) -> PeopleOfRows:
    """Number rows by what they were cut from; each without a name is a recording of its own."""
    named = people_of_names(trace, exact=True)
    row = pd.util.hash_array(np.arange(first, first + len(trace), dtype=np.uint64))
    person = np.where(named.missing, row, named.person)
    return PeopleOfRows(person, person, np.zeros(len(trace), dtype=np.bool_), named.kind)


def _hashed(texts: list[str]) -> Numbers:
    return np.asarray(pd.util.hash_array(np.array(texts, dtype=object), categorize=False))
