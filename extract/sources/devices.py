"""What receivers, watches and map programs write: FIT, NMEA 0183, KML and KMZ, and TCX."""

import io
import re
import struct
from collections.abc import Callable, Iterator
from datetime import date, datetime
from itertools import chain, groupby
from math import isnan, nan
from pathlib import Path
from typing import Any

import fitdecode
import pynmea2

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import DAMAGED, ZIP, Reading, members
from trajanon.extract.sources.trace_pieces import (
    PLACELESS,
    PLANNED,
    Fix,
    moment,
    number,
    traces_of_fixes,
)
from trajanon.extract.sources.xml_parser import XmlParser
from trajanon.extract.trace import Trace

VOID = "sentences without a valid fix"
UNREAD = "sentences that cannot be read, or with a wrong checksum"
DATELESS = "sentences before the first date"
UNPAIRED = "times or places of tracks without the other"
PLACES = "places without a time"
AREAS = "polygons"
SAME_POINTS = "points beside the tracks of their file"
SAME_LINES = "lines without times beside what has times"

_SEMICIRCLES = 2.0**31 / 180.0  # to a degree
_EPOCH = 631_065_600  # 1989-12-31T00:00:00Z, in seconds since 1970
_CLOCK_NOT_SET = 0x10000000  # smaller times count from when the device was switched on
_COURSE = 6  # the type of a file of a planned way

_BROKEN = (
    *(fitdecode.FitError, struct.error, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, TypeError, ValueError),
)
"""What the decoder raises where bytes make no sense."""

_SENTENCE = re.compile(rb"\$[A-Z]{2}(RMC|GGA|ZDA),[^\r\n]*")
_LONGEST = 1 << 12  # bytes of a line
_FIRST_DAY, _DAY = date(1970, 1, 1), 86_400.0

_DEGREES = ("LatitudeDegrees", "LongitudeDegrees")


