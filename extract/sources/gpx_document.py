"""GPX: track segments in the order of the file; routes and waypoints are left out."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.arrays import Bools, Floats
from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import Reading, unpacked
from trajanon.extract.sources.trace_pieces import moment, number, with_last_cut_off
from trajanon.extract.sources.xml_parser import XmlParser
from trajanon.extract.trace import Trace
from trajanon.geodesy import DEGREE

API = "OpenStreetMap.org"  # the creator that the server's answers name
_PLANET = "OSM gpx_dump.py"

_LONGEST = 1 << 12  # characters of a text that are kept; no name and no time is longer
_FARTHEST = 100.0  # metres, about: the farthest a person moves within a second

_Texts = list[str | None]


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


class GpxStream(XmlParser):
    """A GPX document; its parser does not see the points that `_POINTS` can read."""

    root = "gpx"
    texts = ("time", "url")

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self.is_gpx = self.synthetic = False
        self.creator = self.version = ""  # as the document says of itself
        self.points = 0  # of the segments that were given
        self._track = 0
        self._url: str | None = None
        self._prefix = ""  # of the elements of the segment
        self._depth = 0  # within a point
        self._lat, self._lon, self._time = _Texts(), _Texts(), _Texts()  # as written, by point
        self._cdata = False  # whether there was any, which looks like markup and is none
        self._ends: list[tuple[int, int, str | None]] = []  # points before it, track, url
        self._rest: list[Floats] = []  # columns of a segment that goes on
        self._parser.CommentHandler = self._comment
        self._parser.StartCdataSectionHandler = lambda: setattr(self, "_cdata", True)

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

    def _feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Feed the parser what cannot be read without it."""
        here = 0
        more = 0  # bytes to feed at least: where points are odd, looking at each would take time
        while (end := chunk.find(_POINT_ENDS, here + more)) >= 0:
            end += len(_POINT_ENDS)
            super()._feed(chunk[here:end])
            here, more = end, _WINDOW
            while self._is_between_points and (size := self._take(chunk[here : here + _WINDOW])):
                here, more = here + size, 0
        super()._feed(chunk[here:], last=last)

    @property
    def _is_between_points(self) -> bool:
        """Whether the parser has read all that it was fed, and stands in a segment, in no point."""
        return (
            self._path == ["gpx", "trk", "trkseg"]
            and self._head.startswith((b"<?xml", b"<gpx"))  # not in UTF-16
            and not self._prefix
            and self._parser.CurrentByteIndex == self._fed
            and not self._cdata
        )

    def _take(self, text: bytes) -> int:
        """Read the points at the beginning of a text; give their number of bytes."""
        found = _POINTS.findall(text.decode("latin-1"))  # a letter a byte
        rest = found.pop()[_REST] if found and found[-1][_REST] else ""
        self._lat += [point[_LAT] for point in found]
        self._lon += [point[_LON] for point in found]
        self._time += [point[_MOMENT] or None for point in found]
        return len(text) - len(rest) if found else 0

    def _taken(self) -> Iterator[Segment]:
        """Give the segments that have ended; keep what there is of the one after."""
        whole = len(self._lat)
        whole -= self._depth > 0  # its time may come yet
        lat, lon, time = self._lat, self._lon, self._time
        columns = np.stack((degrees(lat[:whole]), degrees(lon[:whole]), seconds(time[:whole])))
        del lat[:whole], lon[:whole], time[:whole]
        ends, self._ends = self._ends, []
        *parts, rest = np.split(columns, [end for end, *_ in ends], axis=1)
        for part, (_, track, url) in zip(parts, ends, strict=True):
            points = np.concatenate([*self._rest, part], axis=1)
            self._rest = []
            self.points += points.shape[1]
            if points.size:
                yield Segment(track, url, *points)
        self._rest.append(rest)

    def _add_text(self, text: str) -> None:
        if self._length < _LONGEST:
            super()._add_text(text)

    def _begun(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth:
            self._depth += 1
            if tag == f"{self._prefix}trkpt" and self._time[-1] is not None:
                self._refuse("its track points stand in each other")
            return
        match self._path:
            case ["gpx", "trk", "trkseg", _] if tag == f"{self._prefix}trkpt":
                self._depth = 1
                self._lat.append(attributes.get("lat"))
                self._lon.append(attributes.get("lon"))
                self._time.append(None)
            case ["gpx"]:
                self.is_gpx = True
                self.creator = attributes.get("creator", "")
                self.version = attributes.get("version", "")
            case ["gpx", "trk"]:
                self._track += 1
                self._url = None
            case ["gpx", "trk", "trkseg"]:
                self._prefix = tag.removesuffix("trkseg")

    def _ended(self, tag: str, text: str) -> None:
        if self._depth:
            if self._depth == 2 and tag == f"{self._prefix}time" and self._time[-1] is None:
                self._time[-1] = text
            self._depth -= 1
        elif self._path == ["gpx", "trk", "url"]:
            self._url = text or None
        elif self._path == ["gpx", "trk", "trkseg"]:
            self._ends.append((len(self._lat), self._track, self._url))

    def _comment(self, text: str) -> None:
        # The bundled sample has the form of an answer, but is not of OpenStreetMap.
        self.synthetic |= text.strip().startswith("synthetic:")


# Track points as nearly everybody writes them: in ASCII, without attributes but lat and lon, and
# without comments, references or CDATA. All others stay for the parser, which takes twice as long.

_POINT_ENDS = b"</trkpt>"
_WINDOW = 1 << 14  # bytes to look at, at once, as what is no point at their end is copied

_BLANKS = r"[ \t\r\n]*+"
_TEXT = r"[ \t\r\n!-%'-;=?-~]*+"  # all of ASCII but &, < and >
_NAME = r"(?!trkpt>)[A-Za-z_][-.:\w]*+"  # no point in a point
_DEGREES = r"[-+.0-9eE]*+"
_TIME = r"[-+:.0-9TZ]{0,99}+"

_numbers = count()


def _elements(depth: int, but: str = "") -> str:
    """Match elements without attributes, that deep in each other, and the texts behind them."""
    name = f"name{next(_numbers)}"
    inside = _elements(depth - 1) if depth > 1 else ""
    return f"(?:<{but}(?P<{name}>{_NAME})>{_TEXT}{inside}</(?P={name})>{_TEXT})*+"


_POINT = (
    f'{_BLANKS}<trkpt lat="(?P<lat>{_DEGREES})" lon="(?P<lon>{_DEGREES})">{_TEXT}'
    f"{_elements(3, but='(?!time>)')}"  # Garmin's extensions are that deep
    f"(?:<time>(?P<time>{_TIME})</time>{_TEXT}{_elements(3)})?+</trkpt>"
)
# What is no point takes all the rest with it, so that there are no gaps between those found.
_POINTS = re.compile(f"{_POINT}|(?P<rest>(?s:.)+)", re.ASCII)
_LAT, _LON, _MOMENT, _REST = (
    _POINTS.groupindex[name] - 1 for name in ("lat", "lon", "time", "rest")
)


def degrees(texts: Sequence[str | None]) -> Floats:
    """Give the numbers that are written; NaN where there is none."""
    return _all_at_once(texts, lambda column: column.cast(pa.float64()), number)


def seconds(texts: Sequence[str | None]) -> Floats:
    """Give seconds since 1970 of ISO 8601 times, as `moment` does."""

    def moments(column: pa.Array) -> pa.Array:
        times = pc.utf8_trim_whitespace(column).cast(pa.timestamp("us", "UTC")).cast(pa.int64())
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
    """Give the times of a segment, or none if the clock stood still while the way went on."""
    time = one.time
    if not np.isfinite(time).all() or np.ptp(time) >= 1.0:
        return time
    with np.errstate(invalid="ignore"):  # of what is no number
        ways = (np.fmax.reduce(degrees) - np.fmin.reduce(degrees) for degrees in (one.lat, one.lon))
        return np.full_like(time, np.nan) if DEGREE * sum(ways) > _FARTHEST else time
