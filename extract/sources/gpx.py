"""GPX: track segments in the order of the file, without routes and waypoints."""

import io
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import compress
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pyarrow as pa

from trajanon.common.arrays import Floats
from trajanon.common.errors import FileProblem
from trajanon.extract.sources.archives import stream_of, unpacked
from trajanon.extract.sources.column_role_names import TRACK
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.timestamps import UNREAD_TIMES, seconds_of_iso_texts
from trajanon.extract.sources.trace_pieces import EMPTY, number, with_last_cut_off
from trajanon.extract.sources.xml_documents import growing_tree, strip_prefixes
from trajanon.extract.trace import Trace

API = "OpenStreetMap.org"  # the creator that the server's answers name
_PLANET = "OSM gpx_dump.py"

FROM_OSM = "files from OpenStreetMap"


_MOST_POINTS = 5_000_000  # of a segment: a point a second for two months
_BYTES_JUDGED = 1 << 14  # by which a document is recognised
_COMMENTS_KEPT = 10  # the last ones

_STANDING = 10  # points of one time; more in a segment mean that its clock stood still


class GpxDocument:
    """The segments of a GPX document, named by the numbers of their tracks.

    The subject is the track's name; on a page of the API's trackpoints, the <url> of the track.
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read = read
        self.name = name
        self._comments = deque[str](maxlen=_COMMENTS_KEPT)
        self._tracks = 0
        self._track: Element | None = None  # the one at hand
        # Of the segment at hand: latitude, longitude and time of each point, as they are written.
        self._points: list[tuple[str | None, ...]] = []
        self.creator = ""  # as the document says of itself
        self.version = ""
        self.points = 0  # of the segments that were yielded
        self.unread_times = 0  # of these points

    @property
    def is_api_answer(self) -> bool:
        """Return whether this is a page of the API's trackpoints, perhaps saved to a file."""
        return self.creator == API and self.version == "1.0"

    @property
    def is_empty(self) -> bool:
        """Return whether it was read to its end without a point, and is no page of the API."""
        return not self.points and not self.is_api_answer

    @property
    def is_from_osm(self) -> bool:
        """Return whether OpenStreetMap must be named with the document, and not our sample."""
        is_synthetic = any(text.strip().startswith("synthetic:") for text in self._comments)
        return self.creator in (API, _PLANET) and not is_synthetic

    def __iter__(self) -> Iterator[Trace]:
        """Return the segments with a point, up to what ends the reading; once."""
        try:
            for root in growing_tree(self._read, self.name, self._comments.append):
                yield from self._segments_taken(strip_prefixes(root))
        except FileProblem:
            yield from self._segment()
            raise

    def _segments_taken(self, root: Element) -> Iterator[Trace]:
        """Take what is whole out of the tree: points one by one, and of segments their traces."""
        if root.tag != "gpx":
            raise FileProblem(f"{self.name} is not GPX: it begins with <{root.tag}>")
        self.creator = root.get("creator", "")
        self.version = root.get("version", "")

        for track in root.iterfind("trk"):
            if track is not self._track:
                self._track = track
                self._tracks += 1
            for segment in track.findall("trkseg"):
                # The last element of one that goes on may not be whole.
                goes_on = segment is track[-1] and track is root[-1]
                whole = segment[:-1] if goes_on else segment[:]
                self._points += [
                    (element.get("lat"), element.get("lon"), element.findtext("time"))
                    for element in whole
                    if element.tag == "trkpt"
                ]
                if len(self._points) > _MOST_POINTS:
                    self._points.clear()  # no recording, of which a part could be used
                    raise FileProblem(f"{self.name} has over {_MOST_POINTS:,} points in a segment")
                del segment[: len(whole)]
                if not goes_on:
                    yield from self._segment()
                    track.remove(segment)

        # Nothing else is needed, whatever its size; of tracks and points that go on, their names
        # and times.
        element = root
        while len(element) and element.tag != "trkpt":
            if element.tag != "trk":
                del element[:-1]
            element = element[-1]

    def _segment(self) -> Iterator[Trace]:
        """Make a segment of the points at hand, if there are any."""
        if not self._points or self._track is None:
            return
        lat, lon, times = zip(*self._points, strict=True)
        self._points.clear()

        seconds = seconds_of_iso_texts(times)
        unread = compress(times, np.isnan(seconds))
        self.unread_times += sum(bool(text and text.strip()) for text in unread)
        self.points += len(times)
        subject = self._track.findtext("url" if self.is_api_answer else "name", "").strip() or None
        yield Trace(f"track {self._tracks}", subject, degrees(lat), degrees(lon), seconds)


def degrees(texts: Sequence[str | None]) -> Floats:
    """Return the numbers that are written; NaN where there is none."""
    try:
        column = pa.array(texts, pa.string()).cast(pa.float64())
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:  # some are none, or have a decimal comma
        return np.array([number(text) for text in texts])


def read_document(source: bytes, name: str) -> list[Trace]:
    """Read one whole GPX document, packed or not."""
    stream = unpacked(stream_of(io.BytesIO(source).read))
    return list(GpxDocument(stream.read, name))


def looks_like(name: str, head: bytes) -> bool:
    """Return whether the first element of a file is that of GPX."""
    root: Element | None = None
    with suppress(FileProblem):
        root = next(growing_tree(io.BytesIO(head[:_BYTES_JUDGED]).read, name), None)
    return root is not None and strip_prefixes(root).tag == "gpx"


def read(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a GPX file: one recording of one person, or a saved answer of the OSM API, of many."""
    with reading.unpacked(path) as stream:
        # Where packed bytes are damaged, `read` would lose what comes before.
        document = GpxDocument(stream.read1, str(path))
        yield from traces_of(document, reading)

    if document.is_empty:
        reading.found("no points")


def traces_of(
    document: GpxDocument, reading: Reading, subject: str | None = None
) -> Iterator[Trace]:
    """Read a document as one recording, or as the saved page of the OSM API that it is.

    By track, each track is a recording, and whoever has its name made it.
    """
    for segment in with_last_cut_off(document):
        if document.is_api_answer:
            yield replace(segment, page=document.name)
        else:
            yield _trace(segment, reading, subject)

    if document.is_from_osm:
        reading.counts[FROM_OSM] += 1
    reading.found(UNREAD_TIMES, document.unread_times)
    if document.is_empty:
        reading.counts[EMPTY] += 1


def _trace(segment: Trace, reading: Reading, subject: str | None) -> Trace:
    """Name a segment as a piece of its recording, without times if its clock stood still."""
    name = reading.label
    if reading.columns.get("subject") == TRACK:
        name = f"{name}/{segment.name}"
        subject = segment.subject or name

    time = segment.time
    known = time[np.isfinite(time)]
    if len(known) > _STANDING and np.ptp(known) < 1.0:
        time = np.full_like(time, np.nan)
    return replace(segment, name=name, subject=subject, time=time)
