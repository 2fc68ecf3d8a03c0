"""KML and KMZ of map programs, and TCX of watches -> traces.

Among fixes, None ends a piece of a recording.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from math import nan
from pathlib import Path
from xml.etree.ElementTree import Element

from trajanon.common.errors import FileProblem
from trajanon.extract.sources.archives import DAMAGED_ZIP, ZIP, Stream, members, unpacked
from trajanon.extract.sources.column_role_names import TRACK
from trajanon.extract.sources.reading import TIMES_DO_NOT_MATCH, Reading
from trajanon.extract.sources.timestamps import seconds_of_iso
from trajanon.extract.sources.trace_pieces import (
    PLANNED,
    Fix,
    number,
    traces_of_fixes,
    with_last_cut_off,
)
from trajanon.extract.sources.xml_documents import growing_tree, strip_prefixes
from trajanon.extract.trace import Trace

_POINTS = ("Trackpoint", "when", "coord", "Point")  # elements that are used whole or not at all


def read_kml(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a KML file, or all those of a KMZ, as one recording."""
    documents = _documents(path, reading)
    if reading.columns.get("subject") != TRACK:  # not each track is another person's
        roots = (root for _, root in documents)
        fixes = (fix for root in roots for fix in (*_fixes_of_placemarks(root, reading), None))
        yield from traces_of_fixes(fixes, reading)
        return

    of_documents = (
        _traces_by_track(root, replace(reading, label=label)) for label, root in documents
    )
    yield from with_last_cut_off(chain.from_iterable(of_documents))


def _documents(path: Path, reading: Reading) -> Iterator[tuple[str, Element]]:
    """Read each document with its label; one that is damaged ends the reading."""
    stream = reading.open(path)
    if not stream.peek(4).startswith(ZIP):
        with unpacked(stream) as document:
            for root in _trees(document, str(path), "kml"):
                yield reading.label, root
        return

    has_document = False
    for name, open_member in members(stream, path):
        if open_member and name.lower().endswith(".kml"):
            for root in _trees(open_member(), f"{path}/{name}", "kml"):
                yield f"{reading.label}/{name}", root
            has_document = True
    if not has_document:
        raise FileProblem(f"{path} holds no .kml file: name another one")


def _traces_by_track(root: Element, reading: Reading) -> Iterator[Trace]:
    """Read a document in which each Placemark with a line is a person's, if any has one."""
    # Of a single Placemark, this finds tracks and lines only: `_fixes_of_points` looks at the
    # children of what it is given, so never at the Placemark itself.
    has_line = False
    for placemark_number, placemark in enumerate(root.iter("Placemark"), start=1):
        if fixes := _fixes_of_placemarks(placemark, reading):
            has_line = True
            name = f"{reading.label}/track {placemark_number}"
            subject = (placemark.findtext("name") or "").strip() or name
            yield from traces_of_fixes(fixes, replace(reading, label=name), subject)
    if not has_line:
        yield from traces_of_fixes(_fixes_of_placemarks(root, reading), reading)


def read_tcx(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a TCX file: each activity, with all its laps, is a piece of one recording."""
    with reading.unpacked(path) as stream:
        trees = _trees(stream, str(path), "TrainingCenterDatabase")
        fixes = (fix for root in trees for fix in _fixes_of_activities(root, reading))
        yield from traces_of_fixes(fixes, reading)


def _trees(stream: Stream, name: str, root_name: str) -> Iterator[Element]:
    """Read an XML document whole: its tree, of a damaged one what is whole, then the problem."""
    try:
        content = io.BytesIO(stream.read())
    except DAMAGED_ZIP as error:
        raise FileProblem(f"cannot read {name} to its end ({error}): copy it again") from error

    root: Element | None = None
    problem = None
    try:
        for grown in growing_tree(content.read, name):
            root = grown
    except FileProblem as error:
        problem = error

    if root is not None:
        strip_prefixes(root)
    if root is None or root.tag != root_name:
        tag = "nothing" if root is None else f"<{root.tag}>"
        raise problem or FileProblem(f"{name} begins with {tag}, not with <{root_name}>")
    _take_out_incomplete(root)
    yield root
    if problem:
        raise problem


def _take_out_incomplete(root: Element) -> None:
    """Put the mark <end/> in place of the point in which the reading ended.

    `growing_tree` puts the mark where the reading ended. In a document that breaks off, it lies in
    what is incomplete: of <when>2026-05-01T10:00:00Z</when><when>2026-05-<end/></when> the second
    <when> is taken out, and of <coordinates>2.1,41.3 2.1,4<end/></coordinates> the last place. In a
    whole document it is the last child of the root, and nothing is taken out.
    """
    element = root
    while len(element):
        if element[-1].tag in _POINTS:
            element[-1] = Element("end")
            return
        element = element[-1]
        if element.tag == "coordinates":
            element.text = " ".join(_places_of(element)[:-1])


def _fixes_of_placemarks(root: Element, reading: Reading) -> list[Fix | None]:
    """Read the tracks, else the points, else the lines: programs write all three in one file."""
    tracks: list[Fix | None] = []
    for track in root.iter("Track"):
        whens = [when.text for when in track.iterfind("when")]
        coords = [(coord.text or "").split() for coord in track.iterfind("coord")]
        if track.find("end") is not None:  # the document breaks off among the places of this track
            whens = whens[: len(coords)]
        if len(whens) != len(coords):  # which one is missing is not known
            reading.counts[TIMES_DO_NOT_MATCH] += 1
            whens = [None] * len(coords)
        places = zip(coords, whens, strict=True)
        if coords:
            tracks += [*(_fix(coord, seconds_of_iso(when)) for coord, when in places), None]

    lines: list[Fix | None] = []
    for line in root.iterfind(".//LineString/coordinates"):
        lines += [*(_fix(place.split(","), nan) for place in _places_of(line)), None]
    return tracks or _fixes_of_points(root) or lines


def _places_of(line: Element) -> list[str]:
    """Return the places of a line, each as text: longitude, latitude and perhaps a height."""
    return re.sub(r"\s*,\s*", ",", line.text or "").split()


def _fixes_of_points(element: Element) -> list[Fix | None]:
    """Read the points that have a time; each folder is a piece."""
    fixes = list[Fix | None]()
    for child in element:
        if child.tag in ("Folder", "Document"):
            fixes += [None, *_fixes_of_points(child), None]
        elif child.tag == "Placemark":
            place = child.findtext(".//Point/coordinates")
            when = child.findtext("TimeStamp/when")
            if place and when:
                fixes.append(_fix(place.split(","), seconds_of_iso(when)))
    return fixes if any(fixes) else []


def _fix(numbers_written: list[str], time: float) -> Fix:
    """Read a longitude and a latitude, in this order, NaN if missing; a height may follow."""
    lon, lat, *_ = [*map(number, numbers_written[:2]), nan, nan]
    return lat, lon, time


def _fixes_of_activities(root: Element, reading: Reading) -> Iterator[Fix | None]:
    """Read the points of activities with all their laps; each activity is a piece."""
    if root.find(".//Course") is not None:
        reading.found(PLANNED, 1)  # once for the document
    for activity in root.iter("Activity"):
        for point in activity.iter("Trackpoint"):
            place = point.find("Position")
            if place is not None:
                names = ("LatitudeDegrees", "LongitudeDegrees")
                lat, lon = (number(place.findtext(name)) for name in names)
                yield lat, lon, seconds_of_iso(point.findtext("Time"))
        yield None
