"""JSON of points, lines and moving points -> traces.

GeoJSON, MF-JSON (moving features, OGC 19-045r3), MDS (trips of shared vehicles), and logs.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import shapely
from shapely.geometry.base import BaseGeometry

from trajanon.common.errors import FileProblem
from trajanon.common.text_encoding import encoding_problem, is_utf8, seems_utf16
from trajanon.extract.sources.archives import BYTE_ORDER_MARK, DAMAGED, Stream
from trajanon.extract.sources.column_role_names import known_as
from trajanon.extract.sources.csv_and_parquet import UNREAD, traces_of_table
from trajanon.extract.sources.features import traces_of_features
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.rows_to_traces import FIRST_ROWS
from trajanon.extract.sources.timestamps import times_in
from trajanon.extract.sources.trace_pieces import number
from trajanon.extract.trace import Trace

SHORTER_LISTS = "points beside a longer list of points"
OTHER_MESSAGES = "messages of OwnTracks that are no locations"
WITHOUT_ROUTE = "trips without a route"

# An object or a list of objects, perhaps after separators; or a line of OwnTracks' .rec: the time,
# the kind of message and the object, with tabs between them.
_BEGIN_OF_JSON = re.compile(rb"[\x1e\s]*(\[\s*\{|\{|[-:0-9TZ]{20}\t.{1,99}\t\{)")
_MEMBER_NAME = re.compile(rb'"([^"\\]{1,99})"\s*:')
_FEATURE_TYPE = re.compile(
    rb'"type"\s*:\s*"((Multi)?(Point|LineString)|Feature|FeatureCollection|Moving|GeometryColl)'
)
_LEVELS_OF_POINT = 4  # objects within objects that still describe one point
_LEVELS_OF_LISTS = 8  # objects and lists around a list of points
_TIMES_LONGER = 10  # a list is only left out beside one that is so much longer

_WGS_84 = "OGC:CRS84"
_FEATURE_MEMBERS = {"type", "geometry", "temporalGeometry", "properties", "crs", "bbox"}
_MOVING_TYPES = ("MovingPoint", "MovingGeomPoint", "MovingGeogPoint")  # the last two: MobilityDB
_LINE_TYPES = ("LineString", "MultiLineString")
_SHAPE_TYPES = (*_LINE_TYPES, *_MOVING_TYPES, "Feature", "Point", "MovingGeometryCollection")


def looks_like(name: str, head: bytes) -> bool:
    """Return whether a file is JSON with features, or that names lat and lon as tables do."""
    if _BEGIN_OF_JSON.match(head.removeprefix(BYTE_ORDER_MARK)) is None:
        return False

    names = (match.decode(errors="replace") for match in _MEMBER_NAME.findall(head))
    roles = {role for name in names for role in known_as(name)}
    return {"lat", "lon"} <= roles or _FEATURE_TYPE.search(head) is not None


def read(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the features or points of a document, or of each line; without ids one recording."""
    with reading.unpacked(path) as stream:
        document, is_cut_off = _document(stream, reading)

    values = _values_within(document, reading)
    if any(map(_is_feature, values)):
        crs = document.get("crs") if isinstance(document, dict) else None
        yield from _traces_of_features([_read_feature(value, crs) for value in values], reading)
        return

    points = [row for value in values if (row := _row_of_point(value, reading))]
    if not points:
        raise reading.refusal("no point in JSON")
    rows = pd.DataFrame(points, dtype=object)

    def chunks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        yield rows[list(columns)]
        if is_cut_off:
            reading.counts[TABLE_CUT_OFF] += 1

    yield from traces_of_table(list(rows), rows[:FIRST_ROWS], chunks, replace(reading, nested=True))


