"""What is kept of rows of points: where, when, and numbers for the names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import columns
from trajanon.subjects import key_of

NOBODY = -1
"""The number of a name that is not there."""

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Points in the order of a table."""

    owner: Numbers  # places in `owners`: the id, or in a table without ids the subject
    subject: Numbers  # places in `subjects`, or `NOBODY`
    lat: Floats  # degrees
    lon: Floats  # degrees
    time: Floats  # seconds since 1970 UTC, or NaN
    owners: Sequence[str]  # names; those of subjects as they are written
    subjects: Sequence[str]  # names; those of subjects as they are written

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, which: NDArray[np.intp] | Bools) -> "Rows":
        """Keep some of the rows, and of the names what they need."""
        owner, owners = _of_those(self.owner[which], self.owners)
        subject, subjects = _of_those(self.subject[which], self.subjects)
        lat, lon, time = self.lat[which], self.lon[which], self.time[which]
        return Rows(owner, subject, lat, lon, time, owners, subjects)


def rows_of(chunk: pd.DataFrame, time: Floats, how: Reading) -> Rows:
    """Number the names in a part of a table; rows without an id are left out."""
    if "part" in chunk:
        chunk = chunk.assign(id=_with_part(chunk["id"], chunk["part"]))
    subjects: list[str] = []
    subject = np.full(len(chunk), NOBODY, np.int32)
    if "subject" in chunk:
        subject, subjects = _numbered(chunk["subject"], columns.as_given)
    if "id" in chunk:
        owner, owners = _numbered(chunk["id"], columns.names)
    else:
        exact = how.subjects_exact
        owner, owners = subject, [key_of(name, exact=exact) for name in subjects]
    lat, lon = (chunk[role].to_numpy(np.float64) for role in ("lat", "lon"))
    rows = Rows(owner, subject, lat, lon, time, owners, subjects)
    owned = owner != NOBODY
    if owned.all():
        return rows
    how.counts["points without an id"] += int((~owned).sum())
    return rows.take(owned)


def joined(codes: Iterable[Numbers], names: Iterable[Sequence[str]]) -> tuple[Numbers, list[str]]:
    """Join numbers of which each part has its own names."""
    number: dict[str, int] = {}
    parts = [
        _with_nobody([number.setdefault(name, len(number)) for name in own])[code]
        for code, own in zip(codes, names, strict=True)
    ]
    return np.concatenate(parts), list(number)


def _numbered(
    values: pd.Series, read: Callable[[pd.Series], list[str | None]]
) -> tuple[Numbers, list[str]]:
    code, found = pd.factorize(values)
    if isinstance(found, pd.CategoricalIndex):  # which is slow to make texts of
        found = found.categories.take(found.codes)
    names = read(pd.Series(found))
    named = np.array([name is not None for name in names], bool)
    places = np.where(named, np.cumsum(named) - 1, NOBODY)
    return _with_nobody(places.tolist())[code], [name for name in names if name]


def _with_nobody(numbers: Sequence[int]) -> Numbers:
    """Add what a number of -1 finds: nobody."""
    return np.array([*numbers, NOBODY], np.int32)


def _of_those(code: Numbers, names: Sequence[str]) -> tuple[Numbers, list[str]]:
    needed = np.unique(code[code != NOBODY])
    place = np.full(len(names) + 1, NOBODY, np.int32)
    place[needed] = np.arange(len(needed), dtype=np.int32)
    return place[code], [names[i] for i in needed.tolist()]


def _with_part(ids: pd.Series, parts: pd.Series) -> pd.Series:
    """Name the parts of what has an id; without its part, a row has none."""
    owner, part = (pd.Series(columns.names(values), ids.index, "string") for values in (ids, parts))
    return owner + "/" + part
