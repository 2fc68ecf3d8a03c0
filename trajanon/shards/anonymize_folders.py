"""Anonymise a folder of parts, at once or in shards."""

import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import structs

from trajanon.common.atomic_output import replacing_folder
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.object_stores import Folder, scratch_folder
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import (
    MEMORY,
    AnonymizeKeywords,
    ReleaseSettings,
    Settings,
    bytes_of,
    takes_settings,
)
from trajanon.files.parquet_parts import parquet_of, part_states, refusing_changes
from trajanon.files.trajectory_files import check_schema, is_part, provenance_of
from trajanon.grouping.neighbours import neighbour_count
from trajanon.release.ledger import Ledger
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.release.plan import Plan
from trajanon.release.report import Report
from trajanon.release.report_files import MEMBERS, json_ready, json_report
from trajanon.shards.anonymize_one_file import LedgerPath, check_ledger, recorded, release_of_source
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.release_of_shards import write_parts
from trajanon.shards.scratch_and_resume import scratch_bytes, scratch_for, scratch_roots
from trajanon.shards.sharded_run import Drafts, release_in_shards

if TYPE_CHECKING:
    from distributed import Client

PROGRAM_BYTES = 600e6
"""Bytes that the program and its libraries take before they read anything."""

LEAST_CAPACITY = 10_000
"""Records that must fit: many groups of smaller shards would lie at a border."""

_NEED_ALL_ROWS = ("as_published", "one_line_each", "days")


