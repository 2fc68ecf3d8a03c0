"""One GPX document, a file or a page of the OSM server, read into segments."""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.gpx_parser import GpxParser
from trajanon.extract.sources.gpx.gpx_points import degrees, seconds
from trajanon.extract.sources.gpx.xml_parser import CHUNK
from trajanon.extract.sources.streams import DAMAGED, unpacked

API = "OpenStreetMap.org"
"""The creator that the server's answers name."""

_PLANET = "OSM gpx_dump.py"


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Give at most so many bytes, and none at the end."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """One <trkseg> of a GPX document, as it stands there."""

    track: int  # number of its <trk> in the document, from 1
    url: str | None  # the <url> of its <trk> (GPX 1.0), if there is one
    lat: Floats  # degrees, shape (points,); NaN where the document gives no number
    lon: Floats  # degrees, shape (points,); NaN where the document gives no number
    time: Floats  # seconds since 1970-01-01 UTC, shape (points,); NaN where there is none


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """What one GPX document holds: a file, or a page of the server."""

    creator: str  # as the document says of itself; empty if it does not
    version: str  # as the document says of itself; empty if it does not
    segments: Sequence[Segment]  # the segments that hold a point, in order
    contents: frozenset[str] = frozenset()  # which of trk, trkseg, rte and wpt occur

    @property
    def is_api_answer(self) -> bool:
        """Whether this is a page of the API's trackpoints, perhaps saved to a file."""
        return self.creator == API and self.version == "1.0"


class GpxStream:
    """A GPX document whose segments are read one after the other."""

    def __init__(self, stream: Readable, name: str) -> None:
        self.points = 0
        self._stream = stream
        self._name = name
        self._parser = GpxParser(name)
        self._begun: list[Floats] = []  # of a segment that goes on

    def __iter__(self) -> Iterator[Segment]:
        """Read the segments that hold a point, in order; once."""
        at_end = False
        while not at_end:
            try:
                chunk = _read(self._stream, self._name)
                self._parser.feed(chunk)
            except FileProblem:
                yield from self._ended()
                raise
            yield from self._ended()
            at_end = not chunk

    def so_far(self, segments: Sequence[Segment] = ()) -> Document:
        """What the document has said of itself so far, with some of its segments."""
        return Document(
            creator=self._parser.creator,
            version=self._parser.version,
            segments=segments,
            contents=frozenset(self._parser.contents),
        )

    def _ended(self) -> Iterator[Segment]:
        """Give the segments that have ended; keep what there is of the one after."""
        points = self._parser.take()
        texts = (degrees(points.lat), degrees(points.lon), seconds(points.time))
        columns = np.stack(texts)
        first = 0
        for end in points.ends:
            rest = columns[:, first : end.point]
            lat, lon, time = np.concatenate([*self._begun, rest], axis=1)
            self._begun, first = [], end.point
            self.points += len(lat)
            if len(lat):
                yield Segment(end.track, end.url, lat, lon, time)
        if first < len(points.lat):
            self._begun.append(columns[:, first:])


def read(source: bytes, name: str) -> Document:
    """Read one whole GPX document, packed or not."""
    document = GpxStream(unpacked(io.BufferedReader(io.BytesIO(source))), name)
    return document.so_far(list(document))


def is_gpx(head: bytes) -> bool:
    """Say whether a document is GPX, by its first lines."""
    parser = GpxParser("")
    with suppress(FileProblem):
        parser.feed(head)
    return parser.is_gpx


def is_from_osm(stream: Readable) -> bool:
    """Say whether a document came from OpenStreetMap, by its first lines alone."""
    parser = GpxParser("")
    # What is wrong with it, `GpxStream` says; here the creator is all that counts.
    with suppress(FileProblem):
        parser.feed(_read(stream, ""))
    return parser.creator in (API, _PLANET) and not parser.synthetic


def _read(stream: Readable, name: str) -> bytes:
    try:
        return stream.read(CHUNK)
    except DAMAGED as error:
        msg = f"{name} cannot be read to its end ({error}): download it again"
        raise FileProblem(msg) from error
