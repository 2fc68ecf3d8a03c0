"""Rows are scattered to their shards."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from trajanon.axes import turn
from trajanon.errors import BadInput, TooFewSubjects
from trajanon.partition import check_enough
from trajanon.parts.folder import ByteRange
from trajanon.parts.kd_tree import joined_shards
from trajanon.parts.part_reader import PartSlice
from trajanon.parts.plan import Plan, files_per_task
from trajanon.parts.scratch import ShardRows, write_by_target


class ShardFile(NamedTuple):
    """Rows of a slice that fell into one shard."""

    shard: int  # its number
    place: ByteRange  # where it is written
    rows: int  # how many
    subjects: set[int]  # as k counts them: all different ones, or k of them


def scatter(plan: Plan, part_slice: PartSlice) -> list[ShardFile]:
    """Write the rows of a slice to files, those of a shard together."""
    part = plan.parts.read(part_slice)
    row = part_slice.first + np.arange(part_slice.rows)
    turned = turn(plan.survey.standardised(part.points), plan.survey.axes)
    shard = plan.split.shard_of(turned, row)
    subject = row if part.subject is None else part.subject
    shard_rows = ShardRows(row, shard, subject, part.points)
    counted = subject if plan.counts_subjects else row
    files = files_per_task(plan.split.shards, len(plan.parts.slices))
    name = f"shard-{{:06d}}-from-{part_slice.first:012d}.npy"
    return [
        ShardFile(number, place, len(rows), set(np.unique(counted[rows])[: plan.k].tolist()))
        for number, rows, place in write_by_target(
            plan.scratch, name, shard, files, shard_rows.take
        )
    ]


class Shard(NamedTuple):
    """What is searched at once."""

    number: int  # of the task
    shards: tuple[int, ...]  # of the split, that are taken together
    places: tuple[ByteRange, ...]  # where its rows are
    rows: int  # how many there are in all


def shards_of(plan: Plan, scattered: list[ShardFile]) -> list[Shard]:
    """Join what is searched at once; refuse what cannot be grouped, or does not fit."""
    subjects: list[set[int]] = [set() for _ in range(plan.split.shards)]
    files: dict[int, list[ShardFile]] = defaultdict(list)
    for some in scattered:
        files[some.shard].append(some)
        subjects[some.shard] |= some.subjects
    different = len(set().union(*subjects))
    try:
        check_enough(plan.parts.n, plan.k, different, "trajectories")
    except TooFewSubjects as error:
        msg = f"{error}, or count trajectories with `count='records'`"
        raise TooFewSubjects(msg) from error
    shards = []
    for number, together in enumerate(joined_shards(plan.split, subjects, plan.k)):
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
