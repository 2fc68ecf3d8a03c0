"""Anonymisation beyond memory: parts -> shards -> a release in parts, on one page."""

from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from trajanon.anonymization import (
    Promise,
    anonymize_trajectories,
    build_report,
    key_for,
    of_roads,
    of_times,
    refuse_attribution,
)
from trajanon.arrays import Bools
from trajanon.errors import BadInput
from trajanon.executors import Executor
from trajanon.files.geoparquet import write_released
from trajanon.files.parquet_parts import part_states, unchanged
from trajanon.files.trajectory_files import read_trajectories
from trajanon.loss import information_loss
from trajanon.partition import Stage, check_enough, check_k
from trajanon.parts.finish import Tally, joined_tallies, parts_of, write_groups, write_release_parts
from trajanon.parts.plan import (
    Plan,
    capacity_of,
    rounds_for,
    shards_for,
    split_table,
    survey_table,
    timing_of_parts,
    with_subjects,
)
from trajanon.parts.reader import Parts, survey_parts
from trajanon.parts.scratch import (
    DRAFT,
    GROUPS,
    REPORT,
    Scratch,
    Task,
    refuse_inputs,
    refuse_places,
    replacing_release,
    tasks_of,
)
from trajanon.parts.shard_search import Search, scatter, search, shards_of
from trajanon.privacy.ledger import Keyed, Ledger, Sorted
from trajanon.progress import Progress, silent
from trajanon.publication import LedgerLike, check_limit, opened_for, waiting
from trajanon.release import json_report, way_of
from trajanon.remote_folder import Folder
from trajanon.settings import ReleaseSettings, Settings, bytes_of, settings_of, takes_settings
from trajanon.snapping import RoadsToFollow
from trajanon.utility.displacements import joined_histograms

if TYPE_CHECKING:
    from distributed import Client

_ANEW = ("", " anew", *(f" a {nth} time" for nth in ("third", "fourth", "fifth", "sixth")))


