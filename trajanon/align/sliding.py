"""Windows slide and change groups: until nothing gains, or at random, in blocks."""

from collections.abc import Callable, Iterator
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.random_moves import make_random_moves
from trajanon._kernels.record_moves import Descent
from trajanon._kernels.slide_moves import room_for, slide_pass
from trajanon._kernels.window_records import (
    TILE,
    Slides,
    Windows,
    build_rows_at_once,
    find_meetings,
)
from trajanon.align.windows import (
    Aligned,
    centred,
    part_of,
    records_at,
    start_ranges,
    take,
    turned_at,
)
from trajanon.arrays import Floats, Ints
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.search.annealing import Field, build_annealing
from trajanon.search.blocks import draw_blocks, put_together, random_word
from trajanon.search.descent import Pass, build_descent, passes_of, settle
from trajanon.workers import in_threads, unwatched

_SOME = 16  # one window of so many tells where a block is

Near = NDArray[np.integer]  # neighbours of each window, (n, c)


class Block(NamedTuple):
    """Some of the windows, with start ranges of their own."""

    rows: Ints  # which of all windows they are, rising
    windows: Windows  # as of all, for these
    aligned: Aligned  # as of all, for these
    begin: Ints  # where on their runs the starts are counted from, (n,)
    word: np.uint64  # random bits, not all 0


Work = Callable[[Block, Event], Aligned]  # with the windows of a block, in a thread


def work_in_blocks(
    problem: Problem,
    windows: Windows,
    aligned: Aligned,
    axes: Floats,
    work: Work,
    *,
    chained: bool = False,
    watch: Callable[[], None] = unwatched,
) -> Aligned:
    """Work in blocks of whole groups that are near each other in axes, all at once.

    What lies between the windows of a run is shared out among them at random first, so that those
    in several blocks never meet; if chained, those in one block share their parts again.
    """
    first, last = start_ranges(windows, aligned.start, problem.random)
    records = turned_at(windows, aligned.start, axes)

    def blocks() -> Iterator[Block]:
        for rows in draw_blocks(records, aligned.labels, problem.random):
            own, begin = part_of(windows, rows, first, last, chained=chained)
            mine = Aligned(aligned.start[rows] - begin, dense(aligned.labels[rows]))
            yield Block(rows, own, mine, begin, random_word(problem.random))

    def search(block: Block, stop: Event) -> tuple[Ints, Aligned]:
        start, labels = work(block, stop)
        return block.rows, Aligned(block.begin + start, labels)

    found = in_threads((partial(search, block) for block in blocks()), watch)
    start = np.empty_like(first)
    for rows, slid in found:
        start[rows] = slid.start
    return Aligned(start, put_together((rows, slid.labels) for rows, slid in found))


def settle_windows(
    problem: Problem,
    windows: Windows,
    aligned: Aligned,
    near: Near | None,
    start: Ints,
    enough: float | None = None,
) -> Aligned:
    """Slide windows, and regroup them if neighbours are given; ``start`` shows where they are."""
    n = len(start)
    start[:] = aligned.start
    windows = centred(windows, start)
    neighbours = np.empty((n, 0), np.int64) if near is None else near.astype(np.int64, copy=False)
    records = records_at(windows, start)
    descent = build_descent(records, aligned.labels, problem.subjects, problem.k, neighbours)
    looked, room = np.full(n, -1), room_for(windows)

    def slide(_: Descent, k: int, moves: int, first: int, end: int) -> int:
        return int(slide_pass(descent, windows, start, looked, room, moves, first, end))

    passes: list[tuple[Pass, int]] = [(slide, n)]
    passes += [] if near is None else passes_of(descent)
    settle(problem, descent, passes, "Settling windows", enough)
    return Aligned(start, dense(descent.groups.labels))


def anneal_windows(
    field: Field, axes: Floats, moves: int, heats: Floats, block: Block, stop: Event
) -> Aligned:
    """Make random moves of the windows of a block, ``moves`` for each, between two heats."""
    _, windows, aligned, _, word = block
    # About some of them: that is near enough for single precision.
    some = slice(None, None, _SOME)
    windows = windows._replace(mean=centred(take(windows, some), aligned.start[some]).mean)
    starts = windows.most + 1
    first = np.cumsum(starts) - starts
    # In single precision twice as many fit into a core's cache; settling is exact.
    rows = np.empty((starts.sum(), axes.shape[1]), dtype=np.float32)
    build_rows_in_single(windows, axes, first, rows)
    start = aligned.start.copy()
    records = rows[first + start].astype(np.float64)
    annealing = build_annealing(field, records, aligned.labels, block.rows, word)
    near = annealing.descent.neighbours
    slides = Slides(rows, first, starts, start, np.empty_like(near), start.copy())
    find_meetings(slides, near)
    if stop.is_set():
        raise KeyboardInterrupt
    make_random_moves(annealing, slides, field.problem.k, moves * len(start), *heats)
    return Aligned(start, dense(annealing.descent.groups.labels))


def build_rows_in_single(
    windows: Windows, axes: Floats, first: Ints, rows: NDArray[np.float32]
) -> None:
    """Read all windows at all their starts, turned to axes, for random moves."""
    m = len(windows.mean) // 2
    # About a place near all of them, single precision is enough.
    centre = windows.mean[: 2 * m].reshape(m, 2).mean(axis=0)
    weights = windows.share[:, None] * axes
    off = np.tile(centre, m) - windows.mean[: 2 * m]
    rest = (off[:, None] * weights[: 2 * m]).sum(axis=0)
    by_axis = np.zeros((axes.shape[1], len(axes) + m % 2 * 2), dtype=np.float32)
    by_axis[:, : 2 * m] = weights[: 2 * m].T
    by_axis[:, 2 * (m + m % 2) :] = weights[2 * m :].T
    longest = int(windows.most.max()) + 1 + TILE + windows.stride * m
    room = np.zeros((4, longest), dtype=np.float32)
    build_rows_at_once(windows, by_axis, centre, rest.astype(np.float32), room, first, rows)
