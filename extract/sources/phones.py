"""What phones write: Google's location history, OwnTracks, and JSON with a point an object."""

import io
import json
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import pandas as pd

from trajanon.errors import FileProblem
from trajanon.extract.sources.column_use import check_use, with_recordings
from trajanon.extract.sources.columns import known_as, roles
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.source_tables import POINTS, UNREAD
from trajanon.extract.sources.streams import (
    BYTE_ORDER_MARK,
    DAMAGED,
    Reading,
    json_members,
    plain_value,
)
from trajanon.extract.sources.trace_pieces import Fix, moment, number, traces_of_fixes
from trajanon.extract.trace import Trace
from trajanon.files.arrow import reading

VAGUE = "positions that may be more than 500 m off"
VISITS = "visits of places"
UNREAD_POSITIONS = "positions that could not be read"
REPEATED = "points of the timeline on days with raw positions"
OTHERS = "messages of OwnTracks that are no locations"

_VAGUE = 500.0  # metres: a hop that long ends a track

_Found = Iterator[tuple[tuple[str, object], Fix, float]]
"""Of each position: the piece that it belongs to, where and when, and how vague in metres."""

_TIMELINE, _RAW = ("timeline", ""), ("raw", "")

_MONTH = re.compile(r"(\d{4})/\1_[A-Z]+\.json")
_LATLNG = re.compile(r"(?:geo:)?\s*([-.\d]+)°?\s*,\s*([-.\d]+)°?\s*")

_HEAD = re.compile(rb"\s*(\[\s*\{|\{|[-:0-9TZ]{20}\t.{1,99}\t\{)")  # the last is OwnTracks' .rec
_NAME = re.compile(rb'"([^"\\]{2,99})"\s*:')
_CHUNK = 50_000  # points that are read at a time
_LONGEST = 1 << 20  # bytes of a line
_DEEPEST = 4


