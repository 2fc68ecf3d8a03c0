"""One GPX document, a file or a page of the OSM server, read into segments."""

import io
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.arrays import Bools, Floats
from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.plain_points import WINDOW, run_of_points
from trajanon.extract.sources.gpx.xml_parser import CHUNK, LONGEST_TEXT, XmlParser, by_name
from trajanon.extract.sources.streams import unpacked

API = "OpenStreetMap.org"  # the creator that the server's answers name
_PLANET = "OSM gpx_dump.py"

_POINT_ENDS = b"</trkpt>"

_Texts = list[str | None]
_StartHandler = Callable[[str, list[str]], None] | None


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
    """A GPX document whose segments are read one after the other.

    As little of it as possible is looked at: once a point has told its time, the rest of it is
    passed over. And the parser does not see points that `run_of_points` can read: where it stands
    between two points, it would only come to stand there again.
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self.is_gpx = self.synthetic = False
        self.creator = self.version = ""  # as the document says of itself
        self.contents: set[str] = set()  # which of trk, trkseg, rte and wpt occur
        self.points = 0  # of the segments that were given
        self._path: list[str] = []  # down to a segment, not into it
        self._track = 0
        self._url: str | None = None
        self._depth = 0  # inside of a segment
        self._child = ""  # the tag of the segment's element, most likely a point
        self._point_tag = self._time_tag = ""
        self._wants_time = False
        self._passing = 0  # bytes of chunks that ended in what is passed over
        self._text = ""
        self._lat, self._lon, self._time = _Texts(), _Texts(), _Texts()  # as written, by point
        self._cdata = False  # whether there was any, which looks like markup and is none
        self._ends: list[tuple[int, int, str | None]] = []  # points before it, track, url
        self._rest: list[Floats] = []  # columns of a segment that goes on
        self._parser.CommentHandler = self._comment
        self._parser.StartCdataSectionHandler = self._start_cdata
        self._handle(self._start_outside, self._end_outside)

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

    def __iter__(self) -> Iterator[Segment]:
        """Read the segments that hold a point, in order; once."""
        at_end = False
        while not at_end:
            try:
                at_end = self.read_chunk()
            except FileProblem:
                yield from self._ended()
                raise
            yield from self._ended()

    def read_chunk(self, size: int = CHUNK) -> bool:
        """Read on, as every parser, but not too far in what is passed over."""
        fed = self._fed
        at_end = super().read_chunk(size)
        if self._parser.StartElementHandler is None:
            self._passing += self._fed - fed
        if self._passing > CHUNK:  # the depth is not checked there
            self._refuse(f"one track point of it is larger than {CHUNK:,} bytes")
        return at_end

    def _feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Feed the parser; of points that can be read without it, only the ends of lines."""
        here = 0
        more = 0  # bytes to feed at least: where points are odd, looking at each would take time
        while (end := chunk.find(_POINT_ENDS, here + more)) >= 0:
            end += len(_POINT_ENDS)
            super()._feed(chunk[here:end])
            here, more = end, WINDOW
            while self._is_between_points and (run := run_of_points(chunk[here : here + WINDOW])):
                self._lat += run.lat
                self._lon += run.lon
                self._time += run.time
                passed, here, more = here, here + run.length, 0
                lines = chunk[passed:here].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
                super()._feed(b"\n" * lines.count(b"\n"))
        super()._feed(chunk[here:], last=last)

    @property
    def _is_between_points(self) -> bool:
        """Whether the parser has read all that it was fed, and stands in a segment, in no point."""
        return (
            self._head.startswith((b"<?xml", b"<gpx"))  # not in UTF-16
            and self._point_tag == "trkpt"
            and self._depth == 0
            and self._parser.StartElementHandler == self._start_inside
            and self._parser.CurrentByteIndex == self._fed
            and not self._cdata
        )

    def _ended(self) -> Iterator[Segment]:
        """Give the segments that have ended; keep what there is of the one after."""
        whole = len(self._lat)
        whole -= self._depth > 0 and self._child == self._point_tag  # its time may come yet
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

    def _handle(self, start: _StartHandler, end: Callable[[str], None]) -> None:
        self._parser.StartElementHandler = start
        self._parser.EndElementHandler = end

    def _add_text(self, text: str) -> None:
        if len(self._text) < LONGEST_TEXT:
            self._text += text

    def _start_outside(self, tag: str, attributes: list[str]) -> None:
        self._path.append(_local(tag))
        self._check_depth(len(self._path))
        match self._path:
            case ["gpx"]:
                said = by_name(attributes)
                self.is_gpx = True
                self.creator = said.get("creator", "")
                self.version = said.get("version", "")
            case [root]:
                self._refuse(f"it begins with <{root}>, not with <gpx>")
            case ["gpx", ("trk" | "rte" | "wpt") as kind]:
                self.contents.add(kind)
                self._track += kind == "trk"
                self._url = None
            case ["gpx", "trk", "trkseg"]:
                self.contents.add("trkseg")
                prefix = tag.removesuffix("trkseg")
                self._point_tag, self._time_tag = prefix + "trkpt", prefix + "time"
                self._inside()
            case ["gpx", "trk", "url"]:
                self._text = ""
                self._parser.CharacterDataHandler = self._add_text

    def _end_outside(self, tag: str) -> None:
        self._check_end(tag)
        if self._path == ["gpx", "trk", "url"]:
            self._parser.CharacterDataHandler = None
            self._url = self._text.strip() or None
        self._path.pop()

    def _inside(self) -> None:
        self._depth = self._passing = 0
        self._handle(self._start_inside, self._end_inside)

    def _start_inside(self, tag: str, attributes: list[str]) -> None:
        self._depth += 1
        if self._depth == 1:
            self._child = tag
            self._wants_time = tag == self._point_tag
            if self._wants_time:
                self._place(attributes)
        elif not self._wants_time:
            self._handle(None, self._end_passed)
        elif self._depth == 2 and tag == self._time_tag:
            self._text = ""
            self._parser.CharacterDataHandler = self._add_text
        else:
            self._check_depth(self._depth)

    def _place(self, attributes: list[str]) -> None:
        if attributes[::2] == ["lat", "lon"]:  # as nearly everybody writes it
            self._lat.append(attributes[1])
            self._lon.append(attributes[3])
        else:
            place = by_name(attributes)
            self._lat.append(place.get("lat"))
            self._lon.append(place.get("lon"))
        self._time.append(None)

    def _end_inside(self, tag: str) -> None:
        if self._depth == 0:
            self._check_end(tag)
            self._ends.append((len(self._lat), self._track, self._url))
            self._path.pop()
            self._handle(self._start_outside, self._end_outside)
            return
        if self._depth == 2 and self._wants_time and tag == self._time_tag:
            self._parser.CharacterDataHandler = None
            self._time[-1] = self._text
            self._wants_time = False
        self._depth -= 1

    def _end_passed(self, tag: str) -> None:
        if tag == self._child:
            self._inside()

    def _check_end(self, tag: str) -> None:
        # After passing over a point that holds another one, the ends are one too many.
        if not self._path or self._path[-1] != _local(tag):
            self._refuse("its track points stand in each other")

    def _start_cdata(self) -> None:
        self._cdata = True

    def _comment(self, text: str) -> None:
        # The bundled sample has the form of an answer, but is not of OpenStreetMap.
        self.synthetic |= text.strip().startswith("synthetic:")


