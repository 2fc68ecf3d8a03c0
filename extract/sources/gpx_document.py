"""GPX: track segments in the order of the file; routes and waypoints are left out."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.arrays import Bools, Floats
from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import DAMAGED_ZIP, Reading, unpacked
from trajanon.extract.sources.trace_pieces import moment, number, with_last_cut_off
from trajanon.extract.trace import Trace
from trajanon.inputs import other_encoding

API = "OpenStreetMap.org"  # the creator that the server's answers name
_PLANET = "OSM gpx_dump.py"

_CHUNK, _BEGINNING = 1 << 18, 1 << 14  # bytes: of a chunk, and to recognise a document by
_BLANK = b" \t\r\n\xef\xbb\xbf"  # and a byte order mark, wherever it stands

_STANDING = 10  # points of one time; more in a segment mean that its clock stood still


class XmlStream:
    """XML read chunk by chunk, without a tree."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._fed = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def __iter__(self) -> Iterator[Any]:
        """Give what stands in the document, in its order, up to what ends the reading; once."""
        try:
            while not self._read_chunk(_CHUNK):
                yield from self._taken()
        except FileProblem:
            yield from self._taken()
            raise
        yield from self._taken()

    def read_beginning(self) -> Self:
        """Read the first lines of a document, whatever is wrong with them."""
        with suppress(FileProblem):
            self._read_chunk(_BEGINNING)
        return self

    def _read_chunk(self, size: int) -> bool:
        try:
            chunk = self._read(size)
        except DAMAGED_ZIP as error:
            raise FileProblem(
                f"{self._name} cannot be read to its end ({error}): download it again"
            ) from error
        last = not chunk
        if not self._fed:  # blanks before a document, which XML does not allow
            chunk = chunk.lstrip(_BLANK)
        try:
            self._parser.Parse(chunk, last)
        except LookupError as error:
            raise FileProblem(
                f"{self._name} is in an unknown encoding: save it as UTF-8"
            ) from error
        except expat.ExpatError as error:
            there = chunk[max(self._parser.ErrorByteIndex - self._fed, 0) :]
            why = f"({expat.ErrorString(error.code)}): it may be cut off, or of another kind"
            if there and not there[:1].isascii():
                why = f"and {other_encoding(there)}"
            raise FileProblem(f"{self._name} is not well-formed XML {why}") from error
        self._fed += len(chunk)
        return last

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take note of an element that begins."""

    def _end(self, tag: str) -> None:
        """Take note of an element that ends."""

    def _taken(self) -> Iterator[Any]:
        """Give what the last chunk has brought to its end."""
        return iter(())


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """One <trkseg> of a GPX document, as it stands there."""

    track: int  # number of its <trk> in the document, from 1
    url: str | None  # the <url> of its <trk> (GPX 1.0), if there is one
    lat: Floats  # degrees, shape (points,); NaN where the document gives no number
    lon: Floats  # degrees, shape (points,); NaN where the document gives no number
    time: Floats  # seconds since 1970-01-01 UTC, shape (points,); NaN where there is none

    def take(self, which: Bools) -> "Segment":
        """Give some of its points."""
        return Segment(self.track, self.url, self.lat[which], self.lon[which], self.time[which])


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A page of the server's trackpoints, perhaps saved to a file: the segments with a point."""

    segments: Sequence[Segment]


