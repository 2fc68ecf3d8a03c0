"""GPX files: track segments in file order; routes and waypoints are left out."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.extract.sources import trackpoints
from trajanon.extract.sources.gpx_document import Document, is_from_osm, read
from trajanon.extract.trace import Trace
from trajanon.progress import Progress, silent

logger = logging.getLogger(__name__)


def traces(
    paths: Sequence[Path],
    progress: Progress = silent,
    dropped: Counter[str] | None = None,
) -> Iterator[Trace]:
    """Read the traces of GPX files, in the order of the files.

    A file is one recording of one person, whom it does not name, with all its tracks.
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
        One for each segment; those of a file share its name.

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
    with suppress(FileProblem), _opened(path) as stream:
        return is_from_osm(stream)
    return False


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
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
    for segment in document.segments:
        times = _believable(segment.time)
        yield Trace(label, None, segment.lat, segment.lon, times)


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
