"""Anonymisation beyond memory: parts -> shards -> a release in parts, on one page."""

import secrets
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from trajanon.errors import BadInput
from trajanon.executors import Executor
from trajanon.files.release_lines import DIGITS, unknown_attribution
from trajanon.folder import Folder
from trajanon.loss import information_loss
from trajanon.outputs import json_report
from trajanon.partition import Stage, check_enough, check_k
from trajanon.parts.plan import (
    Plan,
    bytes_of,
    capacity_of,
    shards_for,
    split_table,
    survey_table,
    timed,
)
from trajanon.parts.reader import part_states, survey_parts, unchanged
from trajanon.parts.release import Tally, count_of_parts, joined_tallies, write_release_parts
from trajanon.parts.scratch import (
    REPORT,
    refuse_inputs,
    refuse_places,
    removal,
    replacing_release,
    report_of,
)
from trajanon.parts.shards import borders, scatter, search, shards_of
from trajanon.progress import Progress, silent
from trajanon.releases import Counted, versions
from trajanon.rows import way_of
from trajanon.settings import ReleaseSettings, Settings, takes_settings

if TYPE_CHECKING:
    from distributed import Client


@takes_settings
def anonymize_parts(
    source: str,
    out: str,
    k: int,
    *,
    count: str = "subjects",
    digits: int | None = ReleaseSettings.digits,
    times: str | None = None,
    minute_worth: float = ReleaseSettings.minute_worth,
    time_step: int = ReleaseSettings.time_step,
    timezone: str | None = None,
    rows: str = ReleaseSettings.rows,
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
    together with those of the other side. Windows are not aligned.

    Parameters
    ----------
    source
        A folder, as a path or a URL that fsspec knows, with parts that end in ``.parquet``:
        GeoParquet as `trajanon.extract` writes, or tables with columns ``lat1``, ``lon1``,
        ``lat2``, ... of either precision, ``time1``, ``time2``, ... (seconds since 1970 UTC) if
        `times` are asked for, and ``subject``.
    out
        Folder for the release: parts of shuffled lines, with a report beside it. An existing
        release is replaced.
    k, count, digits, times, minute_worth, time_step, timezone, rows
        As in `trajanon.anonymize`. Where groups of two shards have one line, a subject of both has
        two of its rows.
    subjects_exact
        Whether subjects whose names differ only in upper and lower case are different ones.
    memory
        Memory that the search may take, in bytes or as ``4GB``; with a client, of each worker.
        The number of shards depends on it, and so does the result.
    client
        Client of a Dask cluster to work on; its workers must see both folders.
    progress, options
        As in `trajanon.microaggregate`: ``options`` from ``method`` to ``seed``.

    Returns
    -------
    dict
        The report of `trajanon.anonymize`, without its lists of trajectories or groups.

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
    asked = ReleaseSettings(
        count=count,
        digits=digits,
        times=times,
        minute_worth=minute_worth,
        time_step=time_step,
        timezone=timezone,
        rows=rows,
    )
    check_k(k)
    settings = Settings(**options)
    memory = bytes_of(memory)
    folder, release = Folder(source), Folder(out).real
    refuse_places(folder, release)
    stages: list[Stage] = []
    since = [perf_counter()]

    def arrived(name: str, loss: float | None = None) -> None:
        since.append(perf_counter())
        stages.append(Stage(name, loss, since[-1] - since[-2]))

    before = part_states(folder)
    with unchanged(folder, before):
        parts = survey_parts(folder, times)
        parts = replace(parts, subjects_exact=subjects_exact)
    refuse_inputs(release, [folder / part_slice.name for part_slice in parts.slices])  # as links
    check_enough(parts.n, k, what="trajectories")
    attribution = parts.schema.attribution
    if attribution is not None and (unknown := unknown_attribution(attribution)):
        msg = f"the parts carry {unknown[0]}: extract them again without it"
        raise BadInput(msg)
    capacity = capacity_of(memory, parts.schema.columns, k)
    parts = parts.fitting(capacity)
    executor = Executor(client, progress)
    with replacing_release(release, report_of(out)) as scratch:
        with unchanged(folder, before):
            parts = timed(executor, parts, asked)
            survey, sample, parts = survey_table(executor, parts)
            arrived("reading")
            plan = Plan(
                parts=parts,
                scratch=scratch,
                survey=survey,
                split=split_table(sample, shards_for(parts.n, capacity)),
                k=k,
                digits=digits,
                rows=rows,
                counts_subjects=count == "subjects" and bool(parts.schema.kinds),
                settings=settings,
                progress=progress if client is None else silent,  # workers cannot show bars
                released=count_of_parts(parts.n),
                secret=secrets.token_bytes(32),
            )
            scattered = executor.each("Splitting into shards", partial(scatter, plan), parts.slices)
        shards = shards_of(plan, [one for some in scattered for one in some], capacity)
        arrived("splitting")
        task = partial(search, plan)
        found = executor.each("Grouping shards", task, shards, removal(scratch, shards))
        tally = joined_tallies(found)
        arrived("shards", information_loss(tally.searched, survey.sst))
        waiting = borders(tally.waiting, capacity)
        found += executor.each("Mending borders", task, waiting, removal(scratch, waiting))
        tally = joined_tallies(found)
        arrived("borders", information_loss(tally.lost, survey.sst))
        write_release_parts(executor, plan, tally)
        arrived("writing")
        report = _report(plan, tally, stages, len(shards))
        with scratch.writing(REPORT) as file:
            file.write(json_report(report).encode())
    return report


def _report(plan: Plan, tally: Tally, stages: list[Stage], shards: int) -> dict[str, Any]:
    form, timing = plan.parts.schema, plan.parts.timing
    errors = {name: histogram.summary for name, histogram in tally.errors.items()}
    moved = errors.pop("displacement")
    different = len(np.unique(tally.hashes))
    counted = Counted(
        k=plan.k,
        by_subjects=plan.counts_subjects,
        groups=tally.sizes.total(),
        few=tally.few if plan.parts.schema.kinds else None,
        nameless=max(form.unknown[0], plan.parts.unnamed),
        read=form.unknown[1] or None,
    )
    return {
        "notice": counted.notice,
        "unit": "trip" if form.trips else "trajectory",
        "n": plan.parts.n,
        "k": plan.k,
        "counted": counted.word,
        "digits": plan.digits or DIGITS,
        "groups_of_steps": {
            f"{north} x {east}": tally.steps[north, east] for north, east in sorted(tally.steps)
        },
        "groups": counted.groups,
        "lines": different,
        "rows": {
            "way": way_of(plan.rows, by_subjects=plan.counts_subjects),
            "trajectories": plan.parts.n,
            "subjects": tally.of_subjects if plan.counts_subjects else None,
            "lines": different,
        },
        "information_loss": information_loss(tally.lost_in_space, plan.survey.sst_in_space),
        "stages": [stage.account for stage in stages],
        "stopped": False,
        "displacement": moved,
        "times": None if timing is None else timing.account | errors,
        "alignment": None,
        "subject_names_merged": plan.parts.merged._asdict(),
        "attribution": form.attribution,
        "versions": versions(),
        "shards": shards,
        "groups_of_size": {str(s): tally.sizes[s] for s in sorted(tally.sizes)},
    }
