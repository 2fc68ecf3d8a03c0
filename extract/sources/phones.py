"""What phones write: Google's location history, OwnTracks, and JSON with a point an object."""

import io
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from math import isnan, nan
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from msgspec import Raw

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract.sources.column_roles import known_as
from trajanon.extract.sources.point_groups import FIRST
from trajanon.extract.sources.source_tables import POINTS, UNREAD, traces_of_table
from trajanon.extract.sources.streams import (
    BYTE_ORDER_MARK,
    DAMAGED,
    Reading,
    Stream,
    decoded,
    json_of,
    plain_value,
)
from trajanon.extract.sources.trace_pieces import Fix, moment, number, traces_of_fixes
from trajanon.extract.trace import Trace
from trajanon.files.arrow import reading as read_errors

VAGUE = "positions that may be more than 500 m off"
UNREAD_POSITIONS = "positions that could not be read"
OTHERS = "messages of OwnTracks that are no locations"
BESIDE = "points beside a longer list of points"
REPLACED = "timeline points of which there are raw signals"

_VAGUE = 500.0  # metres: a hop that long ends a track
_FOLLOWS = 1_800.0  # seconds from signal to signal; after more, what is between them is not known
_SAME = 60.0  # seconds: the timeline's times are those of minutes
_TIMELINE, _SIGNALS = "timeline", "signals"  # pieces of a phone's Timeline

_Found = Iterator[tuple[object, Fix, float]]  # a piece, where and when, and how vague in metres

_MONTH = re.compile(r"(\d{4})/\1_[A-Z]+\.json")
_LATLNG = re.compile(r"(?:geo:)?\s*([-.\d]+)°?\s*,\s*([-.\d]+)°?\s*")

_HEAD = re.compile(rb"\s*(\[\s*\{|\{|[-:0-9TZ]{20}\t.{1,99}\t\{)")  # the last is OwnTracks' .rec
_NAME = re.compile(rb'"([^"\\]{1,99})"\s*:')
_DEEPEST, _DEEPEST_LIST = 4, 8  # levels of objects in a point, and of what a list stands in
_PROBED = 100  # points, by which it is found whether lists of points stand within points
_OF_THE_LONGEST = 10  # times a list is longer than those that are left out beside it

_TOKENS = re.compile(rb'"(?P<text>(?:[^"\\]|\\.)*)"(?P<named>\s*:)?|[][{}]')
_OF_FEATURES = ("type", "geometry", "properties")
_OF_GEOJSON = {b"type", b"features", b"geometry", b"geometries", b"coordinates"}


