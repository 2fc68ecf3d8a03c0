"""Alignment of a large table: in parts alone, near windows from trees, fewer moves."""

from functools import partial
from threading import Event

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.windows import Windows, build_rows_at_once
from trajanon.align.aligned import Aligned, Best, lost_at
from trajanon.align.near import near_in_trees
from trajanon.align.parts import Field, Part, anneal_part, lay_out_windows, work_in_parts
from trajanon.align.windows import centred, chained_part_of, summed, turned_at
from trajanon.arrays import Floats, Ints
from trajanon.axes import leading_axes
from trajanon.neighbours import neighbour_count
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.progress import Progress
from trajanon.refine.descend import SETTLED
from trajanon.refine.random_moves import DROPPED, neighbours_within, warmth

HOT, COLD = 0.7, 0.03
"""First and last heat, as of a small table."""

LEAST, FULL = 0.06, 9_000
"""A large table gets this share of a small one's moves per record, and in all those of
so many records besides: of 5,000 a window 1,391 with 41,233 windows, 345 with a
million."""

PASS, FEWEST = 60, 6
"""Moves per window of a pass at most, and passes at least. With each the room between
windows of a run is shared anew: 1,500 moves in 24 passes end with a mean displacement
that is 1 % less than in 16."""

ROUNDS = 3
"""How often it is asked which windows come near each other, before random moves."""

SETTLINGS = 2
"""Times that windows settle in the end, in parts with other borders."""


def search_large(
    problem: Problem, windows: Windows, best: Best, regroup: bool, progress: Progress
) -> None:
    """Slide windows, and regroup them, as in a smaller table, but in parts alone."""
    k = problem.k

    def settled(aligned: Aligned, axes: Floats, near: Ints | None) -> Aligned:
        tell = partial(problem.progress, "Settling windows", 0, None)
        tell()
        work = partial(_settle_part, k, near)
        aligned = work_in_parts(problem, windows, aligned, axes, work, chained_part_of, tell)
        best.offer(aligned)
        return aligned

    aligned = settled(best.aligned, axes_of(windows, best.aligned), None)
    if not regroup:
        return
    moves, heats = schedule(problem.budget.moves_per_record, len(aligned.start))
    passes = len(heats) - 1
    for some in filter(len, np.array_split(np.arange(passes), ROUNDS)):
        field = lay_field(windows, aligned, k)
        for number in some.tolist():
            tell = partial(progress, "Sliding windows", number, passes, best.note)
            tell()
            between = heats[number : number + 2]
            work = partial(anneal_part, k, field, moves, between, lay_at_once)
            aligned = work_in_parts(problem, windows, aligned, field.axes, work, watch=tell)
            best.offer(aligned)
    field = lay_field(windows, aligned, k)
    for _ in range(SETTLINGS):
        aligned = settled(aligned, field.axes, field.near)


def schedule(moves: int, n: int) -> tuple[int, Floats]:
    """Find the moves per window of each pass, and the heats before and after it."""
    moves = int(moves * (LEAST + FULL / n))
    passes = max(moves // PASS, FEWEST) if moves else 0
    return -(-moves // max(passes, 1)), np.geomspace(HOT, COLD, passes + 1)


def axes_of(windows: Windows, aligned: Aligned) -> Floats:
    """Find the axes, (p, q), that a search needs to see, some records at a time."""
    squares = summed(
        centred(windows, aligned.start),
        aligned.start,
        lambda some: np.einsum("ij,ik->jk", some, some),
    )
    return leading_axes(squares, DROPPED * lost_at(windows, aligned))


def lay_field(windows: Windows, aligned: Aligned, k: int) -> Field:
    """Find axes, neighbours and temperatures for windows where they are."""
    axes = axes_of(windows, aligned)
    near = near_in_trees(windows, aligned.start, axes, neighbour_count(k))
    records = turned_at(centred(windows, aligned.start), aligned.start, axes)
    return Field(axes, near, warmth(records, near, k, lost_at(windows, aligned)))


def lay_at_once(windows: Windows, axes: Floats, first: Ints, rows: NDArray[np.float32]) -> None:
    """Read all windows at all their starts, turned to axes, as `build_rows` does."""
    m = len(windows.mean) // 2
    # About a place near all of them, single precision is enough.
    centre = windows.mean.reshape(m, 2).mean(axis=0)
    weights = windows.share[:, None] * axes
    rest = ((np.tile(centre, m) - windows.mean)[:, None] * weights).sum(axis=0)
    build_rows_at_once(
        windows,
        np.ascontiguousarray(weights.T, dtype=np.float32),
        centre,
        rest.astype(np.float32),
        first,
        rows,
    )


def _settle_part(k: int, near: Ints | None, part: Part, stop: Event) -> Aligned:
    """Slide the windows of a part, and regroup them, until few moves gain."""
    n = len(part.rows)
    within = None if near is None else neighbours_within(near, part.rows)
    descent, start, looks = lay_out_windows(k, part.subjects, part.windows, part.aligned, within)
    moves, last = 0, -n
    while moves - last > SETTLED * n:
        last = moves
        for look, count in looks:
            if stop.is_set():
                raise KeyboardInterrupt
            moves = look(descent, k, moves, 0, count)
    return Aligned(start, dense(descent.groups.labels))
