"""Google's location history in its three forms: Takeout's records and months, and Timeline."""

import io
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

from trajanon.extract.sources.fixes import Fix, moment, number, traces_of_fixes
from trajanon.extract.sources.json_members import json_members
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

VAGUE = "positions that may be more than 500 m off"
VISITS = "visits of places"
UNREAD = "positions that could not be read"
REPEATED = "points of the timeline on days with raw positions"

_VAGUE = 500.0  # metres: a hop that long ends a track

_Found = Iterator[tuple[tuple[str, object], Fix, float]]
"""Of each position: the piece that it belongs to, where and when, and how vague in metres."""

_TIMELINE, _RAW = ("timeline", ""), ("raw", "")

_MONTH = re.compile(r"(\d{4})/\1_[A-Z]+\.json")
_LATLNG = re.compile(r"(?:geo:)?\s*([-.\d]+)°?\s*,\s*([-.\d]+)°?\s*")


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file as one recording of one person, its activities and devices as pieces."""
    with how.unpacked(path) as stream:
        yield from traces_of_fixes(
            _fixes(stream, str(path), how), label, how, _person(path.absolute())
        )


def _person(path: Path) -> str | None:
    """Name the person after the folder of Takeout that holds the records and, below, the months.

    So that the months do not count as a person each.
    """
    if path.name == "Records.json":
        return "/".join(path.parts[-4:-1])
    if _MONTH.fullmatch("/".join(path.parts[-2:])):
        return "/".join(path.parts[-6:-3])
    return None


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
                how.counts[UNREAD] += 1
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
