"""Path heuristics of the papers: insertion, repetitive nearest neighbour, and nearest point next.

A path through n records is found as a tour of n + 1 cities: the records, and a dummy at distance 0
from all of them, where the tour is cut.

Insertion lets a tour grow city by city. The next one is the nearest to the tour, the farthest, the
cheapest to insert, or any (arbitrary); it is inserted where it lengthens the tour least. As in the
published experiments the dummy is a city like the others. Once it is on the tour, every record is
at distance 0 from the tour: nearest insertion then takes records at random, as arbitrary insertion
does. Farthest insertion comes to the dummy last. The seed decides random choices and ties.

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
from trajanon.grouping.paths.travelling_salesman import (
    Heuristic,
    from_any_start,
    outermost,
    walk_to_nearest,
)
from trajanon.grouping.problem import Problem

_NEIGHBOURS_LISTED = 32  # of each record; where a walk has met them all, it searches all records
_WALKS_PER_REPORT = 100  # between two reports of progress, and two chances to interrupt

# The rules, by which city is inserted next. The first three are the numbers that a kernel
# multiplies differences of distance by; the fourth has a kernel of its own.
NEAREST = -1
FARTHEST = 1
ARBITRARY = 0
CHEAPEST = None


def insertion(rule: int | None) -> Heuristic:
    """Return the heuristic that inserts cities in random order by a rule."""

    @from_any_start
    def path(problem: Problem) -> Ints:
        # All cities, the dummy among them.
        cities = problem.random.permutation(len(problem.records) + 1)
        return path_by_insertion(problem.records, cities, rule)

    return path


def path_by_insertion(records: Floats, cities: Ints, rule: int | None) -> Ints:
    """Grow a tour from the first of all cities, (n + 1,), and cut it at the dummy, number n.

    The rule says which city is next: ``NEAREST``, ``FARTHEST``, ``CHEAPEST``, or the first
    (``ARBITRARY``). Of equals, the first is next.
    """
    n = len(records)
    # A tour of one city, which follows itself; all else is room that the kernels fill in.
    tour = GrowingTour(
        records=records,
        start=cities[0],
        following=np.full(n + 1, cities[0]),
        best_before=np.empty(n + 1, dtype=np.int64),
        lengthening=np.empty(n + 1),
    )
    waiting = cities[1:].copy()
    if rule is CHEAPEST:
        insert_cheapest(tour, waiting)
    else:
        from_tour = np.full(n + 1, np.inf)  # how far each city is from the tour: not known yet
        insert_by_rule(tour, waiting, from_tour, rule)

    # The path is the tour from behind the dummy on.
    following = tour.following.tolist()
    order = [n]
    for _ in range(n):
        order.append(following[order[-1]])
    return np.array(order[1:])


INSERTIONS: Mapping[str, Heuristic] = {
    "nearest-insertion": insertion(NEAREST),
    "farthest-insertion": insertion(FARTHEST),
    "cheapest-insertion": insertion(CHEAPEST),
    "arbitrary-insertion": insertion(ARBITRARY),
}
"""By their names in the settings."""


def repetitive_nn(problem: Problem, start: int | None = None) -> Ints:
    """Find the shortest of the nearest neighbour tours from every city.

    Each record, and the dummy, begins a tour. From a record the tour leads to the dummy, which is
    at distance 0, and from there to a random record. Cut at the dummy, it is a path from that
    random record to the first one, as in `nearest_neighbour`. With a ``start`` there is no dummy:
    of the paths from every other record the shortest is taken.

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

    # The last record of each path: any (-1) where the tour begins with the dummy; else the record
    # that the tour begins with.
    ends = np.arange(-1, n)

    # The first record of a path is any but its last, so one of n - 1 numbers is drawn; those from
    # the last record on are then one too low.
    starts = problem.random.integers(np.where(ends < 0, n, n - 1))
    starts[(ends >= 0) & (starts >= ends)] += 1
    return _shortest_walk(problem, starts, ends)


@from_any_start
def _from_every_other(problem: Problem) -> Ints:
    """Find the shortest nearest neighbour path from any record.

    The records are those beside the start, which the decorator adds.
    """
    n = len(problem.records)
    return _shortest_walk(problem, np.arange(n), np.full(n, -1))


def _shortest_walk(problem: Problem, starts: Ints, ends: Ints) -> Ints:
    """Walk from each start, ever to the nearest record left; return the shortest path.

    ``starts`` and ``ends`` are records, (w,). A walk keeps its end for the last step; with -1 it
    ends at any record.
    """
    records = problem.records
    n = len(records)
    neighbours = exact_neighbours(records, _NEIGHBOURS_LISTED)
    distances = np.sqrt(((records[:, None, :] - records[neighbours]) ** 2).sum(axis=2))
    walks = Walks(
        records=records,
        neighbours=neighbours,
        distances=distances,
        is_waiting=np.empty(n, dtype=np.bool_),
        order=np.empty(n, dtype=np.int64),
        best=np.empty(n, dtype=np.int64),
    )

    # A walk is given up when it gets longer than the shortest so far, so that length goes from one
    # part of the walks to the next. The kernel writes the shortest path to ``walks.best``.
    least_length = np.inf
    task = "Walking from every record"
    for first in range(0, len(starts), _WALKS_PER_REPORT):
        problem.progress(task, first, len(starts))

        part = slice(first, first + _WALKS_PER_REPORT)
        least_length = shortest_walk(walks, starts[part], ends[part], least_length)

    problem.progress(task, len(starts), len(starts))
    return walks.best


def npn(problem: Problem, start: int | None = None) -> Ints:
    """Walk by Nearest Point Next: ever to the nearest record left, from the outermost one.

    The outermost record is the farthest from the centroid of all. With a ``start``, the walk begins
    there instead.

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
    records = problem.records
    return walk_to_nearest(records, outermost(records) if start is None else start)
