"""Paths through records: of any start, along nearest records, and through groups."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from itertools import permutations
from threading import Event

import numpy as np

from trajanon._kernels.far_records import farthest
from trajanon._kernels.path_building import walk
from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means
from trajanon.problem import Problem
from trajanon.workers import in_parts

_AT_ONCE = 10_000  # steps that a thread measures

Heuristic = Callable[[Problem, int | None], Ints]
"""A problem, and the record that the path begins with or None to leave that open, to the order of
the records on the path, (n,)."""


def from_any_start(search: Callable[[Problem], Ints]) -> Heuristic:
    """Let a search that chooses its own start take one, or None.

    The start then plays the dummy: it is at distance 0 from the others, which get their shortest
    path, and stands before the nearer end of that.

    Source: Maya-López, Solanas (ApplePies 2019), section II C.
    """

    @wraps(search)
    def begun_at_start(problem: Problem, start: int | None = None) -> Ints:
        if start is None:
            return search(problem)
        records = problem.records
        others = np.delete(np.arange(len(records)), start)
        if len(others) == 0:
            return np.array([start], dtype=np.int64)
        onward = search(
            replace(problem, records=records[others], subjects=problem.subjects[others])
        )
        away = ((records[others[onward[[0, -1]]]] - records[start]) ** 2).sum(axis=1)
        if away[1] < away[0]:
            onward = onward[::-1]
        return np.append(start, others[onward])

    return begun_at_start


def shortest(records: Floats) -> Ints:
    """Try every order of a handful of records."""
    orders = np.array(list(permutations(range(len(records)))))
    between = np.sqrt(((records[:, None] - records) ** 2).sum(axis=2))
    lengths = between[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return np.asarray(orders[lengths.argmin()])


def path_length(records: Floats, path: Ints) -> float:
    """Length of a path through standardised records."""

    def length(places: Ints, stop: Event) -> float:
        steps = np.diff(records[path[places[0] : places[-1] + 2]], axis=0)
        return float(np.sqrt((steps**2).sum(axis=1)).sum())

    return sum(in_parts(length, np.arange(max(len(path) - 1, 1)), _AT_ONCE))


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
    if start is not None:
        return walked(records, start)
    cities = problem.random.permutation(n + 1)
    turn = cities[cities < n]
    if cities[0] == n or n == 1:
        return walked(records, turn[0])
    return np.append(walked(records, turn[1], np.flatnonzero(np.arange(n) != turn[0])), turn[0])


def through_groups(method: Callable[[Problem], Ints]) -> Heuristic:
    """Lead through the groups of a method (MD-MHM, MDAV-MHM, CBFS-MHM).

    References
    ----------
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), "Efficient multivariate
    data-oriented microaggregation"; thesis (URV 2023), section 2.2.2.
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
    for group in walked(centroids, outermost(centroids)):
        rows = members[group]
        inside = records[rows]
        if path:
            first = int(((inside - records[path[-1][-1]]) ** 2).sum(axis=1).argmin())
        else:
            first = farthest(inside, np.arange(len(rows)), records.mean(axis=0))
        path.append(rows[walked(inside, first)])
    return np.concatenate(path)


def walked(points: Floats, first: int, through: Ints | None = None) -> Ints:
    """Walk from a point through some rows, it among them, or through all."""
    waiting = np.arange(len(points)) if through is None else through
    order = np.empty_like(waiting)
    walk(points, first, waiting, order)
    return order


def outermost(points: Floats) -> int:
    """Find the point farthest from the centroid of all."""
    # Two points are equally far from it: rounding must not choose.
    two = len(points) == 2
    return 0 if two else int(farthest(points, np.arange(len(points)), points.mean(axis=0)))
