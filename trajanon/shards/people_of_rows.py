"""The person of each row, found part by part, as one hash in all parts."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Column, Hashes, Ints
from trajanon.files.geoparquet import written_column
from trajanon.files.parquet_parts import ParquetParts
from trajanon.trajectories.person_names import key_of, text_of_subject
from trajanon.trajectories.subjects import column_of

NO_NAME = np.uint64(0)
"""The person of rows without a name."""


class PeopleOfRows(NamedTuple):
    """The person of each row, as a hash; if two hashes collide, two people count as one."""

    person: Hashes  # equal for all spellings of one person, 0 if a row has no name, (n,)
    name: Hashes  # of the name as it is spelled, (n,)


def people_of_part(part: ParquetParts, *, exact: bool) -> PeopleOfRows:
    """Read the person of each row of a part; without a column of names, it is its recording."""
    subject = written_column(part, "subject")
    if subject is None:
        return recordings_of_part(part)
    return people_of_names(subject, exact=exact)


def recordings_of_part(part: ParquetParts) -> PeopleOfRows:
    """Read the recording of each row of a part; without traces, it is its own."""
    return people_of_recordings(written_column(part, "trace"), part.row_numbers)


def people_of_names(values: Column, *, exact: bool) -> PeopleOfRows:
    """Hash the names of persons, as `subjects.numbered` tells them apart."""
    column = column_of(values)
    are_numbers = column.dtype.kind in "iuf"
    if not are_numbers:
        column = column.astype(object)

    # Each different value is read once. A row without one has the number -1, which is the last
    # place: that of what is appended.
    number_of_row, different = pd.factorize(column)
    names = [text_of_subject(value) for value in np.asarray(different).tolist()]
    name = np.append(_hashed(names), NO_NAME)
    if are_numbers:  # which have one spelling
        return PeopleOfRows(name[number_of_row], name[number_of_row])

    keys = [key_of(name, exact=exact) for name in names]
    person = np.append(_hashed(keys), NO_NAME)
    has_name = np.array([*map(bool, keys), False], dtype=np.bool_)
    person[~has_name] = NO_NAME
    name[~has_name] = NO_NAME
    return PeopleOfRows(person[number_of_row], name[number_of_row])


def hashes_of_nameless(subject: int | None) -> tuple[int, ...]:
    """Hash the subject that extraction numbered for all recordings without a name, if any."""
    if subject is None:
        return ()
    return tuple(people_of_names(np.array([subject]), exact=True).person.tolist())


def people_of_recordings(trace: Column | None, row: Ints) -> PeopleOfRows:
    """Hash what rows were cut from: rows of one recording have one hash.

    A row without a trace is a recording of its own. ``row`` are the numbers of rows in the table.
    """
    recording = np.asarray(pd.util.hash_array(row.astype(np.uint64)))
    if trace is not None:
        named = people_of_names(trace, exact=True)  # these are no names of persons
        recording = np.where(named.person == 0, recording, named.person)
    return PeopleOfRows(recording, recording)


def _hashed(texts: list[str]) -> Hashes:
    return np.asarray(pd.util.hash_array(np.array(texts, dtype=object), categorize=False))
