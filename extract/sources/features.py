"""Features that are points or lines, batch by batch -> traces."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput
from trajanon.extract.sources import columns as meaning
from trajanon.extract.sources.column_use import check_use, count_use, with_recordings
from trajanon.extract.sources.columns import MARKS, check_single
from trajanon.extract.sources.coordinates import (
    check_degrees,
    from_0_to_360,
    to_degrees,
    to_the_west,
)
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.timestamps import TimeColumn
from trajanon.extract.trace import Trace

NO_GEOMETRY = "features without geometry"
POINTS_BESIDE = "points beside lines"
LINES_BESIDE = "lines beside points"
OTHER_TIMES = "lines with more or fewer times than points"

TIMES_OF_POINTS = ("datetimes", "coordTimes", "times", "coordinateProperties")
"""Where Moving Features, and converters from GPX to GeoJSON, put the times of points."""

_LISTS = (list, tuple, np.ndarray)

Features = tuple[NDArray[Any], pd.DataFrame]
"""Geometries of shapely, or None; and the attributes of each."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Features with the same columns, in one reference system."""

    what: str  # where they come from, for messages
    label: str  # the same in short, for the names of traces
    names: Sequence[str]  # of the columns. The features have at least those that are needed
    system: Any  # what pyproj takes for a reference system; None if it is not known
    features: Callable[[Sequence[str]], Iterable[Features]]  # with some columns, batch by batch
    count: int | None = None  # how many there are, if known
    sorted_by_place: bool = False

    def roles(self, wanted: Mapping[str, str], *, of_points: bool) -> dict[str, str]:
        """Find which column plays which role; the geometry is lat and lon."""
        column_of = meaning.roles(self.names, wanted, self.what, geometry=True)
        if not of_points:  # a line has no rows that could be marked
            column_of = {role: name for role, name in column_of.items() if role not in MARKS}
        check_single(self.names, (*column_of.values(), *TIMES_OF_POINTS), self.what)
        return column_of

    def first(self, names: Sequence[str]) -> pd.DataFrame:
        """Read the first rows of some columns."""
        _, columns = next(iter(self.features(names)))
        return columns[list(names)]


def traces_of_features(
    layer: Layer, how: Reading, read: Callable[[int], None] = lambda features: None
) -> Iterator[Trace]:
    """Read the traces of a layer, and report how many features were read.

    Points of one subject and one id are one trace, wherever they stand. A line is a trace, its
    points in their order; so is each part of a MultiLineString.
    """
    batches = _points_and_lines(layer, how, read)
    first = next(batches, None)
    if first is None:
        raise BadInput(f"{layer.what} holds no points or lines")
    geometry, _ = first
    in_degrees = to_degrees(layer.system, layer.what)
    turns = from_0_to_360(in_degrees(shapely.get_coordinates(geometry))[1], layer.what, how)

    def degrees(geometry: NDArray[Any]) -> tuple[Floats, Floats]:
        lat, lon = in_degrees(shapely.get_coordinates(geometry))
        return lat, to_the_west(lon) if turns else lon

    check_degrees(*degrees(geometry), layer.what, known=layer.system is not None)
    traces = _traces_of_points if _is_point(geometry)[0] else _traces_of_lines
    yield from traces(layer, chain([first], batches), degrees, how)


def _points_and_lines(
    layer: Layer, how: Reading, read: Callable[[int], None]
) -> Iterator[Features]:
    """Leave out what has no geometry, and refuse other kinds; rows have the features' numbers."""
    used = {*layer.roles(how.columns, of_points=True).values(), *TIMES_OF_POINTS}
    before = 0
    for geometry, columns in layer.features([name for name in layer.names if name in used]):
        numbered = columns.set_axis(pd.RangeIndex(before + 1, before + 1 + len(geometry)))
        before += len(geometry)
        read(len(geometry))
        nothing = shapely.is_missing(geometry) | shapely.is_empty(geometry)
        batch = _only((geometry, numbered), ~nothing, NO_GEOMETRY, how)
        _refuse_other_kinds(batch[0], layer.what)
        if len(batch[0]):
            yield batch


def _refuse_other_kinds(geometry: NDArray[Any], what: str) -> None:
    kind, kinds = shapely.get_type_id(geometry), shapely.GeometryType
    known = (kinds.POINT, kinds.LINESTRING, kinds.MULTIPOINT, kinds.MULTILINESTRING)
    clouds = (kind == kinds.MULTIPOINT) & (shapely.get_num_geometries(geometry) > 1)
    others = clouds | ~np.isin(kind, known)
    if others.any():
        name = geometry[others][0].geom_type
        raise BadInput(f"{what} holds a {name}; traces are lines, or points one by one")


def _is_point(geometry: NDArray[Any]) -> Bools:
    return np.asarray(shapely.get_dimensions(geometry) == 0)


def _only(batch: Features, wanted: Bools, rest: str, how: Reading) -> Features:
    if wanted.all():
        return batch
    how.counts[rest] += int((~wanted).sum())
    geometry, columns = batch
    return geometry[wanted], columns[wanted]


