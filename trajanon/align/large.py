"""Alignment of a large table: in parts alone, near windows from trees, fewer moves."""

from functools import partial
from threading import Event

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.sliding import Ground
from trajanon.align.aligned import Aligned, Best, lost_at
from trajanon.align.ground import centred, summed, turned_at,part_of,chained_part_of
from trajanon.align.near import near_in_trees
from trajanon.align.parts import (
    Field,
    Part,
    anneal_part,lay_at_once,
    lay_out_windows,
    work_in_parts,
)
from trajanon.partition import dense
from trajanon.progress import Progress
from trajanon.refine.descend import SETTLED
from trajanon.refine.descent import near_count
from trajanon.refine.grouped import Grouped
from trajanon.refine.random_moves import DROPPED, neighbours_within, warmth

HOT, COLD = 0.7, 0.03
LEAST, FULL = 0.06, 9_000
PASS, FEWEST = 60, 6
ROUNDS = 3
"""How often it is asked which windows come near each other, before random moves."""

SETTLINGS = 2
"""Times that windows settle in the end, in parts with other borders."""


LAY = chained_part_of
MOVES=None
def search_large(
    grouped: Grouped, ground: Ground, best: Best, regroup: bool, progress: Progress
) -> None:
    """Slide windows, and regroup them, as in a smaller table, but in parts alone.

    Parameters
    ----------
    grouped
        Of it, k, the subjects, the random moves per record that a small table would
        get, the source of chance and the progress of windows that settle.
    ground, best, regroup
        As in `trajanon.align.search`.
    progress
        Told how far the random moves are.
    """
    k, aligned = grouped.k, best.aligned

    def settle(field: Field, near: bool) -> Aligned:
        tell = partial(grouped.progress, "Settling windows", 0, None)
        tell()
        work = partial(_settle_part, k, field.near if near else None)
        found = work_in_parts(grouped, ground, aligned, field.axes, work, LAY, tell)
        best.offer(found)
        return found

    axes = lay_axes(ground, aligned)
    aligned = settle(Field(axes, np.empty((0, 0), np.int32), np.empty(0)), False)
    if not regroup:
        return
    n = len(aligned.start)
    moves = int(grouped.moves_per_record * (LEAST + FULL / n))
    passes = max(moves // PASS, FEWEST) if moves else 0
    heats = np.geomspace(HOT, COLD, passes + 1)
    for some in filter(len, np.array_split(np.arange(passes), ROUNDS)):
        field = lay_field(ground, aligned, k)
        for number in some.tolist():
            tell = partial(progress, "Sliding windows", number, passes, best.note)
            tell()
            work = partial(
                anneal_part, k, field, -(-moves // passes), heats[number : number + 2], lay_at_once
            )
            aligned = work_in_parts(grouped, ground, aligned, field.axes, work, part_of, tell)
            best.offer(aligned)
    field = lay_field(ground, aligned, k)
    for _ in range(SETTLINGS):
        aligned = settle(field, True)


def lay_axes(ground: Ground, aligned: Aligned) -> NDArray[np.float64]:
    """Find the axes, (p, q), that a search needs to see, as `leading_axes` does."""
    ground = centred(ground, aligned.start)
    squares = summed(
        ground, aligned.start, lambda some: np.einsum("ij,ik->jk", some, some)
    )
    held, axes = np.linalg.eigh(squares)
    held, axes = held[::-1].clip(0.0), axes[:, ::-1]
    left_out = held[::-1].cumsum()[::-1] - held
    enough = left_out <= DROPPED * lost_at(ground, aligned)
    return axes[:, : int(np.argmax(enough)) + 1]


def lay_field(ground: Ground, aligned: Aligned, k: int) -> Field:
    """Find axes, neighbours and temperatures for windows where they are."""
    axes = lay_axes(ground, aligned)
    near = near_in_trees(ground, aligned.start, axes, near_count(k))
    records = turned_at(centred(ground, aligned.start), aligned.start, axes)
    return Field(axes, near, warmth(records, near, k, lost_at(ground, aligned)))


def _settle_part(
    k: int, near: NDArray[np.integer] | None, part: Part, stop: Event
) -> Aligned:
    """Slide the windows of a part, and regroup them, until few moves gain."""
    n = len(part.rows)
    within = None if near is None else neighbours_within(near, part.rows)
    descent, start, looks = lay_out_windows(
        k, dense(part.subjects), part.ground, part.aligned, within
    )
    moves, last = 0, -n
    while moves - last > SETTLED * n:
        last = moves
        for look, count in looks:
            if stop.is_set():
                raise KeyboardInterrupt
            moves = look(descent, k, moves, 0, count)
    return Aligned(start, dense(descent.groups.labels))
