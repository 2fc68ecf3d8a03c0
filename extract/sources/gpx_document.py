"""GPX, and archives of it: track segments in the order of the file, without routes and waypoints.

OpenStreetMap's planet dump is one; its metadata.xml names accounts of public, identifiable files.
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, compress
from pathlib import Path
from typing import Any, Self
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import FileProblem
from trajanon.common.inputs import other_encoding
from trajanon.extract.sources.column_roles import TRACK
from trajanon.extract.sources.streams import (
    DAMAGED,
    DAMAGED_ZIP,
    CutOff,
    Reading,
    members,
    stream_of,
    unpacked,
)
from trajanon.extract.sources.timestamps import UNREAD_TIMES, WAY_OUT
from trajanon.extract.sources.trace_pieces import EMPTY, moment, number, with_last_cut_off
from trajanon.extract.trace import Trace

API = "OpenStreetMap.org"  # the creator that the server's answers name
_PLANET = "OSM gpx_dump.py"
_GENERATORS = (_PLANET, "OpenStreetMap gpx_dump.py")  # how metadata of a dump name who made them

NOT_GPX = "members that are not GPX"
CUT_OFF_FILES = "archives cut off"
WITHOUT_ACCOUNT = "recordings without their account in the dump, or before it"

_GPX = (".gpx", ".gpx.gz", ".gpx.bz2", ".gpx.xz")
_DUMPED = re.compile(r"(?:.*/)?(public|trackable|identifiable)/(?:\d+/)*(\d{1,18})\.gpx")
_NUMBER = re.compile(r"[0-9]{1,18}")

_LONGEST = 1 << 23  # bytes of a tag, which the parser begins anew with each chunk, or of a text
_MOST_POINTS = 5_000_000  # of a segment: a point a second for two months
_CHUNK, _BEGINNING = 1 << 18, 1 << 14  # bytes: of a chunk, and to recognise a document by
_BLANK = b" \t\r\n\xef\xbb\xbf"  # and a byte order mark, wherever it stands

_STANDING = 10  # points of one time; more in a segment mean that its clock stood still


class XmlStream:
    """XML read chunk by chunk, without a tree."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._fed, self._found = 0, list[Any]()
        self._text: list[str] = []  # of the element at hand, in pieces
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def __iter__(self) -> Iterator[Any]:
        """Return what stands in the document, in its order, up to what ends the reading; once."""
        problem, last = None, False
        while not (problem or last):
            try:
                last = self._read_chunk(_CHUNK)
            except FileProblem as error:
                problem = error
                self._break_off()
            found, self._found = self._found, []
            yield from found
        # It holds this object, with the buffer of the stream, until a collector comes by.
        del self._parser
        if problem:
            raise problem

    def read_beginning(self) -> Self:
        """Read the first lines of a document, whatever is wrong with them."""
        with suppress(FileProblem):
            self._read_chunk(_BEGINNING)
        return self

    def _read_chunk(self, size: int) -> bool:
        try:
            chunk = self._read(size)
        except DAMAGED_ZIP as error:
            why = f"cannot be read to its end ({error}): download it again"
            raise FileProblem(f"{self._name} {why}") from error
        last = not chunk
        if not self._fed:  # blanks before a document, which XML does not allow
            chunk = chunk.lstrip(_BLANK)
        try:
            self._parser.Parse(chunk, last)
        except LookupError as error:
            raise FileProblem(f"{self._name} has an unknown encoding: save it as UTF-8") from error
        except expat.ExpatError as error:
            there = chunk[max(self._parser.ErrorByteIndex - self._fed, 0) :]
            why = f"({expat.ErrorString(error.code)}): it may be cut off, or of another kind"
            if there and not there[:1].isascii():
                why = f"and {other_encoding(there)}"
            raise FileProblem(f"{self._name} is not well-formed XML {why}") from error

        self._fed += len(chunk)
        bytes_of_tag = self._fed - self._parser.CurrentByteIndex
        if max(bytes_of_tag, sum(map(len, self._text))) > _LONGEST:
            raise FileProblem(f"{self._name} has a tag or text of more than 8 MB")
        return last

    def _break_off(self) -> None:
        """Note what is whole of the element in which the document breaks off."""

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Note an element that begins."""

    def _end(self, tag: str) -> None:
        """Note an element that ends, and of what it brings."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """One <trkseg> of a GPX document, as it stands there."""

    track: int  # number of its <trk> in the document, from 1
    url: str | None  # the <url> of its <trk> (GPX 1.0), if there is one
    lat: Floats  # degrees, shape (points,); NaN where the document gives no number
    lon: Floats  # degrees, shape (points,); NaN where the document gives no number
    time: Floats  # seconds since 1970-01-01 UTC, shape (points,); NaN where there is none
    track_name: str | None = None  # the <name> of its <trk>

    def take(self, marked: Bools) -> "Segment":
        """Return some of its points."""
        return replace(self, lat=self.lat[marked], lon=self.lon[marked], time=self.time[marked])


ApiPage = list[Segment]
"""A page of the server's trackpoints, perhaps saved to a file: the segments with a point."""


