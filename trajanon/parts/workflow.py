"""Anonymisation beyond memory: parts -> shards -> a release in parts, on one page."""

from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from trajanon.anonymization import (
    Promise,
    build_report,
    check_distinct_ends,
    key_for,
    of_roads,
    of_times,
    refuse_attribution,
)
from trajanon.arrays import Hashes
from trajanon.errors import BadInput, TrajanonError
from trajanon.executors import Executor
from trajanon.files.geoparquet import write_released
from trajanon.files.parquet_parts import part_states, unchanged
from trajanon.partition import Stage, check_enough, check_k
from trajanon.parts.plan import Plan, capacity_of, shards_for, survey_table, with_subjects
from trajanon.parts.reader import Parts, survey_parts
from trajanon.parts.scratch import (
    DRAFT,
    GROUPS,
    REPORT,
    Scratch,
    refuse_inputs,
    refuse_places,
    replacing_release,
    tasks_of,
)
from trajanon.parts.shards import (
    Tally,
    joined_tallies,
    parts_of,
    scatter,
    search,
    shards_of,
    write_groups,
    write_part,
)
from trajanon.privacy.ledger import Ledger
from trajanon.progress import Progress, silent
from trajanon.publication import LedgerLike, anonymized, check_ledger, opened_for
from trajanon.release import json_report, published_with, way_of
from trajanon.remote_folder import Folder
from trajanon.settings import ReleaseSettings, Settings, bytes_of, settings_of, takes_settings
from trajanon.snapping import RoadsToFollow
from trajanon.trajectories import OSM_ATTRIBUTION

if TYPE_CHECKING:
    from distributed import Client


