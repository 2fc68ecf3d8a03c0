"""Path heuristics of the papers: walks to the nearest record, and insertion.

By insertion a tour grows. The next city is the nearest to the tour, the farthest, the cheapest to
insert, or any (arbitrary); it is inserted where it lengthens the tour least. As in the published
experiments the dummy is a city like the others: once the tour holds it every record is at distance
0 from the tour. Nearest insertion then takes records at random, as arbitrary insertion does, while
farthest insertion comes to the dummy last. Random choices, and those between equals, come from the
seed.

References
----------
Maya-López, thesis (URV 2023), section 2.2.3; Rosenkrantz, Stearns, Lewis (1977), "An analysis of
several heuristics for the traveling salesman problem".

Examples
--------
Paths through seven places; the shortest is 7.68 standard deviations long:

>>> import trajanon
>>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
>>> for rule in ("nearest", "farthest", "cheapest", "arbitrary"):
...     partition = trajanon.microaggregate(places, k=2, heuristic=f"{rule}-insertion")
...     print(rule, round(partition.path_length, 2))
nearest 8.33
farthest 7.74
cheapest 7.74
arbitrary 8.49
"""

from collections.abc import Mapping

import numpy as np

from trajanon._kernels.path_building import (
    GrowingTour,
    Walks,
    insert_by_rule,
    insert_cheapest,
    shortest_walk,
)
from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.paths.paths import Heuristic, from_any_start, outermost, walked
from trajanon.grouping.problem import Problem

_LISTED = 32  # neighbours of a record; a walk that has met them all searches the rest
_WALKS_PER_REPORT = 100  # between two reports of progress, and two chances to interrupt


def insertion(rule: int | None) -> Heuristic:
    """Insert the nearest (-1), farthest (1), any (0), or the cheapest city (None) next."""

    @from_any_start
    def path(problem: Problem) -> Ints:
        records = problem.records
        # The cities, the dummy too, in the order in which they wait.
        return inserted(records, problem.random.permutation(len(records) + 1), rule)

    return path


def inserted(records: Floats, turn: Ints, rule: int | None) -> Ints:
    """Grow a tour from the first city in turn, by nearest, farthest, any or cheapest one."""
    n = len(records)
    tour = GrowingTour(
        records=records,
        start=turn[0],
        following=np.full(n + 1, turn[0]),
        place=np.empty(n + 1, dtype=np.int64),
        longer=np.empty(n + 1),
    )
    waiting = turn[1:].copy()
    if rule is None:
        insert_cheapest(tour, waiting)
    else:
        insert_by_rule(tour, waiting, np.full(n + 1, np.inf), rule)

    # The path is the tour behind the dummy.
    following = tour.following.tolist()
    order = [n]
    for _ in range(n):
        order.append(following[order[-1]])
    return np.array(order[1:])


INSERTIONS: Mapping[str, Heuristic] = {
    "nearest-insertion": insertion(-1),
    "farthest-insertion": insertion(1),
    "cheapest-insertion": insertion(None),
    "arbitrary-insertion": insertion(0),
}


def repetitive_nn(problem: Problem, start: int | None = None) -> Ints:
    """Find the shortest of the nearest neighbour tours from every city.

    Each record, and the dummy, begins a tour. From a record it leads to the dummy, at distance 0,
    and from there to a random record, so the first record stands at the end of the path, as in
    `nearest_neighbour`. With a ``start`` there is no dummy: of the paths from every other record
    the shortest is taken.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3, and chapter 4, Algorithm 2 for the
    dummy node.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="repetitive-nn").path_length, 2)
    8.49
    """
    n = len(problem.records)
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    if start is not None:
        return _from_every_other(problem, start)

    # The start is any record but the end: those behind it count one lower in the draw.
    ends = np.arange(-1, n)  # -1 for the tour that begins with the dummy
    starts = problem.random.integers(np.where(ends < 0, n, n - 1))
    starts += (ends >= 0) & (starts >= ends)
    return _shortest_walk(problem, starts, ends)


@from_any_start
def _from_every_other(problem: Problem) -> Ints:
    n = len(problem.records)
    return _shortest_walk(problem, np.arange(n), np.full(n, -1))


def _shortest_walk(problem: Problem, starts: Ints, ends: Ints) -> Ints:
    """Walk from each start to its end, -1 for any, and take the shortest path."""
    records = problem.records
    n = len(records)
    if n == 1:
        return np.zeros(1, dtype=np.int64)

    neighbours = exact_neighbours(records, _LISTED)
    near = np.sqrt(((records[:, None, :] - records[neighbours]) ** 2).sum(axis=2))
    walks = Walks(
        records=records,
        neighbours=neighbours,
        near=near,
        waiting=np.empty(n, dtype=np.bool_),
        order=np.empty(n, dtype=np.int64),
        best=np.empty(n, dtype=np.int64),
    )

    # A walk longer than the shortest so far is given up, so its length goes from part to part.
    shortest = np.inf
    task = "Walking from every record"
    for first in range(0, len(starts), _WALKS_PER_REPORT):
        problem.progress(task, first, len(starts))
        part = slice(first, first + _WALKS_PER_REPORT)
        shortest = shortest_walk(walks, starts[part], ends[part], shortest)
    problem.progress(task, len(starts), len(starts))
    return walks.best


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