def read_google(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file as one recording of one person, its activities and devices as pieces.

    It is Takeout's records, one of its months, or a phone's Timeline. The person is the folder that
    holds the records and, below, the months: so that the months do not count as a person each.
    """
    folders = path.absolute().parts
    person = None
    if path.name == "Records.json":
        person = "/".join(folders[-4:-1])
    elif _MONTH.fullmatch("/".join(path.parts[-2:])):
        person = "/".join(folders[-6:-3])
    with how.unpacked(path) as stream:
        yield from traces_of_fixes(_fixes(stream, str(path), how), label, how, person)


def _fixes(stream: io.BufferedReader, what: str, how: Reading) -> Iterator[Fix | None]:
    pieces: defaultdict[tuple[str, object], array[float]] = defaultdict(lambda: array("d"))
    for place, (name, value) in enumerate(json_members(stream, _READ.keys(), what)):
        if name not in _READ:
            continue
        entry = _object(value)
        if not {"visit", "placeVisit"}.isdisjoint(entry):
            how.counts[VISITS] += 1
        for piece, fix, off in _READ[name](entry, place):
            if isnan(fix[0]) or isnan(fix[1]):
                how.counts[UNREAD_POSITIONS] += 1
            elif off > _VAGUE:
                how.counts[VAGUE] += 1
            else:
                pieces[piece].extend(fix)
    days = [time for time in pieces[_RAW][2::3] if not isnan(time)]
    first, last = min(days, default=inf), max(days, default=-inf)
    for piece, values in pieces.items():
        for lat, lon, time in zip(values[::3], values[1::3], values[2::3], strict=True):
            if piece == _TIMELINE and first <= time <= last:
                how.counts[REPEATED] += 1
            else:
                yield lat, lon, time
        yield None


def _record(record: Mapping[str, Any], _: int) -> _Found:
    """Read one of Records.json; a person may have several devices, here and at home."""
    piece = ("device", str(record.get("deviceTag")))
    yield piece, _e7(record, _time(record, "timestamp")), number(record.get("accuracy"))


def _activity(entry: Mapping[str, Any], place: int) -> _Found:
    """Read an activity of a month; the points of the raw path alone have times."""
    if "activitySegment" not in entry:
        return
    segment = _object(entry["activitySegment"])
    about = _object(segment.get("duration"))
    ways = (("simplifiedRawPath", "points"), ("waypointPath", "waypoints"))
    paths = (_list(_object(segment.get(path)).get(points)) for path, points in ways)
    ends = (_object(segment.get(name)) for name in ("startLocation", "endLocation"))
    first, last = ([end] if "latitudeE7" in end else [] for end in ends)
    way = [*first, *map(_object, next(filter(None, paths), [])), *last]
    times = [_time(point, "timestamp") for point in way]
    for end, name in ((0, "startTimestamp"), (-1, "endTimestamp")) if way else ():
        times[end] = _time(about, name)
    for point, time in zip(way, times, strict=True):
        yield ("activity", place), _e7(point, time), nan


def _segment(entry: Mapping[str, Any], _: int) -> _Found:
    """Read a segment of a phone's Timeline: a path, or an activity from a start to an end."""
    begun, ended = moment(entry.get("startTime")), moment(entry.get("endTime"))
    for point in map(_object, _list(entry.get("timelinePath"))):
        after = 60.0 * number(point.get("durationMinutesOffsetFromStartTime"))
        time = begun + after if isnan(at := moment(point.get("time"))) else at
        yield _TIMELINE, _latlng(point.get("point"), time), nan
    activity = _object(entry.get("activity"))
    for name, time in (("start", begun), ("end", ended)):
        if name in activity:
            yield _TIMELINE, _latlng(activity[name], time), nan


def _signal(entry: Mapping[str, Any], _: int) -> _Found:
    """Read a raw signal of a phone, if it is a position; a phone keeps them for some weeks."""
    if "position" in entry:
        fix = _object(entry["position"])
        at = moment(fix.get("timestamp"))
        yield _RAW, _latlng(fix.get("LatLng"), at), number(fix.get("accuracyMeters"))


_READ: Mapping[str, Callable[[Mapping[str, Any], int], _Found]] = {
    "locations": _record,
    "timelineObjects": _activity,
    "semanticSegments": _segment,
    "rawSignals": _signal,
    "": _segment,  # an iPhone's Timeline is a list
}
"""Readers of the elements of lists, by the names of the lists."""


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
    found = _LATLNG.fullmatch(text) if isinstance(text, str) else None
    return (number(found[1]), number(found[2]), time) if found else (nan, nan, time)


def looks_like_points(name: str, head: bytes) -> bool:
    """Tell whether a file is JSON that names lat and lon, as columns of tables are named."""
    names = (found.decode(errors="replace") for found in _NAME.findall(head))
    is_json = _HEAD.match(head.removeprefix(BYTE_ORDER_MARK)) is not None
    return is_json and {"lat", "lon"} <= {role for name in names for role in known_as(name)}


def read_points(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read points as rows of a table; without ids and subjects, a file is one recording."""
    what = str(path)
    with reading(path, POINTS, *DAMAGED), how.unpacked(path) as stream:
        rows = (row for value in _values(stream, what, how) if (row := _row(value, how)))
        begun = list(islice(rows, _CHUNK))
        if not begun:
            raise FileProblem(f"{what} holds no JSON object with a point, in a line or in a list")
        names = list(dict.fromkeys(name for row in begun for name in row))
        frame = _frame(begun, names)

        def first(columns: Sequence[str]) -> pd.DataFrame:
            return frame[list(columns)]

        column_of = roles(names, how.columns, what)
        if "id" in column_of:
            column_of = with_recordings(names, column_of, first, what, how)
        check_use(names, column_of, first, what, how)

        def points(some: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
            columns = _frame(some, list(column_of.values()))
            return pd.DataFrame({role: columns[name] for role, name in column_of.items()})

        more = iter(lambda: list(islice(rows, _CHUNK)), [])
        yield from traces_of_points(map(points, chain([begun], more)), label, how)


def _values(stream: io.BufferedReader, what: str, how: Reading) -> Iterator[Any]:
    """Give the elements of a list, or what stands in each line, from its first brace on."""
    if stream.peek().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        yield from (value for _, value in json_members(stream, ("",), what))
        return
    while line := stream.readline(_LONGEST):
        try:
            if line.strip():
                yield json.loads(line[max(line.find(b"{"), 0) :])
        except (ValueError, RecursionError):
            how.counts[UNREAD] += 1


def _row(value: Any, how: Reading) -> dict[str, Any] | None:
    """Give what an object says in plain values; None if it is no point."""
    if not isinstance(value, dict):
        how.counts[UNREAD] += 1
        return None
    row: dict[str, Any] = {}
    _add_to(row, value, _DEEPEST)
    if "_type" not in row:
        return row
    if row["_type"] != "location":
        how.counts[OTHERS] += 1
        return None
    _, user, device, *_ = [*str(row.get("topic", "")).split("/"), "", "", ""]
    names = {"user": user or row.get("tid"), "trace_id": f"{user}/{device}" if device else ""}
    place = {"lat": row.get("lat"), "lon": row.get("lon"), "time": row.get("tst")}
    return place | {name: value for name, value in names.items() if value}


def _add_to(row: dict[str, Any], value: Mapping[str, Any], levels: int) -> None:
    """Add the members of an object and of its objects, unless their names are taken."""
    for name, one in value.items():
        if isinstance(one, str | int | float) and not isinstance(one, bool):
            row.setdefault(name, plain_value(one))
    for one in value.values():
        if isinstance(one, dict) and levels:
            _add_to(row, one, levels - 1)


def _frame(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in names}, dtype=object)
