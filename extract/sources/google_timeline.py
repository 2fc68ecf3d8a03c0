"""Google's location history -> traces."""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from math import isnan, nan
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from trajanon.common.arrays import Floats
from trajanon.extract.sources.json_documents import decoded, json_object, json_text
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.timestamps import moment
from trajanon.extract.sources.trace_pieces import Fix, number, traces_of_fixes
from trajanon.extract.trace import Trace

VAGUE = "positions that may be more than 500 m off"
UNREAD_POSITIONS = "positions that could not be read"
REPLACED = "timeline points of which there are raw signals"

_VAGUE = 500.0  # metres: a hop that long ends a track
_FOLLOWS = 1_800.0  # seconds from signal to signal; after more, what is between them is not known
_SAME = 60.0  # seconds: the timeline's times are those of minutes
_TIMELINE, _SIGNALS = "timeline", "signals"  # pieces of a phone's Timeline

_Found = Iterator[tuple[object, Fix, float]]  # a piece, where and when, and how vague in metres

_MONTH = re.compile(r"(\d{4})/\1_[A-Z]+\.json")
_LATLNG = re.compile(r"(?:geo:)?\s*([-.\d]+)°?\s*,\s*([-.\d]+)°?\s*")


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
        text = json_text(stream, reading.what)
    document = decoded(text, reading.what, _Google | list[Raw])
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


def _record(entry: object) -> _Found:
    """Read one of Records.json; a person may have several devices, here and at home."""
    record = json_object(entry)
    fix = _e7(record, _time(record, "timestamp"))
    yield str(record.get("deviceTag")), fix, number(record.get("accuracy"))


def _activity(entry: object) -> _Found:
    """Read an activity of a month, a piece; the points of the raw path alone have times."""
    piece = object()
    segment = json_object(json_object(entry).get("activitySegment"))

    ways = (("simplifiedRawPath", "points"), ("waypointPath", "waypoints"))
    paths = (_list(json_object(segment.get(path)).get(points)) for path, points in ways)
    ends = (json_object(segment.get(name)) for name in ("startLocation", "endLocation"))
    first, last = ([end] if "latitudeE7" in end else [] for end in ends)
    way = [*first, *map(json_object, next(filter(None, paths), [])), *last]

    duration = json_object(segment.get("duration"))
    times = [_time(point, "timestamp") for point in way]
    for end, name in ((0, "startTimestamp"), (-1, "endTimestamp")) if way else ():
        times[end] = _time(duration, name)

    for point, time in zip(way, times, strict=True):
        yield piece, _e7(point, time), nan


def _segment(entry: object) -> _Found:
    """Read a segment of a phone's Timeline: a path, or an activity from a start to an end."""
    entry = json_object(entry)
    begun = moment(entry.get("startTime"))
    ended = moment(entry.get("endTime"))
    for point in map(json_object, _list(entry.get("timelinePath"))):
        after = 60.0 * number(point.get("durationMinutesOffsetFromStartTime"))
        time = begun + after if isnan(at := moment(point.get("time"))) else at
        yield _TIMELINE, _latlng(point.get("point"), time), nan

    activity = json_object(entry.get("activity"))
    for name, time in (("start", begun), ("end", ended)):
        if name in activity:
            yield _TIMELINE, _latlng(activity[name], time), nan


def _signal(entry: object) -> _Found:
    """Read a signal of a phone; those of networks and movement have no position."""
    position = json_object(json_object(entry).get("position"))
    if position:
        time = moment(position.get("timestamp"))
        place = position.get("LatLng", position.get("latLng"))
        yield _SIGNALS, _latlng(place, time), number(position.get("accuracyMeters"))


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
