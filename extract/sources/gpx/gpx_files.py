"""GPX files: track segments in file order; routes and waypoints are left out."""

import io
import logging
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import numpy as np

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.gpx_document import Document, GpxStream
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

logger = logging.getLogger(__name__)


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is GPX, by its name or by its first element."""
    return name.endswith(".gpx") or GpxStream(io.BytesIO(head).read, "").read_beginning().is_gpx


def read(path: Path, label: str, how: Reading) -> Iterator[Trace | Document]:
    """Read a GPX file, packed or not.

    A file is one recording of one person, whom it does not name, with all its tracks. A saved
    answer of the OSM API is the exception: it holds the recordings of many.
    """
    with how.unpacked(path) as stream:
        document = GpxStream(stream.read, str(path))
        yield from traces_of_document(document, label)
    if document.is_empty:
        why = "it is empty"
        if "trkseg" in document.contents:
            why = "every <trkseg> is empty"
        elif "trk" in document.contents:
            why = "a <trk> without <trkseg>"
        elif document.contents:
            why = "only routes or waypoints, which nobody recorded on the way"
        how.warn(logger, "no points", f"{path} holds no track points ({why})", str(path))


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
    first = list(islice(segments, 1))  # what the document is, stands before it
    if document.is_api_answer:
        yield Document([*first, *segments])
        return
    for segment in chain(first, segments):
        time = segment.time
        if np.isfinite(time).all() and np.ptp(time) < 1.0:
            # The clock stood still: the file's order tells more.
            time = np.full_like(time, np.nan)
        yield Trace(name, subject, segment.lat, segment.lon, time)
