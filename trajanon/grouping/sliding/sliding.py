"""Windows slide and change groups: until nothing gains, or at random, in blocks."""

from collections.abc import Callable, Iterator
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.descent_moves import Descent
from trajanon._kernels.random_moves import make_random_moves
from trajanon._kernels.sliding_windows import Slides, Windows, build_rows, slide_pass
from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.workers import in_threads, unwatched
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.annealing import Field, build_annealing
from trajanon.grouping.refinements.blocks import (
    block_of,
    draw_blocks,
    neighbours_within,
    put_together,
    random_word,
)
from trajanon.grouping.refinements.descent import Pass, build_descent, passes_of, settle
from trajanon.grouping.sliding.windows import (
    Aligned,
    centred,
    part_of,
    records_at,
    start_ranges,
    turned_at,
)

Near = NDArray[np.integer]  # neighbours of each window, (n, c)


class Block(NamedTuple):
    """Some of the windows, with start ranges of their own."""

    rows: Ints  # which of all windows they are, rising
    windows: Windows  # as of all, for these
    aligned: Aligned  # as of all, for these
    begin: Ints  # where on their runs the starts are counted from, (n,)
    word: np.uint64  # random bits, not all 0


BlockWork = Callable[[Block, Event], Aligned]  # with the windows of a block, in a thread


def work_in_blocks(
    problem: Problem,
    windows: Windows,
    aligned: Aligned,
    axes: Floats,
    work: BlockWork,
    *,
    chained: bool = False,
    watch: Callable[[], None] = unwatched,
) -> Aligned:
    """Work in blocks of near groups, all at once; those of a run share its free room at random."""
    first, last = start_ranges(windows, aligned.start, problem.random)
    records = turned_at(windows, aligned.start, axes)

    def blocks() -> Iterator[Block]:
        for rows in draw_blocks(records, aligned.labels, problem.random):
            part, begin = part_of(windows, rows, first, last, chained=chained)
            part_aligned = Aligned(aligned.start[rows] - begin, dense(aligned.labels[rows]))
            yield Block(rows, part, part_aligned, begin, random_word(problem.random))

    def search(block: Block, stop: Event) -> tuple[Ints, Aligned]:
        start, labels = work(block, stop)
        return block.rows, Aligned(block.begin + start, labels)

    results = in_threads((partial(search, block) for block in blocks()), watch)
    start = np.empty_like(first)
    for rows, slid in results:
        start[rows] = slid.start
    return Aligned(start, put_together((rows, slid.labels) for rows, slid in results))


def settle_windows(problem: Problem, near: Near | None, block: Block, stop: Event) -> Aligned:
    """Slide the windows of a block, and regroup them if neighbours are given, until none gains."""
    n = len(block.rows)
    start = block.aligned.start.copy()
    windows = centred(block.windows, start)

    records = records_at(windows, start)
    neighbours = np.empty((n, 0), np.int64) if near is None else neighbours_within(near, block.rows)
    descent = build_descent(problem.part(block.rows), records, block.aligned.labels, neighbours)
    looked = np.full(n, -1)
    room = np.empty((2, len(windows.mean)))

    def slide(_: Descent, k: int, moves: int, first: int, end: int) -> int:
        return int(slide_pass(descent, windows, start, looked, room, moves, first, end))

    passes: list[tuple[Pass, int]] = [(slide, n)]
    if near is not None:
        passes += passes_of(descent)
    settle(block_of(problem, stop), descent, passes, "Settling windows")
    return Aligned(start, dense(descent.groups.labels))


def anneal_windows(
    field: Field, axes: Floats, moves: int, heats: Floats, pace: int, block: Block, stop: Event
) -> Aligned:
    """Make random moves of the windows of a block, ``moves`` for each, between two heats.

    Windows slide by paces of so many steps: with fewer starts, less is read and compared.
    """
    windows = centred(block.windows, block.aligned.start)

    # Starts are counted in paces from the first that a window can reach from where it is.
    offset = block.aligned.start % pace
    start = block.aligned.start // pace
    windows = windows._replace(place=windows.place + offset, most=(windows.most - offset) // pace)
    starts = windows.most + 1
    first = np.cumsum(starts) - starts

    # In single precision twice as many fit into a core's cache; settling is exact.
    rows = np.empty((starts.sum(), axes.shape[1]), dtype=np.float32)
    build_rows(windows, axes.T.copy(), np.empty(len(axes)), pace, first, rows)
    records = rows[first + start].astype(np.float64)

    annealing = build_annealing(field, records, block.aligned.labels, block.rows, block.word)
    unknown = np.full_like(annealing.descent.neighbours, -1)
    slides = Slides(rows, first, starts, start, start.copy(), unknown)

    if stop.is_set():
        raise KeyboardInterrupt
    make_random_moves(annealing, slides, field.problem.k, moves * len(start), *heats)
    return Aligned(offset + pace * start, dense(annealing.descent.groups.labels))
