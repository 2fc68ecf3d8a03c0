"""Google's location history -> traces."""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Raw

from trajanon.common.arrays import Floats
from trajanon.extract.sources.json_and_geojson import decoded, json_list, json_object, json_text
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.timestamps import seconds_of_iso
from trajanon.extract.sources.trace_pieces import Fix, number, traces_of_fixes
from trajanon.extract.trace import Trace

VAGUE = "positions that may be more than 500 m off"
UNREAD_POSITIONS = "positions that could not be read"
REPLACED = "timeline points of which there are raw signals"

_MOST_METRES_OFF = 500.0  # a hop that long ends a track
_LONGEST_GAP = 1_800.0  # seconds between signals; after more, what is between them is not known
_A_MINUTE = 60.0  # seconds, to which the timeline's times are written

# Pieces of a phone's Timeline; those of other files are its devices, and activities.
_TIMELINE = "timeline"
_SIGNALS = "signals"


class _Position(NamedTuple):
    """A position of a piece of the recording."""

    piece: object  # equal for the positions of one piece
    fix: Fix
    metres_off: float = nan  # that it may be off; NaN where the file does not say


_Positions = Iterator[_Position]

_MONTH = re.compile(r"(\d{4})/\1_[A-Z]+\.json")
_LATLNG = re.compile(r"(?:geo:)?\s*([-.\d]+)°?\s*,\s*([-.\d]+)°?\s*")


