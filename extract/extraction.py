"""Sources -> trajectories: the whole of extraction, on one page."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from trajanon.common.atomic_output import replacing, replacing_folder
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import settings_from, takes_settings
from trajanon.extract.earth.area import KNOWN, AreaLike, Box, Region, area_of
from trajanon.extract.options_and_defaults import (
    ExtractKeywords,
    Rules,
    SourceOptions,
    checked_count,
)
from trajanon.extract.sources import files, osm_api_download
from trajanon.extract.sources.column_role_names import NOBODY
from trajanon.extract.sources.formats_recognised import SourceFile
from trajanon.extract.sources.gpx import FROM_OSM
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.trace_pieces import joined, without_unordered
from trajanon.extract.sources.wrong_years import with_true_years
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import Cutter, finished_cut
from trajanon.files.trajectory_files import is_part, read_trajectories, write_partition, write_parts
from trajanon.release.report_files import is_release
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories, joined_trajectories

if TYPE_CHECKING:
    from distributed import Client

OSM_API = "osm-api"  # the source that stands for the OSM server; others are files and folders

HELD = 4_000  # trajectories held in memory before they are written to disk

NAMED = 3  # files of a source that are named as its origin, at most

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@takes_settings(Rules, SourceOptions)
def extract(
    source: Source = OSM_API,
    area: AreaLike = None,
    *,
    windows: bool = False,
    hidden: Region | None = None,
    client: "Client | None" = None,
    progress: Progress = silent,
    **options: Unpack[ExtractKeywords],
) -> Trajectories:
    """Read the GPS traces of a source and cut them to trajectories, in memory.

    Parameters
    ----------
    source
        ``osm-api``, or files and folders of the kinds that
        `trajanon.extract.sources.formats_recognised` lists.
    area
        ``madrid`` or another city, ``W,S,E,N`` in degrees, or several of these; four numbers, west,
        south, east, north; a polygon of shapely (x = longitude); the path of a file with polygons;
        a `Box` or `Region`. None takes files whole.
    windows
        Whether trajectories are windows even without a spacing: that of the city is taken.
    hidden
        A zone that is cut out of all tracks, such as `trajanon.extract.hidden` gives; None for
        none.
    client
        A Dask client: its workers read the files instead of processes; the result is the same.
        All workers must see the files under the same names.
    progress
        Called with the state of the work.
    options
        What a trajectory is, where a track ends, and how many are taken, ``spacing`` to
        ``subjects_exact``: see `trajanon.extract.Rules`. How sources are read, ``columns`` to
        ``max_pages``: see `trajanon.extract.SourceOptions`.

    Returns
    -------
    Trajectories
        Their provenance counts what was dropped, by reason.

    Raises
    ------
    BadInput, FileProblem
        If the area or a value makes no sense; if a file does not exist, or cannot be read.
    NoTrajectories
        If there is none; the message says at which step they were lost, and what to change.
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
    plan = _planned(source, area, windows, hidden, client, progress, options)
    trajectories = finished_cut(list(plan.cut_batches), plan.cutter)
    return replace(trajectories, provenance={**_origin(plan), **trajectories.provenance})


@takes_settings(Rules, SourceOptions)
def extract_to(
    out: str | os.PathLike[str],
    source: Source = OSM_API,
    area: AreaLike = None,
    *,
    partition: int | None = None,
    windows: bool = False,
    hidden: Region | None = None,
    client: "Client | None" = None,
    run: Options | None = None,
    progress: Progress = silent,
    **options: Unpack[ExtractKeywords],
) -> Mapping[str, Any]:
    """Read the GPS traces of a source and write trajectories to a file, or a folder of parts.

    Memory is that of some recordings and some thousand trajectories, whatever the size of the
    source.

    Parameters
    ----------
    out
        GeoParquet to write, or a folder with ``partition``.
    partition
        Trajectories of each part, for a folder of parts, which are in the order of places that
        `trajanon.files.hilbert_order` describes.
    source, area, windows, hidden, client, progress, options
        As in `extract`.
    run
        Options as they were typed, which the provenance repeats: advice is then a whole command.

    Returns
    -------
    Mapping
        The provenance of the trajectories, which counts what was dropped.

    Examples
    --------
    A walk of 1,100 m to the north is one trip:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from trajanon.extract import extract_to
    >>> fixes = {"id": "walk", "subject": "Ada", "lat": np.arange(41.0, 41.0105, 0.001), "lon": 2.0}
    >>> pd.DataFrame(fixes).to_csv("walk.csv", index=False)
    >>> extract_to("trajectories.parquet", "walk.csv", points=6)["recordings"]
    {'read': 1, 'with a trajectory': 1, 'left out': {}}
    """
    out = Path(out)
    if partition is not None:
        partition = checked_count("partition", partition)
    plan = _planned(source, area, windows, hidden, client, progress, options)

    with ExitStack() as stack:
        if partition is None:
            (draft,) = stack.enter_context(replacing(out, inputs=plan.inputs))
        else:
            (draft,) = stack.enter_context(replacing_folder(out, is_part, plan.inputs))

        folder = Path(stack.enter_context(TemporaryDirectory(dir=draft.parent)))
        trajectories = _cut_all(plan, folder)

        # All is read and counted by now; writing is left.
        provenance = {**_origin(plan), **plan.cutter.provenance()}
        if run is not None:
            address = {"api_url": osm_api_download.without_password(plan.url)}
            provenance["run"] = {**run, **(address if "api_url" in run else {})}

        if partition is None:
            write_parts(draft, trajectories, provenance)
        else:
            write_partition(draft, trajectories, provenance, partition, folder)
    return provenance


