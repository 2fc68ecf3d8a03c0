"""Paths that go on to the nearest record: the shortest from any, and from the outermost one."""

import numpy as np

from trajanon._kernels.path_building import shortest_walk
from trajanon.arrays import Ints
from trajanon.axes import principal_axes, turn
from trajanon.neighbours import exact_neighbours
from trajanon.problem import Problem
from trajanon.search.paths import from_any_start, outermost, walked

_LISTED = 32  # neighbours of a record; a walk that has met them all searches the rest

_CHUNK = 100  # walks between two words about progress, and two chances to interrupt


@from_any_start
def repetitive_nn(problem: Problem) -> Ints:
    """Take the shortest of the nearest neighbour paths from every record.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3. No dummy: each path is the plain one.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="repetitive-nn").path_length, 2)
    8.97
    """
    records, task = problem.records, "Walking from every record"
    n = len(records)
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    neighbours = exact_neighbours(records, _LISTED)
    near = np.sqrt(((records[:, None, :] - records[neighbours]) ** 2).sum(axis=2))
    turned = turn(records, principal_axes(records))
    best, shortest = np.empty(n, dtype=np.int64), np.inf
    room = np.tile(np.arange(n), (3, 1))
    for first in range(0, n, _CHUNK):
        problem.progress(task, first, n)
        last = min(first + _CHUNK, n)
        shortest = shortest_walk(turned, neighbours, near, first, last, room, best, shortest)
    problem.progress(task, n, n)
    return best


def npn(problem: Problem, start: int | None = None) -> Ints:
    """Nearest Point Next: from the record farthest from the centroid, ever nearest.

    References
    ----------
    NPN-MHM: Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), "Efficient
    multivariate data-oriented microaggregation"; thesis (URV 2023), section 2.2.2.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="npn").path_length, 2)
    9.49
    """
    return walked(problem.records, outermost(problem.records) if start is None else start)
