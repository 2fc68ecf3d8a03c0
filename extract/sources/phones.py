"""What phones write: Google's location history, OwnTracks, and JSON with a point an object."""

import io
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import isnan, nan
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
from msgspec import Raw

from trajanon.errors import FileProblem
from trajanon.extract.sources.columns import known_as
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
from trajanon.files.arrow import reading

VAGUE = "positions that may be more than 500 m off"
UNREAD_POSITIONS = "positions that could not be read"
OTHERS = "messages of OwnTracks that are no locations"

_VAGUE = 500.0  # metres: a hop that long ends a track

_Found = Iterator[tuple[object, Fix, float]]  # a piece, where and when, and how vague in metres

_MONTH = re.compile(r"(\d{4})/\1_[A-Z]+\.json")
_LATLNG = re.compile(r"(?:geo:)?\s*([-.\d]+)°?\s*,\s*([-.\d]+)°?\s*")

_HEAD = re.compile(rb"\s*(\[\s*\{|\{|[-:0-9TZ]{20}\t.{1,99}\t\{)")  # the last is OwnTracks' .rec
_NAME = re.compile(rb'"([^"\\]{1,99})"\s*:')
_DEEPEST = 4


def read_google(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file as one recording; the person of records and months is the folder around both."""
    folders = path.absolute().parts
    person = None
    if path.name == "Records.json":
        person = "/".join(folders[-4:-1])
    elif _MONTH.fullmatch("/".join(path.parts[-2:])):
        person = "/".join(folders[-6:-3])
    yield from traces_of_fixes(_fixes(path, how), label, how, person)


class _Google(msgspec.Struct):
    locations: list[Raw] = []
    timelineObjects: list[Raw] = []  # noqa: N815
    semanticSegments: list[Raw] = []  # noqa: N815


def _fixes(path: Path, how: Reading) -> Iterator[Fix | None]:
    with how.unpacked(path) as stream:
        whole = json_of(stream, str(path), _Google | list[Raw])
    if isinstance(whole, list):  # an iPhone's Timeline
        whole = _Google(semanticSegments=whole)
    found = chain.from_iterable(
        read_it(decoded(raw, str(path)))
        for read_it, entries in (
            (_record, whole.locations),
            (_activity, whole.timelineObjects),
            (_segment, whole.semanticSegments),
        )
        for raw in entries
    )
    pieces: defaultdict[object, array[float]] = defaultdict(lambda: array("d"))
    for piece, fix, off in found:
        if isnan(fix[0]) or isnan(fix[1]):
            how.counts[UNREAD_POSITIONS] += 1
        elif off > _VAGUE:
            how.counts[VAGUE] += 1
        else:
            pieces[piece].extend(fix)
    for values in pieces.values():
        yield from zip(values[::3], values[1::3], values[2::3], strict=True)
        yield None


def _record(entry: Any) -> _Found:
    """Read one of Records.json; a person may have several devices, here and at home."""
    record = _object(entry)
    fix = _e7(record, _time(record, "timestamp"))
    yield str(record.get("deviceTag")), fix, number(record.get("accuracy"))


def _activity(entry: Any) -> _Found:
    """Read an activity of a month, a piece; the points of the raw path alone have times."""
    piece = object()
    segment = _object(_object(entry).get("activitySegment"))
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
        yield piece, _e7(point, time), nan


def _segment(entry: Any) -> _Found:
    """Read a segment of a phone's Timeline: a path, or an activity from a start to an end."""
    entry = _object(entry)
    begun, ended = moment(entry.get("startTime")), moment(entry.get("endTime"))
    for point in map(_object, _list(entry.get("timelinePath"))):
        after = 60.0 * number(point.get("durationMinutesOffsetFromStartTime"))
        time = begun + after if isnan(at := moment(point.get("time"))) else at
        yield "timeline", _latlng(point.get("point"), time), nan
    activity = _object(entry.get("activity"))
    for name, time in (("start", begun), ("end", ended)):
        if name in activity:
            yield "timeline", _latlng(activity[name], time), nan


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
    with how.unpacked(path) as stream:
        values = _values(stream, what, how)
    rows = pd.DataFrame([row for value in values if (row := _row(value, how))], dtype=object)
    if not len(rows):
        raise FileProblem(f"{what} holds no JSON object with a point, in a line or in a list")

    def chunks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        yield rows[list(columns)]

    yield from traces_of_table(list(rows), rows[:FIRST], chunks, what, label, how, nested=True)


def _values(stream: Stream, what: str, how: Reading) -> list[Any]:
    """Give the elements of a list, or what stands in each line, from its first brace on."""
    with reading(what, POINTS, *DAMAGED):
        if stream.peek().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return list(json_of(stream, what, list[Any]))
        found = list[Any]()
        for line in io.BytesIO(stream.read()):
            try:
                if line.strip():
                    found.append(msgspec.json.decode(line[max(line.find(b"{"), 0) :]))
            except (ValueError, RecursionError):
                how.counts[UNREAD] += 1
    return found


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
