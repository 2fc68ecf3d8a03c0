"""Alignment: windows slide on their tracks towards their groups, on one page."""

import logging
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from trajanon._kernels.sliding_windows import Windows
from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.errors import TrajanonError
from trajanon.common.heap import give_back
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import Effort
from trajanon.grouping import loss
from trajanon.grouping.axes import leading_axes
from trajanon.grouping.neighbours import neighbour_count
from trajanon.grouping.partition import Partition, Stage, broken_promises, regrouped
from trajanon.grouping.problem import Problem, SearchLog
from trajanon.grouping.refinements.annealing import DROPPED, Field, cooling, warmth
from trajanon.grouping.sliding.sliding import (
    BlockWork,
    anneal_windows,
    settle_windows,
    work_in_blocks,
)
from trajanon.grouping.sliding.windows import (
    Aligned,
    build_windows,
    centred,
    records_at,
    start_ranges,
    summed,
    turned_at,
    window_neighbours,
)
from trajanon.trajectories.displacements import moved_to
from trajanon.trajectories.times import Timing, search_columns
from trajanon.trajectories.trajectories import Trajectories

_LOG = logging.getLogger(__name__)

HOT, COLD = 0.7, 0.03  # first and last heat; what groups look like from afar is settled before
NEAR_ROUNDS = 3  # searches for neighbours of windows: windows slide, and meet others
PASSES = 24  # with each, blocks and the room between windows of a run are divided again
SETTLINGS = 2  # times that windows settle in the end, in blocks with other borders

MOVES_SHARE, LEAST, FULL = 0.75, 0.06, 9_000
"""Of the moves per record that a run of annealing gets, n windows get the first share; beyond 9,574
windows they get LEAST + FULL / n of that: 1,670 a window with 41,233, and 414 with a million."""


def may_slide(trajectories: Trajectories) -> bool:
    """Whether any trajectory has room on its track while all others stay."""
    if (tracks := trajectories.tracks) is None:
        return False
    first, last = start_ranges(build_windows(tracks, trajectories.points.shape[1]), tracks.start)
    return bool((first < last).any())


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

    Where one begins on its track is an accident of the cutting: two people who went the same way
    get trajectories that differ by that. With a timing, the search sees departures as well.
    """
    since, tracks = perf_counter(), trajectories.tracks
    if tracks is None or not may_slide(trajectories):
        return trajectories, partition
    _, weights = search_columns(trajectories, timing)
    departure = None if timing is None else timing.departures(tracks)
    windows = build_windows(tracks, trajectories.points.shape[1], departure, weights)
    own = np.arange(len(trajectories)) if subjects is None else dense(subjects)
    log = WindowLog(windows, Aligned(tracks.start, dense(partition.labels)))
    problem = Problem(
        records=np.empty((len(own), 0)),  # they change as windows slide
        subjects=own,
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
    start, labels = log.aligned.start, dense(log.aligned.labels)
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
        self.windows, self.aligned = windows, aligned
        self._all = float(summed(windows, aligned.start, lambda some: (some**2).sum()))
        self.lost = loss.sse(records_at(windows, aligned.start), aligned.labels)

    def offer_windows(self, aligned: Aligned) -> None:
        """Keep windows and groups that lose less than all before."""
        lost = loss.sse(records_at(self.windows, aligned.start), aligned.labels)
        if lost < self.lost:
            self.aligned, self.lost = aligned, lost

    @property
    def note(self) -> str:
        """What is lost, for those who watch the progress."""
        return f"IL {loss.information_loss(self.lost, self._all):.4g} %"


def search_windows(problem: Problem, log: WindowLog, *, regroup: bool) -> None:
    """Slide windows, and regroup them, to lose less; the log keeps the best.

    They slide until none gains; then random moves, ever colder, slide and regroup them; in the end
    they slide and change groups until neither gains. All is done in blocks.
    """
    windows, aligned = log.windows, log.aligned

    def in_blocks(work: BlockWork, axes: Floats, task: str, done: int, *, chained: bool) -> None:
        nonlocal aligned
        tell = partial(problem.progress, task, done, PASSES, log.note)
        tell()
        aligned = work_in_blocks(problem, windows, aligned, axes, work, chained=chained, watch=tell)
        log.offer_windows(aligned)

    settled = partial(in_blocks, task="Settling windows", chained=True)
    here = centred(windows, aligned.start)
    settled(partial(settle_windows, problem, None), axes_of(here, aligned.start, log.lost), done=0)
    if not regroup:
        return
    n, moves = len(problem.subjects), problem.budget.moves_per_record
    moves = int(MOVES_SHARE * moves * min(LEAST + FULL / n, 1.0))
    moves, heats = cooling(moves, moves // PASSES + 1, PASSES, HOT, COLD)
    for some in filter(len, np.array_split(np.arange(len(heats) - 1), NEAR_ROUNDS)):
        axes, field = window_field(problem, windows, aligned)
        for number in some.tolist():
            work = partial(anneal_windows, field, axes, moves, heats[number : number + 2])
            in_blocks(work, axes, "Sliding windows", number, chained=False)
    axes, field = window_field(problem, windows, aligned)
    for _ in range(SETTLINGS):
        settled(partial(settle_windows, problem, field.neighbours), axes, done=PASSES)


def window_field(problem: Problem, windows: Windows, aligned: Aligned) -> tuple[Floats, Field]:
    """Find axes, (p, q), and neighbours and temperatures for windows where they are."""
    here = centred(windows, aligned.start)
    lost = loss.sse(records_at(here, aligned.start), aligned.labels)
    axes = axes_of(here, aligned.start, lost)
    near = window_neighbours(windows, aligned.start, axes, neighbour_count(problem.k))
    records = turned_at(here, aligned.start, axes)
    return axes, Field(problem, near, warmth(records, near, problem.k, lost))


def axes_of(windows: Windows, start: Ints, lost: float) -> Floats:
    """Find the axes, (p, q), that a search needs to see, where so much is lost."""
    squares = summed(windows, start, lambda some: np.einsum("ij,ik->jk", some, some))
    return leading_axes(squares, DROPPED * lost)
