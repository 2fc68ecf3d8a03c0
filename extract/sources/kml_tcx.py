"""KML and KMZ, and TCX (Garmin's Training Center XML): tracks, points with times, lines."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from math import nan
from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.extract.sources.fixes import PLACELESS, PLANNED, Fix, moment, number, traces_of_fixes
from trajanon.extract.sources.streams import ZIP, Reading, members
from trajanon.extract.sources.xml_parser import XmlParser
from trajanon.extract.trace import Trace

UNPAIRED = "times or places of tracks without the other"
PLACES = "places without a time"
AREAS = "polygons"
SAME_POINTS = "points beside the tracks of their file"
SAME_LINES = "lines without times beside what has times"

_DEGREES = ("LatitudeDegrees", "LongitudeDegrees")


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
    """XML whose elements hold fixes."""

    def __init__(self, read: Callable[[int], bytes], name: str, how: Reading) -> None:
        super().__init__(read, name)
        self._how = how
        self._found: list[Fix | None] = []

    def __iter__(self) -> Iterator[Fix | None]:
        """Read the fixes in their order; once."""
        at_end, problem = False, None
        while not at_end and problem is None:
            try:
                at_end = self.read_chunk()
            except FileProblem as error:
                problem = error
            found, self._found = self._found, []
            yield from found
        if problem is not None:
            raise problem
        yield from self._last()

    def _last(self) -> Iterator[Fix | None]:
        """Give what is known only at the end."""
        return iter(())


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

    def _begun(self, tag: str, _: list[str]) -> None:
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
                self._end_track()
            case [*_, "Placemark"] if self._point and self._when:
                self._points.append(_place(self._point.split(","), moment(self._when)))
            case [*_, "Placemark"] if self._point:
                self._how.counts[PLACES] += 1
            case [*_, "Folder" | "Document"]:
                self._points.append(None)
            case [*_, "Polygon"]:
                self._how.counts[AREAS] += 1

    def _end_track(self) -> None:
        self._tracks = True
        self._how.counts[UNPAIRED] += abs(len(self._whens) - len(self._coords))
        for when, coord in zip(self._whens, self._coords, strict=False):
            self._found.append(_place(coord.split(), moment(when)))
        self._found.append(None)

    def _last(self) -> Iterator[Fix | None]:
        points = sum(point is not None for point in self._points)
        if self._tracks or points:
            self._how.counts[SAME_LINES] += len(self._lines)
        if self._tracks:
            self._how.counts[SAME_POINTS] += points
        elif points:
            yield from self._points
        else:
            yield from chain.from_iterable([*line, None] for line in self._lines)


def _place(written: list[str], time: float) -> Fix:
    """Read a longitude and a latitude, in this order; a height may follow."""
    lon, lat, *_ = [*map(number, written[:2]), nan, nan]
    return lat, lon, time


class _Activities(_XmlFixes):
    kind, root = "TCX", "TrainingCenterDatabase"
    texts = ("Time", *_DEGREES)

    def _begun(self, tag: str, _: list[str]) -> None:
        if self._path[-1] == "Trackpoint":
            self._point: dict[str, str] = {}

    def _ended(self, tag: str, text: str) -> None:
        name = self._path[-1]
        if name in self.texts and "Trackpoint" in self._path:
            self._point[name] = text
        elif name == "Activity":
            self._found.append(None)
        elif name == "Trackpoint" and "Course" in self._path:
            self._how.counts[PLANNED] += 1
            msg = f"{self._name} holds courses, which nobody recorded: they are left out"
            self._how.warn(PLANNED, msg)
        elif name == "Trackpoint" and self._point.keys() >= set(_DEGREES):
            lat, lon = (number(self._point[degrees]) for degrees in _DEGREES)
            self._found.append((lat, lon, moment(self._point.get("Time"))))
        elif name == "Trackpoint":
            self._how.counts[PLACELESS] += 1
