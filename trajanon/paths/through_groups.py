"""Paths that lead through groups: a grouping used as an ordering."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from trajanon._kernels.mdav import farthest
from trajanon._kernels.nearest_neighbour import walk
from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means
from trajanon.paths.nearest_neighbour import nearest_neighbour
from trajanon.paths.tours import Heuristic, from_any_start
from trajanon.problem import Problem

Method = Callable[[Problem], Ints]


def npn(problem: Problem, start: int | None = None) -> Ints:
    """Nearest Point Next: from the record farthest from the centroid, ever nearest.

    References
    ----------
    NPN-MHM: Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), "Efficient
    multivariate data-oriented microaggregation"; thesis (URV 2023), section 2.2.2.
    """
    if start is not None:
        return nearest_neighbour(problem, start)
    return _nearest_point_next(problem.records)


def through_groups(method: Method) -> Heuristic:
    """Lead through the groups of a method (MD-MHM, MDAV-MHM, CBFS-MHM).

    References
    ----------
    As for `npn`.
    """

    @from_any_start
    def path(problem: Problem) -> Ints:
        # Without the start, there may be a subject less than a group needs.
        k = min(problem.k, len(np.unique(problem.subjects)))
        return path_through(problem.records, method(replace(problem, k=k)))

    return path


def path_through(records: Floats, labels: Ints) -> Ints:
    """Lead through groups: on to the nearest centroid, inside to the nearest record.

    The groups follow one another by Nearest Point Next on their centroids.
    """
    by_group = np.argsort(labels, kind="stable")
    members = np.split(by_group, np.cumsum(np.bincount(labels))[:-1])
    path: list[Ints] = []
    for group in _nearest_point_next(group_means(records, labels)):
        rows = members[group]
        inside = records[rows]
        if path:
            first = int(((inside - records[path[-1][-1]]) ** 2).sum(axis=1).argmin())
        else:
            first = _farthest(inside, records.mean(axis=0))
        path.append(rows[walk(inside, first, np.zeros(len(rows), dtype=np.bool_))])
    return np.concatenate(path)


def _nearest_point_next(points: Floats) -> Ints:
    # Two points are equally far from their centroid: rounding must not choose.
    two = len(points) == 2
    first = 0 if two else _farthest(points, points.mean(axis=0))
    return np.asarray(walk(points, first, np.zeros(len(points), dtype=np.bool_)))


def _farthest(points: Floats, point: Floats) -> int:
    return int(farthest(points, np.arange(len(points)), point))
