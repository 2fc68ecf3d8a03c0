"""Folders of parts, in memory or beyond: parts -> shards -> a release in parts, on one page."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import structs

from trajanon.common.arrays import Hashes
from trajanon.common.atomic_output import replacing, replacing_folder
from trajanon.common.command_lines import Options
from trajanon.common.declared_options import (
    MEMORY,
    AnonymizeKeywords,
    ReleaseSettings,
    Settings,
    bytes_of,
    takes_settings,
)
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress, silent
from trajanon.files.parquet_parts import parquet_of, part_states, unchanged
from trajanon.files.trajectory_files import check_schema, is_part, provenance_of
from trajanon.release.ledger import Ledger, opened
from trajanon.release.plan import Plan
from trajanon.release.release import DistinctLines, json_report
from trajanon.release.report_files import MEMBERS, json_ready
from trajanon.release.snapping import RoadsToFollow
from trajanon.shards.anonymize_one_file import LedgerLike, anonymized, check_ledger
from trajanon.shards.memory_and_shard_size import capacity_of, shards_for
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.release_of_shards import write_parts
from trajanon.shards.scratch_and_resume import scratch_for, scratch_root
from trajanon.shards.sharded_run import release_in_shards

if TYPE_CHECKING:
    from distributed import Client

SCRATCH_SHARE = 1.2
"""How much larger scratch may be than the parts: rows by shard, and what is found of them."""

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
    many as the memory asks for, which are stretches of a curve through space, and each shard is
    anonymised as a table of its own. All windows of a run are in one shard.

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
    plan = Plan.of(options, key, roads)
    k = plan.checked_k(k)
    check_ledger(ledger, plan)

    source_folder = Folder(source)
    target = Folder(out)
    memory_bytes = bytes_of(memory)
    if ledger is not None and target.local is None:
        raise BadInput("`ledger` takes releases on a local disk: write there, or leave it out")

    states = part_states(source_folder)
    with ExitStack() as stack, unchanged(source_folder, states):
        with parquet_of(source_folder, check_schema) as file:
            provenance = provenance_of(file.schema_arrow)
        table = PartsTable(source_folder, file, k, plan, subjects_exact, provenance=provenance)

        capacity = capacity_of(table, memory_bytes)
        shards = shards_for(file.n, capacity)
        scratch = None
        open_ledger = None
        if shards > 1:
            _refuse_what_needs_all(table, capacity, with_ledger=ledger is not None)
            scratch_bytes = SCRATCH_SHARE * source_folder.size(states)
            needed = scratch_for(target.path, scratch_root(client), scratch_bytes)
            scratch = stack.enter_context(needed)
        elif ledger is not None:
            open_ledger = stack.enter_context(opened(ledger, new=True))
            stack.enter_context(open_ledger.recording(out))

        local_source = source_folder.local
        inputs = [] if local_source is None else [local_source / name for name in states]
        report_draft, members_draft = stack.enter_context(
            _report_drafts(target, sharded=shards > 1)
        )
        draft = stack.enter_context(_release_draft(target, inputs))
        if scratch is None:
            lines, entered = _at_once(table, open_ledger, progress)
            report = lines.report
            write_parts(lines.parts(), draft, progress)
            if open_ledger is not None and entered is not None:
                link = open_ledger.enter(out, draft, source, report, entered)
                report = structs.replace(report, ledger=link)
        else:
            report = release_in_shards(
                replace(table, scratch=scratch),
                states,
                shards,
                capacity,
                client,
                progress,
                draft,
                members_draft,
            )

        entries = json_ready(structs.replace(report, run=run))
        report_draft.write_text(json_report(entries), encoding="utf-8")
    return entries


def _refuse_what_needs_all(table: PartsTable, capacity: int, *, with_ledger: bool) -> None:
    """Refuse what shards cannot do, each by itself."""
    needs = [name for name in _ALONE if getattr(table.plan.release, name)]
    needs += ["ledger"] * with_ledger
    if needs:
        raise BadInput(
            f"`{needs[0]}` needs all trajectories at once, and of {table.file.n:,} some "
            f"{capacity:,} fit into `memory`: raise it, or leave this out"
        )


def _at_once(
    table: PartsTable, open_ledger: Ledger | None, progress: Progress
) -> tuple[DistinctLines, Hashes | None]:
    """Anonymise a folder that fits into memory as one file."""
    progress("Anonymising", 0, None)
    try:
        lines, entered = anonymized(
            table.folder,
            table.k,
            table.plan,
            open_ledger,
            subjects_exact=table.subjects_exact,
            progress=progress,
        )
    except BadInput:
        # Each part by itself, to name the one that is wrong, and the row in it.
        for part in table.parts:
            with table.file.part(part.number) as file:
                table.read(part, file)
        raise
    return lines.reporting(shards=1), entered


def parts_report_path(out: str) -> str:
    """Return the path of the report of a release in parts."""
    return f"{out.rstrip('/')}.parts.report.json"


@contextmanager
def _report_drafts(target: Folder, *, sharded: bool) -> Iterator[tuple[Path, Path]]:
    """Open drafts of the report, and, of a sharded release, of the file of all rows' groups.

    Both are moved, or copied to the store, when the block has ended without an error.
    """
    report = parts_report_path(target.path)
    members = report.removesuffix("report.json") + MEMBERS
    if target.local is None:
        with TemporaryDirectory(prefix="trajanon-") as folder:
            drafts = Path(folder, "report.json"), Path(folder, MEMBERS)
            yield drafts
            with target.naming_errors():
                for draft, path in zip(drafts, (report, members), strict=True):
                    if draft.is_file():
                        target.system.put_file(str(draft), path)
    elif sharded:
        with replacing(Path(report), Path(members)) as (report_draft, members_draft):
            yield report_draft, members_draft
    else:
        with replacing(Path(report)) as (draft,):
            yield draft, draft.with_name(MEMBERS)
        Path(members).unlink(missing_ok=True)  # of an earlier release


@contextmanager
def _release_draft(target: Folder, inputs: Iterable[Path]) -> Iterator[Folder]:
    """Open a folder to write in: on a disk it is whole or not there, on a store it is new."""
    if target.local is not None:
        with replacing_folder(target.local, is_part, inputs, public=True) as draft:
            yield Folder(draft)
        return
    if target.exists:
        raise FileProblem(f"{target} exists: remove it, or write to another folder")
    try:
        yield target
    except BaseException:
        target.remove()
        raise
