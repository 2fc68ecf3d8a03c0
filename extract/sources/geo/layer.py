"""Features with the same columns, in one reference system."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.geo.line_times import TIMES_OF_POINTS
from trajanon.extract.sources.tables.columns import roles
from trajanon.extract.sources.tables.unused_columns import First
from trajanon.files import wkb

POINTS_OF_A_BATCH = 65_536
LINES_OF_A_BATCH = 2_048  # lines may be long
"""Features that are read at a time."""

_PLACE = {"lat": "lat", "lon": "lon"}  # roles of the geometry, not of columns

Features = tuple[NDArray[Any], pd.DataFrame]
"""Geometries of shapely, or None, shape (n,), or x and y of points, shape (n, 2); and
what else is known of each."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Features with the same columns, in one reference system."""

    what: str  # where they come from, for messages
    label: str  # the same in short, for the names of traces
    names: Sequence[str]  # of the columns. The features have at least those that are `needed`
    system: Any  # what pyproj takes for a reference system; None if it is not known
    features: Callable[[Sequence[str]], Iterable[Features]]  # with some columns, batch by batch
    first: First  # reads the first rows of some columns, of points to see whether they hold times
    count: int | None = None  # how many there are, if known
    sorted_by_place: bool = False

    def roles(self, wanted: Mapping[str, str], *, of_points: bool) -> dict[str, str]:
        """Find which column plays which role; the geometry is lat and lon."""
        own = {role: name for role, name in wanted.items() if role not in _PLACE}
        for role, name in own.items():
            if name not in self.names:
                msg = f"{self.what} has no column {name!r} for {role}; {self._columns}"
                raise BadInput(msg)
        every = [*self.names, *_PLACE, "id"]  # all that is asked for is there
        found = roles(every, {**own, **_PLACE}, Path(self.what))
        column_of = {
            role: name for role, name in found.items() if name in self.names and role not in _PLACE
        }
        for name in (*column_of.values(), *TIMES_OF_POINTS):
            if list(self.names).count(name) > 1:
                msg = (
                    f"the column {name!r} appears more than once in {self.what}: rename one of them"
                )
                raise BadInput(msg)
        if of_points and not {"id", "subject"} & set(column_of):
            msg = f"{self.what} has no column known as id; {self._columns}: say `columns` id=..."
            raise BadInput(msg)
        return column_of

    @property
    def _columns(self) -> str:
        return f"its columns are {', '.join(self.names) or 'none'}"

    def needed(self, wanted: Mapping[str, str]) -> list[str]:
        """List the columns that matter, whether the features are points or lines."""
        found = {*self.roles(wanted, of_points=False).values(), *TIMES_OF_POINTS}
        return [name for name in self.names if name in found]


def geometries_of(column: Any, what: str, *, strict: bool) -> NDArray[Any]:
    """Read WKB for `Features`; unreadable geometries become None.

    Plain points of finite numbers stay numbers: objects of shapely take most of the time.
    """
    xy = wkb.read_points(column)
    if xy is not None and np.isfinite(xy).all():
        return xy
    try:
        found = wkb.read_geometries(column, "ignore")
    except TypeError as error:
        msg = f"{what} has no geometries (WKB) where it should: {column.type}"
        raise FileProblem(msg) from error
    unreadable = int(shapely.is_missing(found).sum()) - column.null_count
    if unreadable and strict:
        msg = (
            f"{what} has geometries that cannot be read, {unreadable:,} of the next "
            f"{len(column):,}; mend them, or read without strict"
        )
        raise FileProblem(msg)
    return found
