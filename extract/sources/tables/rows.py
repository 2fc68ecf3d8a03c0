"""What is kept of rows of points: where, when, and codes for the names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import columns
from trajanon.subjects import key_of

NO_NAME = -1
"""The code of a name that is missing."""

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Points in the order of a table; arrays of numpy, as frames of pandas take a third longer."""

    owner: Codes  # places in `owners`: the id, or in a table without ids the subject
    subject: Codes  # places in `subjects`, or `NO_NAME`
    lat: Floats  # degrees
    lon: Floats  # degrees
    time: Floats  # seconds since 1970 UTC, or NaN
    owners: Sequence[str]
    subjects: Sequence[str]  # as they are written

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, which: NDArray[np.intp] | Bools) -> "Rows":
        """Keep some of the rows, and of the names what they need."""
        owner, owners = _of_those(self.owner[which], self.owners)
        subject, subjects = _of_those(self.subject[which], self.subjects)
        lat, lon, time = self.lat[which], self.lon[which], self.time[which]
        return Rows(owner, subject, lat, lon, time, owners, subjects)


def rows_of(chunk: pd.DataFrame, time: Floats, how: Reading) -> Rows:
    """Give codes to the names in a part of a table; rows without an id are left out."""
    subjects: list[str] = []
    subject = np.full(len(chunk), NO_NAME, np.int32)
    if "subject" in chunk:
        subject, subjects = _coded(chunk["subject"], columns.as_given)
    if "id" in chunk:
        ids = _with_part(chunk["id"], chunk["part"]) if "part" in chunk else chunk["id"]
        owner, owners = _coded(ids, columns.names)
    else:
        exact = how.subjects_exact
        owner, owners = subject, [key_of(name, exact=exact) for name in subjects]
    lat, lon = (chunk[role].to_numpy(np.float64) for role in ("lat", "lon"))
    rows = Rows(owner, subject, lat, lon, time, owners, subjects)
    owned = owner != NO_NAME
    if owned.all():
        return rows
    how.counts["points without an id"] += int((~owned).sum())
    return rows.take(owned)


def joined(parts: Sequence[tuple[Codes, Sequence[str]]]) -> tuple[Codes, list[str]]:
    """Join codes; each part has its own names, some of which may be equal."""
    number: dict[str, int] = {}
    codes = []
    for code, names in parts:
        own = [number.setdefault(name, len(number)) for name in names]
        codes.append(np.array([*own, NO_NAME], np.int32)[code])
    return np.concatenate(codes), list(number)


def _coded(
    values: pd.Series, read: Callable[[pd.Series], list[str | None]]
) -> tuple[Codes, list[str]]:
    code, found = pd.factorize(values)
    if isinstance(found, pd.CategoricalIndex):  # which is slow to make texts of
        found = found.categories.take(found.codes)
    names = read(pd.Series(found))
    named = np.array([name is not None for name in names], bool)
    places = np.where(named, np.cumsum(named) - 1, NO_NAME)
    return np.append(places, NO_NAME).astype(np.int32)[code], [name for name in names if name]


def _of_those(code: Codes, names: Sequence[str]) -> tuple[Codes, list[str]]:
    needed = np.unique(code[code != NO_NAME])
    place = np.full(len(names) + 1, NO_NAME, np.int32)
    place[needed] = np.arange(len(needed), dtype=np.int32)
    return place[code], [names[i] for i in needed.tolist()]


def _with_part(ids: pd.Series, parts: pd.Series) -> pd.Series:
    """Join ids and parts to names; a row without its part has no name."""
    owner, part = (pd.Series(columns.names(values), ids.index, "string") for values in (ids, parts))
    return owner + "/" + part
