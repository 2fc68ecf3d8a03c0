"""MHM: the optimal cut of a path into consecutive groups, by dynamic programming.

Hansen and Mukherjee (2003) for one column; Domingo-Ferrer et al. (2006) along a path of records. A
path is an order of row numbers, (n,); the cut gives the group of each record, (n,). The sizes of
groups are chosen in ``_kernels/optimal_cut_of_path.py``.
"""

from collections.abc import Sequence

import numpy as np

from trajanon._kernels.optimal_cut_of_path import fill_latest_starts, mark_optimal_cut
from trajanon.common.arrays import Ints
from trajanon.grouping.loss import sse
from trajanon.grouping.problem import Problem


def best_cut(problem: Problem, paths: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Cut each path, and return the labels of the cut that loses least, and its path."""
    labels_and_paths = [(cut_path(problem, path), path) for path in paths]
    return min(labels_and_paths, key=lambda cut: sse(problem.records, cut[0]))


def cut_path(problem: Problem, path: Ints) -> Ints:
    """Cut a path by MHM; return the labels of the records, (n,)."""
    n = len(path)
    latest = latest_starts(problem.subjects[path], problem.k)

    # Of the first 0, 1, ..., n places: the least SSE when they are cut, and where the last of their
    # groups then starts. None are cut without a loss; the kernel fills in the others.
    cost = np.full(n + 1, np.inf)
    cost[0] = 0.0
    best_start = np.zeros(n + 1, np.int64)

    squares_to_later = np.zeros(n)  # room for the kernel
    is_start = np.zeros(n, np.bool_)
    mark_optimal_cut(problem.records, path, latest, squares_to_later, cost, best_start, is_start)

    labels = np.empty(n, np.int64)
    labels[path] = np.cumsum(is_start) - 1
    return labels


def latest_starts(subjects: Ints, k: int) -> Ints:
    """Find, for a group that ends at each place of a path, the latest start, (n,).

    From there to the end are k different subjects; -1 where there are fewer up to that end.
    ``subjects`` are in the order of the path.
    """
    latest = np.empty_like(subjects)
    member_counts = np.zeros(int(subjects.max()) + 1, np.int64)  # of each subject
    fill_latest_starts(subjects, k, member_counts, latest)
    return latest
