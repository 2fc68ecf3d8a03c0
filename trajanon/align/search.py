"""Windows and groups are chosen together: sliding is a move of the search."""

from functools import partial
from threading import Event

import numpy as np

from trajanon import neighbours
from trajanon._kernels.windows import Windows
from trajanon.align.sliding import Block, Near, anneal_windows, settle_windows, work_in_blocks
from trajanon.align.window_neighbours import approximate_window_neighbours, exact_window_neighbours
from trajanon.align.windows import Aligned, centred, lost_at, summed, turned_at
from trajanon.arrays import Floats, Ints
from trajanon.axes import leading_axes
from trajanon.loss import information_loss
from trajanon.neighbours import neighbour_count
from trajanon.problem import NullLog, Problem
from trajanon.refine.blocks import in_thread, neighbours_within
from trajanon.refine.descent import SETTLED
from trajanon.refine.random_moves import DROPPED, PASS, Field, cooling, warmth

HOT, COLD = 0.7, 0.03
"""First and last heat; what groups look like from afar is settled before."""

NEAR_ROUNDS = 3
"""Times that the neighbours of windows are found anew: windows slide, and meet others."""

MOVES_SHARE = 0.625
"""Share of the moves per record that a run of annealing gets."""

LEAST, FULL = 0.06, 9_000
"""A large table of n windows gets LEAST + FULL / n of a small one's moves per window: instead of
5,000 a window 1,391 with 41,233 windows, and 345 with a million."""

LARGE_PASS, FEWEST = 60, 6
"""Moves per window of a large table's pass at most, and passes at least. With each the room between
windows of a run is shared anew: 1,500 moves in 24 passes end with a mean displacement that is 1 %
less than in 16."""

SETTLINGS = 2
"""Times that the windows of a large table settle in the end, in blocks with other borders."""


class WindowLog(NullLog):
    """The windows and groups that lost least so far."""

    def __init__(self, windows: Windows, aligned: Aligned) -> None:
        super().__init__()
        self._windows = windows
        self._all = float(summed(windows, aligned.start, lambda some: (some**2).sum()))
        self.lost = lost_at(windows, aligned)
        self.aligned = aligned
        self.start = aligned.start.copy()  # where windows are that settle

    def offer(self, labels: Ints, lost: float | None = None) -> None:
        """Keep windows where they are, and groups, if they lose less than all before."""
        self.offer_windows(Aligned(self.start, labels))

    def offer_windows(self, aligned: Aligned) -> None:
        """Keep windows and groups that lose less than all before."""
        lost = lost_at(self._windows, aligned)
        if lost < self.lost:
            self.aligned = Aligned(aligned.start.copy(), aligned.labels.copy())
            self.lost = lost

    @property
    def note(self) -> str:
        """What is lost, for those who watch the progress."""
        return f"IL {information_loss(self.lost, self._all):.4g} %"


def search_windows(problem: Problem, windows: Windows, log: WindowLog, *, regroup: bool) -> None:
    """Slide windows, and regroup them, to lose less; the log keeps the best.

    First windows slide to where their groups lose least, until none gains. Then random moves,
    ever colder, slide windows and change groups. In the end windows settle: they slide and change
    groups until neither gains. A large table is searched in blocks alone, with fewer moves.
    """
    k, n = problem.k, len(problem.subjects)
    large = n > max(neighbours.WHOLE, neighbours.leaf_size(neighbour_count(k)))

    def settle(aligned: Aligned, near: Near | None) -> Aligned:
        return settle_windows(problem, windows, aligned, near, log.start)

    def settle_in_blocks(aligned: Aligned, axes: Floats, near: Near | None) -> Aligned:
        tell = partial(problem.progress, "Settling windows", 0, None, log.note)
        tell()
        work = partial(_settle_block, problem, near, large)
        aligned = work_in_blocks(problem, windows, aligned, axes, work, chained=large, watch=tell)
        log.offer_windows(aligned)
        return aligned

    if large:
        here = centred(windows, log.aligned.start)
        aligned = settle_in_blocks(log.aligned, axes_of(here, log.aligned.start, log.lost), None)
    else:
        aligned = settle(log.aligned, None)
    if not regroup:
        return
    moves, heats = sliding_schedule(problem.budget.moves_per_record, n, large)
    passes = len(heats) - 1
    for some in filter(len, np.array_split(np.arange(passes), NEAR_ROUNDS)):
        axes, field = window_field(windows, aligned, k, large)
        for number in some.tolist():
            tell = partial(problem.progress, "Sliding windows", number, passes, log.note)
            tell()
            between = heats[number : number + 2]
            work = partial(anneal_windows, problem, field, axes, moves, between, large)
            aligned = work_in_blocks(problem, windows, aligned, axes, work, watch=tell)
            log.offer_windows(aligned)
    axes, field = window_field(windows, aligned, k, large)
    for _ in range(SETTLINGS if large else 1):
        aligned = settle_in_blocks(aligned, axes, field.neighbours)
    if not large:
        settle(aligned, field.neighbours)


def sliding_schedule(moves: int, n: int, large: bool) -> tuple[int, Floats]:
    """Find the moves per window of each pass, and the heats before and after it."""
    moves = int(MOVES_SHARE * moves)
    if large:
        return cooling(int(moves * (LEAST + FULL / n)), LARGE_PASS, FEWEST, HOT, COLD)
    return cooling(moves, PASS, 0, HOT, COLD)


def _settle_block(
    problem: Problem, near: Near | None, large: bool, block: Block, stop: Event
) -> Aligned:
    """Let the windows of a block settle; of a large table, until few moves gain."""
    alone = in_thread(problem, stop, block.rows)
    within = None if near is None else neighbours_within(near, block.rows)
    enough = SETTLED * len(block.rows) if large else None
    start = np.empty_like(block.begin)
    return settle_windows(alone, block.windows, block.aligned, within, start, enough)


def window_field(windows: Windows, aligned: Aligned, k: int, large: bool) -> tuple[Floats, Field]:
    """Find axes, (p, q), and neighbours and temperatures for windows where they are."""
    here = centred(windows, aligned.start)
    lost = lost_at(here, aligned)
    axes = axes_of(here, aligned.start, lost)
    find = approximate_window_neighbours if large else exact_window_neighbours
    near = find(windows, aligned.start, axes, neighbour_count(k))
    records = turned_at(here, aligned.start, axes)
    return axes, Field(near, warmth(records, near, k, lost))


def axes_of(windows: Windows, start: Ints, lost: float) -> Floats:
    """Find the axes, (p, q), that a search needs to see, where so much is lost."""
    squares = summed(windows, start, lambda some: np.einsum("ij,ik->jk", some, some))
    return leading_axes(squares, DROPPED * lost)
