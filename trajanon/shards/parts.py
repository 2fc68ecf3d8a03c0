"""Folders of parts, in memory or beyond: parts -> shards -> a release in parts, on one page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from trajanon.anonymization import grouped, refuse_attribution
from trajanon.common.arrays import Bools, Floats, Hashes, Ints
from trajanon.common.atomic_output import replacing, replacing_folder
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.progress import Progress, silent
from trajanon.common.remote_folder import Folder
from trajanon.common.settings import (
    MEMORY,
    AnonymizeKeywords,
    ReleaseSettings,
    Settings,
    bytes_of,
    takes_settings,
)
from trajanon.common.workers import each_done
from trajanon.files.geoparquet import write_released
from trajanon.files.parquet_parts import ParquetParts, parquet_of, part_states, unchanged
from trajanon.files.trajectory_files import (
    is_part,
    look_at_schema,
    part_name,
    read_owners,
    read_rows,
    true_ends_of,
)
from trajanon.grouping.k_promise import check_enough
from trajanon.grouping.loss import information_loss
from trajanon.grouping.neighbours import neighbour_count
from trajanon.grouping.partition import Stage, measured
from trajanon.release.assembly import Figures, GroupLines, errors_of, finished
from trajanon.release.ledger import Ledger, opened
from trajanon.release.perturbation import GroupWidths, PublicWidths
from trajanon.release.plan import Plan
from trajanon.release.release import DistinctLines, json_report
from trajanon.release.released_lines import TrajectoryGroups
from trajanon.release.report import Mended, json_ready
from trajanon.release.snapping import RoadsToFollow
from trajanon.shards.single_file import LedgerLike, anonymized, check_ledger
from trajanon.trajectories.distances import Histogram, Summary, joined_histograms
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.times import timing_for
from trajanon.trajectories.trajectories import Trajectories

if TYPE_CHECKING:
    from distributed import Client

PROGRAM = 600e6
"""Bytes that the program and its libraries take before they read anything."""

ROWS_MEASURED = 100_000
"""Rows whose loss is measured at one time."""

_ROUNDING = 1e-9  # degrees: what differs by less is constant
_ALONE = ("as_published", "one_line_each", "days")


@takes_settings(ReleaseSettings, Settings)
def anonymize_parts(
    source: str,
    out: str,
    k: int,
    *,
    subjects_exact: bool = False,
    ledger: LedgerLike = None,
    roads: RoadsToFollow | None = None,
    key: bytes | Path | None = None,
    memory: str | float = MEMORY,
    client: "Client | None" = None,
    run: Options | None = None,
    progress: Progress = silent,
    **options: Unpack[AnonymizeKeywords],
) -> dict[str, Any]:
    """Anonymise a folder of Parquet parts that need not fit into memory.

    If it fits, it is read and anonymised as one file. If not, the records are split into shards, as
    many as the memory asks for, by halving them in space, and each shard is anonymised as a table
    of its own. All windows of a run are in one shard.

    Parameters
    ----------
    source
        A folder, as a path or a URL that fsspec knows, with parts that end in ``.parquet``:
        GeoParquet as `trajanon.extract` writes.
    out
        Folder for the release: sorted parts of sorted lines, with a report beside it. An existing
        release is replaced; on an object store it is refused.
    k, roads, key, progress, options
        As in `trajanon.anonymize_file`.
    subjects_exact
        Whether names are taken as they are; otherwise spellings of one name are one subject's.
    ledger, run
        As in `trajanon.anonymize_file`; only if all fits into memory at once, and the release is
        on a local disk.
    memory
        Memory that the search may take, in bytes or as ``4GB``; with a client, of each worker.
        The number of shards depends on it, and so does the result.
    client
        Client of a Dask cluster that works on the shards; its workers must see the source.

    Returns
    -------
    dict
        The report of `trajanon.anonymize`; of several shards, medians and 95 % of errors are right
        to 0.2 %, and it does not say who can be followed from line to line.

    Raises
    ------
    BadInput
        If an option is not known, the parts differ, or there is too little memory.
    TooFewRecords, TooFewSubjects
        As in `trajanon.anonymize`.
    FileProblem
        If a part cannot be read, or the release not be written; what was there before is still
        there.
    ServerProblem
        If the cluster is lost.

    Examples
    --------
    A folder of two parts, with two trajectories in each:

    >>> from pathlib import Path
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> Path("trips").mkdir()
    >>> trajanon.write_trajectories("trips/a.parquet", trajanon.Trajectories(points[:2]))
    >>> trajanon.write_trajectories("trips/b.parquet", trajanon.Trajectories(points[2:]))
    >>> report = trajanon.anonymize_parts("trips", "anonymized", k=2)
    >>> report["n"], report["groups"], trajanon.check("anonymized", k=2).holds
    (4, 2, True)
    """
    plan = Plan.of(k, options, key, roads)
    check_ledger(ledger, plan)

    folder = Folder(source)
    place = Folder(out)
    bytes_given = bytes_of(memory)
    if ledger is not None and place.local is None:
        raise BadInput("`ledger` takes releases on a local disk: write there, or leave it out")

    with ExitStack() as stack, unchanged(folder, states := part_states(folder)):
        inputs = [] if folder.local is None else [folder.local / name for name in states]
        write_report = stack.enter_context(_report_beside(place, out))
        release = stack.enter_context(_replaced(place, inputs))
        with parquet_of(folder, look_at_schema) as file:
            table = PartsTable(folder, file, plan)
        check_enough(file.n, plan.k, unit="trajectory")

        capacity = capacity_of(table, bytes_given)
        shards = shards_for(file.n, capacity)
        if shards > 1:
            _refuse_what_needs_all(table, capacity, with_ledger=ledger is not None)

        book = entry = entered = None
        if ledger is not None:
            book = stack.enter_context(opened(ledger, new=True))
            entry = stack.enter_context(book.recording(out))
        if shards > 1:
            lines = in_shards(
                table, client, shards, capacity, subjects_exact=subjects_exact, progress=progress
            )
        else:
            lines, entered = _at_once(table, book, subjects_exact, progress)

        if run is not None:
            lines = lines.reporting(run=run)
        for number, (rows, first) in enumerate(lines.parts()):
            progress("Writing the release", number, None)
            with release.writing(part_name(number)) as written:
                write_released(written, rows, first)
        if entry is not None and entered is not None:
            lines = lines.reporting(ledger=entry.announce(release, source, lines.report, entered))
        report = json_ready(lines.report)
        write_report(json_report(report).encode())
    return report


def _refuse_what_needs_all(table: "PartsTable", capacity: int, *, with_ledger: bool) -> None:
    """Refuse what shards cannot do, each by itself."""
    needs = [name for name in _ALONE if getattr(table.plan.release, name)]
    needs += ["ledger"] * with_ledger
    if needs:
        raise BadInput(
            f"`{needs[0]}` needs all trajectories at once, and of {table.file.n:,} some "
            f"{capacity:,} fit into `memory`: raise it, or leave this out"
        )


def _at_once(
    table: "PartsTable", book: Ledger | None, subjects_exact: bool, progress: Progress
) -> tuple[DistinctLines, Hashes | None]:
    """Anonymise a folder that fits into memory as one file."""
    progress("Anonymising", 0, None)
    try:
        lines, entered = anonymized(
            table.folder, table.plan, book, subjects_exact=subjects_exact, progress=progress
        )
    except BadInput:
        for part in table.parts:  # to name the part that is wrong, and the row in it
            _look(table, part)
        raise
    return lines.reporting(shards=1), entered


def parts_report_path(out: str) -> str:
    """The path of the report of a release in parts."""
    return f"{out.rstrip('/')}.parts.report.json"


@contextmanager
def _report_beside(place: Folder, out: str) -> Iterator[Callable[[bytes], object]]:
    """Give what writes the report."""
    if place.local is None:
        held: list[bytes] = []
        yield held.append
        with place.named():
            place.system.pipe_file(parts_report_path(place.path), b"".join(held))
    else:
        with replacing(Path(parts_report_path(out))) as (draft,):
            yield draft.write_bytes


@contextmanager
def _replaced(place: Folder, inputs: Iterable[Path]) -> Iterator[Folder]:
    """Give a folder to write in: on a disk it is whole or not there, on a store it is new."""
    if place.local is not None:
        with replacing_folder(place.local, is_part, inputs, public=True) as draft:
            yield Folder(draft)
        return
    if place.exists:
        raise FileProblem(f"{place} exists: remove it, or write to another folder")
    try:
        yield place
    except BaseException:
        place.remove()
        raise


@dataclass(frozen=True, slots=True, eq=False)
class PartsTable:
    """A folder of parts, as the tasks of a run know it."""

    folder: Folder
    file: ParquetParts
    plan: Plan
    subject: Ints | None = None  # of all rows, (n,); None if nothing is known of subjects
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> list[tuple[str, Ints]]:
        """The name of each part, and the numbers of its rows."""
        sizes = np.cumsum([*self.file.rows.values()])
        return [*zip(self.file.rows, np.split(np.arange(self.file.n), sizes[:-1]), strict=True)]

    def read(self, where: object, rows: Ints, *, tracks: bool) -> Trajectories:
        """Read some rows, by their numbers, rising; with times if they are wanted."""
        which = np.zeros(self.file.n, dtype=np.bool_)
        which[rows] = True
        chosen = self.file.chosen(which)
        timed = self.plan.release.times is not None
        points, runs, times = read_rows(where, chosen, tracks=tracks, times=timed)
        ends = true_ends_of(where, chosen)
        subject = None if self.subject is None else self.subject[rows]
        try:
            return Trajectories(points, subject, None, self.provenance, runs, times, None, ends)
        except BadInput as error:
            raise BadInput(f"{where}: {error}") from None


class Look(NamedTuple):
    """What the rows of a part say of where a table is split, and of its times."""

    places: NDArray[np.float32]  # first, middle and last point of each row, (n, 6)
    times: Floats | None  # departures and arrivals, (n, 2)
    mean: Floats  # of each coordinate, (2 m,)
    squares: Floats  # of the differences from the mean, (2 m,)


def _look(table: PartsTable, part: tuple[str, Ints]) -> Look:
    name, rows = part
    some = table.read(f"{table.folder}/{name}", rows, tracks=False)
    m, records = some.points.shape[1], some.records
    places = some.points[:, [0, m // 2, m - 1]].reshape(-1, 6).astype(np.float32)
    mean = records.mean(axis=0)
    ends = None if some.times is None else some.times[:, [0, -1]]
    return Look(places, ends, mean, ((records - mean) ** 2).sum(axis=0))


def in_shards(
    table: PartsTable,
    client: "Client | None",
    shards: int,
    capacity: int,
    *,
    subjects_exact: bool,
    progress: Progress,
) -> DistinctLines:
    """Anonymise a table in shards."""
    since = perf_counter()
    each = partial(each_done, client, progress)
    _check_parts(table, capacity)
    n = table.file.n
    subject, run, provenance = read_owners(table.folder, subjects_exact=subjects_exact)
    origin = Provenance.read(provenance)
    refuse_attribution(origin.attribution)
    counted = np.arange(n) if subject is None else subject
    people = len(np.unique(counted))
    check_enough(n, table.plan.k, people, "trajectory", origin.source.unnamed)

    table = replace(table, subject=subject, provenance=provenance)
    looks = each("Reading parts", partial(_look, table), table.parts)
    plan, places = _surveyed(table, looks)
    rows = split(places, np.arange(n) if run is None else run, counted, plan.k, shards)
    if (largest := max(map(len, rows))) > capacity:
        raise BadInput(
            f"{largest:,} trajectories lie in one place, or are of few subjects, and only "
            f"{capacity:,} fit into the memory at once: raise `memory`"
        )
    table = replace(table, plan=plan.with_key())  # after all checks
    read = Stage("reading", None, perf_counter() - since)

    shown = progress if client is None else silent  # workers cannot show bars
    groups = each("Grouping shards", partial(_search, table, shown), rows)
    # All lines are moved by one public width, which is known once all groups are.
    widths = _widths_of(groups)
    shard_rows = [*zip(rows, groups, strict=True)]
    written = each("Writing lines", partial(_write_lines, table, widths), shard_rows)

    lines = _joined_lines(n, rows, [shard.lines for shard in written])
    loss = _loss_of(lines, written)
    searched = Stage("shards", loss, perf_counter() - since - read.seconds)
    figures = Figures(
        loss=loss,
        errors=_errors_of(written),
        mended=sum((shard.mended or Mended() for shard in groups), Mended()),
        widths=widths,
        stages=(read, searched),
    )
    release = finished(table.plan, lines, figures, origin, subject)
    return release.reporting(shards=len(rows))


def _check_parts(table: PartsTable, capacity: int) -> None:
    """Refuse a part that does not fit into memory."""
    largest = max(len(rows) for _, rows in table.parts)
    if largest > capacity:
        raise BadInput(
            f"a part in {table.folder} has {largest:,} trajectories, and only {capacity:,} fit "
            "into the memory at once: write smaller parts, or raise `memory`"
        )


def _surveyed(table: PartsTable, looks: Sequence[Look]) -> tuple[Plan, NDArray[np.float32]]:
    """Add to the plan how coordinates are spread and times released; also where rows lie."""
    if len({len(look.mean) for look in looks}) > 1:
        raise BadInput(f"the parts in {table.folder} have trajectories of different lengths")

    n = table.file.n
    share = np.array([len(look.places) for look in looks]) / n
    means = np.stack([look.mean for look in looks])
    squares = np.sum([look.squares for look in looks], axis=0)
    spread = np.sqrt(squares / n + share @ (means - share @ means) ** 2)
    spread[spread < _ROUNDING] = 1.0

    # Windows that may slide need times along their tracks, too.
    names = {*table.file.schema_arrow.names}
    bare = table.plan.release.align and "track" in names and "track_times" not in names
    ends = None
    if not bare and all(look.times is not None for look in looks):
        ends = np.concatenate([look.times for look in looks if look.times is not None])

    places = np.concatenate([look.places for look in looks])
    middle = places.mean(axis=0, dtype=np.float64).reshape(3, 2).mean(axis=0)
    origin = Provenance.read(table.provenance)
    timing = timing_for(table.plan.release, origin, n, ends, middle)
    return replace(table.plan, timing=timing, spread=spread), places


def split(places: NDArray[np.float32], run: Ints, counted: Ints, k: int, shards: int) -> list[Ints]:
    """Split rows by halving them where they are spread most; runs and k subjects stay together."""
    _, first, unit = np.unique(run, return_index=True, return_inverse=True)
    found: list[Ints] = []

    def rows_of(units: Ints) -> Ints:
        inside = np.zeros(len(first), dtype=np.bool_)
        inside[units] = True
        return np.flatnonzero(inside[unit])

    def halve(units: Ints, count: int) -> None:
        here = places[first[units]]
        axis = int(here.var(axis=0).argmax())
        units = units[np.argsort(here[:, axis], kind="stable")]
        before = count // 2
        halves = np.split(units, [len(units) * before // count])
        if count > 1 and all(len(np.unique(counted[rows_of(half)])) >= k for half in halves):
            halve(halves[0], before)
            halve(halves[1], count - before)
        else:
            found.append(rows_of(units))

    halve(np.arange(len(first)), shards)
    return found


class ShardGroups(NamedTuple):
    """The groups of a shard, before their lines are written."""

    labels: Ints  # of those that are released
    left_out: Bools  # of all rows of the shard
    starts: Ints | None  # of released windows on their tracks
    mended: Mended | None
    widths: GroupWidths


class ShardLines(NamedTuple):
    """The lines of a shard, and what is to be added up over all shards."""

    lines: GroupLines
    squares: float  # that are lost, of columns with a spread of 1 in the whole table
    errors: Mapping[str, Histogram]  # in metres or seconds


def _search(table: PartsTable, progress: Progress, rows: Ints) -> ShardGroups:
    """Group a shard as a table of its own."""
    given = table.read(table.folder, rows, tracks=table.plan.release.align)
    groups = grouped(given, table.plan, progress)
    if groups.partition.stopped:
        raise KeyboardInterrupt
    tracks = groups.trajectories.tracks
    starts = None if tracks is None else tracks.along
    return ShardGroups(
        groups.partition.labels, groups.left_out, starts, groups.mended, groups.group_widths
    )


def _widths_of(shards: Sequence[ShardGroups]) -> PublicWidths:
    """Join the widths of the groups of all shards."""
    places, departures, elapsed = zip(*(shard.widths for shard in shards), strict=True)
    if departures[0] is None:
        return PublicWidths.of(GroupWidths(np.concatenate(places)))
    joined = (np.concatenate(widths) for widths in (places, departures, elapsed))
    return PublicWidths.of(GroupWidths(*joined))


def _write_lines(
    table: PartsTable, widths: PublicWidths, shard: tuple[Ints, ShardGroups]
) -> ShardLines:
    """Write the lines of a shard's groups, and measure what is lost."""
    since = perf_counter()
    spread = table.plan.spread
    assert spread is not None

    rows, shard_groups = shard
    trajectories = table.read(table.folder, rows, tracks=table.plan.release.align)
    released = trajectories
    if shard_groups.left_out.any():
        released = trajectories.take(~shard_groups.left_out)
    if shard_groups.starts is not None:
        released = released.slid(shard_groups.starts)
    partition = measured(released.records, shard_groups.labels, "shard", since)
    groups = TrajectoryGroups(
        released, partition, table.plan, shard_groups.left_out, shard_groups.mended, widths
    )

    records = groups.trajectories.records
    labels = groups.partition.labels
    lines = groups.released.reshape(-1, records.shape[1])
    squares = 0.0
    for start in range(0, len(records), ROWS_MEASURED):
        batch = slice(start, start + ROWS_MEASURED)
        squares += float((((records[batch] - lines[labels[batch]]) / spread) ** 2).sum())

    return ShardLines(
        GroupLines.of(trajectories, groups),
        squares,
        {name: Histogram.of(errors) for name, errors in errors_of(groups)},
    )


