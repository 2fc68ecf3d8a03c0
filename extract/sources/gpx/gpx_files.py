"""GPX files: track segments in file order; routes and waypoints are left out."""

import io
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import numpy as np

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.archive_members import CutOff
from trajanon.extract.sources.gpx.gpx_document import Document, GpxStream, Segment
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace
from trajanon.geodesy import DEGREE

logger = logging.getLogger(__name__)

_FARTHEST = 100.0  # metres, about; nobody moves farther within a second


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
    """Read a document as one recording, or as the answer of the OSM API that it is.

    The last piece before the place where it cannot be read any further is marked as cut off.
    """
    segments = iter(document)
    first = list(islice(segments, 1))  # what the document is, stands before it
    if document.is_api_answer:
        yield Document([*first, *segments])
        return
    held: Trace | None = None
    try:
        for one in chain(first, segments):
            if held is not None:
                yield held
            time = np.full_like(one.time, np.nan) if _stood_still(one) else one.time
            held = Trace(name, subject, one.lat, one.lon, time)
    except (FileProblem, CutOff):
        if held is not None:
            yield replace(held, cut_off=True)
        raise
    if held is not None:
        yield held


def _stood_still(one: Segment) -> bool:
    """Tell whether the clock stood still while the way went on: then the file's order tells more.

    Not of a few points of one second: they have a time.
    """
    time = one.time
    if not np.isfinite(time).all() or np.ptp(time) >= 1.0:
        return False
    with np.errstate(invalid="ignore"):  # of what is no number
        ways = (np.fmax.reduce(degrees) - np.fmin.reduce(degrees) for degrees in (one.lat, one.lon))
        return bool(DEGREE * sum(ways) > _FARTHEST)
