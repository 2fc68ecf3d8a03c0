"""Alignment: windows slide on their tracks towards their groups, on one page."""

import logging
from dataclasses import replace
from functools import partial
from threading import Event
from time import perf_counter

import numpy as np

from trajanon import loss, neighbours
from trajanon._kernels.window_records import Windows
from trajanon.align.sliding import Block, Near, Work, anneal_windows, settle_windows, work_in_blocks
from trajanon.align.windows import (
    Aligned,
    approximate_window_neighbours,
    build_windows,
    centred,
    exact_window_neighbours,
    in_order,
    lost_at,
    start_ranges,
    summed,
    turned_at,
)
from trajanon.arrays import Floats, Ints
from trajanon.axes import leading_axes
from trajanon.errors import TrajanonError
from trajanon.heap import give_back
from trajanon.neighbours import neighbour_count
from trajanon.partition import Partition, Stage, broken_promises, dense, regrouped
from trajanon.problem import Problem, SearchLog
from trajanon.progress import Progress, silent
from trajanon.search.annealing import DROPPED, PASS, Field, cooling, warmth
from trajanon.search.blocks import block_of, draw_blocks, neighbours_within
from trajanon.search.descent import SETTLED
from trajanon.settings import Effort
from trajanon.times import Timing, search_columns
from trajanon.trajectories import Trajectories
from trajanon.utility import moved_to

_LOG = logging.getLogger(__name__)

HOT, COLD = 0.7, 0.03  # first and last heat; what groups look like from afar is settled before
NEAR_ROUNDS = 3  # times the neighbours of windows are found anew: windows slide, and meet others
SETTLINGS = 2  # times that windows of a large table settle in the end, in blocks with other borders
MOVES_SHARE = 0.625  # share of the moves per record that a run of annealing gets

LEAST, FULL = 0.06, 9_000
"""A large table of n windows gets LEAST + FULL / n of a small one's moves per window: instead of
5,000 a window 1,391 with 41,233 windows, and 345 with a million."""

LARGE_PASS, FEWEST = 60, 6
"""Moves per window of a large table's pass at most, and passes at least. With each the room between
windows of a run is shared anew: 1,500 moves in 24 passes end with a mean displacement that is 1 %
less than in 16."""


def align(
    trajectories: Trajectories,
    partition: Partition,
    k: int,
    *,
    subjects: Ints | None,
    regroup: bool,
    moves_per_record: int,
    seed: int,
    timing: Timing | None = None,
    progress: Progress = silent,
) -> tuple[Trajectories, Partition]:
    """Slide trajectories on their tracks, and regroup them, to be near their groups.

    Where a trajectory begins on its track is an accident of the cutting: two people who went the
    same way get trajectories that differ by where theirs begin. With a timing, the search sees the
    departure of a window wherever it slides.
    """
    since, tracks = perf_counter(), trajectories.tracks
    if tracks is None:
        return trajectories, partition
    _, weights = search_columns(trajectories, timing)
    departure = None if timing is None else timing.departures(tracks)
    windows = build_windows(tracks, trajectories.points.shape[1], departure, weights)
    first, last = start_ranges(windows, tracks.start)
    if (first == last).all():
        return trajectories, partition
    own = np.arange(len(trajectories)) if subjects is None else dense(subjects)
    order = np.arange(len(own))
    if is_large(len(own), k):
        order = near_order(windows, Aligned(tracks.start, partition.labels))
    log = WindowLog(
        in_order(windows, order), Aligned(tracks.start[order], dense(partition.labels[order]))
    )
    problem = Problem(
        records=np.empty((len(own), 0)),  # they change as windows slide
        subjects=own[order],
        k=k,
        random=np.random.default_rng([seed, 1]),  # not the numbers of the search before
        budget=Effort(moves_per_record=moves_per_record),
        log=log,
        progress=progress,
    )
    stopped = False
    try:
        search_windows(problem, log, regroup=regroup)
    except KeyboardInterrupt:
        _LOG.info("stopping: the best windows and groups so far are taken")
        stopped = True
    start, labels = np.empty((2, len(order)), dtype=np.int64)
    start[order], labels[order] = log.aligned
    labels = dense(labels)
    if broken_promises(labels, own, k):
        msg = f"alignment left a group of fewer than {k}; please report it"
        raise TrajanonError(msg)
    del windows, log, problem  # large, and not needed any more
    give_back()
    slid = trajectories.slid(tracks.along + start - tracks.start)
    aligned = regrouped(partition, slid.records, labels)
    if _mean_metres(slid, aligned) >= _mean_metres(trajectories, partition):
        slid, aligned = trajectories, partition
    lost = aligned.information_loss
    if timing is not None:
        seen, weights = search_columns(slid, timing)
        lost = regrouped(aligned, seen, aligned.labels, weights).information_loss
    stage = Stage("alignment", lost, perf_counter() - since)
    return slid, replace(aligned, stages=(*partition.stages, stage), stopped=stopped)


