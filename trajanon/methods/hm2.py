"""HM2-Micro: a short path through the records, cut optimally."""

import numpy as np

from trajanon._kernels.mhm import latest_starts, optimal_cut
from trajanon.arrays import Floats, Ints
from trajanon.grouping.mdav import mdav
from trajanon.loss import group_means
from trajanon.methods.task import Grouping, Task
from trajanon.paths import HEURISTICS
from trajanon.paths.journey import Journey
from trajanon.paths.length import path_length

EXPANSIONS = ("distance", "row")
"""Order of the records of a compressed city on the path: by their distance to the
centroid of all records, or as they stand in the table."""


def hm2(task: Task) -> Grouping:
    """Cut a short Hamiltonian path into consecutive groups at the least SSE.

    The cut is MHM: the shortest path in a graph whose edges are the allowed groups. With every
    record its own subject these hold k to 2k - 1 records. With subjects an allowed group has at
    least k different ones and cannot be divided into two that do, and the cut is still the best of
    all cuts of this path.

    References
    ----------
    Maya-López, Casino, Solanas (Symmetry 2021), Algorithm 1; thesis (URV 2023),
    Algorithm 2. MHM: Domingo-Ferrer et al., thesis section 2.2.2, after Hansen and
    Mukherjee (2003).
    """
    path = find_path(task)
    task.course.arrived("path")
    labels = cut(task.records, path, task.k, task.subjects)
    return Grouping(labels, path_length(task.records, path))


def cut(records: Floats, path: Ints, k: int, subjects: Ints) -> Ints:
    """Cut a path by MHM: the group of each record, shape (n,)."""
    starts = optimal_cut(records[path], latest_starts(subjects[path], k))
    labels = np.empty(len(path), dtype=np.int64)
    labels[path] = np.cumsum(starts) - 1
    return labels


def find_path(task: Task) -> Ints:
    """Find a short path, compressed if so asked: the order of the records, (n,)."""
    if task.compression > 1:
        return _compressed_path(task)
    return HEURISTICS[task.heuristic](
        Journey(
            records=task.records,
            k=task.k,
            subjects=task.subjects,
            start=None,
            kicks_per_record=task.kicks_per_record,
            random=task.random,
            vicinity=task.vicinity,
            progress=task.progress,
        )
    )


def _compressed_path(task: Task) -> Ints:
    """Find the path through the centroids of groups, and put the members back.

    The groups are MDAV's, of c to 2c - 1 records whosever they are: MHM sees to the subjects.
    Members stand together, so at k = c the cut loses no more than MDAV where records are counted.

    Source: Maya-López, Martínez-Ballesté, Casino (Expert Systems with Applications 2023), Algorithm
    1, which inserts members by distance; the published path lengths point to the order of the rows.
    """
    n, c = len(task.records), task.compression
    labels = mdav(task.records, c, np.arange(n), task.progress)
    cities = group_means(task.records, labels)
    route = HEURISTICS[task.heuristic](
        Journey(
            records=cities,
            k=max(-(-task.k // c), 2),  # cities that make a group of k records
            subjects=np.arange(len(cities)),
            start=None,
            kicks_per_record=task.kicks_per_record,
            random=task.random,
            progress=task.progress,
        )
    )
    if route[0] > route[-1]:  # either way is as short: rounding shall not choose
        route = route[::-1]
    place = np.empty(len(cities), dtype=np.int64)
    place[route] = np.arange(len(cities))
    # Standardised records have their centroid at 0.
    away = (task.records**2).sum(axis=1) if task.expansion == "distance" else np.zeros(n)
    return np.lexsort((np.arange(n), away, place[labels]))