def read_mds(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file: a trip with a route is a trace of its vehicle; MDS 2.0 has none."""
    with reading.unpacked(path) as stream:
        text = json_text(stream, reading.what)
    document = decoded(text, reading.what, dict[str, Any])
    trips = json_list(json_object(document.get("data", document)).get("trips"))

    # What is no object stays, to be counted among the features that cannot be read.
    with_route = [trip for trip in trips if not isinstance(trip, dict) or trip.get("route")]
    reading.found(WITHOUT_ROUTE, len(trips) - len(with_route))

    features = [_feature_of_trip(trip) for trip in with_route]
    yield from _traces_of_features(features, reading.with_columns(subject="vehicle_id"))


def _document(stream: Stream, reading: Reading) -> tuple[Any, bool]:
    """Read a document, or a list of what stands in each line or between separators.

    The second value says whether the last line cannot be read, as where a log was cut off.
    """
    content = json_text(stream, reading.what)
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(content), False

    separator = b"\x1e" if content.startswith(b"\x1e") else b"\n"
    lines = [line for line in content.split(separator) if line.strip()]
    values = []
    last_read = -1
    for line_number, line in enumerate(lines):
        with suppress(ValueError, RecursionError):
            # OwnTracks writes the time and the kind of message before the object.
            values.append(msgspec.json.decode(line[max(line.find(b"{"), 0) :]))
            last_read = line_number

    # Few lines of a damaged document are JSON: it is decoded again for what is wrong with it.
    unread = len(lines) - len(values)
    if content.lstrip().startswith(b"[") or unread >= len(values):
        return decoded(content, reading.what), False
    if unread:
        reading.counts[UNREAD] += unread
    return values, last_read < len(lines) - 1


def _values_within(document: Any, reading: Reading) -> list[Any]:
    """Find the list of points or features in a document; all lists at one path are one."""
    if isinstance(features := json_object(document).get("features"), list):
        return features

    lists: defaultdict[str, list[Any]] = defaultdict(list)
    if not _is_feature(document):
        _gather(document, "", lists, _LEVELS_OF_LISTS)
    if not lists:
        return document if isinstance(document, list) else [document]

    longest, *shorter_lists = sorted(lists, key=lambda path: -len(lists[path]))
    for path in shorter_lists:
        both_paths = f"points stand in {longest} ({len(lists[longest]):,}) and {path}"
        points = len(lists[path])
        if _TIMES_LONGER * points > len(lists[longest]):
            raise reading.refusal("two lists of points", both_paths=both_paths, points=points)
        reading.found(SHORTER_LISTS, points, both_paths=both_paths)
    return lists[longest]


def _gather(value: object, path: str, lists: defaultdict[str, list[Any]], levels: int) -> None:
    """Add the elements of each list of points in a value to those at the same path."""
    children: Iterable[tuple[str, Any]] = ()
    if isinstance(value, list):
        are_features = any(map(_is_feature, value))
        if are_features or any(map(_is_point, value)):
            lists[f"`{path}`" if path else "the list"] += value
            if are_features:
                return
        children = ((path, element) for element in value)
    elif isinstance(value, dict):
        children = ((f"{path}.{name}".lstrip("."), member) for name, member in value.items())

    for child_path, child in children if levels else ():
        if isinstance(child, list | dict):
            _gather(child, child_path, lists, levels - 1)


def _is_feature(value: object) -> bool:
    """Return whether an object is a feature, or a shape that stands for one."""
    return isinstance(value, dict) and (
        value.get("type") in _SHAPE_TYPES or "type" in json_object(value.get("geometry"))
    )


def _is_point(value: object) -> bool:
    """Return whether an object has both coordinates, perhaps in objects within it."""
    names = {path.rpartition(".")[2] for path in _members(value)}
    return {"lat", "lon"} <= {role for name in names for role in known_as(name)}


def _row_of_point(value: object, reading: Reading) -> dict[str, Any] | None:
    """Return the plain values of an object as a row of a table; None if it is no point."""
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

    # A message of OwnTracks; its topic is owntracks/USER/DEVICE.
    if row["_type"] != "location":
        reading.counts[OTHER_MESSAGES] += 1
        return None
    _, user, device, *_ = [*str(row.get("topic", "")).split("/"), "", "", ""]
    message = {"lat": row.get("lat"), "lon": row.get("lon"), "time": row.get("tst")}
    owner = {"user": user or row.get("tid"), "trace_id": f"{user}/{device}" if device else ""}
    return message | {column: name for column, name in owner.items() if name}


def _members(value: object, levels: int = _LEVELS_OF_POINT, above: str = "") -> dict[str, Any]:
    """List the plain members of an object, then those of objects within it as `object.member`."""
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
    """A line or point, and what is known of it."""

    geometry: BaseGeometry | None  # None if it cannot be read
    columns: Mapping[str, Any] = {}  # a list under `datetimes` has the times of all parts
    system: str = _WGS_84  # the reference system of its coordinates


def _traces_of_features(features: Sequence[_Feature], reading: Reading) -> Iterator[Trace]:
    """Read traces of features, which must have one reference system."""
    systems = list(dict.fromkeys(feature.system for feature in features if feature.geometry))
    if len(systems) > 1:
        raise reading.refusal("reference systems", first=systems[0], second=systems[1])
    system = systems[0] if systems else None

    geometry = np.array([feature.geometry for feature in features], dtype=object)
    columns = pd.DataFrame([feature.columns for feature in features], dtype=object)
    yield from traces_of_features(geometry, columns, system, replace(reading, nested=True))


def _read_feature(value: object, crs: object) -> _Feature:
    """Read a feature; its reference system may stand in it, or in its temporal geometry.

    Each part of a moving point is a part of its line; heights are left out.
    """
    feature = json_object(value)
    shape = json_object(feature.get("temporalGeometry") or feature.get("geometry"))
    if feature.get("type") in _SHAPE_TYPES and "coordinates" in feature:  # as MobilityDB writes it
        shape = feature

    members = {name: member for name, member in feature.items() if name not in _FEATURE_MEMBERS}
    columns = _members(members if shape is not feature else {})
    columns |= _members(feature.get("properties"))
    system = _reference_system(feature.get("crs") or shape.get("crs") or crs)

    parts = _line_parts(shape)
    if parts is None:
        with suppress(ValueError, TypeError):
            content = msgspec.json.encode(shape)
            return _Feature(shapely.from_geojson(content, on_invalid="ignore"), columns, system)
        return _Feature(None)

    if any("datetimes" in part for part in parts):
        times = [times for part in parts if isinstance(times := part.get("datetimes"), list)]
        # Times of some parts alone would belong to other points.
        all_timed = len(times) == len(parts)
        columns["datetimes"] = list(chain.from_iterable(times)) if all_timed else None
    return _Feature(_line_of_parts([part.get("coordinates") for part in parts]), columns, system)


def _line_parts(shape: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """List the parts of a line or moving point; None for other shapes."""
    kind = shape.get("type")
    if kind in _MOVING_TYPES or kind == "MovingGeometryCollection":
        parts = json_list(shape.get("sequences", shape.get("prisms", [shape])))
        parts = [json_object(part) for part in parts]
        # A part of one place is no line. One without places stays: the feature cannot be read.
        return [part for part in parts if len(json_list(part.get("coordinates"))) != 1]

    if kind in _LINE_TYPES:
        coordinates = shape.get("coordinates")
        lines = [coordinates] if kind == "LineString" else coordinates
        return [_timed_line(line) for line in json_list(lines)]
    return None


def _timed_line(coordinates: object) -> Mapping[str, Any]:
    """Return a line as a part; the fourth number of its places, if they have one, may be a time."""
    places = json_list(coordinates)
    fourths = [place[3] if isinstance(place, list) and place[3:] else None for place in places]
    if not any(fourth is not None for fourth in fourths):
        return {"coordinates": coordinates}

    seconds = times_in(np.array([number(fourth) for fourth in fourths]))
    times = None if seconds is None else [None if np.isnan(t) else t for t in seconds.tolist()]
    return {"coordinates": coordinates, "datetimes": times}


def _line_of_parts(parts: Sequence[Any]) -> BaseGeometry | None:
    """Make a line with the places of each part, without heights; None if one cannot be read."""
    try:
        with np.errstate(invalid="ignore"):  # places that are NaN are dropped by the cleaning
            lines = [
                shapely.linestrings(np.array([place[:2] for place in part], dtype=np.float64))
                for part in parts
            ]
            return shapely.multilinestrings(lines) if lines else None
    except (TypeError, ValueError, LookupError, OverflowError, shapely.GEOSException):
        return None


def _reference_system(crs: object) -> str:
    """Return the name of a reference system; without one it is WGS 84, longitude first."""
    name = crs.get("properties") if isinstance(crs, Mapping) else crs
    if isinstance(name, Mapping):
        name = name.get("name") or name.get("href") or name.get("link")
    return _WGS_84 if crs is None else str(name)


def _feature_of_trip(trip: object) -> _Feature:
    """Read a trip of MDS: the points of its route, and its other members as columns."""
    members = dict(json_object(trip))
    try:
        points = members.pop("route")["features"]
        places = [point["geometry"]["coordinates"] for point in points]
        times = np.array([point["properties"]["timestamp"] for point in points], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return _Feature(None)

    if times.ndim > 1:
        return _Feature(None)

    vehicle = members.get("device_id") or members.get("vehicle_id")
    columns = {**_members(members), "vehicle_id": vehicle, "timestamp": times.tolist()}
    return _Feature(_line_of_parts([places]), columns)


def json_text(stream: Stream, what: str) -> bytes:
    """Read a document of JSON whole."""
    try:
        text = stream.read().removeprefix(BYTE_ORDER_MARK)
    except DAMAGED as error:
        raise FileProblem(f"cannot unpack {what}: {error}") from error
    if seems_utf16(text):
        raise FileProblem(f"{what} {encoding_problem(text)}")
    return text


def decoded(data: Any, what: str, kind: Any = Any) -> Any:
    """Decode JSON, or a part of it, as values of a kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as error:
        raise FileProblem(f"{what} is not JSON: it is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # versions raise one or the other
        text = bytes(data)
        if not is_utf8(text):
            raise FileProblem(f"{what} {encoding_problem(text)}") from error
        raise FileProblem(f"{what} is not JSON, or damaged or cut off: {error}") from error


def json_object(value: object) -> Mapping[str, Any]:
    """Return an object of JSON, or an empty one in place of something else."""
    return value if isinstance(value, Mapping) else {}


def json_list(value: object) -> list[Any]:
    """Return a list of JSON, or an empty one in place of something else."""
    return value if isinstance(value, list) else []


def plain_value(value: Any) -> Any:
    """Return a value of JSON as one that a column of texts or numbers can hold."""
    if isinstance(value, list):
        return [plain_value(element) for element in value]
    # Beyond 2^53 two ids would become one float.
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value
