"""Sources -> trajectories: the whole of extraction, on one page."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from trajanon.errors import BadInput
from trajanon.extract.areas import CITIES, Box
from trajanon.extract.areas import area as parse_area
from trajanon.extract.cutting import cut
from trajanon.extract.rules import Rules
from trajanon.extract.sources import files, trackpoints
from trajanon.extract.sources.osm_api import MAX_PAGES, SERVER, NumberedPages, Pages
from trajanon.extract.trace import Trace
from trajanon.progress import Progress, silent
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories

OSM_API = "osm-api"
"""The source that is a server; all others are files and folders."""

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def extract(
    source: Source = OSM_API,
    area: str | Box | None = None,
    *,
    spacing: float | None = None,
    points: int = 30,
    max_gap: float | None = 500.0,
    max_per_subject: int | None = None,
    tracks: bool = True,
    columns: Mapping[str, str] | None = None,
    api_url: str = SERVER,
    max_pages: int = MAX_PAGES,
    refresh: bool = False,
    progress: Progress = silent,
) -> Trajectories:
    """Turn the GPS traces of a source into trajectories.

    Parameters
    ----------
    source
        ``osm-api``, or files and folders: GPX 1.0 and 1.1 (.gpx, .gpx.gz), tables of
        points (.csv, .csv.gz, .parquet, .geoparquet).
    area
        ``madrid``, ``barcelona`` or ``tarraco``, ``W,S,E,N`` in degrees, or a box.
        Files may be taken whole: None.
    spacing
        Metres between points along the track; a city has its own.
    points
        Points of a trajectory.
    max_gap
        Metres; a longer hop between two fixes ends a track. None for no limit.
    max_per_subject
        Take the first so many trajectories of a subject; None for all.
    tracks
        Whether to keep the tracks on which the windows may slide.
    columns
        Of tables: column names by role (lat, lon, time, id, subject).
    api_url
        Another server with the OSM API.
    max_pages
        Pages to ask the server for at most.
    refresh
        Download again what is in the cache.
    progress
        Told how far the work is.

    Returns
    -------
    Trajectories
        With the account of what was dropped, and why, in their provenance.

    Raises
    ------
    BadInput
        If the area or a value makes no sense.
    NoTrajectories
        If nothing becomes a trajectory; says why.
    FileProblem
        If a file cannot be read.
    ServerProblem
        If the server cannot be reached, or refuses.
    """
    box, city_spacing = parse_area(area) if isinstance(area, str) else (area, None)
    paths = source_files(source)
    if not paths and box is None:
        msg = f"say where: --bbox {', '.join(CITIES)}, or four degrees W,S,E,N"
        raise BadInput(msg)
    rules = Rules(
        spacing=_first_given(spacing, city_spacing),
        points=points,
        max_gap=max_gap,
        max_per_subject=max_per_subject,
    )
    counts: Counter[str] = Counter()
    attribution: str | None
    if box is not None and not paths:
        name, attribution = f"OSM API, {_public_url(api_url)}", OSM_ATTRIBUTION
        pages: Pages = NumberedPages(
            box=box,
            url=api_url,
            max_pages=max_pages,
            refresh=refresh,
            progress=progress,
        )
        traces: Iterator[Trace] = trackpoints.traces(pages, counts)
    else:
        name = ", ".join(_as_text(path.name) for path in paths[:3])
        name += f" and {len(paths) - 3} more files" if len(paths) > 3 else ""
        attribution = files.attribution(paths)
        traces = files.file_traces(paths, columns, counts=counts, progress=progress)
    return cut(
        traces,
        rules,
        box=box,
        source=name,
        attribution=attribution,
        counts=counts,
        tracks=tracks,
    )


def source_files(source: Source) -> list[Path]:
    """List the files of a source: none for the OSM API.

    Raises
    ------
    BadInput
        If the API and files are mixed, or a file is of no known kind.
    FileProblem
        If a file does not exist.
    """
    names = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not all(map(os.fspath, names)) or not names:
        msg = f"no source is given: name files or folders, or {OSM_API}"
        raise BadInput(msg)
    if OSM_API not in map(str, names):
        return files.find([Path(name) for name in names])
    if len(names) > 1:
        msg = f"{OSM_API} and files cannot be one source: extract them one by one"
        raise BadInput(msg)
    return []


def _public_url(url: str) -> str:
    """A server's address without the name and password that may stand in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _as_text(name: str) -> str:
    """A file's name as text, whatever bytes it has."""
    return os.fsencode(name).decode("utf-8", "replace")


def _first_given(spacing: float | None, of_the_city: float | None) -> float:
    for metres in (spacing, of_the_city):
        if metres is not None:
            return metres
    msg = "say how many metres lie between the points of a trajectory: --spacing 100"
    raise BadInput(msg)