def _joined_lines(n: int, rows: Sequence[Ints], shards: Sequence[GroupLines]) -> GroupLines:
    """Put the lines of shards together to those of the whole table."""
    labels = np.full(n, -1)
    starts = np.zeros(n, dtype=np.int64)
    groups = 0
    for shard_rows, shard in zip(rows, shards, strict=True):
        labels[shard_rows] = np.where(shard.labels < 0, -1, shard.labels + groups)
        starts[shard_rows] = 0 if shard.starts is None else shard.starts
        groups += len(shard.lines)

    times = [shard.times for shard in shards if shard.times is not None]
    on_roads = [shard.on_roads for shard in shards if shard.on_roads is not None]
    return GroupLines(
        labels=labels,
        lines=np.concatenate([shard.lines for shard in shards]),
        times=np.concatenate(times) if times else None,
        on_roads=np.concatenate(on_roads) if on_roads else None,
        starts=None if any(shard.starts is None for shard in shards) else starts,
        slid=sum(shard.slid for shard in shards),
    )


def _loss_of(lines: GroupLines, shards: Sequence[ShardLines]) -> float:
    """Compute the information loss in percent; the total is that of columns with a spread of 1."""
    total = float(np.count_nonzero(lines.labels >= 0) * lines.lines[0].size)
    return information_loss(sum(shard.squares for shard in shards), total)


def _errors_of(shards: Sequence[ShardLines]) -> dict[str, Summary]:
    return {
        name: joined_histograms([shard.errors[name] for shard in shards]).summary
        for name in shards[0].errors
    }


def shards_for(n: int, capacity: int) -> int:
    """How many shards are needed, with room to spare where there are several: they differ."""
    return 1 if n <= capacity else -(-n * 11 // (capacity * 10))


def capacity_of(table: PartsTable, memory: float) -> int:
    """How many records fit into memory while they are searched."""
    with table.file.opened[0]() as part:
        about = part.metadata
        groups = map(about.row_group, range(about.num_row_groups))
        stored = sum(group.total_byte_size for group in groups)
    # The table as read, standardised, and in the order of a path; neighbours and their distances;
    # what else there is for each record. Measured, and rounded up.
    numbers = stored / about.num_rows
    each = 3.25 * numbers + 16 * neighbour_count(table.plan.k) + 300
    capacity = int((memory - PROGRAM) / each)
    if capacity < 10_000:
        raise BadInput(
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM / 1e9:g}GB, and each million of these records some {each / 1e3:.0f}GB; "
            "give it 1GB at least"
        )
    return capacity
