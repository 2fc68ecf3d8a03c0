"""Paths that always go on to the nearest record not yet met."""

import numpy as np

from trajanon._kernels.nearest_neighbour import shortest_walk, walk
from trajanon.arrays import Ints
from trajanon.axes import principal_axes, turn
from trajanon.neighbours import exact_neighbours
from trajanon.paths.tours import from_any_start
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
    """
    records = problem.records
    n = len(records)
    met = np.zeros(n, dtype=np.bool_)
    if start is not None:
        return np.asarray(walk(records, start, met))
    cities = problem.random.permutation(n + 1)
    turn = cities[cities < n]
    if cities[0] == n or n == 1:
        return np.asarray(walk(records, turn[0], met))
    met[turn[0]] = True
    return np.append(walk(records, turn[1], met), turn[0])


@from_any_start
def repetitive_nn(problem: Problem) -> Ints:
    """Take the shortest of the nearest neighbour paths from every record.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3. No dummy: each path is the plain one.
    """
    records = problem.records
    n = len(records)
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    neighbours = exact_neighbours(records, _LISTED)
    away = records[:, None, :] - records[neighbours]
    near = np.sqrt((away**2).sum(axis=2))
    turned = turn(records, principal_axes(records))
    best = np.empty(n, dtype=np.int64)
    shortest = np.inf
    for first in range(0, n, _CHUNK):
        problem.progress("Walking from every record", first, n)
        last = min(first + _CHUNK, n)
        shortest = shortest_walk(turned, neighbours, near, first, last, best, shortest)
    problem.progress("Walking from every record", n, n)
    return best
