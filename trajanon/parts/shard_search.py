"""The search in a shard; groups near its borders wait for those of the other side."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.axes import turn
from trajanon.loss import group_means, sse
from trajanon.microaggregation import find_groups
from trajanon.parts.centroids import Tally, finish
from trajanon.parts.kd_tree import Step
from trajanon.parts.plan import Plan
from trajanon.parts.scratch import ShardRows, read_rows
from trajanon.parts.shards import Shard
from trajanon.problem import whole_problem

NEAR_BORDER = 0.5
"""A group is near a border if one of its records is nearer to it than this share of the distance to
its k-th neighbour."""

_AT_ONCE = 10_000  # records


class Waiting(NamedTuple):
    """Groups that wait at a border for those of the other side."""

    node: int  # of the kd-tree, whose plane the border is
    between: tuple[int, int]  # the shards on its two sides
    name: str  # the file with their rows
    rows: int  # how many


class Solved(NamedTuple):
    """The result of a shard."""

    tally: Tally  # of the finished groups
    waiting: list[Waiting]  # the others
    lost: float  # SSE of all its groups


def search_shard(plan: Plan, shard: Shard) -> Solved:
    """Group the records of a shard, and finish the groups that no border is near."""
    shard_rows = read_rows(plan.scratch, shard.places, shard.rows)
    # A function of its own, so that its memory is free when rows are copied.
    labels, border, lost = _search(plan, shard, shard_rows)
    shard_rows = shard_rows._replace(mark=labels)
    key = f"shard-{shard.number:06d}"
    waiting = []
    for number, one, other in np.unique(border[border[:, 0] >= 0], axis=0).tolist():
        some = shard_rows.take((border[labels] == (number, one, other)).all(axis=1))
        name = f"border-{number:06d}-{one:06d}-{other:06d}-{key}.npy"
        plan.scratch.write_arrays(name, [some])
        waiting.append(Waiting(number, (one, other), name, len(some.row)))
    if waiting:
        shard_rows = shard_rows.take(border[labels, 0] < 0)
    return Solved(finish(plan, shard_rows, key), waiting, lost)


def _search(plan: Plan, shard: Shard, shard_rows: ShardRows) -> tuple[Ints, Ints, float]:
    """Find the group of each row, (n,), each group's border, (g, 3), and the SSE."""
    records = plan.survey.standardised(shard_rows.points)
    problem = whole_problem(
        records,
        plan.counted(shard_rows.subject),
        plan.k,
        plan.settings,
        np.random.default_rng([plan.settings.seed, 1, shard.number]),
        plan.progress,
    )
    labels, stopped = find_groups(problem)
    if stopped:
        raise KeyboardInterrupt
    lost = sse(records, labels)
    border = np.full((labels.max() + 1, 3), -1)
    if plan.settings.refine != "none" and problem.neighbours and plan.split.nodes:
        known = problem.neighbours
        nearest = known.nearest[:, min(plan.k, known.count) - 1]
        reach = np.sqrt(_squared_distances(records, nearest))
        turned = turn(records, plan.survey.axes)
        border[:, 0] = _nodes_near(plan, shard, turned, shard_rows.mark, reach, labels)
        border[:, 1:] = _sides(plan, group_means(turned, labels), border[:, 0])
    return labels, border, lost


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
        for step in _open_steps(plan, shard.shards, part):
            plane = plan.split.nodes[step.node]
            away = np.abs(turned[inside, plane.axis] - plane.place)
            with np.errstate(divide="ignore", invalid="ignore"):
                near = away / reach[inside]  # 0 / 0: on the border, among its equals
            least = np.full(len(best), np.inf)
            np.minimum.at(least, labels[inside], np.nan_to_num(near, nan=np.inf))
            nearer = least < best
            best[nearer], node[nearer] = least[nearer], step.node
    return node


def _squared_distances(records: Floats, others: NDArray[np.integer]) -> Floats:
    """From each record to another one, (n,); some at a time, to save memory."""
    away = np.empty(len(records))
    for start in range(0, len(records), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        away[some] = ((records[some] - records[others[some]]) ** 2).sum(axis=1)
    return away


def _open_steps(plan: Plan, together: Sequence[int], shard: int) -> list[Step]:
    """Nodes on the way to a shard with shards beyond them that are searched elsewhere."""
    return [step for step in plan.split.way_to(shard) if plan.split.beyond(step) - set(together)]
