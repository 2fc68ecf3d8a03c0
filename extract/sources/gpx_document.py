"""One GPX document, a file or a page of the OSM server, read into segments.

The XML is read as a stream and no tree is built; document types are refused, for their
entities can unfold to gigabytes.
"""

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import BinaryIO
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem

API = "OpenStreetMap.org"
"""The creator that the server's answers name."""

_PLANET = "OSM gpx_dump.py"
_CHUNK = 1 << 16
_TEXTS = {("trkpt", "time"), ("trk", "url")}


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """One <trkseg> of a GPX document, as it stands there.

    Attributes
    ----------
    track
        Number of its <trk> in the document, from 1.
    url
        The <url> of its <trk> (GPX 1.0), if there is one.
    lat, lon
        Degrees, shape (points,); NaN where the document gives no number.
    time
        Seconds since 1970-01-01 UTC, shape (points,); NaN where there is none.
    """

    track: int
    url: str | None
    lat: NDArray[np.float64]
    lon: NDArray[np.float64]
    time: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """What one GPX document holds: a file, or a page of the server.

    Attributes
    ----------
    creator, version
        As the document says of itself; empty if it does not.
    segments
        The segments that hold a point, in order.
    contents
        Which of trk, trkseg, rte and wpt occur.
    """

    creator: str
    version: str
    segments: Sequence[Segment]
    contents: frozenset[str] = frozenset()

    @property
    def is_api_answer(self) -> bool:
        """Whether this is a page of the API's trackpoints, perhaps saved to a file."""
        return self.creator == API and self.version == "1.0"


def read(source: BinaryIO | bytes, name: str) -> Document:
    """Read one GPX document, packed by gzip or not.

    Parameters
    ----------
    source
        The document, or a seekable stream of it.
    name
        What to call it in a message.

    Returns
    -------
    Document
        Its segments, and what it says of itself.

    Raises
    ------
    FileProblem
        If it is cut off, is not XML, is not GPX, or declares a document type.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    collector = _Collector(name)
    parser = ElementTree.XMLParser(target=collector)
    try:
        for chunk in _chunks(stream, name):
            parser.feed(chunk)
        parser.close()
    except ElementTree.ParseError as error:
        msg = (
            f"{name} is not well-formed XML (line {error.position[0]}); "
            "it may be cut off: download it again"
        )
        raise FileProblem(msg) from error
    except (LookupError, ValueError) as error:
        msg = f"{name} is in an encoding that is not known here: save it as UTF-8"
        raise FileProblem(msg) from error
    return collector.document()


def is_from_osm(stream: BinaryIO) -> bool:
    """Say whether a document came from OpenStreetMap, by its first lines alone."""
    root = _Collector("")
    parser = ElementTree.XMLParser(target=root)
    # What is wrong with it, `read` says; here the creator is all that counts.
    with suppress(ElementTree.ParseError, FileProblem, LookupError, ValueError):
        parser.feed(next(_chunks(stream, ""), b""))
    return root.creator in (API, _PLANET) and not root.synthetic


@dataclass(slots=True)
class _Collector:
    """Target of the XML parser: collects segments, builds no tree."""

    name: str
    creator: str = ""
    version: str = ""
    synthetic: bool = False
    segments: list[Segment] = field(default_factory=list)
    contents: set[str] = field(default_factory=set)
    _path: list[str] = field(default_factory=list)
    _track: int = 0
    _url: str | None = None
    _text: list[str] | None = None
    _lat: list[float] = field(default_factory=list)
    _lon: list[float] = field(default_factory=list)
    _time: list[float] = field(default_factory=list)

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        # GPX needs none, and its entities can unfold to gigabytes.
        msg = f"{self.name} is not GPX: it declares the document type {name!r}"
        raise FileProblem(msg)

    def comment(self, text: str) -> None:
        # The bundled sample has the form of an answer, but nobody to be credited.
        self.synthetic |= text.strip().startswith("synthetic:")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        step = (self._path[-1] if self._path else "", name)
        self._path.append(name)
        if step == ("trkseg", "trkpt"):
            self._lat.append(_number(attributes.get("lat")))
            self._lon.append(_number(attributes.get("lon")))
            self._time.append(np.nan)
        elif step in _TEXTS:
            self._text = []
        elif not step[0]:
            self._start_root(name, attributes)
        elif step[0] == "gpx" or step == ("trk", "trkseg"):
            self.contents.add(name)
            if name == "trk":
                self._track += 1
                self._url = None

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = self._path.pop()
        if self._text is not None and name in ("time", "url"):
            text = "".join(self._text).strip()
            self._text = None
            if name == "url":
                self._url = text or None
            elif self._time:
                self._time[-1] = _seconds(text)
        elif name == "trkseg" and self._lat:
            arrays = (np.array(a) for a in (self._lat, self._lon, self._time))
            self.segments.append(Segment(self._track, self._url, *arrays))
            self._lat, self._lon, self._time = [], [], []

    def document(self) -> Document:
        contents = frozenset(self.contents & {"trk", "trkseg", "rte", "wpt"})
        return Document(self.creator, self.version, self.segments, contents)

    def _start_root(self, name: str, attributes: dict[str, str]) -> None:
        if name != "gpx":
            msg = f"{self.name} is not GPX: it begins with <{name}>, not with <gpx>"
            raise FileProblem(msg)
        self.creator = attributes.get("creator", "")
        self.version = attributes.get("version", "")


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


def _seconds(text: str) -> float:
    """Seconds since 1970 of an ISO 8601 time, UTC unless it says otherwise."""
    if len(text) <= len("2026-01-31"):  # a day alone is no time of a point
        return float("nan")
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return float("nan")
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _chunks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    source = gzip.GzipFile(fileobj=stream) if packed else stream
    try:
        while chunk := source.read(_CHUNK):
            yield chunk
    except (EOFError, OSError, zlib.error) as error:
        msg = f"{name} cannot be read to its end ({error}): download it again"
        raise FileProblem(msg) from error
