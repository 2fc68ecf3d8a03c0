"""Anonymisation beyond memory: parts -> shards -> a release in parts, on one page."""

import logging
import secrets
from collections import defaultdict
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects, TrajanonError
from trajanon.files.release_lines import DIGITS, unknown_attribution
from trajanon.loss import information_loss
from trajanon.outputs import json_report
from trajanon.partition import Stage, check_k
from trajanon.parts.borders import borders, mend
from trajanon.parts.centroids import Tally, joined_tallies
from trajanon.parts.change_guard import Watch
from trajanon.parts.executors import Alone, Cluster, Crew
from trajanon.parts.file_uses import Uses
from trajanon.parts.folder import Folder
from trajanon.parts.kd_tree import joined_where_few, split
from trajanon.parts.part_reader import NUMBERS, UNIT, Parts, survey_parts
from trajanon.parts.plan import Plan, bytes_of, capacity_of, shards_for
from trajanon.parts.release_parts import DRAFT, Lines, count_of_parts, write_part
from trajanon.parts.replacement import read_as_input, refuse_places, replacing, report_of
from trajanon.parts.shard_search import Shard, solve
from trajanon.parts.shards import Scattered, scatter
from trajanon.parts.survey import Survey, look, origin_of, survey
from trajanon.parts.trace_subjects import with_names
from trajanon.progress import Progress, silent
from trajanon.releases import Counted, versions
from trajanon.settings import ReleaseSettings, Settings
from trajanon.subjects import Merged
from trajanon.words import number_of

if TYPE_CHECKING:
    from distributed import Client

_LOG = logging.getLogger(__name__)


