"""Shards: rows are scattered to them, searched, and searched again along the borders."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.axes import turn
from trajanon.errors import BadInput, TooFewSubjects
from trajanon.loss import group_means, sse
from trajanon.microaggregation import find_groups
from trajanon.neighbours import Neighbours
from trajanon.partition import check_enough, dense
from trajanon.parts.plan import Plan, joined_shards
from trajanon.parts.reader import PartSlice
from trajanon.parts.release import Tally, Waiting, finish
from trajanon.parts.scratch import Stored, Task, files_per_task, read_rows, write_by_target
from trajanon.problem import whole_problem
from trajanon.workers import in_parts

NEAR_BORDER = 0.5
"""A group is near a border if one of its records is nearer to it than this share of the distance to
its k-th neighbour."""

_AT_ONCE = 10_000  # records


def scatter(plan: Plan, part_slice: PartSlice) -> list[tuple[int, Stored, set[int]]]:
    """Write the rows of a slice to files, those of a shard together.

    Returns each shard's number, where its rows are, and their subjects, as k counts them: all
    different ones, or k of them.
    """
    points, ids, times = plan.parts.read(part_slice)
    row = part_slice.first + np.arange(part_slice.rows)
    turned = turn(plan.survey.standardised(points, times), plan.survey.axes)
    shard = plan.split.shard_of(turned, row)
    columns = {
        "row": row,
        "mark": shard,
        "subject": ids.subjects(plan.parts.named, part_slice.first),
        "points": points,
    }
    if times is not None:
        columns["times"] = times
    kind = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    rows = np.empty(len(row), kind)
    for name, column in columns.items():
        rows[name] = column
    counted = rows["subject" if plan.counts_subjects else "row"]
    files = files_per_task(plan.split.shards, len(plan.parts.slices))
    name = f"shard-{{:06d}}-from-{part_slice.first:012d}.npy"
    written = write_by_target(plan.scratch, name, shard, files, rows.__getitem__)
    return [
        (number, place, set(np.unique(counted[some])[: plan.k].tolist()))
        for number, some, place in written
    ]


def shards_of(
    plan: Plan, scattered: Sequence[tuple[int, Stored, set[int]]], capacity: int
) -> list[Task]:
    """Join what is searched at once; refuse what cannot be grouped, or does not fit."""
    subjects: list[set[int]] = [set() for _ in range(plan.split.shards)]
    places: list[list[Stored]] = [[] for _ in subjects]
    for shard, place, some in scattered:
        places[shard].append(place)
        subjects[shard] |= some
    different = len(set().union(*subjects))
    try:
        check_enough(plan.parts.n, plan.k, different, "trajectories")
    except TooFewSubjects as error:
        msg = f"{error}, or count trajectories with `count='records'`"
        raise TooFewSubjects(msg) from error
    tasks = [
        Task(number, [place for shard in together for place in places[shard]], together)
        for number, together in enumerate(joined_shards(subjects, plan.k))
    ]
    if (rows := max(task.rows for task in tasks)) > capacity:
        msg = (
            f"{rows:,} trajectories of few subjects lie in one place, and only "
            f"{capacity:,} fit into the memory at once: raise `memory`"
        )
        raise BadInput(msg)
    return tasks


def search(plan: Plan, task: Task) -> Tally:
    """Find the groups of a shard, or at a border; finish those that no other border is near."""
    rows = read_rows(plan.scratch, task)
    # A function of its own, so that its memory is free when rows are copied.
    labels, border, lost = _search(plan, task, rows)
    rows["mark"] = labels
    key = f"{'shard' if task.shards else 'border'}-{task.number:06d}"
    borders, which = np.unique(border, axis=0, return_inverse=True)
    waits = np.flatnonzero(border[labels, 0] >= 0)
    written = write_by_target(
        plan.scratch,
        f"border-{key}-{{:06d}}.npy",
        which.reshape(-1)[labels[waits]],
        len(borders),
        lambda some: rows[waits[some]],
    )
    waiting = [(*borders[number].tolist(), place) for number, _, place in written]
    if waiting:
        rows = rows[border[labels, 0] < 0]
    return finish(plan, rows, key)._replace(waiting=waiting, searched=lost)


def _search(plan: Plan, task: Task, rows: NDArray[np.void]) -> tuple[Ints, Ints, float]:
    """Find the group of each row, (n,), each group's border, (g, 3), and the SSE.

    The search at a border begins with the groups that wait there.
    """
    records = plan.records(rows)
    before = None
    if not task.shards:
        place = np.repeat(np.arange(len(task.places)), [place.rows for place in task.places])
        before = dense(
            rows["mark"] + place * (rows["mark"].max() + 1)
        )  # each file has its own numbers
    subjects = plan.counted(rows["subject"])
    random = np.random.default_rng([plan.settings.seed, 1 if task.shards else 2, task.number])
    problem = whole_problem(records, subjects, plan.k, plan.settings, random, plan.progress)
    labels, stopped = find_groups(problem, before)
    if stopped:
        raise KeyboardInterrupt
    lost = sse(records, labels)
    if before is not None and lost >= sse(records, before):
        labels = before
    border = np.full((labels.max() + 1, 3), -1)
    if task.shards and plan.settings.refine != "none" and problem.neighbours and plan.split.nodes:
        border = _border_of(plan, task, records, rows["mark"], labels, problem.neighbours)
    return labels, border, lost


def _border_of(
    plan: Plan, task: Task, records: Floats, fell: Ints, labels: Ints, known: Neighbours
) -> Ints:
    """Find the border nearest to each group, (g, 3): its node, and the shards on both sides.

    Nearness is relative to the distance of a record to its neighbours. -1 if no border is near.
    """
    nearest = known.nearest[:, min(plan.k, known.count) - 1]
    reach = in_parts(
        lambda some, _: np.sqrt(((records[some] - records[nearest[some]]) ** 2).sum(axis=1)),
        np.arange(len(records)),
        _AT_ONCE,
    )
    turned, distance = turn(records, plan.survey.axes), np.concatenate(reach)
    border = np.full((labels.max() + 1, 3), -1)
    best = np.full(len(border), NEAR_BORDER)
    for shard in task.shards:
        inside = np.flatnonzero(fell == shard)
        for number in plan.split.borders_of(shard, task.shards):
            plane = plan.split.nodes[number]
            away = np.abs(turned[inside, plane.axis] - plane.place)
            with np.errstate(divide="ignore", invalid="ignore"):
                near = away / distance[inside]  # 0 / 0: on the border, among its equals
            least = np.full(len(best), np.inf)
            np.minimum.at(least, labels[inside], np.nan_to_num(near, nan=np.inf))
            nearer = least < best
            best[nearer], border[nearer, 0] = least[nearer], number
    waits = np.flatnonzero(border[:, 0] >= 0)
    centroids = group_means(turned, labels)[waits]
    here = plan.split.shard_of(centroids, waits)
    planes = [plan.split.nodes[number] for number in border[waits, 0].tolist()]
    along = np.arange(len(waits)), np.array([plane.axis for plane in planes], dtype=np.int64)
    centroids[along] = 2 * np.array([plane.place for plane in planes]) - centroids[along]
    there = plan.split.shard_of(centroids, waits)
    border[waits, 1:] = np.sort(np.column_stack([here, there]), axis=1)
    return border


def borders(waiting: Sequence[Waiting], capacity: int) -> list[Task]:
    """Take groups together that wait at the plane of one node.

    If they do not fit into memory at once they are divided, the groups between the same two shards
    only if these alone do not fit.
    """
    together: list[list[Stored]] = []
    for _, at_node in groupby(sorted(waiting), lambda some: some[:1]):
        held = capacity
        for _, between in groupby(at_node, lambda some: some[:3]):
            places = [place for *_, place in between]
            fit = sum(place.rows for place in places) <= capacity
            for these in [places] if fit else [[place] for place in places]:
                rows = sum(place.rows for place in these)
                if held + rows > capacity:
                    together.append([])
                    held = 0
                together[-1] += these
                held += rows
    return [Task(number, places) for number, places in enumerate(together)]
