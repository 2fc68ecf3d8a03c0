"""A shard is grouped on its own; groups near its borders wait for their neighbours."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.loss import sse
from trajanon.pipeline import search
from trajanon.shards.finishing import Tally, finish
from trajanon.shards.pieces import read_pieces
from trajanon.shards.plan import Plan
from trajanon.shards.splitting import Step

NEAR = 1.0
"""A group is near a border if one of its records is nearer to it than to its k-th
neighbour, times this."""


class Shard(NamedTuple):
    """What is searched at once.

    Attributes
    ----------
    number
        Of the task.
    shards
        Of the split, that are taken together.
    names, rows
        Files of its rows, and how many there are in all.
    """

    number: int
    shards: tuple[int, ...]
    names: tuple[str, ...]
    rows: int


class Waiting(NamedTuple):
    """Groups that wait at a node of the split for those of its other side.

    Attributes
    ----------
    node
        Which one.
    name, rows
        The file, and how many rows are in it.
    """

    node: int
    name: str
    rows: int


class Solved(NamedTuple):
    """What became of a shard.

    Attributes
    ----------
    tally
        Of the groups that are done.
    waiting
        Those that are not.
    lost
        SSE of all its groups.
    """

    tally: Tally
    waiting: list[Waiting]
    lost: float


def solve(plan: Plan, shard: Shard) -> Solved:
    """Group the records of a shard, and finish the groups that no border is near."""
    piece = read_pieces(plan.scratch, shard.names, shard.rows)
    records = plan.survey.standardised(piece.points)
    found = search(
        records,
        plan.counted(piece.subject),
        plan.k,
        plan.options,
        np.random.default_rng([plan.options["seed"], 1, shard.number]),
    )
    if found.stopped:
        raise KeyboardInterrupt
    node = np.full(found.labels.max() + 1, -1)
    if plan.options["refine"] != "none" and plan.split.nodes:
        nearest = found.vicinity.nearest[:, min(plan.k, found.vicinity.count) - 1]
        node = _nodes_near(plan, shard, records, piece.mark, nearest, found.labels)
    lost = sse(records, found.labels)
    del records
    piece = piece._replace(mark=found.labels)
    key = f"shard-{shard.number:06d}"
    waiting = []
    for number in np.unique(node[node >= 0]).tolist():
        some = piece.take(node[found.labels] == number)
        name = f"node-{number:06d}-{key}.npy"
        some.write(plan.scratch, name)
        waiting.append(Waiting(number, name, len(some.row)))
    tally = finish(plan, piece.take(node[found.labels] < 0), key)
    return Solved(tally, waiting, lost)


def _nodes_near(
    plan: Plan,
    shard: Shard,
    records: NDArray[np.float64],
    fell: NDArray[np.int64],
    nearest: NDArray[np.integer],
    labels: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Find the node whose border is nearest to each group, (g,); -1 if none is near.

    How near is measured by how far a record's neighbours are: a border at half that
    distance hides more than one at twice it.
    """
    reach = np.sqrt(((records - records[nearest]) ** 2).sum(axis=1))
    turned = records @ plan.survey.axes
    best = np.full(labels.max() + 1, NEAR)
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


def _open_steps(plan: Plan, together: Sequence[int], shard: int) -> list[Step]:
    """The nodes on the way to a shard that have other shards beyond them."""
    return [
        step
        for step in plan.split.way_to(shard)
        if plan.split.beyond(step) - set(together)
    ]
