"""Alignment: windows slide in time on their tracks towards their groups, on one page.

This is our own. A window starts at a step of its run, a piece of a track; the search changes starts
and groups, both (n,), at once: where windows are, and with whom. What is near is searched along the
leading principal axes of the windows where they are.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import nan
from threading import Event
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.annealing_moves import make_random_moves
from trajanon._kernels.descent_moves import Descent
from trajanon._kernels.sliding_windows import Slides, Windows, build_rows, slide_pass
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.effort_of_the_search import EFFORTS, Effort
from trajanon.common.glibc_memory import return_free_memory
from trajanon.common.progress import Progress, silent
from trajanon.common.threads_and_dask import in_threads, unwatched
from trajanon.grouping import loss
from trajanon.grouping.k_promise import check_kept
from trajanon.grouping.neighbours import neighbour_count
from trajanon.grouping.partition import Partition, Stage, regrouped
from trajanon.grouping.principal_axes import leading_axes
from trajanon.grouping.problem import Problem, SearchLog
from trajanon.grouping.refinements.annealing import (
    DROPPED_SHARE,
    Shared,
    build_annealing,
    warmth_of,
)
from trajanon.grouping.refinements.blocks import (
    block_of,
    draw_blocks,
    neighbours_within,
    put_together,
    random_word,
)
from trajanon.grouping.refinements.descent import SETTLED, Pass, build_descent, passes_of, settle
from trajanon.grouping.sliding.possible_starts import (
    Aligned,
    about_first,
    build_windows,
    centred,
    lay_out,
    part_of,
    records_at,
    start_ranges,
    summed,
    turned_at,
    window_neighbours,
)
from trajanon.trajectories.distances import distances_to_lines
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.search_columns import search_columns
from trajanon.trajectories.trajectories import Trajectories

_LOG = logging.getLogger(__name__)


class Schedule(NamedTuple):
    """The heats and passes in which windows slide at random."""

    hot: float  # the first heat
    passes: int  # with each, blocks and the room between windows of a run are divided again
    # Steps by which windows slide, each pace for as many passes. Before each, neighbours are
    # searched again: windows slide, and meet others.
    paces: tuple[int, ...]
    # Windows of a block settle until a round makes moves of this share of them or fewer.
    settled: float


COLD = 0.03  # the last heat
LONG = Schedule(hot=0.7, passes=24, paces=(1, 1, 1), settled=0.0)
SHORT = Schedule(hot=1.5, passes=16, paces=(4, 2, 1), settled=SETTLED)
MANY = 85_000
"""So many windows get under 1,000 moves each by default: reading where they may lie then takes more
time than moves. So passes are fewer, and windows slide farther at first; they begin hotter, as
groups are not refined before. With more moves the long schedule brings windows nearer. The last
moves that settle take a quarter of that time, and bring windows 0.04 % nearer."""
SETTLINGS = 2  # times that windows settle in the end, in blocks with other borders

MOVES_SHARE = 0.75
LEAST_SHARE = 0.06
FULL_WINDOWS = 9_000
"""Of the moves per record that a run of annealing gets, windows get the first share. Of n windows
beyond 9,574 each gets LEAST_SHARE + FULL_WINDOWS / n of that: 1,670 moves with 41,233, and 414 with
a million."""


def begins_hot(n: int, effort: Effort) -> bool:
    """Return whether n windows slide by the short schedule, which forgets refined groups."""
    return n >= MANY and 0 < effort.moves_per_record <= EFFORTS["balanced"].moves_per_record


def may_slide(trajectories: Trajectories) -> bool:
    """Return whether any window has room on its track while all others stay."""
    if (tracks := trajectories.tracks) is None:
        return False
    first, last = start_ranges(lay_out(tracks, trajectories.points.shape[1]), tracks.start)
    return bool((first < last).any())


def align(
    trajectories: Trajectories,
    partition: Partition,
    k: int,
    *,
    subjects: Ints | None,
    moves_per_record: int | None,
    seed: int,
    timing: Timing | None = None,
    progress: Progress = silent,
) -> tuple[Trajectories, Partition]:
    """Slide windows on their tracks, and regroup them, to be near their groups.

    Where one begins on its track is an accident of the cutting: two people who went the same way
    get trajectories that differ by that. With a timing, the search sees departures as well. If
    ``moves_per_record`` is None, groups stay as they are. Returned are the windows and groups as
    they are then, or as they were, if these are nearer in metres.
    """
    since = perf_counter()
    tracks = trajectories.tracks
    if tracks is None or not may_slide(trajectories):
        return trajectories, partition

    _, weights = search_columns(trajectories, timing)
    departure = None if timing is None else timing.departures(tracks)
    windows = build_windows(tracks, trajectories.points.shape[1], departure, weights)
    people = np.arange(len(trajectories)) if subjects is None else renumbered(subjects)
    log = WindowLog(windows, Aligned(tracks.start, renumbered(partition.labels)))
    problem = Problem(
        records=np.empty((len(people), 0)),  # they change as windows slide
        subjects=people,
        k=k,
        random=np.random.default_rng([seed, 1]),  # not the numbers of the search before
        budget=Effort(moves_per_record=moves_per_record or 0),
        log=log,
        progress=progress,
    )
    stopped = False
    try:
        search_windows(problem, log, regroup=moves_per_record is not None)
    except KeyboardInterrupt:
        _LOG.info("stopping: the best windows and groups so far are taken")
        stopped = True

    start = log.aligned.start
    labels = renumbered(log.aligned.labels)
    check_kept(labels, people, k, "alignment")
    del windows, log, problem  # large, and not needed any more
    return_free_memory()

    slid = trajectories.slid(tracks.along + start - tracks.start)
    aligned = regrouped(partition, slid.records, labels)
    if _mean_metres(slid, aligned) >= _mean_metres(trajectories, partition):
        slid = trajectories
        aligned = partition
    stage = Stage("alignment", _loss_seen(slid, aligned, timing), perf_counter() - since)
    return slid, replace(aligned, stages=(*partition.stages, stage), stopped=stopped)


def _loss_seen(trajectories: Trajectories, partition: Partition, timing: Timing | None) -> float:
    """Compute the IL of what the search sees: of places, and of departures with a timing."""
    if timing is None:
        return partition.information_loss
    columns, weights = search_columns(trajectories, timing)
    return regrouped(partition, columns, partition.labels, weights).information_loss


def _mean_metres(trajectories: Trajectories, groups: Partition) -> float:
    """Measure how far points are from the same one of their group's line, in metres on average."""
    lines = groups.lines(trajectories.points)
    return float(
        distances_to_lines(trajectories.points, lines, groups.labels).mean(dtype=np.float64)
    )