class _Plan(NamedTuple):
    """What an extraction is going to do; nothing is read yet."""

    cutter: Cutter
    cut_batches: Iterator[Trajectories]  # of one batch of traces each, read as they are asked for
    inputs: list[Path]  # none if a server is asked
    url: str  # the server


def _planned(
    source: Source,
    area: AreaLike,
    windows: bool,
    hidden: Region | None,
    client: "Client | None",
    progress: Progress,
    options: ExtractKeywords,
) -> _Plan:
    """Check what is asked for, and plan how to read and cut it."""
    region, city_spacing = area_of(area)
    rules = _rules(options, city_spacing, windows=windows)
    source_options = settings_from(options, SourceOptions)
    jobs = source_options.jobs
    if jobs > 1 and client is not None:
        raise BadInput(f"`jobs={jobs}` and a cluster both read files: name one of them")

    reading = _reading(source_options, rules.subjects_exact)
    source_files = _listed_files(source, reading)
    boxes: Sequence[Box] = ()
    if source_files:
        traces_by_file = files.traces_of_files(
            source_files, reading, jobs=jobs, client=client, progress=progress
        )
    elif region is None:
        raise BadInput(f"name an area: `area` {KNOWN}, or four degrees W,S,E,N")
    else:
        boxes = osm_api_download.boxes_of(region)
        traces_by_file = osm_api_download.traces_of_boxes(boxes, reading, source_options, progress)

    cutter = Cutter(
        rules,
        area=region,
        boxes=boxes,
        hidden=hidden,
        unread=reading.counts,
        tables=reading.tables,
        nameless_differ="nameless" in reading.columns,  # "different" is all that it may be
    )
    recordings = with_true_years(joined(traces_by_file, reading.counts), reading)
    used = _used_traces(recordings, source_options, cutter.counts)
    return _Plan(
        cutter,
        cut_batches=map(cutter.cut, cutter.batches(used)),
        inputs=[file.path for file in source_files],
        url=source_options.api_url,
    )


def _used_traces(
    recordings: Iterator[Trace], options: SourceOptions, counts: Counter[str]
) -> Iterator[Trace]:
    """Leave out traces without an order, and names of persons if none are to be read."""
    with_order = without_unordered(recordings, options.untimed, counts)
    if (options.columns or {}).get("subject") != NOBODY:
        return with_order
    return (replace(trace, subject=None, spellings=()) for trace in with_order)


def _rules(options: ExtractKeywords, city_spacing: float | None, *, windows: bool) -> Rules:
    """Check the rules; windows without a spacing have that of the city."""
    if not windows or options.get("spacing") is not None:
        return settings_from(options, Rules)
    if city_spacing is None:
        raise BadInput("windows need a spacing, and only cities have one: set `spacing=100`")
    return settings_from({**options, "spacing": city_spacing}, Rules)


def _listed_files(source: Source, reading: Reading) -> list[SourceFile]:
    """List the files of the source: none for the server, and at least one for anything else."""
    names = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not all(map(os.fspath, names)) or not names:
        raise BadInput(f"no source is given: name files or folders, or {OSM_API}")

    if OSM_API in map(str, names):
        if len(names) > 1:
            raise BadInput(f"{OSM_API} and files cannot be one source: extract them one by one")
        return []

    paths = [Path(name) for name in names]
    for path in filter(is_release, paths):
        why = "as the files beside it show: name its recordings, or move it away"
        raise BadInput(f"{path} is a release, or counts of one, not traces, {why}")
    return files.files_of(paths, reading)


def _origin(plan: _Plan) -> Mapping[str, str | None]:
    """Name the source, without a password, and whom to attribute it to, once all is read."""
    if not plan.inputs:
        server = osm_api_download.without_password(plan.url)
        return {"source": f"OSM API, {server}", "attribution": OSM_ATTRIBUTION}

    names = [os.fsencode(path.name).decode("utf-8", "replace") for path in plan.inputs]
    source = ", ".join(names[:NAMED])
    if len(names) > NAMED:
        source += f" and {number_of(len(names) - NAMED, 'more file')}"
    # Readers count the files of OpenStreetMap beside what they leave out.
    is_from_osm = plan.cutter.unread[FROM_OSM] > 0
    return {"source": source, "attribution": OSM_ATTRIBUTION if is_from_osm else None}


def _cut_all(plan: _Plan, folder: Path) -> Iterator[Trajectories]:
    """Cut all batches, and return the trajectories: many are on disk until all people are known."""
    on_disk: list[Path] = []
    held: list[Trajectories] = []
    size = 0  # of all that is held

    for cut_batch in filter(len, plan.cut_batches):
        held.append(cut_batch)
        size += len(cut_batch)
        if size >= HELD:
            path = folder / f"{len(on_disk)}.parquet"
            write_parts(path, [joined_trajectories(held)], {})
            on_disk.append(path)
            held = []
            size = 0

    return plan.cutter.numbered(chain(map(read_trajectories, on_disk), held))


def traces(
    source: Source,
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
        Receives counts of what was left out, by reason.

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
    options = SourceOptions(columns=columns, untimed=untimed, jobs=jobs)
    reading = _reading(options, subjects_exact)
    if counts is not None:
        reading = replace(reading, counts=counts)

    source_files = _listed_files(source, reading)
    if not source_files:
        raise BadInput(f"traces reads files and folders; for {OSM_API} use extract")

    traces_by_file = files.traces_of_files(source_files, reading, jobs=jobs, progress=progress)
    recordings = with_true_years((trace for _, trace in traces_by_file), reading)
    return _used_traces(recordings, options, reading.counts)


def _reading(options: SourceOptions, subjects_exact: bool) -> Reading:
    """Put together what readers are to know."""
    timed = options.untimed == "reject"  # a table whose column of times is not clear is refused
    return Reading(columns=options.columns or {}, subjects_exact=subjects_exact, timed=timed)
