"""Files and folders, of whatever kind -> traces."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources import gpx, tables
from trajanon.extract.trace import Trace
from trajanon.progress import Progress, silent
from trajanon.trajectories import OSM_ATTRIBUTION

GPX = (".gpx", ".gpx.gz")
TABLES = (".csv", ".csv.gz", ".parquet", ".geoparquet")


def find(paths: Sequence[Path]) -> list[Path]:
    """List the files that can be read; folders are searched to their depths.

    Parameters
    ----------
    paths
        Files and folders.

    Returns
    -------
    list[Path]
        In the order given; the files of a folder sorted by name, page 2 before
        page 10, hidden ones left out.

    Raises
    ------
    FileProblem
        If a path does not exist, or a folder holds nothing to read.
    BadInput
        If a file is of no known kind.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                (
                    file
                    for file in path.rglob("*")
                    if file.is_file()
                    and not any(
                        part.startswith(".") for part in file.relative_to(path).parts
                    )
                    and file.name.lower().endswith(GPX + TABLES)
                ),
                key=_by_number,
            )
            if not inside:
                msg = f"the folder {path} holds no {', '.join(GPX + TABLES)} file"
                raise FileProblem(msg)
            files += inside
        elif not path.exists():
            msg = f"there is no {path}; name a file, a folder, or osm-api"
            raise FileProblem(msg)
        elif not path.name.lower().endswith(GPX + TABLES):
            msg = f"{path} is of no known kind; it must end in one of "
            raise BadInput(msg + ", ".join(GPX + TABLES))
        else:
            files.append(path)
    return files


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Order names so that a number in them counts as a number."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]


def file_traces(
    paths: Sequence[Path],
    columns: Mapping[str, str] | None = None,
    *,
    counts: Counter[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Trace]:
    """Read the traces of files and folders of GPX and of tables of points.

    Parameters
    ----------
    paths
        Files and folders.
    columns
        Column names of the tables by role, where they are not known.
    counts
        Told of points that were left out while reading.
    progress
        Told how far reading is.

    Returns
    -------
    Iterator[Trace]
        Those of GPX files first.

    Raises
    ------
    BadInput, FileProblem
        If something cannot be read.
    """
    files = find(paths)
    tracks = [file for file in files if file.name.lower().endswith(GPX)]
    points = [file for file in files if not file.name.lower().endswith(GPX)]
    return chain(
        gpx.traces(tracks, progress, counts),
        tables.traces(points, columns, counts=counts, progress=progress),
    )


def attribution(paths: Sequence[Path]) -> str | None:
    """Give the line that must go with these files, if one came from OpenStreetMap."""
    tracks = (file for file in find(paths) if file.name.lower().endswith(GPX))
    return OSM_ATTRIBUTION if any(map(gpx.from_osm, tracks)) else None