def read_fit(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a FIT file as one recording; of several that are chained, each is a piece."""
    with how.unpacked(path) as stream:
        yield from traces_of_fixes(_decoded(stream, path, how), label, how)


def _decoded(stream: io.BufferedReader, path: Path, how: Reading) -> Iterator[Fix | None]:
    """Give the places of the records, up to the first bytes that make no sense."""
    course = False
    try:
        if not stream.peek(1):
            raise fitdecode.FitError("it is empty")
        for frame in fitdecode.FitReader(
            stream,
            processor=None,
            check_crc=fitdecode.CrcCheck.RAISE,
            error_handling=fitdecode.ErrorHandling.IGNORE,
        ):
            if frame.frame_type == fitdecode.FIT_FRAME_HEADER:
                course = False
                yield None
            elif frame.frame_type != fitdecode.FIT_FRAME_DATA:
                continue
            elif frame.name == "file_id":
                course = frame.get_raw_value("type", fallback=None) == _COURSE
            elif frame.name == "record" and course:
                _leave_out_planned(path, how)
            elif frame.name == "record" and (fix := _fix(frame)):
                yield fix
            elif frame.name == "record":
                how.counts[PLACELESS] += 1
    except (*DAMAGED, *_BROKEN) as error:
        cut_off = isinstance(error, (*DAMAGED, fitdecode.FitEOFError))
        what = "is cut off" if cut_off else "is no FIT, or damaged"
        why = " ".join(str(error).split())[:100] or "its bytes make no sense"
        raise FileProblem(
            f"{path} {what} ({why}): copy it again, or recover what is whole with GPSBabel, "
            "-i garmin_fit,recoverymode=1"
        ) from error


def _fix(record: fitdecode.FitDataMessage) -> Fix | None:
    names = ("position_lat", "position_long", "timestamp")
    lat, lon, time = (record.get_raw_value(name, fallback=None) for name in names)
    if not (isinstance(lat, int) and isinstance(lon, int)):
        return None
    dated = isinstance(time, int) and time >= _CLOCK_NOT_SET
    return lat / _SEMICIRCLES, lon / _SEMICIRCLES, float(time + _EPOCH) if dated else nan


def _leave_out_planned(path: object, how: Reading) -> None:
    how.counts[PLANNED] += 1
    how.warn(PLANNED, f"{path} holds courses, which nobody recorded: they are left out")


def read_nmea(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a log as one recording: RMC, and GGA of other times, which RMC or ZDA tell the date."""
    yield from traces_of_fixes(_of_sentences(path, how), label, how)


def _of_sentences(path: Path, how: Reading) -> Iterator[Fix]:
    last, dateless = nan, False  # the last time
    for line in _sentences(path, how):
        try:
            sentence = pynmea2.parse(line)
            if not _is_valid(sentence):
                how.counts[VOID] += 1
                continue
            time, kind = _time(sentence, last), sentence.sentence_type
            lat, lon = (nan, nan) if kind == "ZDA" else _place_of(sentence)
        except (TypeError, ValueError):
            how.counts[UNREAD] += 1
            continue
        if isnan(time):
            how.counts[DATELESS] += 1
            dateless = True
            continue
        last = time
        if kind != "ZDA":
            yield lat, lon, time
    if isnan(last) and dateless:
        raise FileProblem(
            f"{path} has times of day but no RMC or ZDA sentence, which tell the date: turn it "
            "into GPX by GPSBabel with -i nmea,date=YYYYMMDD"
        )


def _sentences(path: Path, how: Reading) -> Iterator[str]:
    """Give the RMC sentences, and the GGA sentences of other times."""
    with how.unpacked(path) as stream:
        by_time = groupby(_lines(stream, path), lambda line: line.split(",", 2)[1])
        for lines in (list(of_one_time) for _, of_one_time in by_time):
            yield from [line for line in lines if line[3:6] == "RMC"] or lines


def _lines(stream: io.BufferedReader, path: Path) -> Iterator[str]:
    """Give the wanted sentences, whatever a logger wrote before them in their lines."""
    try:
        while line := stream.readline(_LONGEST):
            if found := _SENTENCE.search(line):
                yield found[0].decode(errors="replace")
    except DAMAGED as error:
        raise FileProblem(f"cannot read {path} to its end ({error}): copy it again") from error


def _is_valid(sentence: Any) -> bool:
    """Tell whether the receiver says that it has a fix; a navigational status does not matter."""
    if sentence.sentence_type == "GGA":
        return sentence.gps_qual in range(1, 7)  # 7 and 8 are typed in or simulated
    return bool(sentence.timestamp if sentence.sentence_type == "ZDA" else sentence.status == "A")


def _time(sentence: Any, last: float) -> float:
    """Give seconds since 1970; a GGA has no date: its time is the one next to the last."""
    if sentence.sentence_type != "GGA":
        return float(sentence.datetime.timestamp())
    of_day = datetime.combine(_FIRST_DAY, sentence.timestamp).timestamp()
    return nan if isnan(last) else of_day + _DAY * round((last - of_day) / _DAY)


def _place_of(sentence: Any) -> tuple[float, float]:
    """Give degrees; a `ValueError` where a number or a hemisphere is missing."""
    hemispheres = sentence.lat_dir in ("N", "S") and sentence.lon_dir in ("E", "W")
    if not (hemispheres and sentence.lat and sentence.lon):
        raise ValueError(sentence)
    return sentence.latitude, sentence.longitude


def read_kml(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a KML file, or the first one of a KMZ, as one recording.

    Programs write a recording as a track, as points and as a line, all three in one file: the first
    of these that a file has is read. A line has no times, whatever its placemark says.
    """
    with Reading().open(path) as stream:
        is_kmz = stream.peek(4).startswith(ZIP)
    if not is_kmz:
        with how.unpacked(path) as stream:
            yield from traces_of_fixes(_Placemarks(stream.read, str(path), how), label, how)
        return
    for name, opened in members(path, how):
        if opened and name.lower().endswith(".kml"):
            inside = _Placemarks(opened().read, f"{path}/{name}", how)
            yield from traces_of_fixes(inside, label, how)
            return
    raise FileProblem(f"{path} holds no .kml file: name another one")


def read_tcx(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a TCX file: each activity, with all its laps, is a piece of one recording."""
    with how.unpacked(path) as stream:
        yield from traces_of_fixes(_Activities(stream.read, str(path), how), label, how)


class _XmlFixes(XmlParser):
    """XML with a fix in each element."""

    def __init__(self, read: Callable[[int], bytes], name: str, how: Reading) -> None:
        super().__init__(read, name)
        self._how = how
        self._found: list[Fix | None] = []

    def _taken(self) -> Iterator[Fix | None]:
        found, self._found = self._found, []
        return iter(found)


class _Placemarks(_XmlFixes):
    kind, root = "KML", "kml"
    texts = ("when", "coord", "coordinates")

    def __init__(self, read: Callable[[int], bytes], name: str, how: Reading) -> None:
        super().__init__(read, name, how)
        self._tracks = False  # whether there was any
        self._points: list[Fix | None] = []
        self._lines: list[list[Fix]] = []
        self._whens: list[str] = []  # of the track at hand
        self._coords: list[str] = []
        self._when = self._point = ""  # of the placemark at hand

    def __iter__(self) -> Iterator[Fix | None]:
        yield from super().__iter__()
        points = sum(point is not None for point in self._points)
        if self._tracks or points:
            self._how.counts[SAME_LINES] += len(self._lines)
        if self._tracks:
            self._how.counts[SAME_POINTS] += points
        elif points:
            yield from self._points
        else:
            yield from chain.from_iterable([*line, None] for line in self._lines)

    def _begun(self, tag: str, _: dict[str, str]) -> None:
        match self._path[-1]:
            case "Folder" | "Document":
                self._points.append(None)
            case "Placemark":
                self._when = self._point = ""
            case "Track":
                self._whens, self._coords = [], []

    def _ended(self, tag: str, text: str) -> None:
        match self._path:
            case [*_, "Track", "when"]:
                self._whens.append(text)
            case [*_, "Track", "coord"]:
                self._coords.append(text)
            case [*_, "Placemark", "TimeStamp", "when"]:
                self._when = text
            case [*_, "Point", "coordinates"]:
                self._point = text
            case [*_, "LineString", "coordinates"]:
                places = re.sub(r"\s*,\s*", ",", text).split()
                self._lines.append([_place(place.split(","), nan) for place in places])
            case [*_, "Track"]:
                self._tracks = True
                self._how.counts[UNPAIRED] += abs(len(self._whens) - len(self._coords))
                pairs = zip(self._coords, self._whens, strict=False)
                self._found += [_place(coord.split(), moment(when)) for coord, when in pairs]
                self._found.append(None)
            case [*_, "Placemark"] if self._point and self._when:
                self._points.append(_place(self._point.split(","), moment(self._when)))
            case [*_, "Placemark"] if self._point:
                self._how.counts[PLACES] += 1
            case [*_, "Folder" | "Document"]:
                self._points.append(None)
            case [*_, "Polygon"]:
                self._how.counts[AREAS] += 1


def _place(written: list[str], time: float) -> Fix:
    """Read a longitude and a latitude, in this order; a height may follow."""
    lon, lat, *_ = [*map(number, written[:2]), nan, nan]
    return lat, lon, time


class _Activities(_XmlFixes):
    kind, root = "TCX", "TrainingCenterDatabase"
    texts = ("Time", *_DEGREES)

    def _begun(self, tag: str, _: dict[str, str]) -> None:
        if self._path[-1] == "Trackpoint":
            self._point: dict[str, str] = {}

    def _ended(self, tag: str, text: str) -> None:
        name = self._path[-1]
        if name in self.texts and "Trackpoint" in self._path:
            self._point[name] = text
        elif name == "Activity":
            self._found.append(None)
        elif name == "Trackpoint" and "Course" in self._path:
            _leave_out_planned(self._name, self._how)
        elif name == "Trackpoint" and self._point.keys() >= set(_DEGREES):
            lat, lon = (number(self._point[degrees]) for degrees in _DEGREES)
            self._found.append((lat, lon, moment(self._point.get("Time"))))
        elif name == "Trackpoint":
            self._how.counts[PLACELESS] += 1
