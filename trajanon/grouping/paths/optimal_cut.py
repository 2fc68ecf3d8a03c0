"""MHM: the optimal cut of a path into groups, by dynamic programming."""

from collections.abc import Sequence

import numpy as np

from trajanon._kernels.path_building import fill_latest_starts, mark_optimal_cut
from trajanon.common.arrays import Ints
from trajanon.grouping.loss import sse
from trajanon.grouping.problem import Problem


def best_cut(problem: Problem, paths: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Cut each path, and keep the cut that loses least: the group of each record, and the path."""
    cuts = [(cut_path(problem, path), path) for path in paths]
    if len(cuts) == 1:
        return cuts[0]
    return min(cuts, key=lambda cut: sse(problem.records, cut[0]))


def cut_path(problem: Problem, path: Ints) -> Ints:
    """Cut a path by MHM: the group of each record, shape (n,)."""
    # The dynamic programme knows for each end what the path up to there costs at least.
    n = len(path)
    latest = latest_starts(problem.subjects[path], problem.k)
    cost = np.full(n + 1, np.inf)
    cost[0] = 0.0
    to_later = np.zeros(n)
    best_start = np.zeros(n + 1, np.int64)
    starts = np.zeros(n, np.bool_)
    mark_optimal_cut(problem.records, path, latest, to_later, cost, best_start, starts)

    labels = np.empty(n, np.int64)
    labels[path] = np.cumsum(starts) - 1
    return labels


def latest_starts(subjects: Ints, k: int) -> Ints:
    """Find for each end of a group on a path the latest start that gives k subjects, or -1."""
    latest = np.empty_like(subjects)
    fill_latest_starts(subjects, k, np.zeros(int(subjects.max()) + 1, np.int64), latest)
    return latest