_Degrees = Callable[[NDArray[Any]], tuple[Floats, Floats]]


def _traces_of_points(
    layer: Layer, batches: Iterable[Features], degrees: _Degrees, how: Reading
) -> Iterator[Trace]:
    column_of = layer.roles(how.columns, of_points=True)
    column_of = with_recordings(layer.names, column_of, layer.first, layer.what, how)
    check_use(layer.names, column_of, layer.first, layer.what, how)
    if layer.sorted_by_place and "time" not in column_of:
        raise BadInput(
            f"{layer.what} has its points sorted by place, and no column known as time "
            "that tells their order; say `columns` time=..., or write it without a "
            "spatial index (SPATIAL_INDEX=NO)"
        )

    def chunks() -> Iterator[pd.DataFrame]:
        for batch in batches:
            points, columns = _only(batch, _is_point(batch[0]), LINES_BESIDE, how)
            lat, lon = degrees(points)
            roles = {role: _single_values(layer, columns[n]) for role, n in column_of.items()}
            yield pd.DataFrame({"lat": lat, "lon": lon, **roles})

    return traces_of_points(chunks(), layer.label, how)


def _traces_of_lines(
    layer: Layer, batches: Iterable[Features], degrees: _Degrees, how: Reading
) -> Iterator[Trace]:
    column_of = layer.roles(how.columns, of_points=False)
    timed = [name for name in TIMES_OF_POINTS if name in layer.names]
    count_use(layer.names, {"time": timed[0], **column_of} if timed else column_of, how)
    if "time" in column_of:
        timed = list(dict.fromkeys([*timed, column_of["time"]]))
    clock: TimeColumn | None = None
    for batch in batches:
        lines, columns = _only(batch, ~_is_point(batch[0]), POINTS_BESIDE, how)
        parts, line = shapely.get_parts(lines, return_index=True)
        _, part = shapely.get_coordinates(parts, return_index=True)
        lat, lon = degrees(parts)
        time = np.full(len(lat), np.nan)
        size = np.bincount(line[part], minlength=len(lines))
        lists = _lists_of_times(columns[timed], size.tolist(), how)
        found = pd.DataFrame({"time": list(chain.from_iterable(filter(None, lists)))})
        if len(found):
            clock = clock or TimeColumn(found, layer.what, how)  # all are written as the first
            is_timed = np.array([times is not None for times in lists])
            time[is_timed[line[part]]] = clock.seconds(found, how)
        names, subjects = _names(layer, columns, column_of)
        ends = np.cumsum(np.bincount(part, minlength=len(parts))).tolist()
        for start, end, of in zip([0, *ends], ends, line.tolist(), strict=False):
            points = slice(start, end)
            yield Trace(names[of], subjects[of], lat[points], lon[points], time[points])


def _lists_of_times(columns: pd.DataFrame, size: list[int], how: Reading) -> list[list[Any] | None]:
    """Find the list of times beside each line, in the first of the columns that has one."""
    found: list[list[Any] | None] = [None] * len(columns)
    for name in columns:
        if columns[name].dtype.kind == "O":  # texts and lists
            found = [
                _times_in(cell) if times is None else times
                for times, cell in zip(found, columns[name], strict=True)
            ]
    odd = [times is not None and len(times) != n for times, n in zip(found, size, strict=True)]
    if any(odd):
        how.counts[OTHER_TIMES] += sum(odd)
    return [None if is_odd else times for times, is_odd in zip(found, odd, strict=True)]


def _times_in(cell: Any) -> list[Any] | None:
    """Read a list of times, those of the parts of a line one after another."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            cell = json.loads(cell)
    if isinstance(cell, dict):
        cell = cell.get("times")
    if not isinstance(cell, _LISTS):
        return None
    return [time for item in cell for time in (item if isinstance(item, _LISTS) else [item])]


def _single_values(layer: Layer, values: pd.Series) -> pd.Series:
    kinds = pd.api.types
    if kinds.is_object_dtype(values) and values.map(kinds.is_list_like).any():
        raise BadInput(
            f"the column {values.name!r} of {layer.what} holds lists, not a value a feature; "
            "name another in `columns`"
        )
    return values


def _names(
    layer: Layer, columns: pd.DataFrame, column_of: Mapping[str, str]
) -> tuple[list[str], list[str | None]]:
    """Name each line, by its number if it has no id, and its subject."""
    nothing: list[str | None] = [None] * len(columns)
    subjects, ids = (
        read(_single_values(layer, columns[column_of[role]])) if role in column_of else nothing
        for role, read in (("subject", meaning.as_given), ("id", meaning.names))
    )
    file = f"{layer.label}#"
    prefix = "" if "subject" in column_of else file
    names = [
        f"{file}{number}" if name is None else f"{prefix}{name}"
        for number, name in zip(columns.index, ids, strict=True)
    ]
    return names, subjects
