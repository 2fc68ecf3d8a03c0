"""Parts of the windows that slide and are regrouped on their own, all at once."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.annealing import Annealing
from trajanon._kernels.descent import Descent
from trajanon._kernels.sliding import anneal_sliding, slide_pass
from trajanon._kernels.windows import Slides, Windows, find_meetings
from trajanon.align.aligned import Aligned
from trajanon.align.windows import centred, part_of, records_at, shared_ranges, turned_at
from trajanon.arrays import Floats, Ints
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.refine.blocks import draw_blocks
from trajanon.refine.descent import Look, begin, looks_of
from trajanon.refine.grouped import lay_out
from trajanon.refine.random_moves import QUANTILES, nearest_most, neighbours_within
from trajanon.workers import in_threads, unwatched


class Field(NamedTuple):
    """What random moves in all parts have in common."""

    axes: Floats  # in which they see the records, (p, q)
    near: Ints  # neighbours of each window, (n, c)
    warmth: Floats  # square root of the temperature that suits each window, (n,)


Lay = Callable[[Windows, Ints, Ints, Ints], tuple[Windows, Ints]]
"""(windows, which windows, their first and last starts) to their windows, and where on
their runs its starts are counted from."""

LayRows = Callable[[Windows, Floats, Ints, NDArray[np.float32]], None]
"""Given windows, axes, and the first row of each window, fills the rows."""


class Part(NamedTuple):
    """Some of the windows, with start ranges of their own."""

    rows: Ints  # which of all windows they are, rising
    windows: Windows  # as for all, for these
    aligned: Aligned  # as for all, for these
    subjects: Ints  # as for all, for these
    begin: Ints  # where on their runs the starts are counted from, (n,)
    word: np.uint64  # random bits, not all 0


def work_in_parts(
    problem: Problem,
    windows: Windows,
    aligned: Aligned,
    axes: Floats,
    work: Callable[[Part, Event], Aligned],
    lay: Lay = part_of,
    watch: Callable[[], None] = unwatched,
) -> Aligned:
    """Work in parts of whole groups that are near each other in axes, all at once.

    What lies between the windows of a run is shared out among them at random first, so that those
    in several parts never meet.
    """
    first, last = shared_ranges(windows, aligned.start, problem.random)
    parts = []
    records = turned_at(windows, aligned.start, axes)
    for rows in draw_blocks(records, aligned.labels, problem.random):
        own, begin = lay(windows, rows, first, last)
        mine = Aligned(aligned.start[rows] - begin, dense(aligned.labels[rows]))
        word = problem.random.integers(1, 2**63, dtype=np.uint64)
        parts.append(Part(rows, own, mine, problem.subjects[rows], begin, word))
    del records
    start, labels, groups = np.empty_like(first), np.empty_like(first), 0
    found = in_threads([partial(_centred_first, work, part) for part in parts], watch)
    for part, (slid, theirs) in zip(parts, found, strict=True):
        start[part.rows] = part.begin + slid
        labels[part.rows] = groups + theirs
        groups += int(theirs.max()) + 1
    return Aligned(start, dense(labels))


def _centred_first(work: Callable[[Part, Event], Aligned], part: Part, stop: Event) -> Aligned:
    return work(part._replace(windows=centred(part.windows, part.aligned.start)), stop)


def anneal_part(
    k: int, field: Field, moves: int, heats: Floats, lay: LayRows, part: Part, stop: Event
) -> Aligned:
    """Make random moves in a part."""
    near = neighbours_within(field.near, part.rows)
    starts = part.windows.most + 1
    first = np.cumsum(starts) - starts
    # In single precision twice as many fit into a core's cache; settling is exact.
    rows = np.empty((starts.sum(), field.axes.shape[1]), dtype=np.float32)
    lay(part.windows, np.ascontiguousarray(field.axes), first, rows)
    start = part.aligned.start.copy()
    slides = Slides(rows, first, starts, start, np.empty_like(near), start.copy())
    find_meetings(slides, near)
    if stop.is_set():
        raise KeyboardInterrupt
    records = rows[first + start].astype(np.float64)
    groups = lay_out(records, part.aligned.labels, part.subjects, len(start) // k + 1)
    annealing = Annealing(
        descent=begin(groups, near),
        warmth=field.warmth[part.rows],
        quantiles=QUANTILES,
        ranks=nearest_most(near.shape[1]),
        random=np.array([part.word]),
    )
    anneal_sliding(annealing, slides, k, moves * len(start), *heats)
    return Aligned(start, dense(groups.labels))


def lay_out_windows(
    k: int, subjects: Ints, windows: Windows, aligned: Aligned, near: Ints | None
) -> tuple[Descent, Ints, list[tuple[Look, int]]]:
    """Lay out windows that are to settle: to slide, and join other groups if near some."""
    n, start = len(aligned.start), aligned.start.copy()
    windows = centred(windows, start)
    groups = lay_out(records_at(windows, start), aligned.labels, subjects, n // k + 1)
    descent = begin(groups, np.empty((n, 0), np.int64) if near is None else near)
    looked = np.full(n, -1)

    def slide(_: Descent, k: int, moves: int, first: int, end: int) -> int:
        return int(slide_pass(descent, windows, start, looked, moves, first, end))

    looks: list[tuple[Look, int]] = [(slide, n)]
    return descent, start, looks if near is None else looks + looks_of(descent)
