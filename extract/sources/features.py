"""Features that are points or lines -> traces."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_role_names import known_as
from trajanon.extract.sources.columns_chosen_for_roles import columns_of_lines, used_columns
from trajanon.extract.sources.coordinates import (
    WAY_OUT_FOR_GEOMETRIES,
    check_degrees,
    reader_of_longitudes,
    to_degrees,
)
from trajanon.extract.sources.reading import TIMES_DO_NOT_MATCH, Reading
from trajanon.extract.sources.rows_to_traces import FIRST_ROWS, traces_of_points
from trajanon.extract.sources.timestamps import times_in
from trajanon.extract.trace import Trace

NO_GEOMETRY = "features without geometry"
POINTS_BESIDE = "points beside lines"
LINES_BESIDE = "lines beside points"

# Where Moving Features, and converters from GPX to GeoJSON, put the times of points.
TIMES_OF_POINTS = (
    *("datetimes", "coordTimes", "times", "coordinateProperties", "coordinateProperties.times"),
)
MEASURE = "M"  # the column of times of points that stand beside their coordinates

_WIDEST_TRIP = 90.0  # degrees: no trip is as wide, and no line with one wrong place narrower
_LISTS = (list, tuple, np.ndarray)


def traces_of_features(
    geometry: NDArray[np.object_], columns: pd.DataFrame, system: object, reading: Reading
) -> Iterator[Trace]:
    """Read features, geometries or None and their attributes; a system is what pyproj takes."""
    if not columns.columns.is_unique:
        twice = columns.columns[columns.columns.duplicated()][0]
        raise reading.refusal("column twice", name=twice)

    # Features are numbered from 1 on.
    columns = columns.set_axis(pd.RangeIndex(1, len(columns) + 1))
    has_geometry = ~(shapely.is_missing(geometry) | shapely.is_empty(geometry))
    reading.count(NO_GEOMETRY, ~has_geometry)
    geometry = geometry[has_geometry]
    columns = columns[has_geometry]
    if not len(geometry):
        raise reading.refusal("no points or lines")
    _refuse_other_geometries(geometry, reading)

    # The first feature says whether points are read, or lines.
    is_point = shapely.get_dimensions(geometry) == 0
    are_points = bool(is_point[0])
    is_read = is_point == are_points
    left_out = int((~is_read).sum())
    if are_points:
        reading.found(LINES_BESIDE, left_out)
    else:
        reading.found(POINTS_BESIDE, left_out)
    geometry = geometry[is_read]
    columns = columns[is_read]
    parts, feature_of_part = shapely.get_parts(geometry, return_index=True)
    xy, part_of_row = shapely.get_coordinates(parts, return_index=True)

    lat, lon = to_degrees(xy, system, reading.what)
    lon = reader_of_longitudes(lon, reading)(lon)
    if not are_points:
        lon = _across_180(lon, parts, part_of_row, reading)
    way_out = WAY_OUT_FOR_GEOMETRIES
    check_degrees(lat, lon, reading.what, way_out, system_known=system is not None)

    rows = pd.DataFrame({"lat": lat, "lon": lon})
    # An attribute of that name would be overwritten by the measures.
    measures = None if MEASURE in columns else _times_of_measures(parts)
    if are_points:
        yield from _traces_of_point_rows(rows, columns, measures, reading)
    else:
        rows["piece"] = part_of_row
        yield from _traces_of_line_rows(
            rows, feature_of_part[part_of_row], columns, measures, reading
        )


def _refuse_other_geometries(geometry: NDArray[np.object_], reading: Reading) -> None:
    """Refuse polygons and the like, and several points in one."""
    type_id = shapely.get_type_id(geometry)
    kinds = shapely.GeometryType
    known = (kinds.POINT, kinds.LINESTRING, kinds.MULTIPOINT, kinds.MULTILINESTRING)
    is_cloud = (type_id == kinds.MULTIPOINT) & (shapely.get_num_geometries(geometry) > 1)
    is_refused = is_cloud | ~np.isin(type_id, known)
    if is_refused.any():
        raise reading.refusal("other geometries", kind_of=geometry[is_refused][0].geom_type)


def _traces_of_point_rows(
    rows: pd.DataFrame, columns: pd.DataFrame, measures: Floats | None, reading: Reading
) -> Iterator[Trace]:
    """Read points, their coordinates in rows, as a table of points."""
    has_other_times = any(_is_known_as_time(name, reading) for name in columns)
    if measures is not None and not has_other_times:
        columns = columns.assign(**{MEASURE: measures})
        reading = reading.with_columns(time=MEASURE)

    column_of = used_columns(list(columns), columns[:FIRST_ROWS], reading, geometry=True)
    if reading.sorted_by_place and "time" not in column_of:
        raise reading.refusal("sorted by place")

    # Each feature is one point: several in one were refused.
    values = {role: columns[name].array for role, name in column_of.items()}
    yield from traces_of_points([rows.assign(**values)], reading, column_of)


def _traces_of_line_rows(
    rows: pd.DataFrame,
    feature_of_row: Ints,
    columns: pd.DataFrame,
    measures: Floats | None,
    reading: Reading,
) -> Iterator[Trace]:
    """Read the points of lines as a table, given the feature of each, from 0; parts stay apart."""

    def holds_times(name: str) -> bool:
        return any(_times_in(cell) is not None for cell in columns[name])

    time_columns = [name for name in TIMES_OF_POINTS if name in columns and holds_times(name)]
    # A time of the whole line, as of its beginning, leaves the times of points to the measures.
    by_measures = measures is not None and not any(
        holds_times(name)
        for name in columns
        if name in time_columns or _is_known_as_time(name, reading)
    )
    times = [MEASURE] if by_measures else time_columns
    column_of = columns_of_lines(columns, times, holds_times, reading)
    if by_measures:
        rows["time"] = measures
    else:
        if "time" in column_of:
            time_columns.append(column_of["time"])  # which may hold such lists, too: the last
        rows["time"] = _times_of_points(columns, time_columns, feature_of_row, reading)

    # A line without an id has its number.
    names = as_given(columns[column_of["id"]]) if "id" in column_of else [None] * len(columns)
    # With subjects, equal ids in two files are one person's recording; numbers are not.
    prefix = f"{reading.label}#" if "subject" in column_of else ""
    numbers = [f"{prefix}{number}" for number in columns.index]
    numbered_names = list(zip(numbers, names, strict=True))
    # A number that is the id of another line would make one recording of both.
    is_an_id = not set(names).isdisjoint(number for number, name in numbered_names if not name)
    mark = "line " if is_an_id else ""
    ids = [name or f"{mark}{number}" for number, name in numbered_names]
    rows["id"] = np.array(ids, dtype=object)[feature_of_row]
    if "subject" in column_of:
        rows["subject"] = columns[column_of["subject"]].array[feature_of_row]
    yield from traces_of_points([rows], reading, column_of)


def _is_known_as_time(name: object, reading: Reading) -> bool:
    """Return whether a user names an attribute for the times of points, or its name is usual."""
    return name == reading.columns.get("time") or "time" in known_as(str(name))


def _across_180(
    lon: Floats, parts: NDArray[np.object_], part_of_row: Ints, reading: Reading
) -> Floats:
    """Bring lines that go on beyond 180 degrees east or west back to the map."""
    is_beyond = (np.abs(lon) > 180.0) & (np.abs(lon) <= 360.0)
    if not is_beyond.any():
        return lon
    west, _, east, _ = shapely.bounds(parts).T
    is_beyond &= (east - west <= _WIDEST_TRIP)[part_of_row]
    if is_beyond.any():
        reading.found("beyond 180 degrees", example=lon[is_beyond][0])
    return np.where(is_beyond, lon - 360.0 * np.sign(lon), lon)


def _times_of_measures(geometry: NDArray[np.object_]) -> Floats | None:
    """Read M, the measure of a place, if it is a time."""
    if not shapely.has_m(geometry).any():
        return None
    return times_in(shapely.get_coordinates(geometry, include_m=True)[:, -1])


def _times_of_points(
    columns: pd.DataFrame, time_columns: Sequence[str], line: Ints, reading: Reading
) -> pd.Series:
    """List the times of points, as written, given the line of each; None if they are not known."""
    lists: list[list[object] | None] = [None] * len(columns)
    for name in reversed(time_columns):  # the first that has a list
        if columns[name].dtype.kind in "OTU":  # objects or texts, which may be lists
            in_column = map(_times_in, columns[name])
            lists = [
                before if times is None else times
                for before, times in zip(lists, in_column, strict=True)
            ]

    point_counts = np.bincount(line, minlength=len(columns)).tolist()
    does_not_fit = [
        times is not None and len(times) != points
        for times, points in zip(lists, point_counts, strict=True)
    ]
    reading.count(TIMES_DO_NOT_MATCH, np.array(does_not_fit))

    times_of_points: list[object] = []
    for times, is_left_out, points in zip(lists, does_not_fit, point_counts, strict=True):
        times_of_points += [None] * points if times is None or is_left_out else times
    return pd.Series(times_of_points)


def _times_in(cell: object) -> list[object] | None:
    """Read a list of times, those of the parts of a line one after another."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            cell = json.loads(cell)
    if isinstance(cell, dict):
        cell = cell.get("times")
    if not isinstance(cell, _LISTS):
        return None
    return [time for item in cell for time in (item if isinstance(item, _LISTS) else [item])]
