"""JSON of points, lines and moving points -> traces: GeoJSON, MF-JSON (OGC 19-045r3), MDS, logs."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import shapely
from shapely.geometry.base import BaseGeometry

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract.sources.column_roles import known_as
from trajanon.extract.sources.features import times_in, traces_of_features
from trajanon.extract.sources.point_groups import FIRST
from trajanon.extract.sources.source_tables import UNREAD, traces_of_table
from trajanon.extract.sources.streams import (
    BYTE_ORDER_MARK,
    Reading,
    Stream,
    decoded,
    json_object,
    json_text,
    plain_value,
)
from trajanon.extract.sources.trace_pieces import number
from trajanon.extract.trace import Trace

BESIDE = "points beside a longer list of points"
OTHERS = "messages of OwnTracks that are no locations"
WITHOUT_ROUTE = "trips without a route"

# After a separator, an object or a list of such, or a line of OwnTracks' .rec.
_HEAD = re.compile(rb"[\x1e\s]*(\[\s*\{|\{|[-:0-9TZ]{20}\t.{1,99}\t\{)")
_NAME = re.compile(rb'"([^"\\]{1,99})"\s*:')
_FEATURE = re.compile(
    rb'"type"\s*:\s*"((Multi)?(Point|LineString)|Feature|FeatureCollection|Moving|GeometryColl)'
)
_DEEPEST, _DEEPEST_LIST = 4, 8  # levels of objects in a point, and of what a list stands in
_PROBED = 100  # points, by which it is found whether lists of points stand within points
_OF_THE_LONGEST = 10  # times a list is longer than those that are left out beside it

_WGS_84 = "OGC:CRS84"
_OF_FEATURES = {"type", "geometry", "temporalGeometry", "properties", "crs", "bbox"}
_MOVING = ("MovingPoint", "MovingGeomPoint", "MovingGeogPoint")  # the last two are MobilityDB's
_LINES = ("LineString", "MultiLineString")
_TYPES = (*_LINES, *_MOVING, "Feature", "Point", "MovingGeometryCollection")


def looks_like(name: str, head: bytes) -> bool:
    """Return whether a file is JSON with features, or that names lat and lon as tables do."""
    if _HEAD.match(head.removeprefix(BYTE_ORDER_MARK)) is None:
        return False
    names = (match.decode(errors="replace") for match in _NAME.findall(head))
    roles = {role for name in names for role in known_as(name)}
    return {"lat", "lon"} <= roles or _FEATURE.search(head) is not None


def read(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the features or points of a document, or of each line; without ids one recording."""
    with reading.unpacked(path) as stream:
        document = _document(stream, reading)
    values = _values_within(document, reading)
    if any(map(_is_feature, values)):
        crs = document.get("crs") if isinstance(document, dict) else None
        yield from _traces_of_features([_feature(value, crs) for value in values], reading)
        return

    rows = pd.DataFrame([row for value in values if (row := _row(value, reading))], dtype=object)
    if not len(rows):
        nothing = "no JSON object with a point, in a line or in a list"
        raise FileProblem(f"{reading.what} holds {nothing}")

    def chunks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        yield rows[list(columns)]

    yield from traces_of_table(list(rows), rows[:FIRST], chunks, reading, nested=True)


