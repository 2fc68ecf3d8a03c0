"""Every row goes to its shard."""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Ints
from trajanon.axes import turn
from trajanon.parts.folder import Place
from trajanon.parts.part_reader import Unit
from trajanon.parts.plan import Plan, bundles_of
from trajanon.parts.shard_rows import Piece


class Scattered(NamedTuple):
    """What a unit gave to a shard."""

    shard: int  # its number
    place: Place  # where it is written
    rows: int  # how many
    subjects: set[int]  # different subjects among them, or records, as counted: all, or k of them


def scatter(plan: Plan, unit: Unit) -> list[Scattered]:
    """Write a unit's rows to files, those of a shard together."""
    part = plan.parts.read(unit)
    row = unit.first + np.arange(unit.rows)
    turned = turn(plan.survey.standardised(part.points), plan.survey.axes)
    shard = plan.split.shard_of(turned, row)
    subject = row if part.subject is None else part.subject
    piece = Piece(row, shard, subject, part.points)
    counted = subject if plan.counts_subjects else row
    order = np.argsort(shard, kind="stable")
    shards = plan.split.shards
    ends = np.searchsorted(shard[order], np.arange(shards + 1))
    bundles = bundles_of(shards, len(plan.parts.units))
    scattered = []
    for _, numbers in groupby(
        np.flatnonzero(np.diff(ends)).tolist(), lambda number: number * bundles // shards
    ):
        which = [(number, order[ends[number] : ends[number + 1]]) for number in numbers]
        name = f"shard-{which[0][0]:06d}-from-{unit.first:012d}.npy"
        places = plan.scratch.write_arrays(name, (piece.take(mine) for _, mine in which))
        for (number, mine), place in zip(which, places, strict=True):
            few = _some_of(counted[mine], plan.k)
            scattered.append(Scattered(number, place, len(mine), few))
    return scattered


def _some_of(subjects: Ints, k: int) -> set[int]:
    """The different subjects; k of them if there are more."""
    return set(np.unique(subjects)[:k].tolist())