def read(source: bytes, name: str) -> Document:
    """Read one whole GPX document, packed or not."""
    stream = unpacked(io.BufferedReader(io.BytesIO(source)))
    return Document(list(GpxStream(stream.read, name)))


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def degrees(texts: Sequence[str | None]) -> Floats:
    """Give the numbers that are written; NaN where there is none."""
    return _numbers(texts, lambda column: column.cast(pa.float64()), float)


def seconds(texts: Sequence[str | None]) -> Floats:
    """Give seconds since 1970 of ISO 8601 times, UTC unless they say otherwise.

    NaN where there is no time; a day alone is none.
    """

    def all_at_once(column: pa.Array) -> pa.Array:
        moments = pc.utf8_trim_whitespace(column).cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        return pc.divide(moments.cast(pa.float64(), safe=False), 1e6)

    def one(text: str) -> float:
        if len(text.strip()) <= len("2026-01-31"):
            return math.nan
        time = datetime.fromisoformat(text.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()

    return _numbers(texts, all_at_once, one)


def _numbers(
    texts: Sequence[str | None],
    all_at_once: Callable[[pa.Array], pa.Array],
    one: Callable[[str], float],
) -> Floats:
    try:
        column = all_at_once(pa.array(texts, pa.string()))
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:  # some are none, or not written as usual
        numbers = np.full(len(texts), np.nan)
        for place, text in enumerate(texts):
            with suppress(ValueError):
                numbers[place] = one(text or "")
        return numbers