def read_mds(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file: a trip with a route is a trace of its vehicle; MDS 2.0 has none."""
    with reading.unpacked(path) as stream:
        text = json_text(stream, reading.what)
    document = decoded(text, reading.what, dict[str, Any])
    trips = json_object(document.get("data", document)).get("trips")
    trips = trips if isinstance(trips, list) else []
    routed = [trip for trip in trips if not isinstance(trip, dict) or trip.get("route")]
    if without := len(trips) - len(routed):
        reading.counts[WITHOUT_ROUTE] += without
        why = "MDS 2.0 has points in /telemetry, read as a table"
        msg = f"{reading.what} leaves out trips without a route: {why}"
        reading.warn(WITHOUT_ROUTE, msg, left_out=True)
    yield from _traces_of_features(
        [_feature_of_trip(trip) for trip in routed], reading.with_columns(subject="device_id")
    )


def _document(stream: Stream, reading: Reading) -> Any:
    """Read a document, or a list of what stands in each line or between separators."""
    content = json_text(stream, reading.what)
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(content)

    separator = b"\x1e" if content.startswith(b"\x1e") else b"\n"
    lines = [line for line in content.split(separator) if line.strip()]
    values = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            values.append(msgspec.json.decode(line[max(line.find(b"{"), 0) :]))

    # Of a damaged document over many lines, few lines are JSON.
    unread = len(lines) - len(values)
    if content.lstrip().startswith(b"[") or unread >= len(values):
        return decoded(content, reading.what)
    reading.counts.update({UNREAD: unread} if unread else {})
    return values


def _values_within(document: Any, reading: Reading) -> list[Any]:
    """Find the list of points or features in a document; all lists at one path are one."""
    lists: defaultdict[str, list[Any]] = defaultdict(list)
    if isinstance(features := json_object(document).get("features"), list):
        return features
    if not _is_feature(document):
        _gather(document, "", lists, _DEEPEST_LIST)
    if not lists:
        return document if isinstance(document, list) else [document]

    longest, *shorter_lists = sorted(lists, key=lambda path: -len(lists[path]))
    for path in shorter_lists:
        both_paths = f"points stand in {longest} ({len(lists[longest]):,}) and {path}"
        if _OF_THE_LONGEST * len(lists[path]) > len(lists[longest]):
            way_out = "save one of these lists alone"
            raise BadInput(f"{reading.what}: {both_paths} ({len(lists[path]):,}): {way_out}")
        reading.counts[BESIDE] += len(lists[path])
        left_out = f"{reading.what}: {both_paths}: the latter are left out"
        reading.warn(BESIDE, left_out, reading.what)
    return lists[longest]


def _gather(value: object, path: str, lists: defaultdict[str, list[Any]], levels: int) -> None:
    """Add the elements of each list of points below a value to those of the same path."""
    below: Iterable[tuple[str, Any]] = ()
    if isinstance(value, list):
        are_features = any(map(_is_feature, value))
        if are_features or any(map(_is_point, value)):
            lists[f"`{path}`" if path else "the list"] += value
            probed = value[:_PROBED]
            if are_features or (len(value) > _PROBED and not _holds_lists(probed, path, levels)):
                return
        below = ((path, element) for element in value)
    elif isinstance(value, dict):
        below = ((f"{path}.{name}".lstrip("."), member) for name, member in value.items())

    for where, member in below if levels else ():
        if isinstance(member, list | dict):
            _gather(member, where, lists, levels - 1)


def _holds_lists(points: list[Any], path: str, levels: int) -> bool:
    """Return whether lists of points stand within points, as the route of a trip with a start."""
    lists: defaultdict[str, list[Any]] = defaultdict(list)
    for point in points:
        _gather(point, path, lists, levels - 1)
    return bool(lists)


def _is_feature(value: object) -> bool:
    return isinstance(value, dict) and (
        value.get("type") in _TYPES or "type" in json_object(value.get("geometry"))
    )


def _is_point(value: object) -> bool:
    """Return whether an object has both coordinates, perhaps in objects of its own."""
    ends = {name.rpartition(".")[2] for name in _members(value)}
    return {"lat", "lon"} <= {role for name in ends for role in known_as(name)}


def _row(value: object, reading: Reading) -> dict[str, Any] | None:
    """Return what an object says in plain values; None if it is no point."""
    if not isinstance(value, dict):
        reading.counts[UNREAD] += 1
        return None
    row = {
        name: member
        for name, member in _members(value).items()
        if member is not None and not isinstance(member, list)
    }
    if "_type" not in row:
        return row
    if row["_type"] != "location":
        reading.counts[OTHERS] += 1
        return None
    _, user, device, *_ = [*str(row.get("topic", "")).split("/"), "", "", ""]
    names = {"user": user or row.get("tid"), "trace_id": f"{user}/{device}" if device else ""}
    place = {"lat": row.get("lat"), "lon": row.get("lon"), "time": row.get("tst")}
    return place | {name: value for name, value in names.items() if value}


def _members(value: object, levels: int = _DEEPEST, above: str = "") -> dict[str, Any]:
    """List the members of an object, then those of its objects, whose names stand before theirs."""
    row: dict[str, Any] = {}
    for name, member in json_object(value).items():
        if isinstance(member, bool):
            row[f"{above}{name}"] = str(member).lower()
        elif member is None or isinstance(member, str | int | float | list):
            row[f"{above}{name}"] = plain_value(member)
    for name, member in json_object(value).items():
        if isinstance(member, dict) and levels:
            row |= _members(member, levels - 1, f"{above}{name}.")
    return row


class _Feature(NamedTuple):
    geometry: BaseGeometry | None  # None if it cannot be read
    columns: Mapping[str, Any] = {}  # what is known of it; the times of all parts are a list
    system: str = _WGS_84  # the reference system of its places


def _traces_of_features(features: Sequence[_Feature], reading: Reading) -> Iterator[Trace]:
    systems = list(dict.fromkeys(feature.system for feature in features if feature.geometry))
    if len(systems) > 1:
        named = f"several reference systems, such as {systems[0]} and {systems[1]}"
        raise BadInput(f"{reading.what} names {named}; transform it to EPSG:4326 first")

    geometry = np.array([feature.geometry for feature in features], dtype=object)
    columns = pd.DataFrame([feature.columns for feature in features], dtype=object)
    yield from traces_of_features(geometry, columns, [*systems, None][0], reading, nested=True)


def _feature(value: object, crs: object) -> _Feature:
    """Read a feature; its reference system may stand in it, or in its temporal geometry.

    Each part of a moving point is a part of its line; heights are left out.
    """
    feature = json_object(value)
    shape = json_object(feature.get("temporalGeometry") or feature.get("geometry"))
    if feature.get("type") in _TYPES and "coordinates" in feature:  # as MobilityDB writes it
        shape = feature

    members = {name: member for name, member in feature.items() if name not in _OF_FEATURES}
    columns = _members(members if shape is not feature else {})
    columns |= _members(feature.get("properties"))
    system = _system(feature.get("crs") or shape.get("crs") or crs)

    pieces = _pieces(shape)
    if pieces is None:
        with suppress(ValueError, TypeError):
            content = msgspec.json.encode(shape)
            return _Feature(shapely.from_geojson(content, on_invalid="ignore"), columns, system)
        return _Feature(None)

    if any("datetimes" in piece for piece in pieces):
        times = [times for piece in pieces if isinstance(times := piece.get("datetimes"), list)]
        are_whole = len(times) == len(pieces)
        columns["datetimes"] = list(chain.from_iterable(times)) if are_whole else None
    return _Feature(_lines([piece.get("coordinates") for piece in pieces]), columns, system)


def _pieces(shape: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Find the parts of a line or moving point, those of one place left out; None for others."""
    kind = shape.get("type")
    if kind in _MOVING or kind == "MovingGeometryCollection":
        pieces = shape.get("sequences", shape.get("prisms", [shape]))
        pieces = [json_object(piece) for piece in pieces] if isinstance(pieces, list) else []
        return [piece for piece in pieces if len(piece.get("coordinates") or "  ") > 1]
    if kind in _LINES:
        coordinates = shape.get("coordinates")
        parts = [coordinates] if kind == "LineString" else coordinates
        return [_timed_line(part) for part in parts] if isinstance(parts, list) else []
    return None


def _timed_line(coordinates: object) -> Mapping[str, Any]:
    """Read a line; if its places have a fourth number, that may be the time."""
    positions = coordinates if isinstance(coordinates, list) else []
    fourth = [place[3] if isinstance(place, list) and place[3:] else None for place in positions]
    if not any(value is not None for value in fourth):
        return {"coordinates": coordinates}

    seconds = times_in(np.array([number(value) for value in fourth]))
    times = None if seconds is None else [None if np.isnan(t) else t for t in seconds.tolist()]
    return {"coordinates": coordinates, "datetimes": times}


def _lines(parts: Sequence[Any]) -> BaseGeometry | None:
    """Make a line of the places of each part; None if one cannot be read."""
    try:
        with np.errstate(invalid="ignore"):  # NaN is for the cleaning
            lines = [
                shapely.linestrings(np.array([place[:2] for place in part], dtype=np.float64))
                for part in parts
            ]
            return shapely.multilinestrings(lines) if lines else None
    except (TypeError, ValueError, LookupError, OverflowError, shapely.GEOSException):
        return None


def _system(crs: object) -> str:
    """Name a reference system; without one it is WGS 84, longitude first."""
    name = crs.get("properties") if isinstance(crs, Mapping) else crs
    if isinstance(name, Mapping):
        name = name.get("name") or name.get("href") or name.get("link")
    return _WGS_84 if crs is None else str(name)


def _feature_of_trip(trip: object) -> _Feature:
    """Read a trip of MDS: the fixes of its route, and its other members as columns."""
    members = dict(json_object(trip))
    try:
        fixes = members.pop("route")["features"]
        places = [fix["geometry"]["coordinates"] for fix in fixes]
        times = np.array([fix["properties"]["timestamp"] for fix in fixes], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return _Feature(None)

    if times.ndim > 1:
        return _Feature(None)
    vehicle = members.get("device_id") or members.get("vehicle_id")
    columns = {**_members(members), "device_id": vehicle, "timestamp": times.tolist()}
    return _Feature(_lines([places]), columns)
