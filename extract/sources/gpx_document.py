"""GPX, and archives of it: track segments in the order of the file, without routes and waypoints.

OpenStreetMap's planet dump is one; its metadata.xml names accounts of public, identifiable files.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, compress
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import FileProblem
from trajanon.extract.sources.column_roles import TRACK
from trajanon.extract.sources.streams import DAMAGED, CutOff, Reading, members, stream_of, unpacked
from trajanon.extract.sources.timestamps import UNREAD_TIMES, WAY_OUT
from trajanon.extract.sources.trace_pieces import EMPTY, moment, number, with_last_cut_off
from trajanon.extract.sources.xml_documents import XmlDocument
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

_MOST_POINTS = 5_000_000  # of a segment: a point a second for two months
_BEGINNING = 1 << 14  # bytes to recognise a document by

_STANDING = 10  # points of one time; more in a segment mean that its clock stood still


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


class GpxDocument:
    """The segments of a GPX document."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._name = name
        self._xml = XmlDocument(read, name)
        self._track: Element | None = None
        self._tracks = 0
        self._texts: dict[str, str | None] = {}  # the name and url of the track
        # Of the points of the segment at hand, as they are written.
        self._lat: list[str | None] = []
        self._lon: list[str | None] = []
        self._times: list[str | None] = []
        self.is_gpx = False
        self.creator = self.version = ""  # as the document says of itself
        self.points = 0  # of the segments that were given
        self.unread_times = 0  # of these points

    @classmethod
    def beginning(cls, head: bytes) -> "GpxDocument":
        """Read the first lines of a document, whatever is wrong with them."""
        document = cls(io.BytesIO(head[:_BEGINNING]).read, "")
        with suppress(FileProblem):
            list(document)
        return document

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
        synthetic = any(text.strip().startswith("synthetic:") for text in self._xml.comments)
        return self.creator in (API, _PLANET) and not synthetic

    def __iter__(self) -> Iterator[Segment]:
        """Return the segments with a point, up to what ends the reading; once."""
        try:
            for root in self._xml.growing(levels=3):
                self._begin(root)
                for track in root.iterfind("trk"):
                    yield from self._of_track(track, is_whole=track is not root[-1])
        except FileProblem:
            # Whoever joins the pages of the API cannot tell that a segment is cut off.
            if self._times and not self.is_api_answer:
                yield self._segment()
            raise

    def _begin(self, root: Element) -> None:
        if root.tag != "gpx":
            raise FileProblem(f"{self._name} is not GPX: it begins with <{root.tag}>")
        self.is_gpx = True
        self.creator = root.get("creator", "")
        self.version = root.get("version", "")

    def _of_track(self, track: Element, *, is_whole: bool) -> Iterator[Segment]:
        """Take what is new of a track."""
        if track is not self._track:
            self._track = track
            self._tracks += 1
            self._texts = {}

        for child in track:
            child_is_whole = is_whole or child is not track[-1]
            if child.tag == "trkseg":
                self._take_points(child[:] if child_is_whole else child[:-1])
                if child_is_whole and self._times:
                    yield self._segment()
            elif child_is_whole and child.tag in ("url", "name"):
                self._texts[child.tag] = (child.text or "").strip() or None

    def _take_points(self, elements: Sequence[Element]) -> None:
        points = [point for point in elements if point.tag == "trkpt"]
        self._lat += [point.get("lat") for point in points]
        self._lon += [point.get("lon") for point in points]
        self._times += [point.findtext("time") for point in points]
        if len(self._times) > _MOST_POINTS:
            self._forget_points()  # no recording, of which a part could be used
            raise FileProblem(f"{self._name} has over {_MOST_POINTS:,} points in a segment")

    def _segment(self) -> Segment:
        columns = degrees(self._lat), degrees(self._lon), seconds(self._times)
        unread = compress(self._times, np.isnan(columns[2]))
        self.unread_times += sum(bool(text and text.strip()) for text in unread)
        self.points += len(self._times)
        self._forget_points()
        name, url = self._texts.get("name"), self._texts.get("url")
        return Segment(self._tracks, url, *columns, name)

    def _forget_points(self) -> None:
        self._lat, self._lon, self._times = [], [], []


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
    return list(GpxDocument(stream.read, name))


def looks_like(name: str, head: bytes) -> bool:
    """Return whether the first element of a file is that of GPX."""
    return GpxDocument.beginning(head).is_gpx