def points_of(read: Trace | ApiPage) -> int:
    """Count the points of what a reader gives."""
    return len(read) if isinstance(read, Trace) else sum(len(segment.time) for segment in read)


class GpxStream(XmlStream):
    """The segments of a GPX document."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self.is_gpx = self.synthetic = False
        self.creator = self.version = ""  # as the document says of itself
        self._path: list[str] = []  # down to the element at hand; names without prefixes
        self.points = 0  # of the segments that were given
        self.unread_times = 0  # of these points
        self._track = 0
        self._url: str | None = None
        self._track_name: str | None = None
        self._points: list[tuple[str | None, str | None]] = []  # of the segment at hand
        self._times: list[str | None] = []
        self._parser.CommentHandler = self._comment

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
        """Return whether OpenStreetMap must be named with the document."""
        return self.creator in (API, _PLANET) and not self.synthetic

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2] if ":" in tag else tag
        path = self._path
        path.append(name)
        depth = len(path)
        if depth == 5 and name == "time" and path[3] == "trkpt":
            self._listen()
        elif depth == 4 and name == "trkpt" and path[2] == "trkseg":
            if len(self._points) >= _MOST_POINTS:
                self._points, self._times = [], []  # no recording, of which a part could be used
                raise FileProblem(f"{self._name} has over {_MOST_POINTS:,} points in a segment")
            self._points.append((attributes.get("lat"), attributes.get("lon")))
            self._times.append(None)
        elif depth == 3 and name in ("url", "name") and path[1] == "trk":
            self._listen()
        elif depth == 2 and name == "trk":
            self._track += 1
            self._url = self._track_name = None
        elif depth == 1:
            if name != "gpx":
                raise FileProblem(f"{self._name} is not GPX: it begins with <{name}>")
            self.is_gpx = True
            self.creator = attributes.get("creator", "")
            self.version = attributes.get("version", "")

    def _listen(self) -> None:
        """Collect the text of the element at hand."""
        self._text = []
        self._parser.CharacterDataHandler = self._text.append

    def _end(self, tag: str) -> None:
        depth = len(self._path)
        name = self._path.pop()
        if depth == 5 and name == "time" and self._times:
            self._times[-1] = "".join(self._text).strip()
            self._parser.CharacterDataHandler = None
        elif depth == 3 and name in ("url", "name"):
            text = "".join(self._text).strip() or None
            self._parser.CharacterDataHandler = None
            if name == "url":
                self._url = text
            elif self._path[1] == "trk":
                self._track_name = text
        elif depth == 3 and name == "trkseg":
            self._end_segment()

    def _end_segment(self) -> None:
        if self._points:
            lat, lon = zip(*self._points, strict=True)
            columns = degrees(lat), degrees(lon), seconds(self._times)
            self.unread_times += sum(map(bool, compress(self._times, np.isnan(columns[2]))))
            self._found.append(Segment(self._track, self._url, *columns, self._track_name))
            self.points += len(lat)
            self._points, self._times = [], []

    def _break_off(self) -> None:
        # Whoever joins the pages of the API cannot tell that a segment is cut off.
        if self.is_api_answer or not self._points:
            return
        if self._path[3:4] == ["trkpt"]:  # its time may be missing
            del self._points[-1], self._times[-1]
        self._end_segment()

    def _comment(self, text: str) -> None:
        # The bundled sample has the form of an answer, but is not of OpenStreetMap.
        self.synthetic |= text.strip().startswith("synthetic:")


def degrees(texts: Sequence[str | None]) -> Floats:
    """Return the numbers that are written; NaN where there is none."""
    return _all_at_once(texts, lambda column: column.cast(pa.float64()), number)


def seconds(texts: Sequence[str | None]) -> Floats:
    """Return seconds since 1970 of ISO 8601 times, as `moment` does."""

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


def read_document(source: bytes, name: str) -> ApiPage:
    """Read one whole GPX document, packed or not."""
    stream = unpacked(stream_of(io.BytesIO(source).read))
    return list(GpxStream(stream.read, name))


def looks_like(name: str, head: bytes) -> bool:
    """Return whether the first element of a file is that of GPX."""
    return GpxStream(io.BytesIO(head).read, "").read_beginning().is_gpx


def read(path: Path, reading: Reading) -> Iterator[Trace | ApiPage]:
    """Read a GPX file: one recording of one person, or a saved answer of the OSM API, of many."""
    with reading.unpacked(path) as stream:
        # Where packed bytes are damaged, `read` would lose what comes before.
        document = GpxStream(stream.read1, str(path))
        by_track = reading.columns.get("subject") == TRACK
        yield from traces_of_document(document, reading.label, by_track=by_track)

    _count_times(document, reading)
    if document.is_empty:
        holds = "holds no track points: routes and waypoints are no recordings"
        reading.warn_of_file("no points", holds)


def _count_times(document: GpxStream, reading: Reading) -> None:
    if unread := document.unread_times:
        reading.counts[UNREAD_TIMES] += unread
        has = f"has times that cannot be read, {unread:,} in all"
        reading.warn_of_file(UNREAD_TIMES, f"{has}: {WAY_OUT}")


def from_osm(path: Path) -> bool:
    """Return whether a GPX file came from OpenStreetMap, by its first lines alone."""
    with suppress(FileProblem), Reading().unpacked(path) as stream:
        return GpxStream(stream.read, "").read_beginning().is_from_osm
    return False


def traces_of_document(
    document: GpxStream, name: str, subject: str | None = None, *, by_track: bool = False
) -> Iterator[Trace | ApiPage]:
    """Read a document as one recording, or as the answer of the OSM API that it is.

    By track, each track is a recording, and whoever has its name made it.
    """
    segments = iter(document)
    first = next(segments, None)  # what the document is, stands before it
    segments = chain([first] if first else [], segments)

    if document.is_api_answer:
        page: ApiPage = []
        try:
            page.extend(segments)
        except FileProblem:
            yield page  # the segments that are whole
            raise
        yield page
        return

    yield from with_last_cut_off(
        Trace(
            f"{name}/track {segment.track}" if by_track else name,
            segment.track_name or f"{name}/track {segment.track}" if by_track else subject,
            segment.lat,
            segment.lon,
            _clock_of(segment),
        )
        for segment in segments
    )


def _clock_of(segment: Segment) -> Floats:
    """Return the times of a segment, or none if its clock stood still."""
    stands = len(segment.time) > _STANDING and np.ptp(segment.time) < 1.0
    return np.full_like(segment.time, np.nan) if stands else segment.time


def read_archive(path: Path, reading: Reading) -> Iterator[Trace | ApiPage]:
    """Read the GPX files of an archive, those of a planet dump with their accounts as subjects."""
    accounts: dict[int, int] | None = None
    any_read = False
    nameless = 0
    problem = ""
    used = 0  # points of the member at hand
    by_track = reading.columns.get("subject") == TRACK
    try:
        for name, opened in members(path, reading):
            kind = _kind_of(name)
            if not kind or opened is None:
                reading.counts[NOT_GPX] += 1
                continue
            try:
                if kind == "metadata":
                    metadata = _Metadata(opened().read, f"{path}/{name}")
                    accounts = metadata.accounts  # where they are damaged, what comes before
                    list(metadata)
                    continue

                upload = name
                subject = None
                if dump_name := _DUMPED.fullmatch(name):
                    upload = str(int(dump_name[2]))
                    if dump_name[1] != "trackable":  # which name no account
                        nameless += accounts is None
                        subject = _account_of(int(upload), accounts or {})

                document = GpxStream(opened().read1, f"{path}/{name}")
                used = 0
                recording = f"{reading.label}/{upload}"
                traces = traces_of_document(document, recording, subject, by_track=by_track)
                for trace_or_page in traces:
                    any_read = True
                    used += points_of(trace_or_page)
                    yield trace_or_page
                any_read = True
                _count_times(document, replace(reading, what=recording))
                reading.counts.update([EMPTY] * document.is_empty)
            except FileProblem as error:
                problem = problem or f"no GPX file in {path} can be read: {error}"
                reading.leave_out(error, used, "members")
                used = 0
    except CutOff as error:
        problem = f"{path} is damaged or cut off ({error}): download it again"
        if any_read:
            reading.counts[CUT_OFF_FILES] += 1
            reading.warn(CUT_OFF_FILES, f"{problem}; what comes before is used", problem)

    if not any_read:
        nothing = f"{path} holds no {', '.join(_GPX)} file: unpack others, and name the folder"
        raise FileProblem(problem or nothing)
    if nameless:
        reading.counts[WITHOUT_ACCOUNT] += nameless
        has = f"has no metadata.xml before its recordings: {nameless:,} have no account"
        reading.warn_of_file("accounts", f"{has}; pack metadata.xml first")


def _account_of(upload: int, accounts: Mapping[int, int]) -> str | None:
    """Name the account that uploaded a recording; None if it is not known."""
    account = accounts.get(upload)
    return None if account is None else f"osm:uid:{account}"


def archive_is_from_osm(path: Path) -> bool:
    """Return whether an archive came from OpenStreetMap, by the first file of it."""
    with suppress(CutOff, *DAMAGED):
        for name, opened in members(path, Reading()):
            kind = _kind_of(name)
            if opened and kind == "metadata":
                return _Metadata(opened().read, "").read_beginning().generator in _GENERATORS
            if opened and kind:
                return GpxStream(opened().read, "").read_beginning().is_from_osm
    return False


def _kind_of(name: str) -> str:
    """Name the kind of a member; as in folders, hidden ones are left out."""
    file_name = name.rpartition("/")[2]
    if file_name == "metadata.xml":
        return "metadata"
    return "gpx" if file_name.lower().endswith(_GPX) and not file_name.startswith(".") else ""


class _Metadata(XmlStream):
    """The accounts of a dump's recordings, as they are read from metadata.xml."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self.generator = ""
        self.accounts: dict[int, int] = {}  # of each recording

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "gpxFiles":
            self.generator = attributes.get("generator", "")
        elif tag == "gpxFile":
            number = attributes.get("id", "")
            account = attributes.get("uid", "")
            if _NUMBER.fullmatch(number) and _NUMBER.fullmatch(account):
                self.accounts[int(number)] = int(account)
