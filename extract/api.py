"""Sources -> trajectories or traces, each by one call."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.errors import BadInput
from trajanon.extract.earth.areas import AreaLike, area_of
from trajanon.extract.extraction import (
    OSM_API,
    Extraction,
    From,
    chosen_spacing,
    fields_in,
    sources_of,
)
from trajanon.extract.rules import Limit, Rules
from trajanon.extract.sources import files, osm_api
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.trace_pieces import check_untimed, ordered
from trajanon.extract.trace import Trace
from trajanon.progress import Progress, silent
from trajanon.trajectories import Trajectories

if TYPE_CHECKING:
    from distributed import Client

    from trajanon.extract.earth.places import Zone


def extract(
    source: From = OSM_API,
    area: AreaLike = None,
    *,
    windows: bool = False,
    spacing: float | None = None,
    per_recording: int | None = 1,
    min_length: float | None = None,
    points: int = 30,
    max_gap: Limit = "auto",
    max_pause: Limit = "auto",
    max_speed: float | None = 60.0,
    trim_ends: float = 0.0,
    max_per_subject: int | None = None,
    subjects_exact: bool = False,
    hidden: "Zone | None" = None,
    columns: Mapping[str, str] | None = None,
    untimed: str = "accept",
    jobs: int = 1,
    client: "Client | None" = None,
    api_url: str = osm_api.SERVER,
    max_pages: int = osm_api.MAX_PAGES,
    progress: Progress = silent,
) -> Trajectories:
    """Turn the GPS traces of a source into trajectories, in memory.

    Parameters
    ----------
    source
        ``osm-api``, or files and folders of the kinds that `trajanon.extract.sources.formats`
        lists.
    area
        ``madrid`` or another city, ``W,S,E,N`` in degrees, or several of these; four numbers, west,
        south, east, north; a polygon of shapely (x = longitude); the path of a file with polygons;
        a `Box` or `Region`. None takes files whole.
    windows
        Whether trajectories are windows even without a spacing: that of the city is taken.
    spacing
        Metres between the points of windows, along the track; None for whole trips.
    per_recording, min_length, points, max_gap, max_pause, max_speed, trim_ends, max_per_subject
        What a trajectory is, where a track ends, and how many are taken: as in `Rules`.
    subjects_exact
        Whether subjects whose names differ only in upper and lower case are different ones. Blanks
        and the encoding of accents never make a difference.
    hidden
        A zone that is cut out of all tracks, such as `trajanon.extract.hidden` gives; None for
        none.
    columns
        Of tables: column names by role (lat, lon, time, id, subject). For any files: subject
        "folder" takes each folder for a person, id "file" each file for a recording.
    untimed
        "accept" traces without times in their order, or "reject" them. The server's points without
        times have no order, and are always left out.
    jobs
        Files to read at once, by as many processes; the result is the same.
    client
        A Dask client whose workers read the files, in place of processes; the result is the same.
        All workers must see the files under the same names.
    api_url
        Another server with the OSM API.
    max_pages
        Pages to ask the server for at most.
    progress
        Told how far the work is.

    Returns
    -------
    Trajectories
        Their provenance counts what was dropped, and why.

    Raises
    ------
    BadInput
        If the area or a value makes no sense, or a file is of no known kind.
    FileProblem
        If a file does not exist, or cannot be read.
    NoTrajectories
        If nothing is left; says at which step, and what to change.
    ServerProblem
        If the server cannot be reached, or refuses; or if the cluster is lost.

    Examples
    --------
    A table with the fixes of a walk of 1,100 m to the north:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from trajanon.extract import extract
    >>> fixes = {"id": "walk", "subject": "Ada", "lat": np.arange(41.0, 41.0105, 0.001), "lon": 2.0}
    >>> pd.DataFrame(fixes).to_csv("walk.csv", index=False)
    >>> trajectories = extract("walk.csv")
    >>> trajectories.points.shape
    (1, 30, 2)
    >>> trajectories.provenance["counts"]["points read"]
    11
    """
    given = dict(locals())
    where, of_the_city = area_of(area)
    spacing = chosen_spacing(spacing, of_the_city, windows=windows)
    rules = Rules(**fields_in(given | {"spacing": spacing}, Rules))
    asked = given | {"area": where, "rules": rules, "columns": columns or {}}
    return Extraction(**fields_in(asked, Extraction)).trajectories()


def traces(
    source: From,
    *,
    columns: Mapping[str, str] | None = None,
    untimed: str = "accept",
    subjects_exact: bool = False,
    jobs: int = 1,
    counts: Counter[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Trace]:
    """Read the traces of files and folders, as they are recorded.

    Parameters
    ----------
    source
        Files and folders.
    columns, untimed, subjects_exact, jobs, progress
        As in `extract`.
    counts
        Told of what was left out, in words, and which columns of tables were used.

    Raises
    ------
    BadInput, FileProblem
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> from trajanon.extract import traces
    >>> fixes = {"id": ["a", "a", "b"], "subject": "Ada", "lat": [41.0, 41.1, 41.2], "lon": 2.0}
    >>> pd.DataFrame(fixes).to_csv("fixes.csv", index=False)
    >>> for trace in traces("fixes.csv"):
    ...     print(trace.name, trace.subject, trace.lat.tolist())
    a Ada [41.0, 41.1]
    b Ada [41.2]
    """
    counts = Counter() if counts is None else counts
    check_untimed(untimed)
    how = Reading(
        columns=columns or {},
        subjects_exact=subjects_exact,
        timed=untimed == "reject",
        counts=counts,
    )
    names = sources_of(source)
    if OSM_API in map(str, names):
        raise BadInput(f"traces reads files and folders; of {OSM_API} take extract")
    found = files.find([Path(name) for name in names], how)
    numbered = files.traces_of_files(found, how, jobs=jobs, progress=progress)
    return ordered((trace for _, trace in numbered), untimed, counts)
