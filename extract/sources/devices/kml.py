"""KML and KMZ: tracks, points with times, lines -> traces."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from math import nan
from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.extract.sources.devices.fixes import Fix, moment, number, traces_of_fixes
from trajanon.extract.sources.devices.xml_fixes import XmlFixes
from trajanon.extract.sources.gpx.archive_members import ZIP, members
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

UNPAIRED = "times or places of tracks without the other"
PLACES = "places without a time"
AREAS = "polygons"
SAME_POINTS = "points beside the tracks of their file"
SAME_LINES = "lines without times beside what has times"

_ROOT = re.compile(rb"<(\w+:)?kml[\s>]")


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is KML or KMZ, by its name or by its first element."""
    return name.endswith((".kml", ".kmz")) or _ROOT.search(head) is not None


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
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


class _Placemarks(XmlFixes):
    kind, root = "KML", "kml"

    def __init__(self, read: Callable[[int], bytes], name: str, how: Reading) -> None:
        super().__init__(read, name)
        self._how = how
        self._tracks = False  # whether there was any
        self._points: list[Fix | None] = []
        self._lines: list[list[Fix]] = []
        self._whens: list[str] = []  # of the track at hand
        self._coords: list[str] = []
        self._when = self._point = ""  # of the placemark at hand

    def _begun(self, tag: str) -> None:
        if tag in ("Folder", "Document"):
            self._points.append(None)
        elif tag == "Placemark":
            self._when = self._point = ""
        elif tag == "Track":
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
            case [*_, "Placemark"] if self._point:
                self._end_point()
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

    def _end_point(self) -> None:
        if self._when:
            self._points.append(_place(self._point.split(","), moment(self._when)))
        else:
            self._how.counts[PLACES] += 1

    def _rest(self) -> Iterator[Fix | None]:
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