class WindowLog(SearchLog):
    """The windows and groups that lost least so far, and their SSE."""

    def __init__(self, windows: Windows, aligned: Aligned) -> None:
        super().__init__()
        self.windows = windows
        self.aligned = aligned
        self.lost = loss.sse(records_at(windows, aligned.start), aligned.labels)
        self._total = float(summed(windows, aligned.start, lambda records: (records**2).sum()))

    def offer_windows(self, aligned: Aligned, lost: float) -> None:
        """Keep windows and groups if they lose less, an SSE, than all before."""
        if lost < self.lost:
            self.aligned = aligned
            self.lost = lost

    @property
    def note(self) -> str:
        """Write the IL, for those who watch the progress."""
        return f"IL {loss.information_loss(self.lost, self._total):.4g} %"


def search_windows(problem: Problem, log: WindowLog, *, regroup: bool) -> None:
    """Slide windows, and regroup them, to lose less; the log keeps the best.

    They slide until none gains; then random moves, ever colder, slide and regroup them; in the end
    they slide and change groups until neither gains. All is done in blocks.
    """
    windows = log.windows
    aligned = log.aligned
    lost = log.lost  # the SSE of windows where they are now, which may be above the least

    n = len(problem.subjects)
    share_of_moves = min(LEAST_SHARE + FULL_WINDOWS / n, 1.0)
    moves = int(MOVES_SHARE * problem.budget.moves_per_record * share_of_moves)
    schedule = SHORT if begins_hot(n, problem.budget) else LONG
    pass_count = schedule.passes if moves else 0
    moves_of_pass = -(-moves // schedule.passes)  # per window, rounded up
    heats = np.geomspace(schedule.hot, COLD, schedule.passes + 1)

    def in_blocks(
        work: BlockWork, axes: Floats, task: str, done: int, *, chained: bool, measures: bool
    ) -> None:
        """Work in blocks, which changes ``aligned`` and ``lost``, and offer them to the log."""
        nonlocal aligned, lost
        report = partial(problem.progress, task, done, pass_count, log.note)
        report()
        aligned, lost = work_in_blocks(
            problem, windows, aligned, axes, work, chained=chained, measures=measures, watch=report
        )
        log.offer_windows(aligned, lost)

    settle_in_blocks = partial(in_blocks, task="Settling windows", chained=True, measures=True)
    axes = axes_of(centred(windows, aligned.start), aligned.start, log.lost)
    settle_in_blocks(partial(settle_windows, problem, None, schedule.settled), axes, done=0)
    if not regroup:
        return

    # The passes of each pace; without moves there are none.
    rounds = np.array_split(np.arange(pass_count), len(schedule.paces))
    for pace, passes in zip(schedule.paces, filter(len, rounds), strict=False):
        axes, shared = window_input(problem, windows, aligned, lost)
        for number in passes.tolist():
            heats_of_pass = heats[number : number + 2]
            work = partial(anneal_windows, shared, axes, moves_of_pass, heats_of_pass, pace)
            # Of many windows, hot passes lose more than there was, which need not be measured.
            measures = schedule is LONG or number == passes[-1]
            in_blocks(work, axes, "Sliding windows", number, chained=False, measures=measures)

    axes, shared = window_input(problem, windows, aligned, lost)
    settling = partial(settle_windows, problem, shared.neighbours, schedule.settled)
    for _ in range(SETTLINGS):
        settle_in_blocks(settling, axes, done=pass_count)


def window_input(
    problem: Problem, windows: Windows, aligned: Aligned, lost: float
) -> tuple[Floats, Shared]:
    """Find axes, (p, q), and neighbours and temperatures for windows where they lose an SSE."""
    start = aligned.start
    centred_windows = centred(windows, start)
    axes = axes_of(centred_windows, start, lost)
    near = window_neighbours(windows, start, axes, neighbour_count(problem.k))
    records = turned_at(centred_windows, start, axes)
    return axes, Shared(problem, near, warmth_of(records, near, problem.k, lost))


def axes_of(windows: Windows, start: Ints, lost: float) -> Floats:
    """Find the axes, (p, q), that a search needs to see, where the SSE is ``lost``."""
    products = summed(windows, start, lambda records: np.einsum("ij,ik->jk", records, records))
    return leading_axes(products, DROPPED_SHARE * lost)


Near = NDArray[np.integer]  # neighbours of each window, (n, c)


class Block(NamedTuple):
    """A block of windows for one thread; their starts count from where each may begin."""

    rows: Ints  # which of all windows they are, rising
    windows: Windows  # laid out as all are
    aligned: Aligned  # where these windows are, and in which groups
    begin: Ints  # where on their runs the starts are counted from, (rows,)
    seed: np.uint64  # of random moves: bits, not all 0


BlockWork = Callable[[Block, Event], Aligned]
"""What moves the windows of a block, in a thread that an event stops."""


def work_in_blocks(
    problem: Problem,
    windows: Windows,
    aligned: Aligned,
    axes: Floats,
    work: BlockWork,
    *,
    chained: bool = False,
    measures: bool = True,
    watch: Callable[[], None] = unwatched,
) -> tuple[Aligned, float]:
    """Work in blocks of near groups, all at once; those of a run share its free room at random.

    Returned are all windows and groups, and their SSE: NaN unless ``measures``.
    """
    first, last = start_ranges(windows, aligned.start, problem.random)
    records = turned_at(windows, aligned.start, axes)

    def blocks() -> Iterator[Block]:
        for rows in draw_blocks(records, aligned.labels, problem.random):
            part, begin = part_of(windows, rows, first, last, chained=chained)
            part_aligned = Aligned(aligned.start[rows] - begin, renumbered(aligned.labels[rows]))
            yield Block(rows, part, part_aligned, begin, random_word(problem.random))

    def search(block: Block, stop: Event) -> tuple[Ints, Aligned, float]:
        start, labels = work(block, stop)
        # A block holds whole groups, and its windows are still in the core's cache.
        lost = loss.sse(records_at(block.windows, start), labels) if measures else nan
        return block.rows, Aligned(block.begin + start, labels), lost

    results = in_threads((partial(search, block) for block in blocks()), watch)
    start = np.empty_like(first)
    for rows, slid, _ in results:
        start[rows] = slid.start
    labels = put_together((rows, slid.labels) for rows, slid, _ in results)
    return Aligned(start, labels), sum(lost for _, _, lost in results)


def settle_windows(
    problem: Problem, near: Near | None, settled: float, block: Block, stop: Event
) -> Aligned:
    """Slide the windows of a block until few gain; with neighbours, (n, c), regroup them, too.

    They settle until a round makes moves of a share of them or fewer: ``settled``, 0 until none.
    """
    n = len(block.rows)
    start = block.aligned.start.copy()  # passes change it
    windows = centred(block.windows, start)

    records = records_at(windows, start)
    neighbours = np.empty((n, 0), np.int64) if near is None else neighbours_within(near, block.rows)
    descent = build_descent(problem.part(block.rows), records, block.aligned.labels, neighbours)
    looked = np.full(n, -1)  # moves made when each window was last looked at: none was
    room = np.empty((2, len(windows.mean)))  # for two records

    def slide(_: Descent, k: int, moves: int, first: int, end: int) -> int:
        return int(slide_pass(descent, windows, start, looked, room, moves, first, end))

    passes: list[tuple[Pass, int]] = [(slide, n)]
    if near is not None:
        passes += passes_of(descent)
    enough = settled * n or None  # None: until no window gains
    settle(block_of(problem, stop), descent, passes, "Settling windows", enough)
    return Aligned(start, renumbered(descent.groups.labels))


def anneal_windows(
    shared: Shared, axes: Floats, moves: int, heats: Floats, pace: int, block: Block, stop: Event
) -> Aligned:
    """Make random moves of the windows of a block, ``moves`` for each, between two heats.

    Windows slide by a ``pace`` of so many steps: with fewer starts, less is read and compared.
    """
    windows = about_first(block.windows, block.aligned.start)

    # Starts are counted in paces from the first that a window can reach from where it is.
    offset = block.aligned.start % pace
    start = block.aligned.start // pace
    windows = windows._replace(place=windows.place + offset, most=(windows.most - offset) // pace)
    starts = windows.most + 1
    first = np.cumsum(starts) - starts

    # In single precision twice as many fit into a core's cache; settling is exact.
    rows = np.empty((starts.sum(), axes.shape[1]), dtype=np.float32)
    build_rows(windows, axes.T.copy(), np.empty(len(axes)), pace, first, rows)
    # Groups count from the mean of their records, so possible ones do, too.
    rows -= rows[first + start].mean(axis=0)
    records = rows[first + start].astype(np.float64)

    annealing = build_annealing(shared, records, block.aligned.labels, block.rows, block.seed)
    unknown = np.full_like(annealing.descent.neighbours, -1)
    slides = Slides(rows, first, starts, start, began=start.copy(), meeting=unknown)

    # The moves change `start`, and the groups.
    if stop.is_set():
        raise KeyboardInterrupt
    make_random_moves(annealing, slides, shared.problem.k, moves * len(start), *heats)
    return Aligned(offset + pace * start, renumbered(annealing.descent.groups.labels))
