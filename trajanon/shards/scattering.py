"""Every row goes to its shard."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.shards.parts import Unit
from trajanon.shards.pieces import Piece
from trajanon.shards.plan import Plan


class Scattered(NamedTuple):
    """What a unit gave to a shard.

    Attributes
    ----------
    shard
        Its number.
    name
        The file.
    rows
        How many.
    subjects
        Different subjects among them, or records, as counted: all, or k of them.
    """

    shard: int
    name: str
    rows: int
    subjects: set[int]


def scatter(plan: Plan, unit: Unit) -> list[Scattered]:
    """Write a unit's rows to files, one for each shard that gets some."""
    part = plan.parts.read(unit)
    row = unit.first + np.arange(unit.rows)
    turned = plan.survey.standardised(part.points) @ plan.survey.axes
    shard = plan.split.shard_of(turned, row)
    subject = row if part.subject is None else part.subject
    piece = Piece(row, shard, subject, part.points)
    scattered = []
    for number in np.unique(shard).tolist():
        some = piece.take(shard == number)
        name = f"shard-{number:06d}-from-{unit.first:012d}.npy"
        some.write(plan.scratch, name)
        counted = some.subject if plan.counts_subjects else some.row
        few = _some_of(counted, plan.k)
        scattered.append(Scattered(number, name, len(some.row), few))
    return scattered


def _some_of(subjects: NDArray[np.int64], k: int) -> set[int]:
    """The different subjects; k of them if there are more."""
    return set(np.unique(subjects)[:k].tolist())
