"""Shards: rows are scattered to them and searched; then again, with other borders."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon.align.alignment import align
from trajanon.align.ground import shared_out
from trajanon.align.placing import placed
from trajanon.arrays import Floats, Ints
from trajanon.axes import turn
from trajanon.errors import BadInput
from trajanon.loss import group_means, sse
from trajanon.mending import ends_of, mended
from trajanon.microaggregation import find_groups
from trajanon.partition import check_enough, dense, measured
from trajanon.parts.finish import Batch, Tally, finish
from trajanon.parts.plan import Plan, joined_shards
from trajanon.parts.scratch import Arrays, Stored, Task, parted
from trajanon.problem import whole_problem
from trajanon.released_lines import refuse_crossing
from trajanon.settings import EFFORTS
from trajanon.utility import moved_to
from trajanon.utility.displacements import Histogram

_STATE = np.dtype([("row", "i8"), ("group", "i8"), ("shard", "i4"), ("moved", "i4")])
"""What is known of a row after a round: its group, the shard of this in the next one, and how far
it slid. After the last round, the group is that of equal lines: see `line_keys`."""


class Search(NamedTuple):
    """What the search of a shard found."""

    lost: float  # SSE of the standardised records
    cut: tuple[float, Histogram] | None  # what windows lost before any slid: SSE of places, and
    # metres to their groups
    states: list[tuple[int, Stored]]  # of rows: the number of their slice, and where they are
    tally: Tally | None = None  # of finished groups, after the last round
    mended: tuple[dict[str, Any], Ints] | None = None  # the account, and the rows left out


def scatter(plan: Plan, number: int, task: Task) -> list[tuple[int, Stored, set[int]]]:
    """Write the rows of a slice to files, those of a shard together.

    Returns each shard's number, where its rows are, and their subjects, as k counts them: all
    different ones, or k of them.
    """
    rows = plan.parts.read(plan.parts.slices[task.number], tracks=True)
    refuse_crossing(rows, tracks=True)
    row = np.asarray(rows.trace)
    subject = row if rows.subject is None else rows.subject
    state = np.zeros(len(rows), _STATE)
    state["group"] = -1
    if number > 0:
        state = np.concatenate([plan.scratch.read_piece(place)[0] for place in task.places])
        state = state[np.argsort(state["row"])]
        if rows.tracks is not None:
            rows = rows.slid(rows.tracks.along + state["moved"])
    else:
        state["shard"] = plan.splits[0].shard_of(plan.turned(rows), row)
    counted = subject if plan.parts.names_subjects else row
    random = np.random.default_rng([plan.settings.seed, number, task.number])
    subjects: list[set[int]] = []

    def pieces() -> Iterator[tuple[int, Arrays]]:
        for shard, held, some in shared_out(rows, state["shard"], random):
            subjects.append(set(np.unique(counted[held])[: plan.k].tolist()))
            yield shard, Batch(some, state["group"][held], state["moved"][held]).arrays

    written = plan.scratch.write_pieces(f"rows-{number}-{task.number:06d}.npy", pieces())
    return [(*each, some) for each, some in zip(written, subjects, strict=True)]


def shards_of(
    plan: Plan, scattered: Sequence[tuple[int, Stored, set[int]]], capacity: int
) -> list[Task]:
    """Join what is searched at once; refuse what cannot be grouped, or does not fit."""
    subjects: list[set[int]] = [set() for _ in range(plan.splits[0].shards)]
    places: list[list[Stored]] = [[] for _ in subjects]
    for shard, place, some in scattered:
        places[shard].append(place)
        subjects[shard] |= some
    different = len(set().union(*subjects))
    check_enough(plan.parts.n, plan.k, different, "trajectory")
    tasks = [
        Task(number, [place for shard in together for place in places[shard]])
        for number, together in enumerate(joined_shards(subjects, plan.k))
    ]
    if (rows := max(task.rows for task in tasks)) > capacity:
        raise BadInput(
            f"{rows:,} trajectories of few subjects lie in one place, and only "
            f"{capacity:,} fit into the memory at once: raise `memory`"
        )
    return tasks


def search(plan: Plan, number: int, task: Task) -> Search:
    """Find the groups of a shard, or better ones; slide windows to them."""
    batch = Batch.joined(map(plan.scratch.read_piece, task.places), plan.timing is not None)
    if number == 0:
        subjects = plan.counted(batch.trajectories)
        batch = batch.slid(
            placed(batch.trajectories, plan.k, subjects=subjects, timing=plan.timing)
        )
    rows = batch.trajectories
    records = plan.records(rows)
    labels, cut = dense(batch.group), None
    if number == 0 or rows.tracks is None:
        settings = replace(plan.settings, refine="descent") if number else plan.settings
        random = np.random.default_rng([settings.seed, 1 + number, task.number])
        subjects = plan.counted(rows)
        problem = whole_problem(records, subjects, plan.k, settings, random, plan.progress)
        labels, stopped = find_groups(problem, labels if number else None)
        if stopped:
            raise KeyboardInterrupt
        del problem
    if rows.tracks is not None:
        if number == 0:
            lines = group_means(rows.records, labels).reshape(-1, *rows.points.shape[1:])
            moved = Histogram.of(moved_to(rows.points, lines, labels))
            cut = sse(records[:, : rows.records.shape[1]], labels), moved
        del records
        batch, labels = _slid(plan, batch, labels)
        records = plan.records(batch.trajectories)
    lost = sse(records, labels)
    key = f"{number}-{task.number:06d}"
    state = np.zeros(len(labels), _STATE)
    state["row"], state["moved"] = batch.trajectories.trace, batch.moved
    tally = mends = None
    if number + 1 == len(plan.splits):
        rows = batch.trajectories
        read = replace(rows, provenance=plan.parts.provenance)
        ends, subjects = ends_of(read, plan.release.distinct_ends), plan.counted(rows)
        labels, account = mended(rows.points, records, labels, plan.k, subjects=subjects, ends=ends)
        del records
        kept = labels >= 0
        mends, state = (account, state["row"][~kept]), state[kept]
        tally, state["group"] = finish(plan, batch.take(kept), dense(labels[kept]), key)
    else:
        state["group"] = task.number * plan.parts.n + labels
        state["shard"] = _next_shards(plan, number + 1, records, labels, state["group"])
    pieces = parted(plan.parts.slice_of(state["row"]), [state])
    return Search(lost, cut, plan.scratch.write_pieces(f"state-{key}.npy", pieces), tally, mends)


def _slid(plan: Plan, batch: Batch, labels: Ints) -> tuple[Batch, Ints]:
    """Slide windows to groups, and regroup them; each round has a third of the moves at least."""
    rows, settings = batch.trajectories, plan.settings
    assert rows.tracks is not None
    moves = EFFORTS[settings.effort].moves_per_record * (settings.refine == "anneal")
    slid, found = align(
        rows,
        measured(rows.records, labels, "shards", perf_counter()),
        plan.k,
        subjects=rows.subject if plan.parts.names_subjects else None,
        regroup=settings.refine != "none",
        moves_per_record=moves // min(len(plan.splits), 3),
        seed=settings.seed,
        timing=plan.timing,
        progress=plan.progress,
    )
    if found.stopped:
        raise KeyboardInterrupt
    return batch.slid(slid), found.labels


def _next_shards(plan: Plan, number: int, records: Floats, labels: Ints, groups: Ints) -> Ints:
    """Find the shard that each row's group is in when the table is split in a round, (n,)."""
    centroids = group_means(turn(records, plan.survey.axes), labels)
    known = np.empty(len(centroids), dtype=np.int64)
    known[labels] = groups
    return plan.splits[number].shard_of(centroids, known)[labels]