def read_google(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file as one recording; the person of records and months is the folder around both."""
    folders = path.absolute().parts
    person = None
    if path.name == "Records.json":
        person = "/".join(folders[-4:-1])
    elif _MONTH.fullmatch("/".join(path.parts[-2:])):
        person = "/".join(folders[-6:-3])
    yield from traces_of_fixes(_fixes(path, reading), reading, person)


class _Google(msgspec.Struct):
    """A document of Google, whose members have its own names."""

    locations: list[Raw] = []
    timelineObjects: list[Raw] = []  # noqa: N815 -- its name in the file
    semanticSegments: list[Raw] = []  # noqa: N815 -- as above
    rawSignals: list[Raw] = []  # noqa: N815 -- as above


def _fixes(path: Path, reading: Reading) -> Iterator[Fix | None]:
    with reading.unpacked(path) as stream:
        document = json_of(stream, reading.what, _Google | list[Raw])
    if isinstance(document, list):  # an iPhone's Timeline
        document = _Google(semanticSegments=document)

    pieces_found = chain.from_iterable(
        read_it(decoded(raw, reading.what))
        for read_it, entries in (
            (_record, document.locations),
            (_activity, document.timelineObjects),
            (_segment, document.semanticSegments),
            (_signal, document.rawSignals),
        )
        for raw in entries
    )

    pieces: defaultdict[object, array[float]] = defaultdict(lambda: array("d"))
    for piece, fix, off in pieces_found:
        if isnan(fix[0]) or isnan(fix[1]):
            reading.counts[UNREAD_POSITIONS] += 1
        elif off > _VAGUE:
            reading.counts[VAGUE] += 1
        else:
            pieces[piece].extend(fix)

    of_each = {piece: np.array(values).reshape(-1, 3) for piece, values in pieces.items()}
    if _SIGNALS in of_each and _TIMELINE in of_each:
        of_each[_TIMELINE] = _with_signals(of_each[_TIMELINE], of_each.pop(_SIGNALS), reading)

    for points in of_each.values():
        yield from map(tuple, points.tolist())
        yield None


def _with_signals(timeline: Floats, signals: Floats, reading: Reading) -> Floats:
    """Put the raw signals in place of the timeline's points, which are made of them."""
    known = np.sort(signals[np.isfinite(signals[:, 2]), 2])
    bounds = np.concatenate([[-np.inf], known, [np.inf]])

    # Left out is what lies between two signals that follow each other, or near one of them.
    time = timeline[:, 2]
    place = np.searchsorted(known, time)
    before, after = bounds[place], bounds[place + 1]
    replaced = (after - before <= _FOLLOWS) | (np.minimum(time - before, after - time) < _SAME)
    reading.counts[REPLACED] += int(replaced.sum())

    joined_fixes = np.concatenate([timeline[~replaced], signals])
    return joined_fixes[np.argsort(joined_fixes[:, 2], kind="stable")]


def _record(entry: Any) -> _Found:
    """Read one of Records.json; a person may have several devices, here and at home."""
    record = _object(entry)
    fix = _e7(record, _time(record, "timestamp"))
    yield str(record.get("deviceTag")), fix, number(record.get("accuracy"))


def _activity(entry: Any) -> _Found:
    """Read an activity of a month, a piece; the points of the raw path alone have times."""
    piece = object()
    segment = _object(_object(entry).get("activitySegment"))

    ways = (("simplifiedRawPath", "points"), ("waypointPath", "waypoints"))
    paths = (_list(_object(segment.get(path)).get(points)) for path, points in ways)
    ends = (_object(segment.get(name)) for name in ("startLocation", "endLocation"))
    first, last = ([end] if "latitudeE7" in end else [] for end in ends)
    way = [*first, *map(_object, next(filter(None, paths), [])), *last]

    duration = _object(segment.get("duration"))
    times = [_time(point, "timestamp") for point in way]
    for end, name in ((0, "startTimestamp"), (-1, "endTimestamp")) if way else ():
        times[end] = _time(duration, name)

    for point, time in zip(way, times, strict=True):
        yield piece, _e7(point, time), nan


def _segment(entry: Any) -> _Found:
    """Read a segment of a phone's Timeline: a path, or an activity from a start to an end."""
    entry = _object(entry)
    begun = moment(entry.get("startTime"))
    ended = moment(entry.get("endTime"))
    for point in map(_object, _list(entry.get("timelinePath"))):
        after = 60.0 * number(point.get("durationMinutesOffsetFromStartTime"))
        time = begun + after if isnan(at := moment(point.get("time"))) else at
        yield _TIMELINE, _latlng(point.get("point"), time), nan

    activity = _object(entry.get("activity"))
    for name, time in (("start", begun), ("end", ended)):
        if name in activity:
            yield _TIMELINE, _latlng(activity[name], time), nan


def _signal(entry: Any) -> _Found:
    """Read a signal of a phone; those of networks and movement have no position."""
    position = _object(_object(entry).get("position"))
    if position:
        time = moment(position.get("timestamp"))
        place = position.get("LatLng", position.get("latLng"))
        yield _SIGNALS, _latlng(place, time), number(position.get("accuracyMeters"))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _time(entry: Mapping[str, Any], name: str) -> float:
    """Read a time, which older files have as milliseconds."""
    time = moment(entry.get(name))
    return number(entry.get(name + "Ms")) / 1e3 if isnan(time) else time


def _e7(place: Mapping[str, Any], time: float) -> Fix:
    """Read ten millionths of degrees; some files have negative ones as 2^32 less."""
    lat, lon = (
        number(place.get(name, place.get(short)))
        for name, short in (("latitudeE7", "latE7"), ("longitudeE7", "lngE7"))
    )
    lat, lon = (value - 2**32 if value > 2**31 else value for value in (lat, lon))
    return lat / 1e7, lon / 1e7, time


def _latlng(value: object, time: float) -> Fix:
    """Read degrees as Timeline writes them: 41.1°, 2.1° or geo:41.1,2.1."""
    text = value.get("latLng") if isinstance(value, Mapping) else value
    match = _LATLNG.fullmatch(text) if isinstance(text, str) else None
    return (number(match[1]), number(match[2]), time) if match else (nan, nan, time)


def looks_like_points(name: str, head: bytes) -> bool:
    """Return whether a file is JSON that names lat and lon, as columns of tables are named."""
    names = (match.decode(errors="replace") for match in _NAME.findall(head))
    is_json = _HEAD.match(head.removeprefix(BYTE_ORDER_MARK)) is not None
    return is_json and {"lat", "lon"} <= {role for name in names for role in known_as(name)}


def wraps_features(head: bytes) -> bool:
    """Return whether a file is JSON with features in a list of its own, which is no GeoJSON."""
    depth = 0
    outer = set[bytes]()
    for token in _TOKENS.finditer(head):
        if token["text"] is None:
            depth += 1 if token[0] in b"{[" else -1
        elif depth == 1 and token["named"]:
            outer.add(token["text"])

    is_object = head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"{"
    return is_object and bool(outer) and not outer & _OF_GEOJSON and b'"Feature"' in head


def read_points(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read points as rows of a table; without ids and subjects, a file is one recording."""
    with reading.unpacked(path) as stream:
        values = _values(stream, reading)

    rows = pd.DataFrame([row for value in values if (row := _row(value, reading))], dtype=object)
    if not len(rows):
        nothing = "no JSON object with a point, in a line or in a list"
        raise FileProblem(f"{reading.what} holds {nothing}")

    def chunks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        yield rows[list(columns)]

    yield from traces_of_table(list(rows), rows[:FIRST], chunks, reading, nested=True)


def _values(stream: Stream, reading: Reading) -> list[Any]:
    """List the points: of a document those of the list in it, else what stands in each line."""
    with read_errors(reading.what, POINTS, *DAMAGED):
        content = stream.read().removeprefix(BYTE_ORDER_MARK)
    try:
        document = msgspec.json.decode(content)
    except (ValueError, RecursionError):
        document = None
    if document is not None:
        return _points_within(document, reading)

    lines = [line for line in content.splitlines() if line.strip()]
    values = list[Any]()
    for line in lines:
        with suppress(ValueError, RecursionError):
            values.append(msgspec.json.decode(line[max(line.find(b"{"), 0) :]))

    # Of a list over many lines, few lines are JSON.
    if content.lstrip().startswith(b"[") or not values:
        return _points_within(json_of(io.BytesIO(content), reading.what), reading)
    if len(values) < len(lines):
        reading.counts[UNREAD] += len(lines) - len(values)
    return values


def _points_within(document: Any, reading: Reading) -> list[Any]:
    """Find the list of points in a document; all lists that stand at one path are one."""
    lists: defaultdict[str, list[Any]] = defaultdict(list)
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
    return [_point_of(point) for point in lists[longest]]


def _gather(value: Any, path: str, lists: defaultdict[str, list[Any]], levels: int) -> None:
    """Add the elements of each list of points below a value to those of the same path."""
    below: Iterable[tuple[str, Any]] = ()
    if isinstance(value, list):
        if any(map(_is_point, value)):
            lists[f"`{path}`" if path else "the list"] += value
            if len(value) > _PROBED and not _holds_lists(value[:_PROBED], path, levels):
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


def _is_point(value: Any) -> bool:
    """Return whether an object has both coordinates, or is a feature at one place."""
    if not isinstance(value, dict):
        return False
    row: dict[str, Any] = {}
    _add_to(row, _point_of(value), _DEEPEST)
    ends = {name.rpartition(".")[2] for name in row}
    return {"lat", "lon"} <= {role for name in ends for role in known_as(name)}


def _point_of(value: Any) -> Any:
    """Turn a feature at one place into an object with coordinates; others stay."""
    geometry = value.get("geometry") if isinstance(value, dict) else None
    if not isinstance(geometry, dict) or geometry.get("type") != "Point":
        return value
    place = geometry.get("coordinates")
    if not isinstance(place, list) or len(place) < 2:
        return value

    properties = _object(value.get("properties"))
    members = {name: member for name, member in value.items() if name not in _OF_FEATURES}
    members |= properties
    return {"lat": place[1], "lon": place[0], **members}


def _row(value: Any, reading: Reading) -> dict[str, Any] | None:
    """Return what an object says in plain values; None if it is no point."""
    if not isinstance(value, dict):
        reading.counts[UNREAD] += 1
        return None
    row: dict[str, Any] = {}
    _add_to(row, value, _DEEPEST)
    if "_type" not in row:
        return row
    if row["_type"] != "location":
        reading.counts[OTHERS] += 1
        return None
    _, user, device, *_ = [*str(row.get("topic", "")).split("/"), "", "", ""]
    names = {"user": user or row.get("tid"), "trace_id": f"{user}/{device}" if device else ""}
    place = {"lat": row.get("lat"), "lon": row.get("lon"), "time": row.get("tst")}
    return place | {name: value for name, value in names.items() if value}


def _add_to(row: dict[str, Any], value: Mapping[str, Any], levels: int, above: str = "") -> None:
    """Add the members of an object and of its objects, whose names stand before theirs."""
    for name, one in value.items():
        if isinstance(one, bool):
            row[f"{above}{name}"] = str(one).lower()
        elif isinstance(one, str | int | float):
            row[f"{above}{name}"] = plain_value(one)
    for name, one in value.items():
        if isinstance(one, dict) and levels:
            _add_to(row, one, levels - 1, f"{above}{name}.")
