"""Sources -> trajectories: the whole of extraction, on one page."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from trajanon.atomic_output import replacing, replacing_folder
from trajanon.errors import BadInput
from trajanon.extract.cutting import Cutter, finished
from trajanon.extract.earth.named_areas import KNOWN, AreaLike, area_of
from trajanon.extract.rules import Rules, SourceOptions, fields_in
from trajanon.extract.sources import files, osm_api
from trajanon.extract.sources.formats import SourceFile
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.trace_pieces import check_untimed, joined, ordered
from trajanon.extract.trace import Trace
from trajanon.files.trajectory_files import is_part, read_trajectories, write_partition, write_parts
from trajanon.number_text import number_of
from trajanon.progress import Progress, silent
from trajanon.settings import takes_settings
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories, joined_trajectories

if TYPE_CHECKING:
    from distributed import Client

    from trajanon.extract.earth.area import Box
    from trajanon.extract.earth.places import Zone

OSM_API = "osm-api"  # the source that stands for the OSM server; others are files and folders
SAY_WHERE = f"say where: `area` {KNOWN}, or four degrees W,S,E,N"  # which the server needs

HELD = 4_000
"""Trajectories held in memory before they are written to disk."""

From = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def chosen_spacing(
    spacing: float | None, of_the_city: float | None, *, windows: bool
) -> float | None:
    """Take the spacing that was asked for; of windows without one, that of the city."""
    if not windows or spacing is not None:
        return spacing
    if of_the_city is None:
        raise BadInput(
            "windows need a spacing, and only cities have one of their own: say how many metres "
            "lie between two points, `spacing=100`"
        )
    return of_the_city


@takes_settings(Rules, SourceOptions)
def extract(
    source: From = OSM_API,
    area: AreaLike = None,
    *,
    windows: bool = False,
    hidden: "Zone | None" = None,
    client: "Client | None" = None,
    progress: Progress = silent,
    **options: Any,
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
    where, of_the_city = area_of(area)
    options["spacing"] = chosen_spacing(options.get("spacing"), of_the_city, windows=windows)
    return Extraction(
        source,
        where,
        Rules(**fields_in(options, Rules)),
        hidden=hidden,
        client=client,
        progress=progress,
        **fields_in(options, SourceOptions),
    ).trajectories()


@dataclass
class Extraction(SourceOptions):
    """Traces of a source, and how they become trajectories, in memory or on disk.

    Values are checked when it is made; the source is read when its trajectories are asked for.

    Attributes
    ----------
    source, area, hidden, client, progress
        As in `extract`.
    rules
        What a trajectory is; None for whole trips, and the other defaults.

    Examples
    --------
    A walk of 1,100 m to the north is one trip:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from trajanon.extract import Extraction, Rules
    >>> fixes = {"id": "walk", "subject": "Ada", "lat": np.arange(41.0, 41.0105, 0.001), "lon": 2.0}
    >>> pd.DataFrame(fixes).to_csv("walk.csv", index=False)
    >>> extraction = Extraction("walk.csv", rules=Rules(points=6))
    >>> len(extraction.trajectories())
    1
    >>> extraction.write("trajectories.parquet")["recordings"]
    {'read': 1, 'with a trajectory': 1, 'left out': {}}
    """

    source: From = OSM_API
    area: AreaLike = None
    rules: Rules | None = None
    _: KW_ONLY
    hidden: "Zone | None" = None
    client: "Client | None" = None
    progress: Progress = silent

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise BadInput(f"`jobs` must be at least 1 (got {self.jobs})")
        if self.jobs > 1 and self.client is not None:
            raise BadInput(f"`jobs={self.jobs}` and a cluster both read files: give one of them")
        self._place, _ = area_of(self.area)
        self._rules = self.rules or Rules()
        self._reading = _reading(self, self._rules.subjects_exact)
        self.files = self._found()
        if not self.files and self._place is None:
            raise BadInput(SAY_WHERE)

    def trajectories(self) -> Trajectories:
        """Read the source, and hold all trajectories in memory."""
        cutter, some = self._begun()
        whole = finished([cutter.cut(traces) for traces in some], cutter)
        return replace(whole, provenance={**self._origin(), **whole.provenance})

    def write(
        self, out: str | os.PathLike[str], *, partition: int | None = None
    ) -> Mapping[str, Any]:
        """Read the source, and write trajectories as they are found; give their provenance.

        Memory is that of some recordings and some thousand trajectories, whatever the size of the
        source.

        Parameters
        ----------
        out
            GeoParquet to write, or a folder with `partition`.
        partition
            Trajectories of each part, for a folder of parts.
        """
        out = Path(out)
        inputs = [file.path for file in self.files]
        if partition is not None and partition < 1:
            raise BadInput(f"`partition` must be at least 1 (got {partition})")
        with ExitStack() as stack:
            if partition is None:
                (draft,) = stack.enter_context(replacing(out, inputs=inputs))
            else:
                draft = stack.enter_context(replacing_folder(out, is_part, inputs))
            folder = Path(stack.enter_context(TemporaryDirectory(dir=draft.parent)))
            cutter, some = self._begun()
            parts = _taken(cutter, some, folder)
            provenance = {**self._origin(), **cutter.provenance()}
            if partition is None:
                write_parts(draft, parts, provenance)
            else:
                write_partition(draft, parts, provenance, partition)
        return provenance

    def _found(self) -> list[SourceFile]:
        """List the files of the source; none for the server."""
        names = _names_of(self.source)
        if not all(map(os.fspath, names)) or not names:
            raise BadInput(f"no source is given: name files or folders, or {OSM_API}")
        if OSM_API not in map(str, names):
            paths = [Path(name) for name in names]
            for path in filter(files.is_release, paths):
                raise BadInput(
                    f"{path} is a release, or counts of one, as the report or datasheet beside it "
                    "says, and no traces: name the recordings it was made of; or move it to "
                    "another folder"
                )
            return files.find(paths, self._reading)
        if len(names) > 1:
            raise BadInput(f"{OSM_API} and files cannot be one source: extract them one by one")
        return []

    def _begun(self) -> tuple[Cutter, Iterator[list[Trace]]]:
        """Give what cuts the traces of the source, and the traces in batches."""
        boxes: Sequence[Box] = ()
        left_out = self._reading.counts.copy()
        if self.files or self._place is None:
            numbered = files.traces_of_files(
                self.files,
                replace(self._reading, counts=left_out),
                jobs=self.jobs,
                client=self.client,
                progress=self.progress,
            )
        else:
            boxes = osm_api.boxes_of(self._place)
            numbered = osm_api.traces_of_boxes(
                boxes, left_out, url=self.api_url, max_pages=self.max_pages, progress=self.progress
            )
        cutter = Cutter(
            self._rules, area=self._place, boxes=boxes, hidden=self.hidden, read=left_out
        )
        traces = ordered(joined(numbered, left_out), self.untimed, cutter.counts)
        return cutter, cutter.batches(traces)

    def _origin(self) -> dict[str, Any]:
        """Say where the traces come from, and who must be named with them."""
        if not self.files:
            name = f"OSM API, {osm_api.public_url(self.api_url)}"
            return {"source": name, "attribution": OSM_ATTRIBUTION}
        names = [os.fsencode(file.path.name).decode("utf-8", "replace") for file in self.files]
        name = ", ".join(names[:3])
        name += f" and {number_of(len(names) - 3, 'more file')}" if len(names) > 3 else ""
        return {"source": name, "attribution": files.attribution(self.files)}


def _taken(cutter: Cutter, some: Iterable[list[Trace]], folder: Path) -> Iterator[Trajectories]:
    """Cut all batches and give the trajectories taken; many are on disk until all are known."""
    written, held = list[Path](), list[Trajectories]()
    numbers = [np.empty((2, 0), np.int64)]  # subject and trace of each
    for traces in some:
        if not len(part := cutter.cut(traces)):
            continue
        held.append(part)
        numbers.append(np.array((part.subject, part.trace), np.int64))
        if sum(map(len, held)) >= HELD:
            written.append(folder / f"{len(written)}.parquet")
            write_parts(written[-1], [joined_trajectories(held)], {})
            held = []
    parts = chain(map(read_trajectories, written), held)
    return cutter.chosen(parts, *np.concatenate(numbers, axis=1))


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
        Receives counts of what was left out, by reason, and the columns of tables that were used.

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
    how = _reading(SourceOptions(columns=columns, untimed=untimed), subjects_exact)
    how = how if counts is None else replace(how, counts=counts)
    names = _names_of(source)
    if OSM_API in map(str, names):
        raise BadInput(f"traces reads files and folders; of {OSM_API} take extract")
    found = files.find([Path(name) for name in names], how)
    numbered = files.traces_of_files(found, how, jobs=jobs, progress=progress)
    return ordered((trace for _, trace in numbered), untimed, how.counts)


def _reading(options: SourceOptions, subjects_exact: bool) -> Reading:
    check_untimed(options.untimed)
    timed = options.untimed == "reject"
    return Reading(columns=options.columns or {}, subjects_exact=subjects_exact, timed=timed)


def _names_of(source: From) -> Sequence[str | os.PathLike[str]]:
    return [source] if isinstance(source, str | os.PathLike) else list(source)