def read(path: Path, reading: Reading) -> Iterator[Trace | ApiPage]:
    """Read a GPX file: one recording of one person, or a saved answer of the OSM API, of many."""
    with reading.unpacked(path) as stream:
        # Where packed bytes are damaged, `read` would lose what comes before.
        document = GpxDocument(stream.read1, str(path))
        yield from _traces_of(document, reading)

    if document.is_empty:
        holds = "holds no track points: routes and waypoints are not recordings"
        reading.warn_of_file("no points", holds)


def from_osm(path: Path) -> bool:
    """Return whether a GPX file came from OpenStreetMap, by its first lines alone."""
    with suppress(FileProblem, *DAMAGED), Reading().unpacked(path) as stream:
        return GpxDocument.beginning(stream.read(_BEGINNING)).is_from_osm
    return False


def _traces_of(
    document: GpxDocument, reading: Reading, subject: str | None = None
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
    else:
        yield from with_last_cut_off(_trace(segment, reading, subject) for segment in segments)

    if unread := document.unread_times:
        reading.counts[UNREAD_TIMES] += unread
        has = f"has times that cannot be read, {unread:,} in all"
        reading.warn_of_file(UNREAD_TIMES, f"{has}: {WAY_OUT}")
    reading.counts.update([EMPTY] * document.is_empty)


def _trace(segment: Segment, reading: Reading, subject: str | None) -> Trace:
    """Make a trace of a segment, without times if its clock stood still."""
    name = reading.label
    if reading.columns.get("subject") == TRACK:
        name = f"{name}/track {segment.track}"
        subject = segment.track_name or name

    time = segment.time
    if len(time) > _STANDING and np.ptp(time) < 1.0:
        time = np.full_like(time, np.nan)
    return Trace(name, subject, segment.lat, segment.lon, time)


def read_archive(path: Path, reading: Reading) -> Iterator[Trace | ApiPage]:
    """Read the GPX files of an archive, those of a planet dump with their accounts as subjects."""
    accounts: dict[int, str] | None = None
    any_read = False
    nameless = 0
    problem = ""
    try:
        for name, opened in members(path, reading):
            kind = _kind_of(name)
            if not kind or opened is None:
                reading.counts[NOT_GPX] += 1
                continue

            used = 0  # points of this member
            try:
                if kind == "metadata":
                    accounts = {}
                    accounts.update(_accounts(XmlDocument(opened().read, f"{path}/{name}")))
                    continue

                upload = name
                subject = None
                if dump_name := _DUMPED.fullmatch(name):
                    upload = str(int(dump_name[2]))
                    if dump_name[1] != "trackable":  # which name no account
                        nameless += accounts is None
                        subject = (accounts or {}).get(int(upload))

                document = GpxDocument(opened().read1, f"{path}/{name}")
                label = f"{reading.label}/{upload}"
                of_member = replace(reading, what=label, label=label)
                for trace_or_page in _traces_of(document, of_member, subject):
                    any_read = True
                    used += points_of(trace_or_page)
                    yield trace_or_page
                any_read = True
            except FileProblem as error:
                problem = problem or f"no GPX file in {path} can be read: {error}"
                reading.leave_out(error, used, "members")
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


def archive_is_from_osm(path: Path) -> bool:
    """Return whether an archive came from OpenStreetMap, by the first file of it."""
    with suppress(CutOff, FileProblem, *DAMAGED):
        for name, opened in members(path, Reading()):
            kind = _kind_of(name)
            if opened and kind:
                head = opened().read(_BEGINNING)
                if kind == "metadata":
                    root = next(XmlDocument(io.BytesIO(head).read, "").growing(levels=0))
                    return root.get("generator") in _GENERATORS
                return GpxDocument.beginning(head).is_from_osm
    return False


def _kind_of(name: str) -> str:
    """Name the kind of a member; as in folders, hidden ones are left out."""
    file_name = name.rpartition("/")[2]
    if file_name == "metadata.xml":
        return "metadata"
    return "gpx" if file_name.lower().endswith(_GPX) and not file_name.startswith(".") else ""


def _accounts(metadata: XmlDocument) -> Iterator[tuple[int, str]]:
    """Read who uploaded each recording of a dump, up to what ends the reading."""
    for root in metadata.growing(levels=1):
        for file in root[:-1]:
            number_of_file, account = file.get("id", ""), file.get("uid", "")
            if _NUMBER.fullmatch(number_of_file) and _NUMBER.fullmatch(account):
                yield int(number_of_file), f"osm:uid:{int(account)}"
