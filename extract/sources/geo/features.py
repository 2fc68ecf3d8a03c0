"""Features that are points or lines, batch by batch -> traces."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.degrees import check_geometries, to_degrees
from trajanon.extract.sources.geo.layer import Features, Layer
from trajanon.extract.sources.geo.line_times import TIMES_OF_POINTS, LineTimes
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import columns as meaning
from trajanon.extract.sources.tables.point_groups import traces_of_points
from trajanon.extract.sources.tables.unused_columns import check_use, count_use
from trajanon.extract.trace import Trace

NO_GEOMETRY = "features without geometry"
POINTS_BESIDE = "points beside lines"
LINES_BESIDE = "lines beside points"


def traces(
    layer: Layer, how: Reading, told: Callable[[int], None] = lambda features: None
) -> Iterator[Trace]:
    """Read the traces of a layer, and tell how many features were read.

    Points of one subject and one id are one trace, wherever they stand. A line is a trace, its
    points in their order; so is each part of a MultiLineString.
    """
    batches = _points_and_lines(layer, how, told)
    first = next(batches, None)
    if first is None:
        msg = f"{layer.what} holds no points or lines"
        raise BadInput(msg)
    geometry, _ = first
    degrees = to_degrees(layer.system, layer.what)
    lat, lon = degrees(_coordinates(geometry))
    check_geometries(lat, lon, layer.what, known=layer.system is not None)
    read = _traces_of_points if _is_point(geometry)[0] else _traces_of_lines
    yield from read(layer, chain([first], batches), degrees, how)


def _points_and_lines(
    layer: Layer, how: Reading, told: Callable[[int], None]
) -> Iterator[Features]:
    """Leave out what has no geometry, and refuse other kinds; rows have the features' numbers."""
    seen = 0
    for geometry, columns in layer.features(layer.needed(how.columns)):
        numbered = columns.set_axis(pd.RangeIndex(seen + 1, seen + 1 + len(geometry)))
        seen += len(geometry)
        told(len(geometry))
        batch = geometry, numbered
        if geometry.ndim == 1:
            nothing = shapely.is_missing(geometry) | shapely.is_empty(geometry)
            batch = _only(batch, ~nothing, NO_GEOMETRY, how)
            _refuse_other_kinds(batch[0], layer.what)
        if len(batch[0]):
            yield batch


def _refuse_other_kinds(geometry: NDArray[Any], what: str) -> None:
    kind = shapely.get_type_id(geometry)
    kinds = shapely.GeometryType
    known = (kinds.POINT, kinds.LINESTRING, kinds.MULTIPOINT, kinds.MULTILINESTRING)
    others = ~np.isin(kind, known)
    if others.any():
        name = geometry[others][0].geom_type
        msg = f"{what} holds a {name}; traces are points or lines"
        raise BadInput(msg)
    clouds = (kind == kinds.MULTIPOINT) & (shapely.get_num_geometries(geometry) > 1)
    if clouds.any():
        msg = (
            f"{what} holds a MultiPoint of {len(geometry[clouds][0].geoms)} points, "
            "whose order says nothing; write points one by one, or lines"
        )
        raise BadInput(msg)


def _coordinates(geometry: NDArray[Any]) -> Floats:
    xy: Floats = geometry if geometry.ndim == 2 else shapely.get_coordinates(geometry)
    return xy


def _is_point(geometry: NDArray[Any]) -> Bools:
    if geometry.ndim == 2:
        return np.ones(len(geometry), dtype=np.bool_)
    points: Bools = shapely.get_dimensions(geometry) == 0
    return points


def _traces_of_points(
    layer: Layer,
    batches: Iterable[Features],
    degrees: Callable[[Floats], tuple[Floats, Floats]],
    how: Reading,
) -> Iterator[Trace]:
    column_of = layer.roles(how.columns, of_points=True)
    check_use(layer.names, column_of, layer.first, layer.what, how)
    if layer.sorted_by_place and "time" not in column_of:
        msg = (
            f"{layer.what} has its points sorted by place, and no column known as time "
            "that tells their order; say `columns` time=..., or write it without a "
            "spatial index (SPATIAL_INDEX=NO)"
        )
        raise BadInput(msg)

    def chunks() -> Iterator[pd.DataFrame]:
        for batch in batches:
            points, columns = _only(batch, _is_point(batch[0]), LINES_BESIDE, how)
            lat, lon = degrees(_coordinates(points))
            yield pd.DataFrame(
                {"lat": lat, "lon": lon}
                | {role: _single_values(layer, columns[name]) for role, name in column_of.items()}
            )

    return traces_of_points(chunks(), layer.label, how, rows=layer.count)


def _traces_of_lines(
    layer: Layer,
    batches: Iterable[Features],
    degrees: Callable[[Floats], tuple[Floats, Floats]],
    how: Reading,
) -> Iterator[Trace]:
    column = layer.roles(how.columns, of_points=False)
    timed = [*TIMES_OF_POINTS, column.get("time")]
    lists = next((name for name in TIMES_OF_POINTS if name in layer.names), None)
    count_use(layer.names, column if lists is None else {"time": lists, **column}, how)
    times = LineTimes(layer.what, how)
    for batch in batches:
        lines, columns = _only(batch, ~_is_point(batch[0]), POINTS_BESIDE, how)
        parts, line = shapely.get_parts(lines, return_index=True)
        xy, part = shapely.get_coordinates(parts, return_index=True)
        lat, lon = degrees(xy)
        time = times.read(
            columns[[name for name in timed if name in layer.names]],
            np.bincount(line[part], minlength=len(lines)),
        )
        names, subjects = _names(layer, columns, column)
        ends = np.cumsum(np.bincount(part, minlength=len(parts))).tolist()
        for start, end, of in zip([0, *ends], ends, line.tolist(), strict=False):
            points = slice(start, end)
            yield Trace(names[of], subjects[of], lat[points], lon[points], time[points])


def _only(batch: Features, wanted: Bools, rest: str, how: Reading) -> Features:
    if wanted.all():
        return batch
    how.counts[rest] += int((~wanted).sum())
    geometry, columns = batch
    return geometry[wanted], columns[wanted]


def _single_values(layer: Layer, values: pd.Series) -> pd.Series:
    kinds = pd.api.types
    if kinds.is_object_dtype(values) and values.map(kinds.is_list_like).any():
        msg = (
            f"the column {values.name!r} of {layer.what} holds lists, not a value a feature; "
            "name another in `columns`"
        )
        raise BadInput(msg)
    return values


def _names(
    layer: Layer, columns: pd.DataFrame, column: Mapping[str, str]
) -> tuple[list[str], list[str | None]]:
    """Name each line, by its number if it has no id, and its subject."""
    numbered = [f"{layer.label}#{number}" for number in columns.index]
    nothing: list[str | None] = [None] * len(numbered)
    subjects, ids = (
        read(_single_values(layer, columns[column[role]])) if role in column else nothing
        for role, read in (("subject", meaning.as_given), ("id", meaning.names))
    )
    prefix = "" if "subject" in column else f"{layer.label}#"
    names = [
        number if name is None else f"{prefix}{name}"
        for number, name in zip(numbered, ids, strict=True)
    ]
    return names, subjects
