"""Sources -> trajectories: the whole of extraction, on one page."""

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec

from trajanon.errors import BadInput
from trajanon.extract.checkpoint import Checkpoint, asked_for
from trajanon.extract.cutting import Cutter, batches, finished
from trajanon.extract.earth.areas import KNOWN, Given, area_of
from trajanon.extract.earth.limits import Zone
from trajanon.extract.rules import Rules
from trajanon.extract.sources import files
from trajanon.extract.sources.formats import SourceFile
from trajanon.extract.sources.osm import osm_api, osm_traces
from trajanon.extract.sources.source import Numbered, Source
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.untimed import check_untimed, ordered
from trajanon.extract.trace import Trace
from trajanon.files.partition import is_part, write_partition
from trajanon.files.trajectories import write_parts
from trajanon.outputs import replacing, replacing_folder
from trajanon.progress import Progress, silent
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories

OSM_API = "osm-api"
"""The source that is a server; all others are files and folders."""

From = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass
class Extraction:
    """Traces of a source, and how they become trajectories.

    What is asked for is looked at when it is made, the source is read when its trajectories are
    asked for.

    Attributes
    ----------
    source
        ``osm-api``, or files and folders of the kinds that `trajanon.extract.sources.formats`
        lists.
    area
        ``madrid`` or another city, ``W,S,E,N`` in degrees, or several of these; four numbers, west,
        south, east, north; a polygon of shapely (x = longitude); the path of a file with polygons;
        a `Box` or `Region`. None takes files whole.
    spacing
        Metres between points along the track; a city has its own.
    points
        Points of a trajectory.
    max_gap
        Metres; a longer hop between two fixes ends a track. None for no limit.
    max_pause
        Seconds; a longer time between two fixes ends a track. None for no limit.
    trim_ends
        Metres around the ends of a trace that are cut out; 0 for none.
    min_displacement
        Net way of a trajectory as a share of its length, at least.
    max_fill
        Share of points farther than one spacing from both fixes around them, at most.
    windows
        ``all``, ``first`` or ``spread``: which windows of a trace are taken, as in
        `trajanon.extract.Rules`.
    per_trace
        Windows of one trace, with ``first`` and ``spread``; None for 1.
    max_per_subject
        Trajectories of one subject at most; None for all.
    limit
        Trajectories in all at most; None for all.
    subjects_exact
        Whether subjects whose names differ only in upper and lower case are different ones. Blanks
        and the encoding of accents never make a difference.
    hidden
        A zone that is cut out of all tracks, such as `trajanon.extract.hidden` gives; None for
        none.
    tracks
        Whether to keep the tracks on which the windows may slide.
    columns
        Of tables: column names by role (lat, lon, time, id, subject).
    format
        The format of all files; None to look at each.
    untimed
        "accept" traces without times in their order, or "reject" them. The server's points without
        times have no order, and are always left out.
    strict
        Whether a file or row that cannot be read is refused; otherwise it is counted and left out.
    jobs
        Files to read at once, by as many processes; the result is the same.
    api_url
        Another server with the OSM API.
    max_pages
        Pages to ask the server for at most.
    refresh
        Download again what is in the cache.
    progress
        Told how far the work is.

    Raises
    ------
    BadInput
        If the area or a value makes no sense, or a file is of no known kind.
    FileProblem
        If a file does not exist.
    """

    source: From = OSM_API
    area: Given = None
    _: KW_ONLY
    spacing: float | None = None
    points: int = 30
    max_gap: float | None = 500.0
    max_pause: float | None = 300.0
    trim_ends: float = 0.0
    min_displacement: float = 0.0
    max_fill: float = 1.0
    windows: str = "all"
    per_trace: int | None = None
    max_per_subject: int | None = None
    limit: int | None = None
    subjects_exact: bool = False
    hidden: Zone | None = None
    tracks: bool = True
    columns: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    untimed: str = "accept"
    strict: bool = False
    jobs: int = 1
    api_url: str = osm_api.SERVER
    max_pages: int = osm_api.MAX_PAGES
    refresh: bool = False
    progress: Progress = silent

    def __post_init__(self) -> None:
        check_untimed(self.untimed)
        if self.jobs < 1:
            msg = f"--jobs must be at least 1 (got {self.jobs})"
            raise BadInput(msg)
        self._place, of_the_city = area_of(self.area)
        self._reading = Reading(
            columns=self.columns,
            subjects_exact=self.subjects_exact,
            strict=self.strict,
            timed=self.untimed == "reject",
        )
        self.files = self._found()
        if not self.files and self._place is None:
            msg = f"say where: --bbox {KNOWN}, or four degrees W,S,E,N"
            raise BadInput(msg)
        self.rules = Rules(
            spacing=_first_given(self.spacing, of_the_city),
            points=self.points,
            max_gap=self.max_gap,
            max_pause=self.max_pause,
            trim_ends=self.trim_ends,
            min_displacement=self.min_displacement,
            max_fill=self.max_fill,
            windows=self.windows,
            per_trace=self.per_trace,
            max_per_subject=self.max_per_subject,
            limit=self.limit,
            subjects_exact=self.subjects_exact,
        )

    def trajectories(self) -> Trajectories:
        """Read the source, and hold all trajectories in memory."""
        source = Source(self._numbered(), left_out=self._passed_over())
        cutter = self._cutter(source, secrets.randbits(64))
        parts = [cutter.cut(some)[0] for some in self._batches(source, cutter)]
        whole = finished(parts, cutter)
        return replace(whole, provenance={**self._origin(), **whole.provenance})

    def write(
        self, out: str | os.PathLike[str], *, partition: int | None = None, resume: bool = False
    ) -> Mapping[str, Any]:
        """Read the source, and write trajectories as they are found.

        Memory is that of some recordings and some thousand trajectories, whatever the size of the
        source.
        """
        out = Path(out)
        inputs = [file.path for file in self.files]
        with (
            _writing(out, partition, inputs) as write,
            Checkpoint(out, self._asked(), resume=resume) as checkpoint,
        ):
            state = checkpoint.state
            left_out = state.left_out if state.rows else self._passed_over()
            source = Source(self._numbered(), state.position, left_out)
            cutter = self._cutter(source, state.key)
            checkpoint.restore(cutter)
            for some in self._batches(source, cutter):
                checkpoint.add(*cutter.cut(some), cutter, source)
            parts = checkpoint.chosen(cutter)
            provenance = {**self._origin(), **cutter.provenance()}
            write(parts, provenance)
        return provenance

    def _found(self) -> list[SourceFile]:
        """List the files of the source; none for the server."""
        source = self.source
        names = [source] if isinstance(source, str | os.PathLike) else list(source)
        if not all(map(os.fspath, names)) or not names:
            msg = f"no source is given: name files or folders, or {OSM_API}"
            raise BadInput(msg)
        if OSM_API not in map(str, names):
            return files.find([Path(name) for name in names], self._reading, self.format)
        if len(names) > 1:
            msg = f"{OSM_API} and files cannot be one source: extract them one by one"
            raise BadInput(msg)
        return []

    def _numbered(self) -> Numbered:
        if self._place is None or self.files:
            return files.numbered(self.files, self._reading, jobs=self.jobs, progress=self.progress)
        return osm_traces.numbered(
            self._place,
            url=self.api_url,
            max_pages=self.max_pages,
            refresh=self.refresh,
            progress=self.progress,
        )

    def _passed_over(self) -> Counter[str]:
        """Files that were seen and are none of the source, in words."""
        return self._reading.counts.copy()

    def _batches(self, source: Source, cutter: Cutter) -> Iterator[list[Trace]]:
        return batches(ordered(source, self.untimed, cutter.counts), self.rules)

    def _cutter(self, source: Source, key: int) -> Cutter:
        return Cutter(
            self.rules,
            area=self._place,
            hidden=self.hidden,
            tracks=self.tracks,
            read=source.left_out,
            key=key,
        )

    def _origin(self) -> dict[str, Any]:
        """Say where the traces come from, and who must be named with them."""
        if not self.files:
            name = f"OSM API, {osm_traces.public_url(self.api_url)}"
            return {"source": name, "attribution": OSM_ATTRIBUTION}
        names = [_as_text(file.path.name) for file in self.files]
        name = ", ".join(names[:3])
        name += f" and {len(names) - 3} more files" if len(names) > 3 else ""
        return {"source": name, "attribution": files.attribution(self.files)}

    def _asked(self) -> str:
        """Stand for all that the result depends on."""
        files = self.files
        return asked_for(
            [str(file.path.resolve()) for file in files],
            [(file.format, file.size, file.changed) for file in files],
            None if files else (self.api_url, self.max_pages),
            str(self._place),
            str(getattr(self._place, "shape", None)),  # equal names, other polygons
            self.rules,
            str(self.hidden),
            self.tracks,
            sorted(self.columns.items()),
            self.untimed,
            self.strict,
        )


