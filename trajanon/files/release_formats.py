"""Reading and writing of releases by the suffix of the file, and its comparison with a rewrite."""

import filecmp
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from trajanon.common.errors import BadInput, FileProblem, TrajanonError
from trajanon.common.inputs import regular
from trajanon.common.remote_folder import fetched, is_url
from trajanon.files.geoparquet import GEOPARQUET
from trajanon.files.release_contents import Lines, ReleaseFormat, Writer, amiss_in_counts, clock_of
from trajanon.files.trajectory_files import is_part
from trajanon.files.vector_formats import CSV, GEOJSON, GEOPACKAGE, GPX, MF_JSON
from trajanon.trajectories.times import Clock
from trajanon.trajectories.trajectories import (
    ReleasedTrajectories,
    TrajectoryRows,
    joined_trajectories,
)

RELEASE_FORMATS: Mapping[str, ReleaseFormat] = {
    ".parquet": GEOPARQUET,
    ".gpkg": GEOPACKAGE,
    ".geojson": GEOJSON,
    ".csv": CSV,
    ".gpx": GPX,
    ".mfjson": MF_JSON,
}

NOTHING_ELSE = "nothing else is in the file"


def check_release_format(path: Path, *, timed: bool = True) -> None:
    """Refuse a suffix that names no format, or a format with times for a release without times."""
    suffix = path.suffix.lower()
    if suffix not in RELEASE_FORMATS:
        raise BadInput(
            f"{path} does not end like a release; choose one of {', '.join(RELEASE_FORMATS)}"
        )
    if RELEASE_FORMATS[suffix].only_timed and not timed:
        raise BadInput(
            f"{path} would be of moving features, which have times: make the release with "
            "`times`, or choose another format"
        )


def write_release(path: str | os.PathLike[str], release: TrajectoryRows) -> None:
    """Write released trajectories: lines, ids from 1, times, attribution, and nothing else."""
    path = Path(path)
    times = release.times
    check_release_format(path, timed=times is not None)
    if times is not None:
        clock = clock_of(release)
        if clock is None or not np.array_equal(clock.rounded(times), times):
            raise BadInput(
                "only times that provenance['times'] explains are released, rounded as it says: "
                "make the release with trajanon.anonymize, or leave its times out"
            )
    RELEASE_FORMATS[path.suffix.lower()].write(path, release)


def read_lines(path: Path) -> Lines:
    """Read the lines of a release as they are written, unchecked; ignore the rest of the file."""
    check_release_format(path)
    if not path.exists():
        raise FileProblem(f"there is no {path}; make it with: trajanon anonymize -k 4")
    return RELEASE_FORMATS[path.suffix.lower()].read(regular(path))


def release_parts(folder: Path) -> list[Path]:
    """List the parts of a release, in their order."""
    parts = [path for path in folder.iterdir() if is_part(path.name)]
    if not parts:
        raise FileProblem(f"{folder} holds no part of a release: make one with trajanon anonymize")

    # By number: numbers of six digits stand behind those of five.
    return sorted(parts, key=lambda path: (len(path.name), path.name))


def read_release(path: str | os.PathLike[str]) -> ReleasedTrajectories:
    """Read the trajectories of a release, with their times if it says what they count from.

    A line with a count is read as that number of rows. The parts of a folder are read one after
    another. A file may also be a URL that fsspec opens.

    Raises
    ------
    FileProblem
        If it cannot be read.
    BadInput
        If it is empty, its lines are not trajectories of equally many points, times or counts are
        amiss, or parts are not alike.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> release.write("anonymized.gpkg")
    >>> released = trajanon.read_release("anonymized.gpkg")
    >>> released.points.shape  # rows, points, latitude and longitude
    (2, 2, 2)
    >>> bool((released.points == release.trajectories.points).all())
    True
    """
    if isinstance(path, str) and is_url(path):
        check_release_format(Path(path))
        with fetched(path) as copy:
            return read_release(copy)

    path = Path(path)
    files = release_parts(path) if path.is_dir() else [path]
    return release_of((file, read_lines(file)) for file in files)


def release_of(files: Iterable[tuple[Path, Lines]]) -> ReleasedTrajectories:
    """Return the trajectories of the lines of a file, or of all parts of a folder."""
    parts = [(path, _trajectories_of(path, lines)) for path, lines in files]
    first_path, first = parts[0]
    if len(parts) == 1:
        return first

    for path, part in parts:
        if part.points.shape[1] != first.points.shape[1] or part.provenance != first.provenance:
            raise BadInput(f"{path} is not like {first_path.name}: run trajanon anonymize again")

    joined = joined_trajectories([part for _, part in parts])
    return replace(joined, provenance=first.provenance)


