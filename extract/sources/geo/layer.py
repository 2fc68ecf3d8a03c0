"""Features with the same columns, in one reference system."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.extract.sources.tables.columns import MARKS, check_single, roles
from trajanon.files.arrow import frame, geometries_of, points_of

TIMES_OF_POINTS = ("datetimes", "coordTimes", "times", "coordinateProperties")
"""Where Moving Features, and converters from GPX to GeoJSON, put the times of points; the last
one is an object that has them under ``times``."""

BATCH_OF_FEATURES = {"points": 65_536, "lines": 2_048}
"""Features that are read at a time; lines may be long."""

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
    count: int | None = None  # how many there are, if known
    sorted_by_place: bool = False

    def roles(self, wanted: Mapping[str, str], *, of_points: bool) -> dict[str, str]:
        """Find which column plays which role; the geometry is lat and lon."""
        column_of = roles(self.names, wanted, self.what, geometry=True)
        if not of_points:  # a line has no rows that could be marked
            column_of = {role: name for role, name in column_of.items() if role not in MARKS}
        check_single(self.names, (*column_of.values(), *TIMES_OF_POINTS), self.what)
        return column_of

    def needed(self, wanted: Mapping[str, str]) -> list[str]:
        """List the columns that matter, whether the features are points or lines."""
        found = {*self.roles(wanted, of_points=True).values(), *TIMES_OF_POINTS}
        return [name for name in self.names if name in found]

    def first(self, names: Sequence[str]) -> pd.DataFrame:
        """Read the first rows of some columns."""
        _, columns = next(iter(self.features(names)))
        return columns[list(names)]


def features_of(batch: pa.RecordBatch, geometry: str, what: str, encoding: str = "WKB") -> Features:
    """Read the features of a batch, and their geometries in an encoding of GeoParquet."""
    column = batch[geometry]
    others = frame(
        pa.Table.from_batches([batch]).drop_columns([geometry]), what, integer_object_nulls=True
    )
    if encoding == "WKB":
        return _from_wkb(column, what), others
    import geopandas

    meant = {"ARROW:extension:name": f"geoarrow.{encoding}"}
    field = pa.field("geometry", column.type, metadata=meant)
    table = pa.record_batch([column], schema=pa.schema([field]))
    return geopandas.GeoDataFrame.from_arrow(table).geometry.to_numpy(), others


def _from_wkb(column: Any, what: str) -> NDArray[Any]:
    """Read geometries; unreadable ones become None.

    Plain points of finite numbers stay numbers: objects of shapely take most of the time.
    """
    xy = points_of(column)
    if xy is not None and np.isfinite(xy).all():
        return xy
    try:
        return geometries_of(column, "ignore")
    except TypeError as error:
        raise FileProblem(
            f"{what} has no geometries (WKB) where it should: {column.type}"
        ) from error
