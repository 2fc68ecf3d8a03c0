"""Sources -> trajectories: the whole of extraction, on one page."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from trajanon.errors import BadInput
from trajanon.extract.cutting import Cutter, finished
from trajanon.extract.earth.areas import KNOWN, AreaLike, area_of
from trajanon.extract.earth.box import Box
from trajanon.extract.found import Found
from trajanon.extract.rules import Rules
from trajanon.extract.sources import files, osm_api
from trajanon.extract.sources.formats import SourceFile
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.trace_pieces import check_untimed, joined, ordered
from trajanon.extract.trace import Trace
from trajanon.files.report import report_path
from trajanon.files.trajectories import is_part, write_partition, write_parts
from trajanon.outputs import replacing, replacing_folder
from trajanon.progress import Progress, silent
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories
from trajanon.words import number_of

if TYPE_CHECKING:
    from distributed import Client

    from trajanon.extract.earth.places import Zone

OSM_API = "osm-api"  # the source that stands for the OSM server; others are files and folders
SAY_WHERE = f"say where: `area` {KNOWN}, or four degrees W,S,E,N"  # which the server needs

From = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def chosen_spacing(
    spacing: float | None, of_the_city: float | None, *, windows: bool
) -> float | None:
    """Take the spacing that was asked for; of windows without one, that of the city."""
    if windows and spacing is None and of_the_city is None:
        raise BadInput(
            "windows need a spacing, and only cities have one of their own: say how many metres "
            "lie between two points, `spacing=100`"
        )
    return of_the_city if windows and spacing is None else spacing


@dataclass
class Extraction:
    """Traces of a source, and how they become trajectories, in memory or on disk.

    Values are checked when it is made; the source is read when its trajectories are asked for.

    Attributes
    ----------
    rules
        What a trajectory is; None for whole trips, and the other defaults.
    source, area, hidden, columns, untimed, jobs, client
        As in `extract`.
    api_url, max_pages, progress
        As in `extract`.

    Raises
    ------
    BadInput
        If the area or a value makes no sense, or a file is of no known kind.
    FileProblem
        If a file does not exist.

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
    columns: Mapping[str, str] = field(default_factory=dict)
    untimed: str = "accept"
    jobs: int = 1
    client: "Client | None" = None
    api_url: str = osm_api.SERVER
    max_pages: int = osm_api.MAX_PAGES
    progress: Progress = silent

    def __post_init__(self) -> None:
        check_untimed(self.untimed)
        if self.jobs < 1:
            raise BadInput(f"`jobs` must be at least 1 (got {self.jobs})")
        if self.jobs > 1 and self.client is not None:
            raise BadInput(f"`jobs={self.jobs}` and a cluster both read files: give one of them")
        self._place, _ = area_of(self.area)
        self._rules = self.rules or Rules()
        self._reading = Reading(
            columns=self.columns,
            subjects_exact=self._rules.subjects_exact,
            timed=self.untimed == "reject",
        )
        self.files = self._found()
        if not self.files and self._place is None:
            raise BadInput(SAY_WHERE)

    def trajectories(self) -> Trajectories:
        """Read the source, and hold all trajectories in memory.

        Raises
        ------
        NoTrajectories
            If nothing becomes a trajectory; says why.
        BadInput, FileProblem
            If a file cannot be read.
        ServerProblem
            If the server cannot be reached, or refuses.
        """
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
            found = Found(Path(stack.enter_context(TemporaryDirectory(dir=draft.parent))))
            cutter, some = self._begun()
            for traces in some:
                found.add(cutter.cut(traces))
            parts = found.chosen(cutter)
            provenance = {**self._origin(), **cutter.provenance()}
            if partition is None:
                write_parts(draft, parts, provenance)
            else:
                write_partition(draft, parts, provenance, partition)
        return provenance

    def _found(self) -> list[SourceFile]:
        """List the files of the source; none for the server."""
        names = sources_of(self.source)
        if not all(map(os.fspath, names)) or not names:
            raise BadInput(f"no source is given: name files or folders, or {OSM_API}")
        if OSM_API not in map(str, names):
            paths = [Path(name) for name in names]
            for path in filter(files.is_release, paths):
                raise BadInput(
                    f"beside {path} stands the report of a release, {report_path(path).name}, and "
                    "a release is nobody's traces: name the recordings it was made of; if "
                    f"{path.name} is no release, move it to another folder"
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


def fields_in(given: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Take the fields of a class out of what is given by their names."""
    return {one.name: given[one.name] for one in fields(kind) if one.name in given}


def sources_of(source: From) -> Sequence[str | os.PathLike[str]]:
    """List the files and folders of a source, or the server."""
    return [source] if isinstance(source, str | os.PathLike) else list(source)
