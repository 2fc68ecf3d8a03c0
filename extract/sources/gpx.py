"""GPX files: track segments in file order; routes and waypoints are left out."""

import gzip
import io
import logging
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, groupby
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.extract.sources import trackpoints
from trajanon.extract.sources.trackpoints import API, Document, Segment
from trajanon.extract.trace import Trace
from trajanon.progress import Progress, silent

logger = logging.getLogger(__name__)

_PLANET = "OSM gpx_dump.py"
_CHUNK = 1 << 16
_TEXTS = {("trkpt", "time"), ("trk", "url")}


def traces(
    paths: Sequence[Path],
    progress: Progress = silent,
    dropped: Counter[str] | None = None,
) -> Iterator[Trace]:
    """Read the traces of GPX files, in the order of the files.

    A file is one person's recorder: all its tracks have the file as their subject.
    Saved answers of the OSM API are the exception; those that follow each other are
    joined as if they came from the server, and subjects are accounts.

    Parameters
    ----------
    paths
        The files, `.gpx` or `.gpx.gz`.
    progress
        Told after each file.
    dropped
        Counts what saved answers lost, as in `trackpoints.traces`.

    Yields
    ------
    Trace
        One for each segment; the segments of a <trk> share their name.

    Raises
    ------
    FileProblem
        If a file cannot be read, or is not GPX.
    """
    label = _labels(paths)
    documents = _documents(paths, progress)
    for saved, run in groupby(documents, lambda item: item[1].is_api_answer):
        if saved:
            path, page = next(run)
            pages = chain([page], (document for _, document in run))
            yield from trackpoints.traces(
                pages, dropped, every_page=True, where=f"{label[path]}: "
            )
        else:
            for path, document in run:
                yield from _file_traces(path, document, label[path])


def from_osm(path: Path) -> bool:
    """Say whether a GPX file came from OpenStreetMap, by its first lines alone."""
    root = _Collector(str(path))
    parser = ElementTree.XMLParser(target=root)
    # What is wrong with the file, `traces` says; here the creator is all that counts.
    with suppress(ElementTree.ParseError, FileProblem), _opened(path) as stream:
        parser.feed(next(_chunks(stream, str(path)), b""))
    return root.creator in (API, _PLANET) and not root.synthetic


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


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise FileProblem(msg) from error


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


def _documents(
    paths: Sequence[Path], progress: Progress
) -> Iterator[tuple[Path, Document]]:
    for done, path in enumerate(paths, start=1):
        with _opened(path) as stream:
            yield path, read(stream, str(path))
        progress("Reading GPX files", done, len(paths))


def _file_traces(path: Path, document: Document, label: str) -> Iterator[Trace]:
    if not document.segments:
        logger.warning("%s holds no track points (%s)", path, _why_empty(document))
    # The same file under two spellings is still one person.
    subject = os.path.realpath(path)
    for segment in document.segments:
        name = f"{label}#{segment.track}"
        yield Trace(name, subject, segment.lat, segment.lon, _believable(segment.time))


def _believable(time: NDArray[np.float64]) -> NDArray[np.float64]:
    """Forget the times of a clock that stood still: the file's order tells more."""
    if np.isfinite(time).all() and np.ptp(time) < 1.0:
        return np.full_like(time, np.nan)
    return time


def _why_empty(document: Document) -> str:
    if "trkseg" in document.contents:
        return "every <trkseg> is empty"
    if "trk" in document.contents:
        return "a <trk> without <trkseg>"
    if document.contents:
        return "only routes or waypoints, which nobody recorded on the way"
    return "it is empty"


def _labels(paths: Iterable[Path]) -> dict[Path, str]:
    """Name each file by as many of its last folders as make all names differ."""
    labels = {path: path.name for path in paths}
    depth = 1
    while len(set(labels.values())) < len(labels):
        depth += 1
        labels = {path: "/".join(path.parts[-depth:]) for path in labels}
    return labels
