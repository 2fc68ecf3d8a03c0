"""Releases <-> files: the format follows from the suffix."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from trajanon.errors import BadInput, FileProblem
from trajanon.files.geopackage import GEOPACKAGE
from trajanon.files.geoparquet import GEOPARQUET
from trajanon.files.release_lines import Lines, ReleaseFormat
from trajanon.files.text_formats import CSV, GEOJSON, GPX
from trajanon.inputs import named_rightly
from trajanon.trajectories import Trajectories

RELEASE_FORMATS: Mapping[str, ReleaseFormat] = {
    ".parquet": GEOPARQUET,
    ".gpkg": GEOPACKAGE,
    ".geojson": GEOJSON,
    ".csv": CSV,
    ".gpx": GPX,
}


def check_release_format(path: Path) -> None:
    """Refuse a path whose suffix is not that of a format."""
    if path.suffix.lower() not in RELEASE_FORMATS:
        msg = f"{path} does not end like a release; choose one of {', '.join(RELEASE_FORMATS)}"
        raise BadInput(msg)


def write_release(path: str | os.PathLike[str], release: Trajectories) -> None:
    """Write released trajectories: lines, ids from 1, the attribution; no more."""
    path = Path(path)
    check_release_format(path)
    write = RELEASE_FORMATS[path.suffix.lower()].write
    write(path, release.points, release.attribution)


def read_as_found(path: Path) -> Lines:
    """Read the lines of a release, whatever else stands in the file."""
    check_release_format(path)
    if not path.exists():
        msg = f"there is no {path}; make it with: trajanon anonymize -k 4"
        raise FileProblem(msg)
    return RELEASE_FORMATS[path.suffix.lower()].read(named_rightly(path))


def read_release(path: str | os.PathLike[str]) -> Trajectories:
    """Read the trajectories of a release.

    Raises
    ------
    FileProblem
        If it cannot be read.
    BadInput
        If it is empty, or its lines are not trajectories of equally many points.
    """
    lines = read_as_found(Path(path))
    if not len(lines):
        msg = f"{path} holds no trajectory: run trajanon anonymize again"
        raise BadInput(msg)
    alike = lines.sizes.min() == lines.sizes.max() > 0
    if not alike or lines.coordinates.shape[1] != 2:
        msg = f"{path} does not hold lines of equally many points"
        raise BadInput(msg)
    return Trajectories(
        points=np.ascontiguousarray(lines.places[:, :, ::-1]),
        provenance={"attribution": lines.attribution},
    )
