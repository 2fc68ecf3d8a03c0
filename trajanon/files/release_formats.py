"""Reading and writing of releases by the suffix of the file."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.object_stores import fetched, is_url
from trajanon.files.geopackage_geojson_gpx_csv import CSV, GEOJSON, GEOPACKAGE, GPX, MF_JSON
from trajanon.files.geoparquet import GEOPARQUET
from trajanon.files.release_contents import LINE, Lines, ReleaseFormat, amiss_in_counts, clock_of
from trajanon.files.trajectory_files import is_part
from trajanon.trajectories.clock_and_time_zones import Clock
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
    are_lines = (lines.kinds == LINE).all()
    if not are_lines or not equally_long or lines.coordinates.shape[1] != 2:
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