@takes_settings(ReleaseSettings, Settings)
def anonymize_parts(
    source: str,
    out: str,
    k: int,
    *,
    subjects_exact: bool = False,
    ledger: LedgerLike = None,
    roads: RoadsToFollow | None = None,
    key: bytes | None = None,
    memory: str | float = "4GB",
    client: "Client | None" = None,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Anonymise a folder of Parquet parts that need not fit into memory.

    If it fits, it is read and anonymised as one file. If not, the records are split into shards, as
    many as the memory asks for, by halving them across their leading principal axes, and each shard
    is anonymised as a table of its own. What lies between two windows of a run is shared out
    between their shards.

    Parameters
    ----------
    source
        A folder, as a path or a URL that fsspec knows, with parts that end in ``.parquet``:
        GeoParquet as `trajanon.extract` writes, or tables with columns ``lat1``, ``lon1``,
        ``lat2``, ... of either precision, ``time1``, ``time2``, ... (seconds since 1970 UTC) if
        `times` are asked for, and ``subject``.
    out
        Folder for the release: sorted parts of sorted lines, with a report beside it. An existing
        release is replaced.
    k, roads, key, progress, options
        As in `trajanon.anonymize_file`. Where groups of two shards have one line, a subject of both
        has two of its rows.
    subjects_exact
        Whether names that differ only in upper and lower case are different subjects.
    ledger
        As in `trajanon.anonymize_file`; only if all fits into memory at once.
    memory
        Memory that the search may take, in bytes or as ``4GB``; with a client, of each worker.
        The number of shards depends on it, and so does the result.
    client
        Client of a Dask cluster to work on; its workers must see both folders.

    Returns
    -------
    dict
        The report of `trajanon.anonymize`; of several shards without its lists of trajectories or
        groups. A folder beside the release then has the line of each row.

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
    check_k(k)
    asked, settings = settings_of(options)
    memory = bytes_of(memory)
    folder, release = Folder(source), Folder(out).real
    refuse_places(folder, release)
    executor = Executor(client, progress)
    quiet = progress if client is None else silent  # workers cannot show bars
    with ExitStack() as stack, unchanged(folder, part_states(folder)):
        timed = asked.times is not None or asked.days is not None
        parts = survey_parts(folder, align=asked.align, timed=timed, exact=subjects_exact)
        refuse_inputs(release, [folder / some.name for some in parts.slices])  # through links
        check_enough(parts.n, k, what="trajectory")
        check_distinct_ends(asked, k)
        check_ledger(ledger, asked)
        refuse_attribution(parts.provenance.get("attribution"))
        capacity = capacity_of(memory, parts.columns, k, parts.track_points)
        parts = parts.fitting(capacity)
        shards = shards_for(parts.n, capacity)
        alone = ("as_published", "one_line_each", "days")
        needs = [name for name in alone if getattr(asked, name)] + ["ledger"] * (ledger is not None)
        if shards > 1 and needs:
            raise BadInput(
                f"`{needs[0]}` needs all trajectories at once, and of {parts.n:,} some "
                f"{capacity:,} fit into `memory`: raise it, or leave this out"
            )
        book, entry, entered = stack.enter_context(opened_for(ledger)), None, None
        if book is not None:
            entry = stack.enter_context(book.recording(out))
        scratch = stack.enter_context(replacing_release(release, out))
        if shards == 1:
            how = {"roads": roads, "key": key, "progress": quiet, **options}
            task = partial(_as_one, parts, k, how, book)
            if book is None:
                ((report, _),) = executor.each("Anonymising", task, [scratch])
            else:  # no worker has it
                report, entered = task(scratch)
        else:
            began = perf_counter()
            parts = with_subjects(executor, parts)
            split, timing = survey_table(executor, parts, shards, asked)
            secret = key_for(asked, key)
            plan = Plan(parts, scratch, split, timing, asked, settings, k, secret, roads, quiet)
            report = _in_shards(plan, executor, capacity, began)
        if entry is not None and entered is not None:
            entry.announce(scratch / DRAFT, source, report, entered)
        with scratch.writing(REPORT) as file:
            file.write(json_report(report).encode())
    return report


def _as_one(
    parts: Parts, k: int, how: dict[str, Any], book: Ledger | None, scratch: Scratch
) -> tuple[dict[str, Any], Hashes | None]:
    try:
        release, entered = anonymized(parts.folder, k, book, exact=parts.subjects_exact, **how)
    except BadInput:
        for part_slice in parts.slices:  # to name the part, and the row in it
            parts.read(part_slice, tracks=True)
        raise
    for name, some, first in parts_of(release.trajectories):
        with scratch.writing(f"{DRAFT}/{name}") as file:
            write_released(file, some, first)
    return release.report | {"shards": 1}, entered


def _in_shards(plan: Plan, executor: Executor, capacity: int, began: float) -> dict[str, Any]:
    """Scatter rows to shards, group these, and write the release and the line of each row."""
    stages: list[Stage] = []

    def end(name: str, loss: float | None = None) -> None:
        stages.append(Stage(name, loss, perf_counter() - began - sum(s.seconds for s in stages)))

    end("reading")
    slices = range(len(plan.parts.slices))
    some = executor.each("Splitting into shards", partial(scatter, plan), slices)
    tasks = shards_of(plan, [one for each in some for one in each], capacity)
    end("splitting")
    tally = joined_tallies(executor.each("Grouping shards", partial(search, plan), tasks))
    plan.scratch.remove_files_of(tasks)
    end("shards", tally.information_loss)
    _write_release(plan, executor, tally)
    (plan.scratch / GROUPS).make()
    executor.each("Writing groups", partial(write_groups, plan), tasks_of(tally.rows))
    end("writing")
    return _report(plan, tally, len(tasks), stages)


def _write_release(plan: Plan, executor: Executor, tally: Tally) -> None:
    """Write all parts of the release from the lines in files of the scratch folder."""
    asked = plan.release
    provenance = published_with(
        plan.parts.provenance.get("attribution") if plan.roads is None else OSM_ATTRIBUTION,
        asked.rows,
        plan.timing.clock if plan.timing else None,
        by_subjects=plan.parts.names_subjects,
    )
    lines = np.bincount(np.unique(tally.of_groups, axis=0)[:, 0])
    parts, first = [], 1
    for number, part in enumerate(tasks_of(tally.lines)):
        parts.append(part._replace(number=number, first=first))
        first += int(lines[part.number]) if asked.rows == "lines" else part.rows
    if (came := sum(part.rows for part in parts)) != tally.of_subjects:
        raise TrajanonError(
            f"{came} of {tally.of_subjects} rows came to the release; please report it"
        )
    task = partial(write_part, plan.scratch, provenance)
    executor.each("Writing the release", task, parts)
    plan.scratch.remove_files_of(parts)


def _report(plan: Plan, tally: Tally, shards: int, stages: list[Stage]) -> dict[str, Any]:
    parts, by_subjects = plan.parts, plan.parts.names_subjects
    left_out = np.sort(tally.left_out).tolist()
    n, lines = parts.n - len(left_out), len(np.unique(tally.of_groups[:, 1]))
    errors = {name: histogram.summary for name, histogram in tally.errors.items()}
    slid, along = errors.pop("slid", None), errors.pop("to_roads", None)
    return build_report(
        Promise(
            k=plan.k,
            by_subjects=by_subjects,
            groups=tally.sizes.total(),
            few=0 if by_subjects else None,  # each was counted
            provenance=parts.provenance,
        ),
        n=n,
        lines=lines,
        loss=tally.information_loss,
        stages=stages,
        stopped=False,
        moved=errors.pop("displacement"),
        length=errors.pop("length"),
        key=plan.key,
        rows={
            "way": way_of(plan.release.rows, by_subjects=by_subjects),
            "trajectories": n,
            "subjects": tally.of_subjects if by_subjects else None,
            "lines": lines,
        },
        **of_roads(plan.roads, tally.on_roads, along),
        times=of_times(plan.timing, errors, tally.hours),
        mended={
            name: {key: sum(one[name][key] for one in tally.mended) for key in account}
            for name, account in tally.mended[0].items()
        },
        distinct_ends=plan.release.distinct_ends,
        suppressed={"rows": left_out} if left_out else None,
        alignment=None if slid is None else {"slid": {"share": tally.slid / n, **slid}},
        search=asdict(plan.settings),
        shards=shards,
        groups_of_size={str(s): tally.sizes[s] for s in sorted(tally.sizes)},
    )
