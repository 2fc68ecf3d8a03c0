"""Features that are points or lines -> traces."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.extract.sources.choice_of_columns import columns_of_lines, used_columns
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_roles import known_as
from trajanon.extract.sources.coordinates import check_degrees, reader_of_longitudes, to_degrees
from trajanon.extract.sources.point_groups import FIRST, traces_of_points
from trajanon.extract.sources.reading import OTHER_TIMES, Reading
from trajanon.extract.sources.timestamps import times_in
from trajanon.extract.trace import Trace

NO_GEOMETRY = "features without geometry"
POINTS_BESIDE = "points beside lines"
LINES_BESIDE = "lines beside points"

# Where Moving Features, and converters from GPX to GeoJSON, put the times of points.
TIMES_OF_POINTS = (
    *("datetimes", "coordTimes", "times", "coordinateProperties", "coordinateProperties.times"),
)
MEASURE = "M"  # the times of points that stand beside their coordinates

_WIDEST = 90.0  # degrees: no trip is as wide, and no line with one wrong place narrower
_LISTS = (list, tuple, np.ndarray)


def traces_of_features(
    geometry: NDArray[np.object_], columns: pd.DataFrame, system: object, reading: Reading
) -> Iterator[Trace]:
    """Read features, geometries or None and their attributes; a system is what pyproj takes."""
    if not columns.columns.is_unique:
        twice = columns.columns[columns.columns.duplicated()][0]
        raise BadInput(f"the column {twice!r} appears twice in {reading.what}: rename one of them")

    columns = columns.set_axis(pd.RangeIndex(1, len(columns) + 1))
    has_geometry = ~(shapely.is_missing(geometry) | shapely.is_empty(geometry))
    geometry, columns = _only(geometry, columns, has_geometry, NO_GEOMETRY, reading)
    if not len(geometry):
        raise BadInput(f"{reading.what} holds no points or lines")
    _refuse_other_geometries(geometry, reading.what)

    is_point = shapely.get_dimensions(geometry) == 0
    points = bool(is_point[0])
    beside = LINES_BESIDE if points else POINTS_BESIDE
    geometry, columns = _only(geometry, columns, is_point == points, beside, reading)
    lines, line = shapely.get_parts(geometry, return_index=True)
    xy, part = shapely.get_coordinates(lines, return_index=True)

    lat, lon = to_degrees(xy, system, reading.what)
    lon = reader_of_longitudes(lon, reading)(lon)
    if not points:
        lon = _across_180(lon, lines, reading)
    check_degrees(lat, lon, reading.what, system_known=system is not None)

    rows = pd.DataFrame({"lat": lat, "lon": lon})
    timed = MEASURE in columns or any("time" in known_as(str(name)) for name in columns)
    measures = None if timed else _times_of_measures(lines)
    if points:
        yield from _of_points(rows, columns, measures, reading)
    else:
        rows["piece"] = part
        yield from _of_lines(rows, line[part], columns, measures, reading)


def _refuse_other_geometries(geometry: NDArray[np.object_], what: str) -> None:
    """Refuse polygons and the like, and several points in one."""
    type_id = shapely.get_type_id(geometry)
    kinds = shapely.GeometryType
    known = (kinds.POINT, kinds.LINESTRING, kinds.MULTIPOINT, kinds.MULTILINESTRING)
    clouds = (type_id == kinds.MULTIPOINT) & (shapely.get_num_geometries(geometry) > 1)
    is_other = clouds | ~np.isin(type_id, known)
    if is_other.any():
        name = geometry[is_other][0].geom_type
        raise BadInput(f"{what} holds a {name}; traces are lines, or points one by one")


def _of_points(
    rows: pd.DataFrame, columns: pd.DataFrame, measures: Floats | None, reading: Reading
) -> Iterator[Trace]:
    """Read points, their coordinates in rows, as a table of points."""
    if measures is not None:
        columns = columns.assign(**{MEASURE: measures})
        reading = reading.with_columns(time=MEASURE)

    column_of = used_columns(list(columns), columns[:FIRST], reading, geometry=True)
    if reading.sorted_by_place and "time" not in column_of:
        way_out = "set `columns` time=..., or write it without an index (SPATIAL_INDEX=NO)"
        raise BadInput(
            f"{reading.what} is sorted by place, with no column recognised as time; {way_out}"
        )

    values = {role: columns[name].array for role, name in column_of.items()}
    yield from traces_of_points([rows.assign(**values)], reading, column_of)


def _of_lines(
    rows: pd.DataFrame, line: Ints, columns: pd.DataFrame, measures: Floats | None, reading: Reading
) -> Iterator[Trace]:
    """Read the points of lines as a table, given the line of each; parts of lines stay apart."""
    timed = [name for name in TIMES_OF_POINTS if name in columns]
    measured = measures is not None and not timed
    column_of = columns_of_lines(columns, [MEASURE] if measured else timed, reading)
    if "time" in column_of and not measured:
        timed.append(column_of["time"])
    rows["time"] = measures if measured else _times(columns, timed, line, reading)

    # A line without an id has its number.
    names = as_given(columns[column_of["id"]]) if "id" in column_of else [None] * len(columns)
    prefix = f"{reading.label}#" if "subject" in column_of else ""
    ids = [name or f"{prefix}{n}" for n, name in zip(columns.index, names, strict=True)]
    rows["id"] = np.array(ids, dtype=object)[line]
    if "subject" in column_of:
        rows["subject"] = columns[column_of["subject"]].array[line]
    yield from traces_of_points([rows], reading, column_of)


def _only(
    geometry: NDArray[np.object_],
    columns: pd.DataFrame,
    wanted: Bools,
    reason: str,
    reading: Reading,
) -> tuple[NDArray[np.object_], pd.DataFrame]:
    """Leave out and count the features that are not wanted."""
    reading.count(reason, ~wanted)
    return geometry[wanted], columns[wanted]


def _across_180(lon: Floats, lines: NDArray[np.object_], reading: Reading) -> Floats:
    """Bring lines that go on beyond 180 degrees east or west back to the map."""
    beyond = (np.abs(lon) > 180.0) & (np.abs(lon) <= 360.0)
    if not beyond.any():
        return lon
    west, _, east, _ = shapely.bounds(lines).T
    _, line = shapely.get_coordinates(lines, return_index=True)
    beyond &= (east - west <= _WIDEST)[line]
    if beyond.any():
        reading.found("beyond 180 degrees", example=lon[beyond][0])
    return np.where(beyond, lon - 360.0 * np.sign(lon), lon)


def _times_of_measures(geometry: NDArray[np.object_]) -> Floats | None:
    """Read M, the measure of a place, if it is a time."""
    if not shapely.has_m(geometry).any():
        return None
    return times_in(shapely.get_coordinates(geometry, include_m=True)[:, -1])


def _times(columns: pd.DataFrame, timed: Sequence[str], line: Ints, reading: Reading) -> pd.Series:
    """List the times of points, as written, given the line of each; None if they are not known."""
    lists: list[list[Any] | None] = [None] * len(columns)
    for name in reversed(timed):  # the first that has a list
        if columns[name].dtype.kind in "OTU":
            cells = map(_times_in, columns[name])
            lists = [old if new is None else new for old, new in zip(lists, cells, strict=True)]

    sizes = np.bincount(line, minlength=len(columns)).tolist()
    odd = [times is not None and len(times) != n for times, n in zip(lists, sizes, strict=True)]
    reading.count(OTHER_TIMES, np.array(odd))
    nothing = [None]
    return pd.Series(
        list(
            chain.from_iterable(
                nothing * size if is_odd or times is None else times
                for times, is_odd, size in zip(lists, odd, sizes, strict=True)
            )
        )
    )


def _times_in(cell: object) -> list[Any] | None:
    """Read a list of times, those of the parts of a line one after another."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            cell = json.loads(cell)
    if isinstance(cell, dict):
        cell = cell.get("times")
    if not isinstance(cell, _LISTS):
        return None
    return [time for item in cell for time in (item if isinstance(item, _LISTS) else [item])]