class GpxStream(XmlStream):
    """The segments of a GPX document."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self.is_gpx = self.synthetic = False
        self.creator = self.version = ""  # as the document says of itself
        self._path: list[str] = []  # down to the element at hand; names without prefixes
        self.points = 0  # of the segments that were given
        self._track = 0
        self._url: str | None = None
        self._points: list[tuple[str | None, str | None]] = []  # of the segment at hand
        self._times: list[str | None] = []
        self._text: list[str] = []
        self._found: list[Segment] = []
        self._parser.CommentHandler = self._comment

    @property
    def is_api_answer(self) -> bool:
        """Whether this is a page of the API's trackpoints, perhaps saved to a file."""
        return self.creator == API and self.version == "1.0"

    @property
    def is_empty(self) -> bool:
        """Whether it was read to its end without a point, and is no page of the API."""
        return not self.points and not self.is_api_answer

    @property
    def is_from_osm(self) -> bool:
        """Whether OpenStreetMap must be named with the document."""
        return self.creator in (API, _PLANET) and not self.synthetic

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2] if ":" in tag else tag
        path = self._path
        path.append(name)
        depth = len(path)
        if depth == 5 and name == "time" and path[3] == "trkpt":
            self._listen()
        elif depth == 4 and name == "trkpt" and path[2] == "trkseg":
            self._points.append((attributes.get("lat"), attributes.get("lon")))
            self._times.append(None)
        elif depth == 3 and name == "url" and path[1] == "trk":
            self._listen()
        elif depth == 2 and name == "trk":
            self._track += 1
            self._url = None
        elif depth == 1:
            if name != "gpx":
                raise FileProblem(f"{self._name} is not GPX: it begins with <{name}>")
            self.is_gpx = True
            self.creator = attributes.get("creator", "")
            self.version = attributes.get("version", "")

    def _listen(self) -> None:
        """Take the text of the element at hand."""
        self._text = []
        self._parser.CharacterDataHandler = self._text.append

    def _end(self, tag: str) -> None:
        depth, name = len(self._path), self._path.pop()
        if depth == 5 and name == "time" and self._times:
            self._times[-1] = "".join(self._text).strip()
            self._parser.CharacterDataHandler = None
        elif depth == 3 and name == "url":
            self._url = "".join(self._text).strip() or None
            self._parser.CharacterDataHandler = None
        elif depth == 3 and name == "trkseg":
            self._end_segment()

    def _end_segment(self) -> None:
        if self._points:
            lat, lon = zip(*self._points, strict=True)
            columns = degrees(lat), degrees(lon), seconds(self._times)
            self._found.append(Segment(self._track, self._url, *columns))
            self.points += len(lat)
            self._points, self._times = [], []

    def _taken(self) -> Iterator[Segment]:
        found, self._found = self._found, []
        return iter(found)

    def _comment(self, text: str) -> None:
        # The bundled sample has the form of an answer, but is not of OpenStreetMap.
        self.synthetic |= text.strip().startswith("synthetic:")


def degrees(texts: Sequence[str | None]) -> Floats:
    """Give the numbers that are written; NaN where there is none."""
    return _all_at_once(texts, lambda column: column.cast(pa.float64()), number)


def seconds(texts: Sequence[str | None]) -> Floats:
    """Give seconds since 1970 of ISO 8601 times, as `moment` does."""

    def moments(column: pa.Array) -> pa.Array:
        times = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        return pc.divide(times.cast(pa.float64(), safe=False), 1e6)

    return _all_at_once(texts, moments, moment)


def _all_at_once(
    texts: Sequence[str | None],
    of_all: Callable[[pa.Array], pa.Array],
    of_one: Callable[[object], float],
) -> Floats:
    try:
        column = of_all(pa.array(texts, pa.string()))
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:  # some are none, or not written as usual
        return np.array([of_one(text) for text in texts])


def read_document(source: bytes, name: str) -> Document:
    """Read one whole GPX document, packed or not."""
    stream = unpacked(io.BufferedReader(io.BytesIO(source)))
    return Document(list(GpxStream(stream.read, name)))


def looks_like(name: str, head: bytes) -> bool:
    """Say whether the first element of a file is that of GPX."""
    return GpxStream(io.BytesIO(head).read, "").read_beginning().is_gpx


def read(path: Path, label: str, how: Reading) -> Iterator[Trace | Document]:
    """Read a GPX file, packed or not.

    A file is one recording of one person, whom it does not name, with all its tracks. A saved
    answer of the OSM API is the exception: it holds the recordings of many.
    """
    with how.unpacked(path) as stream:
        document = GpxStream(stream.read, str(path))
        yield from traces_of_document(document, label)
    if document.is_empty:
        msg = f"{path} holds no track points: routes and waypoints are no recordings"
        how.warn("no points", msg, str(path))


def from_osm(path: Path) -> bool:
    """Say whether a GPX file came from OpenStreetMap, by its first lines alone."""
    with suppress(FileProblem), Reading().unpacked(path) as stream:
        return GpxStream(stream.read, "").read_beginning().is_from_osm
    return False


def traces_of_document(
    document: GpxStream, name: str, subject: str | None = None
) -> Iterator[Trace | Document]:
    """Read a document as one recording, or as the answer of the OSM API that it is."""
    segments = iter(document)
    first = next(segments, None)  # what the document is, stands before it
    segments = chain([first] if first else [], segments)
    if document.is_api_answer:
        yield Document(list(segments))
        return
    times = ((one, _clock_of(one)) for one in segments)
    yield from with_last_cut_off(Trace(name, subject, s.lat, s.lon, time) for s, time in times)


def _clock_of(one: Segment) -> Floats:
    """Give the times of a segment, or none if its clock stood still."""
    stands = len(one.time) > _STANDING and np.ptp(one.time) < 1.0
    return np.full_like(one.time, np.nan) if stands else one.time