def anonymize_parts(
    source: str,
    out: str,
    k: int,
    *,
    count: str = "subjects",
    digits: int = DIGITS,
    subjects_exact: bool = False,
    memory: str | float = "4GB",
    client: "Client | None" = None,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Anonymise a folder of Parquet parts that need not fit into memory.

    The records are split into shards, as many as the memory asks for, by halving them across their
    leading principal axes. Each shard is grouped as a table of its own, in columns that are
    standardised by the whole. Groups near a border between shards are then searched once more,
    together with those of the other side. Tracks are not looked at: windows stay as they were cut.

    Parameters
    ----------
    source
        A folder, as a path or a URL that fsspec knows, with parts that end in ``.parquet``:
        GeoParquet as `trajanon.extract` writes, or tables with columns ``lat1``, ``lon1``,
        ``lat2``, ... of either precision, and ``subject``.
    out
        Folder for the release: parts of shuffled lines, with a report beside it. A release that is
        there is replaced.
    k, count, digits
        As in `trajanon.anonymize`.
    subjects_exact
        Whether subjects whose names differ only in upper and lower case are different ones.
    memory
        What the search may take, in bytes or as ``4GB``; of each worker, where there is a client.
        It decides on the number of shards, and with these on the result.
    client
        Of a Dask cluster that is to do the work; its workers must see both folders.
    progress, options
        As in `trajanon.microaggregate`: ``options`` from ``method`` to ``seed``.

    Returns
    -------
    dict
        The report: what `trajanon.anonymize` reports, but for what has an entry for each trajectory
        or group.

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
    """
    ReleaseSettings(count=count, digits=digits)
    check_k(k)
    settings = Settings(**options)
    memory = bytes_of(memory)
    folder, release = Folder(source), Folder(out).real
    refuse_places(folder, release)
    stages = _Stages()
    watch = Watch(folder)
    with watch.unchanged():
        parts = replace(survey_parts(folder), subjects_exact=subjects_exact)
    if any(release.holds(folder / unit.name) for unit in parts.units):  # as links
        raise read_as_input(release)
    if parts.n < k:
        msg = f"{parts.n} trajectories cannot form a group of k = {k}; lower k or add trajectories"
        raise TooFewRecords(msg)
    attribution = parts.form.attribution
    if attribution is not None and (unknown := unknown_attribution(attribution)):
        msg = f"the parts carry {unknown[0]}: extract them again without it"
        raise BadInput(msg)
    capacity = capacity_of(memory, 2 * parts.form.points, k)
    parts = _fitting(parts, capacity)
    crew: Crew = Alone() if client is None else Cluster(client)
    if client is not None:  # workers stand elsewhere, and cannot show bars
        parts = replace(parts, folder=folder.absolute)
    with replacing(release, report_of(out)) as scratch:
        with watch.unchanged():
            whole, parts = _survey(crew, parts, progress)
            stages.arrived("reading")
            plan = Plan(
                parts=parts,
                scratch=scratch,
                survey=whole._replace(sample=whole.sample[:0]),
                split=split(whole.sample, shards_for(parts.n, capacity)),
                k=k,
                digits=digits,
                counts_subjects=count == "subjects" and parts.knows_subjects,
                settings=settings,
                progress=progress if client is None else silent,
                capacity=capacity,
                released=count_of_parts(parts.n),
                secret=secrets.token_bytes(32),
            )
            scattered = crew.each(
                "Splitting into shards", partial(scatter, plan), parts.units, progress
            )
        shards = _shards(plan, [some for unit in scattered for some in unit])
        stages.arrived("splitting")
        solved = crew.each(
            "Grouping shards", partial(solve, plan), shards, progress, Uses(scratch, shards).end
        )
        lost = sum(one.lost for one in solved)
        stages.arrived("shards", information_loss(lost, whole.sst))
        waiting = [some for one in solved for some in one.waiting]
        between = borders(waiting, capacity)
        mended = crew.each(
            "Mending borders", partial(mend, plan), between, progress, Uses(scratch, between).end
        )
        tally = joined_tallies([one.tally for one in solved] + mended)
        stages.arrived("borders", information_loss(tally.lost, whole.sst))
        _release(crew, plan, tally, progress)
        stages.arrived("writing")
        report = _report(plan, tally, stages.stages, len(shards))
        with scratch.writing("report.json") as file:
            file.write(json_report(report).encode())
    return report


def _fitting(parts: Parts, capacity: int) -> Parts:
    """Read no more at once than fits, where lines have many points."""
    most = max(capacity, min(UNIT, NUMBERS // (2 * parts.form.points)))
    parts = parts.parted(most)
    largest = max(parts.units, key=lambda unit: unit.rows)
    if largest.rows > most:
        msg = (
            f"{parts.folder}/{largest.name} has a row group of {largest.rows:,} "
            f"trajectories, and only {most:,} fit into the memory at once: write "
            "it with smaller row groups, or raise `memory`"
        )
        raise BadInput(msg)
    return parts


class _Stages:
    """Steps, and their seconds."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self._since = perf_counter()

    def arrived(self, name: str, loss: float | None = None) -> None:
        """End a step."""
        now = perf_counter()
        self.stages.append(Stage(name, loss, now - self._since))
        self._since = now


def _survey(crew: Crew, parts: Parts, progress: Progress) -> tuple[Survey, Parts]:
    """See what is known of the whole table; and of subjects, in all parts."""
    origin = origin_of(parts.read(parts.units[0]))
    looks = crew.each("Reading parts", partial(look, parts, origin), parts.units, progress)
    whole = survey(origin, looks)
    traces = [look.nameless for look in looks]
    parts = with_names(crew, parts, traces, progress)
    names = [set(n.tolist()) for n in np.concatenate([k.spellings for k in looks]).T]
    nobody = sum(look.nobody for look in looks)
    parts = replace(
        parts,
        merged=Merged.among(*names),
        unnamed=nobody + len(np.unique(np.concatenate(traces))) - len(parts.named.trace),
    )
    if parts.merged.told():
        _LOG.warning("%s: %s", parts.folder, parts.merged.told())
    return whole, parts


def _shards(plan: Plan, scattered: list[Scattered]) -> list[Shard]:
    """Find what is searched at once; refuse what cannot be grouped, or held."""
    subjects: list[set[int]] = [set() for _ in range(plan.split.shards)]
    files: dict[int, list[Scattered]] = defaultdict(list)
    for some in scattered:
        files[some.shard].append(some)
        subjects[some.shard] |= some.subjects
    different = len(set().union(*subjects))
    if different < plan.k:
        msg = (
            f"the {plan.parts.n} trajectories come from "
            f"{number_of(different, 'subject')}, and k = {plan.k} needs "
            f"{plan.k} different ones in each group; lower k, add subjects, or count "
            "trajectories with `count='records'`"
        )
        raise TooFewSubjects(msg)
    shards = []
    for number, together in enumerate(joined_where_few(plan.split, subjects, plan.k)):
        mine = [some for shard in together for some in files[shard]]
        rows = sum(some.rows for some in mine)
        if rows > plan.capacity:
            msg = (
                f"{rows:,} trajectories of few subjects lie in one place, and only "
                f"{plan.capacity:,} fit into the memory at once: raise `memory`"
            )
            raise BadInput(msg)
        places = tuple(some.place for some in mine)
        shards.append(Shard(number, together, places, rows))
    return shards


def _release(crew: Crew, plan: Plan, tally: Tally, progress: Progress) -> None:
    (plan.scratch / DRAFT).make()
    lines = [Lines(number, [], 0, 0) for number in range(plan.released)]
    for number, place, rows in tally.lines:
        lines[number].places.append(place)
        lines[number] = lines[number]._replace(rows=lines[number].rows + rows)
    jobs, first = [], 1
    for some in filter(lambda some: some.rows, lines):
        jobs.append(some._replace(first=first))
        first += some.rows
    if first != plan.parts.n + 1:
        msg = f"{first - 1} of {plan.parts.n} trajectories came to the release; please report it"
        raise TrajanonError(msg)
    task = partial(write_part, plan.scratch, plan.parts.form.attribution)
    uses = Uses(plan.scratch, jobs)
    crew.each("Writing the release", task, jobs, progress, uses.end)


def _report(plan: Plan, tally: Tally, stages: list[Stage], shards: int) -> dict[str, Any]:
    form = plan.parts.form
    counted = Counted(
        k=plan.k,
        by_subjects=plan.counts_subjects,
        known=plan.parts.knows_subjects,
        groups=tally.sizes.total(),
        few=tally.few,
        nameless=max(form.unknown[0], plan.parts.unnamed),
        read=form.unknown[1] or None,
    )
    return {
        "notice": counted.notice,
        "n": plan.parts.n,
        "k": plan.k,
        "counted": counted.word,
        "digits": plan.digits,
        "groups": counted.groups,
        "lines": len(np.unique(tally.told)),
        "information_loss": information_loss(tally.lost, plan.survey.sst),
        "stages": [stage.account for stage in stages],
        "stopped": False,
        "displacement": tally.moved.summary,
        "alignment": None,
        "subject_names_merged": plan.parts.merged._asdict(),
        "attribution": form.attribution,
        "versions": versions(),
        "shards": shards,
        "groups_of_size": {str(s): tally.sizes[s] for s in sorted(tally.sizes)},
    }