def read_google(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file as one recording; the person of records and months is the folder around both."""
    # Of .../Location History/Records.json and of
    # .../Location History/Semantic Location History/2019/2019_MAY.json, the person is
    # "Location History" with the two folders around it.
    folders = path.absolute().parts
    person = None
    if path.name == "Records.json":
        person = "/".join(folders[-4:-1])
    elif _MONTH.fullmatch("/".join(folders[-2:])):
        person = "/".join(folders[-6:-3])
    yield from traces_of_fixes(_fixes(path, reading), reading, person)


class _Google(msgspec.Struct):
    """A document of Google, whose members have its own names."""

    locations: list[Raw] = []
    timelineObjects: list[Raw] = []  # noqa: N815 -- its name in the file
    semanticSegments: list[Raw] = []  # noqa: N815 -- as above
    rawSignals: list[Raw] = []  # noqa: N815 -- as above


def _fixes(path: Path, reading: Reading) -> Iterator[Fix | None]:
    """Read the fixes of each piece; None ends one."""
    with reading.unpacked(path) as stream:
        text = json_text(stream, reading.what)
    document = decoded(text, reading.what, _Google | list[Raw])
    if isinstance(document, list):  # an iPhone's Timeline
        document = _Google(semanticSegments=document)

    # The numbers of the fixes of each piece, one after another.
    numbers: defaultdict[object, array[float]] = defaultdict(lambda: array("d"))
    for position in _positions(document, reading):
        lat, lon, _ = position.fix
        if isnan(lat) or isnan(lon):
            reading.counts[UNREAD_POSITIONS] += 1
        elif position.metres_off > _MOST_METRES_OFF:
            reading.counts[VAGUE] += 1
        else:
            numbers[position.piece].extend(position.fix)

    pieces = {piece: np.array(values).reshape(-1, 3) for piece, values in numbers.items()}
    if _SIGNALS in pieces and _TIMELINE in pieces:
        pieces[_TIMELINE] = _with_signals(pieces[_TIMELINE], pieces.pop(_SIGNALS), reading)

    for fixes in pieces.values():
        yield from map(tuple, fixes.tolist())
        yield None


def _positions(document: _Google, reading: Reading) -> _Positions:
    """Read all entries of a document, each kind by its function."""
    for positions_of, entries in (
        (_record, document.locations),
        (_activity, document.timelineObjects),
        (_segment, document.semanticSegments),
        (_signal, document.rawSignals),
    ):
        for entry in entries:
            yield from positions_of(decoded(entry, reading.what))


def _with_signals(timeline: Floats, signals: Floats, reading: Reading) -> Floats:
    """Put the raw signals, (n, 3), in place of the timeline's points, which are made of them."""
    signal_times = np.sort(signals[np.isfinite(signals[:, 2]), 2])
    bounds = np.concatenate([[-np.inf], signal_times, [np.inf]])

    # Left out is what lies between two signals that follow each other, or near one of them.
    time = timeline[:, 2]
    place = np.searchsorted(signal_times, time)
    before = bounds[place]
    after = bounds[place + 1]
    is_near = np.minimum(time - before, after - time) < _A_MINUTE
    is_replaced = (after - before <= _LONGEST_GAP) | is_near
    reading.counts[REPLACED] += int(is_replaced.sum())

    joined_fixes = np.concatenate([timeline[~is_replaced], signals])
    return joined_fixes[np.argsort(joined_fixes[:, 2], kind="stable")]


def _record(entry: object) -> _Positions:
    """Read one of Records.json; a person may have several devices, here and at home."""
    record = json_object(entry)
    fix = _e7(record, _time(record, "timestamp"))
    yield _Position(str(record.get("deviceTag")), fix, number(record.get("accuracy")))


def _activity(entry: object) -> _Positions:
    """Read an activity of a month, a piece; the points of the raw path alone have times."""
    piece = object()
    segment = json_object(json_object(entry).get("activitySegment"))

    names = (("simplifiedRawPath", "points"), ("waypointPath", "waypoints"))
    paths = (json_list(json_object(segment.get(path)).get(points)) for path, points in names)
    first_path = next(filter(None, paths), [])
    ends = (json_object(segment.get(name)) for name in ("startLocation", "endLocation"))
    start, goal = ([end] if "latitudeE7" in end else [] for end in ends)
    way = [*start, *map(json_object, first_path), *goal]

    duration = json_object(segment.get("duration"))
    times = [_time(point, "timestamp") for point in way]
    for end, name in ((-1, "endTimestamp"), (0, "startTimestamp")):
        if way and isnan(times[end]):  # a point of the raw path has its own time
            times[end] = _time(duration, name)
    for point, time in zip(way, times, strict=True):
        yield _Position(piece, _e7(point, time))


def _segment(entry: object) -> _Positions:
    """Read a segment of a phone's Timeline: a path, or an activity from a start to an end."""
    entry = json_object(entry)
    begun = seconds_of_iso(entry.get("startTime"))
    ended = seconds_of_iso(entry.get("endTime"))
    for point in map(json_object, json_list(entry.get("timelinePath"))):
        time = seconds_of_iso(point.get("time"))
        if isnan(time):
            time = begun + 60.0 * number(point.get("durationMinutesOffsetFromStartTime"))
        yield _Position(_TIMELINE, _latlng(point.get("point"), time))

    activity = json_object(entry.get("activity"))
    for name, time in (("start", begun), ("end", ended)):
        if name in activity:
            yield _Position(_TIMELINE, _latlng(activity[name], time))


def _signal(entry: object) -> _Positions:
    """Read a signal of a phone; those of networks and movement have no position."""
    position = json_object(json_object(entry).get("position"))
    if position:
        time = seconds_of_iso(position.get("timestamp"))
        place = position.get("LatLng", position.get("latLng"))
        metres_off = number(position.get("accuracyMeters"))
        yield _Position(_SIGNALS, _latlng(place, time), metres_off)


def _time(entry: Mapping[str, Any], name: str) -> float:
    """Read a time, which older files have as milliseconds."""
    time = seconds_of_iso(entry.get(name))
    return number(entry.get(name + "Ms")) / 1e3 if isnan(time) else time


def _e7(place: Mapping[str, Any], time: float) -> Fix:
    """Read ten millionths of degrees; some files write negative ones 2^32 too large."""
    degrees = []
    for name, short_name in (("latitudeE7", "latE7"), ("longitudeE7", "lngE7")):
        written = number(place.get(name, place.get(short_name)))
        degrees.append((written - 2**32 if written > 2**31 else written) / 1e7)
    return degrees[0], degrees[1], time


def _latlng(value: object, time: float) -> Fix:
    """Read degrees as Timeline writes them: 41.1°, 2.1° or geo:41.1,2.1."""
    text = value.get("latLng") if isinstance(value, Mapping) else value
    match = _LATLNG.fullmatch(text) if isinstance(text, str) else None
    return (number(match[1]), number(match[2]), time) if match else (nan, nan, time)
