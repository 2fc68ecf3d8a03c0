"""Paths that always go on to the nearest record not yet met, or through groups to the nearest."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from trajanon._kernels.mdav import farthest
from trajanon._kernels.nearest_neighbour import shortest_walk, walk
from trajanon.arrays import Floats, Ints
from trajanon.axes import principal_axes, turn
from trajanon.loss import group_means
from trajanon.neighbours import exact_neighbours
from trajanon.paths.tours import Heuristic, from_any_start
from trajanon.problem import Problem

_LISTED = 32  # neighbours of a record; a walk that has met them all searches the rest

_CHUNK = 100  # walks between two words about progress, and two chances to interrupt


def nearest_neighbour(problem: Problem, start: int | None = None) -> Ints:
    """Go on to the nearest record not yet met.

    A tour through the records and the dummy begins with a random one of these cities. The dummy is
    at distance 0 and comes next; from there all records are equally far, and a random one follows.
    So the first city stands at the end of the path, however far it is from its neighbour there. The
    published averages show this. With a ``start`` there is no dummy, and the path loses less.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3, and chapter 4, Algorithm 2 for the
    dummy node.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="nearest-neighbor").path_length, 2)
    9.05
    """
    records = problem.records
    n = len(records)
    if start is not None:
        return _walk(records, start)
    cities = problem.random.permutation(n + 1)
    turn = cities[cities < n]
    if cities[0] == n or n == 1:
        return _walk(records, turn[0])
    return np.append(_walk(records, turn[1], np.flatnonzero(np.arange(n) != turn[0])), turn[0])


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
    return _walk(problem.records, _outermost(problem.records) if start is None else start)


def through_groups(method: Callable[[Problem], Ints]) -> Heuristic:
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
    """Lead through groups, by Nearest Point Next on their centroids; inside to the nearest."""
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    centroids = group_means(records, labels)
    path: list[Ints] = []
    for group in _walk(centroids, _outermost(centroids)):
        rows = members[group]
        inside = records[rows]
        if path:
            first = int(((inside - records[path[-1][-1]]) ** 2).sum(axis=1).argmin())
        else:
            first = farthest(inside, np.arange(len(rows)), records.mean(axis=0))
        path.append(rows[_walk(inside, first)])
    return np.concatenate(path)


def _walk(points: Floats, first: int, through: Ints | None = None) -> Ints:
    """Walk from a point through some rows, it among them, or through all."""
    waiting = np.arange(len(points)) if through is None else through
    order = np.empty_like(waiting)
    walk(points, first, waiting, order)
    return order


def _outermost(points: Floats) -> int:
    # Two points are equally far from their centroid: rounding must not choose.
    two = len(points) == 2
    return 0 if two else int(farthest(points, np.arange(len(points)), points.mean(axis=0)))
