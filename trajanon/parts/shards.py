"""Rows are scattered to their shards."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.axes import turn
from trajanon.errors import BadInput, TooFewSubjects
from trajanon.partition import check_enough
from trajanon.parts.folder import Stored
from trajanon.parts.plan import Plan
from trajanon.parts.reader import PartSlice
from trajanon.parts.scratch import ShardRows, Task, files_per_task, write_by_target
from trajanon.parts.split import joined_shards


class ShardFile(NamedTuple):
    """Rows of a slice that fell into one shard."""

    shard: int  # its number
    place: Stored  # where they are
    subjects: set[int]  # as k counts them: all different ones, or k of them


@dataclass(frozen=True, slots=True)
class Shard(Task):
    """What is searched at once."""

    shards: tuple[int, ...]  # of the split, that are taken together


def scatter(plan: Plan, part_slice: PartSlice) -> list[ShardFile]:
    """Write the rows of a slice to files, those of a shard together."""
    points, ids = plan.parts.read(part_slice)
    row = part_slice.first + np.arange(part_slice.rows)
    turned = turn(plan.survey.standardised(points), plan.survey.axes)
    shard = plan.split.shard_of(turned, row)
    rows = ShardRows(row, shard, ids.subjects(plan.parts.named, part_slice.first), points)
    counted = rows.subject if plan.counts_subjects else row
    files = files_per_task(plan.split.shards, len(plan.parts.slices))
    name = f"shard-{{:06d}}-from-{part_slice.first:012d}.npy"
    return [
        ShardFile(number, place, set(np.unique(counted[some])[: plan.k].tolist()))
        for number, some, place in write_by_target(plan.scratch, name, shard, files, rows.take)
    ]


def shards_of(plan: Plan, scattered: Sequence[ShardFile], capacity: int) -> list[Shard]:
    """Join what is searched at once; refuse what cannot be grouped, or does not fit."""
    subjects: list[set[int]] = [set() for _ in range(plan.split.shards)]
    places: dict[int, list[Stored]] = defaultdict(list)
    for some in scattered:
        places[some.shard].append(some.place)
        subjects[some.shard] |= some.subjects
    different = len(set().union(*subjects))
    try:
        check_enough(plan.parts.n, plan.k, different, "trajectories")
    except TooFewSubjects as error:
        msg = f"{error}, or count trajectories with `count='records'`"
        raise TooFewSubjects(msg) from error
    shards = [
        Shard(number, [place for shard in together for place in places[shard]], together)
        for number, together in enumerate(joined_shards(subjects, plan.k))
    ]
    for shard in shards:
        if shard.rows > capacity:
            msg = (
                f"{shard.rows:,} trajectories of few subjects lie in one place, and only "
                f"{capacity:,} fit into the memory at once: raise `memory`"
            )
            raise BadInput(msg)
    return shards