def _mean_metres(trajectories: Trajectories, groups: Partition) -> float:
    """Measure how far points are from where their group's line has them, on average."""
    lines = groups.lines(trajectories.points)
    return float(moved_to(trajectories.points, lines, groups.labels).mean(dtype=np.float64))


class WindowLog(SearchLog):
    """The windows and groups that lost least so far."""

    def __init__(self, windows: Windows, aligned: Aligned) -> None:
        super().__init__()
        self.windows = windows
        self._all = float(summed(windows, aligned.start, lambda some: (some**2).sum()))
        self.lost = lost_at(windows, aligned)
        self.aligned = aligned
        self.start = aligned.start.copy()  # where windows are that settle

    def offer(self, labels: Ints, lost: float | None = None) -> None:
        """Keep windows where they are, and groups, if they lose less than all before."""
        self.offer_windows(Aligned(self.start, labels))

    def offer_windows(self, aligned: Aligned) -> None:
        """Keep windows and groups that lose less than all before."""
        lost = lost_at(self.windows, aligned)
        if lost < self.lost:
            self.aligned = Aligned(aligned.start.copy(), aligned.labels.copy())
            self.lost = lost

    @property
    def note(self) -> str:
        """What is lost, for those who watch the progress."""
        return f"IL {loss.information_loss(self.lost, self._all):.4g} %"


def is_large(n: int, k: int) -> bool:
    """Whether windows are too many to be searched in one piece."""
    return n > max(neighbours.WHOLE, neighbours.leaf_size(neighbour_count(k)))


def near_order(windows: Windows, aligned: Aligned) -> Ints:
    """Order windows so that near ones are near in memory, where a core finds them faster."""
    axes = axes_of(windows, aligned.start, lost_at(windows, aligned))
    records = turned_at(windows, aligned.start, axes)
    return np.concatenate(list(draw_blocks(records, aligned.labels, np.random.default_rng(0))))


def search_windows(problem: Problem, log: WindowLog, *, regroup: bool) -> None:
    """Slide windows, and regroup them, to lose less; the log keeps the best.

    First windows slide to where their groups lose least, until none gains. Then random moves,
    ever colder, slide windows and change groups. In the end windows settle: they slide and change
    groups until neither gains. A large table is searched in blocks alone, with fewer moves.
    """
    n, windows = len(problem.subjects), log.windows
    large = is_large(n, problem.k)

    def in_blocks(
        work: Work, axes: Floats, stage: tuple[str, int, int | None], *, chained: bool = False
    ) -> Aligned:
        tell = partial(problem.progress, *stage, log.note)
        tell()
        found = work_in_blocks(problem, windows, aligned, axes, work, chained=chained, watch=tell)
        log.offer_windows(found)
        return found

    def settle_in_blocks(axes: Floats, near: Near | None) -> Aligned:
        work = partial(_settle_block, problem, near, large)
        return in_blocks(work, axes, ("Settling windows", 0, None), chained=large)

    aligned = log.aligned
    if large:
        here = centred(windows, aligned.start)
        aligned = settle_in_blocks(axes_of(here, aligned.start, log.lost), None)
    else:
        aligned = settle_windows(problem, windows, aligned, None, log.start)
    if not regroup:
        return
    moves, heats = sliding_schedule(problem.budget.moves_per_record, n, large)
    passes = len(heats) - 1
    for some in filter(len, np.array_split(np.arange(passes), NEAR_ROUNDS)):
        axes, field = window_field(problem, windows, aligned, large)
        for number in some.tolist():
            work = partial(anneal_windows, field, axes, moves, heats[number : number + 2])
            aligned = in_blocks(work, axes, ("Sliding windows", number, passes))
    axes, field = window_field(problem, windows, aligned, large)
    for _ in range(SETTLINGS if large else 1):
        aligned = settle_in_blocks(axes, field.neighbours)
    if not large:
        settle_windows(problem, windows, aligned, field.neighbours, log.start)


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
    alone = block_of(problem, stop, block.rows)
    within = None if near is None else neighbours_within(near, block.rows)
    enough = SETTLED * len(block.rows) if large else None
    start = np.empty_like(block.begin)
    return settle_windows(alone, block.windows, block.aligned, within, start, enough)


def window_field(
    problem: Problem, windows: Windows, aligned: Aligned, large: bool
) -> tuple[Floats, Field]:
    """Find axes, (p, q), and neighbours and temperatures for windows where they are."""
    here = centred(windows, aligned.start)
    lost = lost_at(here, aligned)
    axes = axes_of(here, aligned.start, lost)
    find = approximate_window_neighbours if large else exact_window_neighbours
    near = find(windows, aligned.start, axes, neighbour_count(problem.k))
    records = turned_at(here, aligned.start, axes)
    return axes, Field(problem, near, warmth(records, near, problem.k, lost))


def axes_of(windows: Windows, start: Ints, lost: float) -> Floats:
    """Find the axes, (p, q), that a search needs to see, where so much is lost."""
    squares = summed(windows, start, lambda some: np.einsum("ij,ik->jk", some, some))
    return leading_axes(squares, DROPPED * lost)