def _trajectories_of(path: Path, lines: Lines) -> ReleasedTrajectories:
    """Return a row for each line, or as many as it counts."""
    if not len(lines):
        raise BadInput(f"{path} holds no trajectory: run trajanon anonymize again")
    equally_long = lines.sizes.min() == lines.sizes.max() > 0
    if not equally_long or lines.coordinates.shape[1] != 2:
        raise BadInput(f"{path} does not hold lines of equally many points")
    if faulty_counts := amiss_in_counts(lines):
        raise BadInput(f"{path}: {faulty_counts[0]}")

    provenance = {"attribution": lines.attribution}
    if lines.counts is not None:
        provenance["rows"] = "lines"

    # Without a known sentence on the clock, nobody knows what the times mean.
    times = None
    if lines.times is not None and Clock.parsed(lines.clock) is not None:
        provenance["times"] = lines.clock
        times = lines.times
        if np.isnan(times).any():
            raise BadInput(f"{path} has times in some rows only: run trajanon anonymize again")

    row_per_line = ReleasedTrajectories(
        points=np.ascontiguousarray(lines.places[:, :, ::-1]), provenance=provenance, times=times
    )
    return row_per_line if lines.counts is None else row_per_line.take(lines.of_rows)


class Comparison(NamedTuple):
    """Differences of a file from its rewrite, and what can be claimed if there are none."""

    differences: list[str]
    claim: str


def compare_with_rewrite(path: Path, lines: Lines, write: Writer | None = None) -> Comparison:
    """Write the lines of a file again, and compare the two files: what differs is not of a release.

    `write` is what writes a file of this format, unless it is the writer of its suffix.
    """
    release_format = RELEASE_FORMATS[path.suffix.lower()]
    points = lines.places[:, :, ::-1]
    provenance = lines.provenance | ({"counted": "subjects"} if lines.people else {})
    row_per_line = ReleasedTrajectories(points, provenance=provenance, times=lines.times)
    release = row_per_line.take(lines.of_rows)

    try:
        with TemporaryDirectory() as folder:
            rewrite = Path(folder) / f"anew{path.suffix}"
            (write or release_format.write)(rewrite, release)
            if filecmp.cmp(path, rewrite, shallow=False):
                return Comparison([], NOTHING_ELSE)
            return _compare_contents(path, rewrite, release_format)
    except TrajanonError:  # some are OSErrors, but have a sentence of their own
        raise
    except OSError as error:
        raise FileProblem(
            f"cannot write the lines of {path} anew, to compare: "
            f"{error.strerror or error}; TMPDIR names a folder with room"
        ) from error


def _compare_contents(path: Path, rewrite: Path, release_format: ReleaseFormat) -> Comparison:
    """Compare what can be read in two files whose bytes differ."""
    if release_format.contents is None:
        return Comparison([_first_difference(path, rewrite)], "")
    import pyarrow as pa

    try:
        library, contents = release_format.contents(path)
        our_library, our_contents = release_format.contents(rewrite)
    except (ValueError, pa.ArrowException, sqlite3.Error) as error:
        raise FileProblem(
            f"cannot read all of {path}: write the release again with trajanon anonymize"
        ) from error

    names = sorted({*contents, *our_contents})
    different = [name for name in names if contents.get(name) != our_contents.get(name)]
    if different:
        return Comparison([f"{name} is not as trajanon writes it" for name in different], "")

    # One version of a library writes the same bytes; only another version may write others.
    if library == our_library:
        return Comparison([_first_difference(path, rewrite)], "")
    claim = (
        "all readable content of the file is that of a release; its unused bytes "
        f"could not be compared: {library!r} wrote it, and this is {our_library!r}"
    )
    return Comparison([], claim)


def _first_difference(path: Path, rewrite: Path) -> str:
    """Write where two files begin to differ, with the text of both from there on."""
    written = path.read_bytes()
    rewritten = rewrite.read_bytes()
    shorter = min(len(written), len(rewritten))
    file_bytes = np.frombuffer(written, np.uint8, shorter)
    differs = file_bytes != np.frombuffer(rewritten, np.uint8, shorter)

    # A file may also be the beginning of the other.
    first = int(differs.argmax()) if differs.any() else shorter
    found, expected = (
        data[first : first + 40].decode("utf-8", "backslashreplace")
        for data in (written, rewritten)
    )
    line = 1 + written.count(b"\n", 0, first)
    return f"byte {first + 1:,} (line {line:,}) has {found!r} where trajanon writes {expected!r}"