@takes_settings(ReleaseSettings, Settings)
def anonymize_parts(
    source: str,
    out: str,
    k: int,
    *,
    subjects_exact: bool = False,
    ledger: LedgerLike = None,
    per_subject_in_all: int | None = None,
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
    is grouped as a table of its own, in columns that are standardised by the whole. Then all groups
    are split anew, with other borders, and searched once more. In both rounds windows slide; what
    lies between two windows of a run is shared out between their shards.

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
        Whether subjects whose names differ only in upper and lower case are different ones.
    ledger, per_subject_in_all
        As in `trajanon.anonymize_file`; the ledger is a file of this machine, whatever works.
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
    before = part_states(folder)
    with unchanged(folder, before):
        parts = survey_parts(folder, align=asked.align, timed=bool(asked.times or asked.days))
    parts = replace(parts, subjects_exact=subjects_exact)
    refuse_inputs(release, [folder / part_slice.name for part_slice in parts.slices])  # as links
    check_enough(parts.n, k, what="trajectory")
    check_limit(ledger, per_subject_in_all, asked)
    refuse_attribution(parts.provenance.get("attribution"))
    capacity = capacity_of(memory, parts.columns, k, parts.track_points)
    parts = parts.fitting(capacity)
    executor = Executor(client, progress)
    quiet = progress if client is None else silent  # workers cannot show bars
    secret = key_for(asked, key)
    which = None
    with ExitStack() as stack:
        book = stack.enter_context(opened_for(ledger))
        if book is not None:
            entry = stack.enter_context(book.recording(out))
            with unchanged(folder, before):
                keyed, found = _offered(executor, parts, book, per_subject_in_all)
            stack.enter_context(waiting(found, book))
            which = found.new
            parts, secret = parts.chosen(which), key_for(asked, book.release_key)
            check_enough(parts.n, k, what="trajectory")
        shards = shards_for(parts.n, capacity)
        whole = [name for name in ("as_published", "one_line_each", "days") if getattr(asked, name)]
        if shards > 1 and whole:
            raise BadInput(
                f"`{whole[0]}` needs all trajectories at once, and of {parts.n:,} some "
                f"{capacity:,} fit into `memory`: raise it, or leave this out"
            )
        scratch = stack.enter_context(replacing_release(release, out))
        if shards == 1:
            with unchanged(folder, before):
                how = {"roads": roads, "key": secret, "progress": quiet, **options}
                task = partial(_as_one, parts, which, k, how)
                (report,) = executor.each("Anonymising", task, [scratch])
        else:
            steps = _InShards(executor, capacity)
            with unchanged(folder, before):
                how = {"key": secret, "k": k, "roads": roads, "progress": quiet}
                plan = steps.planned(parts, scratch, shards, asked, settings, **how)
                first, last = steps.searched(plan)
            report = steps.written(plan, first, last)
        if book is not None:
            kept = found.told_in(report, book.path)
            entry.announce(scratch / DRAFT, source, report, keyed.take(kept))
        with scratch.writing(REPORT) as file:
            file.write(json_report(report).encode())
    return report


def _offered(
    executor: Executor, parts: Parts, ledger: Ledger, limit: int | None
) -> tuple[Keyed, Sorted]:
    """What a ledger says of the rows of all parts."""
    read = executor.each("Reading what is known again", parts.read_marks, parts.slices)
    marks, runs = zip(*read, strict=True)
    run = None if runs[0] is None else np.concatenate(runs)
    keyed = ledger.keyed(np.concatenate(marks), executor.progress)
    return keyed, ledger.sort(keyed, run, limit)


def _as_one(
    parts: Parts, which: Bools | None, k: int, how: dict[str, Any], scratch: Scratch
) -> dict[str, Any]:
    try:
        trajectories = read_trajectories(parts.folder, subjects_exact=parts.subjects_exact)
    except BadInput:
        for part_slice in parts.slices:  # to name the part, and the row in it
            parts.read(part_slice, tracks=True)
        raise
    trajectories = trajectories if which is None else trajectories.take(which)
    release = anonymize_trajectories(trajectories, k, **how)
    for name, some, first in parts_of(release.trajectories):
        with scratch.writing(f"{DRAFT}/{name}") as file:
            write_released(file, some, first)
    return release.report | {"shards": 1}


class _InShards:
    """A run in several shards: its steps, and how long each took."""

    def __init__(self, executor: Executor, capacity: int) -> None:
        self.executor, self.capacity = executor, capacity
        self.stages: list[Stage] = []
        self._since = perf_counter()

    def _end(self, name: str, loss: float | None = None) -> None:
        now = perf_counter()
        self.stages.append(Stage(name, loss, now - self._since))
        self._since = now

    def planned(
        self,
        parts: Parts,
        scratch: Scratch,
        shards: int,
        asked: ReleaseSettings,
        settings: Settings,
        **how: Any,
    ) -> Plan:
        """Read all parts, and decide where the table is split in each round."""
        timing = timing_of_parts(self.executor, parts, asked)
        parts = with_subjects(self.executor, parts)
        survey, sample = survey_table(self.executor, parts, timing)
        self._end("reading")
        rounds = range(rounds_for(parts, shards, settings))
        splits = tuple(split_table(sample, shards, number) for number in rounds)
        return Plan(parts, scratch, survey, splits, timing, asked, settings, **how)

    def searched(self, plan: Plan) -> tuple[list[Search], list[Search]]:
        """Scatter rows to shards and search these, in each round with other borders.

        Gives what the first and the last round found.
        """
        slices = [Task(number, ()) for number in range(len(plan.parts.slices))]
        rounds: list[list[Search]] = []
        for number in range(len(plan.splits)):
            anew, task = _ANEW[number], partial(scatter, plan, number)
            some = self.executor.each(f"Splitting into shards{anew}", task, slices)
            plan.scratch.remove_files_of(slices)
            scattered = [one for each in some for one in each]
            shards = tasks_of((shard, place) for shard, place, _ in scattered)
            if number == 0:
                shards = shards_of(plan, scattered, self.capacity)
            self._end(f"splitting{anew}")
            found = self.executor.each(
                f"Grouping shards{anew}", partial(search, plan, number), shards
            )
            plan.scratch.remove_files_of(shards)
            lost = information_loss(sum(one.lost for one in found), plan.survey.sst)
            self._end(f"shards{anew}", lost)
            slices = tasks_of(state for one in found for state in one.states)
            rounds.append(found)
        return rounds[0], rounds[-1]

    def written(self, plan: Plan, first: list[Search], last: list[Search]) -> dict[str, Any]:
        """Write the release, and the line of each row; give the report."""
        tally = joined_tallies([one.tally for one in last if one.tally is not None])
        write_release_parts(self.executor, plan, tally)
        rows = tasks_of(state for one in last for state in one.states)
        (plan.scratch / GROUPS).make()
        self.executor.each("Writing groups", partial(write_groups, plan), rows)
        self._end("writing")
        return _report(plan, tally, first, last, self.stages)


def _report(
    plan: Plan, tally: Tally, first: list[Search], last: list[Search], stages: list[Stage]
) -> dict[str, Any]:
    parts, timing = plan.parts, plan.timing
    accounts, rows = zip(*(one.mended for one in last if one.mended is not None), strict=True)
    left_out = np.sort(np.concatenate(rows)).tolist()
    n = parts.n - len(left_out)
    errors = {name: histogram.summary for name, histogram in tally.errors.items()}
    slid, along = errors.pop("slid", None), errors.pop("to_roads", None)
    alignment = None
    if (cut := [one.cut for one in first if one.cut is not None]) and slid is not None:
        lost, before = zip(*cut, strict=True)
        alignment = {
            "measured": "As slid: against the windows that were averaged.",
            "before": {
                "information_loss": information_loss(sum(lost), plan.survey.sst_in_space),
                "displacement": joined_histograms(before).summary,
            },
            "slid": {"share": tally.slid / n, **slid},
        }
    counted = Promise(
        k=plan.k,
        by_subjects=parts.names_subjects,
        groups=tally.sizes.total(),
        few=tally.few if parts.names_subjects else None,
        provenance=parts.provenance,
    )
    lines = len(np.unique(tally.of_groups[:, 1]))
    return build_report(
        counted,
        n=n,
        lines=lines,
        loss=tally.information_loss,
        stages=stages,
        stopped=False,
        moved=errors.pop("displacement"),
        length=errors.pop("length"),
        key=plan.key,
        rows={
            "way": way_of(plan.release.rows, by_subjects=parts.names_subjects),
            "trajectories": n,
            "subjects": tally.of_subjects if parts.names_subjects else None,
            "lines": lines,
        },
        **of_roads(plan.roads, tally.on_roads, along),
        times=of_times(timing, errors, tally.hours),
        mended={
            name: {key: sum(one[name][key] for one in accounts) for key in accounts[0][name]}
            for name in accounts[0]
        },
        distinct_ends=plan.release.distinct_ends,
        suppressed={"rows": left_out} if left_out else None,
        alignment=alignment,
        search=asdict(plan.settings),
        shards=len(first),
        groups_of_size={str(s): tally.sizes[s] for s in sorted(tally.sizes)},
    )