@takes_settings(ReleaseSettings, Settings)
def anonymize_parts(
    source: str,
    out: str,
    k: int,
    *,
    subjects_exact: bool = False,
    ledger: LedgerPath = None,
    roads: RoadsToFollow | None = None,
    key: bytes | Path | None = None,
    memory: str | float = MEMORY,
    client: "Client | None" = None,
    run: Options | None = None,
    progress: Progress = silent,
    **options: Unpack[AnonymizeKeywords],
) -> dict[str, Any]:
    """Anonymise a folder of Parquet parts that need not fit into memory.

    If it fits, it is read and anonymised as one file. If not, a Hilbert curve through all places is
    cut into shards that fit, and each shard is anonymised alone. All windows of a run are in one
    shard.

    Parameters
    ----------
    source
        A folder, as a path or a URL that fsspec knows, with parts that end in ``.parquet`` or
        ``.geoparquet``, as `trajanon.extract` writes.
    out
        Folder for the release: sorted parts of sorted lines, with a report beside it. An existing
        release is replaced; on an object store it is refused.
    k, roads, key, progress, options
        As in `trajanon.anonymize_file`.
    subjects_exact
        Whether names that differ in spelling are different subjects.
    ledger
        As in `trajanon.anonymize_file`; only if all fits into memory at once, and the release is
        on a local disk.
    run
        As in `trajanon.anonymize_file`.
    memory
        Memory that the search may take, in bytes or as ``4GB``; with a client, of each worker.
        The number of shards depends on it, and so does the result.
    client
        Client of a Dask cluster that works on the shards; its workers must see the source, and
        Dask's ``temporary-directory`` for scratch.

    Returns
    -------
    dict
        The report of `trajanon.anonymize`. Of several shards, medians and 95 % quantiles are right
        to 0.2 %; ``leave_out`` leaves out the worst groups of each shard; who can be followed from
        line to line is not computed; and what is known of each row stands in a table beside the
        report, ``.parts.rows.parquet``.

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
    plan = Plan.of(options, key, roads)
    k = plan.checked_k(k)
    check_ledger(ledger, plan)

    source_folder = Folder(source)
    target = Folder(out)
    memory_bytes = bytes_of(memory)
    if ledger is not None and target.local is None:
        raise BadInput("`ledger` needs a release on a local disk: write there, or leave it out")

    states = part_states(source_folder)
    # Parts are compared first; then drafts are moved, and then the ledger settles its entry.
    with ExitStack() as stack, refusing_changes(source_folder, states):
        with parquet_of(source_folder, check_schema) as file:
            provenance = provenance_of(file.schema_arrow)
        table = PartsTable(
            source_folder, file, k, plan, subjects_exact=subjects_exact, provenance=provenance
        )

        capacity = capacity_of(table, memory_bytes)
        shards = shards_for(file.n, capacity)
        open_ledger = None
        if shards > 1:
            _refuse_what_needs_all(table, capacity, with_ledger=ledger is not None)
            root = scratch_roots()[0 if client is None else -1]
            size = scratch_bytes(source_folder.size(states), in_order=file.in_order)
            scratch = stack.enter_context(scratch_for(target.path, root, size))
            table = replace(table, scratch=scratch)
        else:
            open_ledger = stack.enter_context(recorded(ledger, out))

        local_source = source_folder.local
        inputs = [] if local_source is None else [local_source / name for name in states]
        drafts = stack.enter_context(_drafts_of(target, inputs))
        if shards > 1:
            report = release_in_shards(table, states, shards, capacity, client, progress, drafts)
        else:
            report = _release_at_once(table, source, out, open_ledger, drafts, progress)

        report_json = json_ready(structs.replace(report, run=run))
        drafts.report.write_text(json_report(report_json), encoding="utf-8")
    return report_json


def shards_for(n: int, capacity: int) -> int:
    """Count the shards, rounded up: 10 % more than would just fit, as sizes differ by some 5 %."""
    return 1 if n <= capacity else -(-n * 11 // (capacity * 10))


def capacity_of(table: PartsTable, memory: float) -> int:
    """Count the records that fit into memory while they are searched."""
    # 3.25 copies of a record: as read, standardised, and in the order of a path. 16 bytes for each
    # neighbour and its distance, and 300 for labels and the like. Measured, and rounded up.
    bytes_per_record = 3.25 * table.file.bytes_per_row + 16 * neighbour_count(table.k) + 300
    capacity = int((memory - PROGRAM_BYTES) / bytes_per_record)
    if capacity < LEAST_CAPACITY:
        least = PROGRAM_BYTES + LEAST_CAPACITY * bytes_per_record
        raise BadInput(
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM_BYTES / 1e9:g}GB, and each million of these records some "
            f"{bytes_per_record / 1e3:.0f}GB; give it {math.ceil(least / 1e8) / 10:g}GB at least"
        )
    return capacity


def _release_at_once(
    table: PartsTable,
    source: str,
    out: str,
    ledger: Ledger | None,
    drafts: Drafts,
    progress: Progress,
) -> Report:
    """Anonymise a folder that fits into memory, and write its release as drafts."""
    progress("Anonymising", 0, None)
    with table.naming_wrong_part():
        lines, digests = release_of_source(
            table.folder,
            table.k,
            table.plan,
            ledger,
            subjects_exact=table.subjects_exact,
            progress=progress,
        )
    write_parts([lines.lines], lines.words, drafts.parts, progress)
    report = structs.replace(lines.report, shards=1)

    if ledger is not None and digests is not None:
        in_ledger = ledger.enter(out, drafts.parts, source, report, digests)
        report = structs.replace(report, ledger=in_ledger)
    drafts.members.unlink(missing_ok=True)  # the report has all of it
    return report


def _refuse_what_needs_all(table: PartsTable, capacity: int, *, with_ledger: bool) -> None:
    """Refuse options for which all trajectories must be in memory together."""
    options_given = [name for name in _NEED_ALL_ROWS if getattr(table.plan.release, name)]
    if with_ledger:
        options_given.append("ledger")
    if options_given:
        raise BadInput(
            f"`{options_given[0]}` needs all trajectories at once, and of {table.file.n:,} some "
            f"{capacity:,} fit into `memory`: raise it, or leave this out"
        )


def parts_report_path(out: str, end_of_name: str = "report.json") -> str:
    """Return the path or URL of the report of a release in parts, or of what else is beside it."""
    return f"{out.rstrip('/')}.parts.{end_of_name}"


@contextmanager
def _drafts_of(target: Folder, inputs: Iterable[Path]) -> Iterator[Drafts]:
    """Open drafts of a release in parts, which get their names at the end: all, or none.

    On an object store the parts are written where they stay, and removed after an error.
    """
    report, members = (parts_report_path(target.path, end) for end in ("report.json", MEMBERS))
    if target.local is not None:
        # The report comes last: without one, nobody takes the rest for a release.
        files = [Path(members), Path(report)]
        replacing = replacing_folder(target.local, is_part, inputs, files, public=True)
        with replacing as (parts_draft, members_draft, report_draft):
            yield Drafts(Folder(parts_draft), report_draft, members_draft)
        return

    if target.exists:
        raise FileProblem(f"{target} exists: remove it, or write to another folder")
    with scratch_folder() as scratch:
        drafts = Drafts(target, scratch / "report.json", scratch / MEMBERS)
        try:
            yield drafts
            with target.naming_errors():
                for draft, path in ((drafts.members, members), (drafts.report, report)):
                    if draft.is_file():
                        target.system.put_file(str(draft), path)
                    elif target.system.exists(path):  # of an earlier release
                        target.system.rm(path)
        except BaseException:
            target.remove()
            raise
