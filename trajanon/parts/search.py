"""The search in a shard, and again among the groups on both sides of each border."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.axes import turn
from trajanon.loss import group_means, sse
from trajanon.microaggregation import find_groups
from trajanon.neighbours import Neighbours
from trajanon.partition import dense
from trajanon.parts.folder import Stored
from trajanon.parts.plan import Plan
from trajanon.parts.release import Tally, finish
from trajanon.parts.scratch import ShardRows, Task, read_rows, write_by_target
from trajanon.parts.shards import Shard
from trajanon.problem import whole_problem

NEAR_BORDER = 0.5
"""A group is near a border if one of its records is nearer to it than this share of the distance to
its k-th neighbour."""

_AT_ONCE = 10_000  # records


class Waiting(NamedTuple):
    """Groups of a shard that wait at a border for those of the other side."""

    node: int  # of the kd-tree, whose plane the border is
    between: tuple[int, int]  # the shards on its two sides
    place: Stored  # their rows


class Solved(NamedTuple):
    """The result of a shard."""

    tally: Tally  # of the finished groups
    waiting: list[Waiting]  # the others
    lost: float  # SSE of all its groups


def search_shard(plan: Plan, shard: Shard) -> Solved:
    """Group the records of a shard, and finish the groups that no border is near."""
    rows = read_rows(plan.scratch, shard)
    # A function of its own, so that its memory is free when rows are copied.
    labels, border, lost = _search(plan, shard, rows)
    rows = rows._replace(mark=labels)
    key = f"shard-{shard.number:06d}"
    borders, which = np.unique(border, axis=0, return_inverse=True)
    waits = np.flatnonzero(border[labels, 0] >= 0)
    written = write_by_target(
        plan.scratch,
        f"border-{key}-{{:06d}}.npy",
        which.reshape(-1)[labels[waits]],
        len(borders),
        lambda some: rows.take(waits[some]),
    )
    waiting = []
    for number, _, place in written:
        node, one, other = borders[number].tolist()
        waiting.append(Waiting(node, (one, other), place))
    if waiting:
        rows = rows.take(border[labels, 0] < 0)
    return Solved(finish(plan, rows, key), waiting, lost)


def _search(plan: Plan, shard: Shard, rows: ShardRows) -> tuple[Ints, Ints, float]:
    """Find the group of each row, (n,), each group's border, (g, 3), and the SSE."""
    records = plan.survey.standardised(rows.points)
    labels, known = _grouped(plan, records, rows, (1, shard.number))
    border = np.full((labels.max() + 1, 3), -1)
    if plan.settings.refine != "none" and known and plan.split.nodes:
        nearest = known.nearest[:, min(plan.k, known.count) - 1]
        reach = np.sqrt(_squared_distances(records, nearest))
        turned = turn(records, plan.survey.axes)
        border[:, 0] = _nodes_near(plan, shard, turned, rows.mark, reach, labels)
        border[:, 1:] = _sides(plan, group_means(turned, labels), border[:, 0])
    return labels, border, sse(records, labels)


def _grouped(
    plan: Plan, records: Floats, rows: ShardRows, seed: Sequence[int], before: Ints | None = None
) -> tuple[Ints, Neighbours | None]:
    """Find groups of records, beginning with those before; give their neighbours, too."""
    subjects = plan.counted(rows.subject)
    random = np.random.default_rng([plan.settings.seed, *seed])
    problem = whole_problem(records, subjects, plan.k, plan.settings, random, plan.progress)
    labels, stopped = find_groups(problem, before)
    if stopped:
        raise KeyboardInterrupt
    return labels, problem.neighbours


def _nodes_near(
    plan: Plan, shard: Shard, turned: Floats, fell: Ints, reach: Floats, labels: Ints
) -> Ints:
    """Find the node whose border is nearest to each group, (g,); -1 if none is near.

    Nearness is relative to the distance to a record's neighbours, (r,), its reach.
    """
    best = np.full(labels.max() + 1, NEAR_BORDER)
    node = np.full(len(best), -1)
    for part in shard.shards:
        inside = np.flatnonzero(fell == part)
        for number in plan.split.borders_of(part, shard.shards):
            plane = plan.split.nodes[number]
            away = np.abs(turned[inside, plane.axis] - plane.place)
            with np.errstate(divide="ignore", invalid="ignore"):
                near = away / reach[inside]  # 0 / 0: on the border, among its equals
            least = np.full(len(best), np.inf)
            np.minimum.at(least, labels[inside], np.nan_to_num(near, nan=np.inf))
            nearer = least < best
            best[nearer], node[nearer] = least[nearer], number
    return node


def _sides(plan: Plan, centroids: Floats, node: Ints) -> Ints:
    """Find the shards where groups and their mirror images are, (g, 2), rising."""
    near = np.flatnonzero(node >= 0)
    sides = np.full((len(node), 2), -1)
    images = centroids[near]
    sides[near, 0] = plan.split.shard_of(images, near)
    for number in np.unique(node[near]).tolist():
        plane, some = plan.split.nodes[number], node[near] == number
        images[some, plane.axis] = 2 * plane.place - images[some, plane.axis]
    sides[near, 1] = plan.split.shard_of(images, near)
    sides.sort(axis=1)
    return sides


def _squared_distances(records: Floats, others: NDArray[np.integer]) -> Floats:
    """From each record to another one, (n,); some at a time, to save memory."""
    away = np.empty(len(records))
    for start in range(0, len(records), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        away[some] = ((records[some] - records[others[some]]) ** 2).sum(axis=1)
    return away


def borders(waiting: Sequence[Waiting], capacity: int) -> list[Task]:
    """Take groups together that wait at the plane of one node.

    If they do not fit into memory at once they are divided, the groups between the same two shards
    only if these alone do not fit.
    """
    together: list[list[Stored]] = []
    for _, at_node in groupby(sorted(waiting), lambda some: some.node):
        held = capacity
        for _, between in groupby(at_node, lambda some: some.between):
            places = [some.place for some in between]
            fit = sum(place.rows for place in places) <= capacity
            for these in [places] if fit else [[place] for place in places]:
                rows = sum(place.rows for place in these)
                if held + rows > capacity:
                    together.append([])
                    held = 0
                together[-1] += these
                held += rows
    return [Task(number, places) for number, places in enumerate(together)]


def search_border(plan: Plan, border: Task) -> Tally:
    """Search among the groups near a border, beginning with them, and finish them."""
    rows = read_rows(plan.scratch, border)
    rows = rows._replace(mark=_mended(plan, border, rows))
    return finish(plan, rows, f"border-{border.number:06d}")


def _mended(plan: Plan, border: Task, rows: ShardRows) -> Ints:
    """Find better groups; without its memory, rows are copied."""
    place = np.repeat(np.arange(len(border.places)), [place.rows for place in border.places])
    before = dense(rows.mark + place * (rows.mark.max() + 1))  # each numbered its groups for itself
    records = plan.survey.standardised(rows.points)
    found, _ = _grouped(plan, records, rows, (2, border.number), before)
    return found if sse(records, found) < sse(records, before) else before
