"""Alignment: windows slide on their tracks towards their groups, on one page."""

import logging
from dataclasses import replace
from time import perf_counter

import numpy as np

from trajanon import loss
from trajanon.align.search import WindowLog, search_windows
from trajanon.align.windows import Aligned, build_windows, start_ranges
from trajanon.arrays import Ints
from trajanon.errors import TrajanonError
from trajanon.partition import Partition, Stage, broken_promises, dense
from trajanon.problem import Problem
from trajanon.progress import Progress, silent
from trajanon.settings import Effort
from trajanon.trajectories import Trajectories
from trajanon.utility import moved_to

_LOG = logging.getLogger(__name__)


def align(
    trajectories: Trajectories,
    partition: Partition,
    k: int,
    *,
    subjects: Ints | None,
    regroup: bool,
    moves_per_record: int,
    seed: int,
    progress: Progress = silent,
) -> tuple[Trajectories, Partition]:
    """Slide trajectories on their tracks, and regroup them, to be near their groups.

    Where a trajectory begins on its track is an accident of the cutting: two people who went the
    same way get trajectories that differ by where theirs begin.
    """
    since, tracks = perf_counter(), trajectories.tracks
    if tracks is None:
        return trajectories, partition
    windows = build_windows(tracks, trajectories.points.shape[1])
    first, last = start_ranges(windows, tracks.start)
    if (first == last).all():
        return trajectories, partition
    own = np.arange(len(trajectories)) if subjects is None else dense(subjects)
    log = WindowLog(windows, Aligned(tracks.start, partition.labels))
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
        search_windows(problem, windows, log, regroup=regroup)
    except KeyboardInterrupt:
        _LOG.info("stopping: the best windows and groups so far are taken")
        stopped = True
    start, labels = log.aligned
    labels = dense(labels)
    if broken_promises(labels, own, k):
        msg = f"alignment left a group of fewer than {k}; please report it"
        raise TrajanonError(msg)
    slid = trajectories.slid(start)
    aligned = _regrouped(partition, slid, labels)
    if _mean_metres(slid, aligned) >= _mean_metres(trajectories, partition):
        slid, aligned = trajectories, partition
    seconds = perf_counter() - since
    stage = Stage("alignment", aligned.information_loss, seconds)
    stages = (*partition.stages, stage)
    return slid, replace(aligned, stages=stages, stopped=stopped)


def _regrouped(partition: Partition, slid: Trajectories, labels: Ints) -> Partition:
    """Make of a partition that of the trajectories as slid."""
    records = loss.standardise(slid.records)
    return replace(
        partition,
        labels=labels,
        centroids=loss.group_means(slid.records, labels),
        sse=loss.sse(records, labels),
        sst=float((records**2).sum()),
    )


def _mean_metres(trajectories: Trajectories, groups: Partition) -> float:
    """Measure how far points are from where their group's line has them, on average."""
    lines = groups.lines(trajectories.points)
    return float(moved_to(trajectories.points, lines, groups.labels).mean())