P = ParamSpec("P")


def _called(make: Callable[P, Extraction]) -> Callable[P, Trajectories]:
    """Make of a class a function of the same parameters."""

    def extract(*args: P.args, **kwargs: P.kwargs) -> Trajectories:
        return make(*args, **kwargs).trajectories()

    attributes, _, raises = (
        (make.__doc__ or "").partition("    Attributes\n")[2].partition("    Raises\n")
    )
    extract.__doc__ = f"""Turn the GPS traces of a source into trajectories, in memory.

    Parameters
{attributes}    Returns
    -------
    Trajectories
        With the account of what was dropped, and why, in their provenance.

    Raises
{raises}"""
    signed = signature(make).replace(return_annotation=Trajectories)
    extract.__signature__ = signed  # type: ignore[attr-defined]
    return extract


extract = _called(Extraction)


def traces(
    source: From,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    untimed: str = "accept",
    subjects_exact: bool = False,
    strict: bool = False,
    jobs: int = 1,
    counts: Counter[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Trace]:
    """Read the traces of files and folders, as they are recorded.

    Parameters
    ----------
    source
        Files and folders.
    columns, format, untimed, subjects_exact, strict, jobs, progress
        As in `Extraction`.
    counts
        Told of what was left out, in words, and which columns of tables were used.

    Raises
    ------
    BadInput, FileProblem
        If there is no such file, or it cannot be read.
    """
    counts = Counter() if counts is None else counts
    check_untimed(untimed)
    how = Reading(
        columns=columns or {},
        subjects_exact=subjects_exact,
        strict=strict,
        timed=untimed == "reject",
        counts=counts,
    )
    names = [source] if isinstance(source, str | os.PathLike) else source
    if OSM_API in map(str, names):
        msg = f"traces reads files and folders; of {OSM_API} take extract"
        raise BadInput(msg)
    found = files.find([Path(name) for name in names], how, format)
    numbered = files.numbered(found, how, jobs=jobs, progress=progress)
    return ordered(Source(numbered, left_out=counts), untimed, counts)


@contextmanager
def _writing(
    out: Path, partition: int | None, inputs: Sequence[Path]
) -> Iterator[Callable[[Iterable[Trajectories], Mapping[str, Any]], None]]:
    """Give what writes the trajectories: to a file, or to parts in a folder."""
    if partition is None:
        with replacing(out, inputs=inputs) as (draft,):
            yield partial(write_parts, draft)
        return
    if partition < 1:
        msg = f"--partition must be at least 1 (got {partition})"
        raise BadInput(msg)
    with replacing_folder(out, is_part, inputs) as folder:
        yield partial(write_partition, folder, rows=partition)


def _as_text(name: str) -> str:
    """A file's name as text, whatever bytes it has."""
    return os.fsencode(name).decode("utf-8", "replace")


def _first_given(spacing: float | None, of_the_city: float | None) -> float:
    for metres in (spacing, of_the_city):
        if metres is not None:
            return metres
    msg = "say how many metres lie between the points of a trajectory: --spacing 100"
    raise BadInput(msg)
