"""Path heuristics of the papers: walks to the nearest record, and insertion.

The cities of a tour are the records and the dummy, which is at distance 0 from all of them; the
tour cut open at the dummy is a path.

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
    insert_by_rule,
    insert_cheapest,
    shortest_walk,
)
from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.paths.paths import (
    Heuristic,
    from_any_start,
    near_lists,
    outermost,
    walked,
    walks_among,
)
from trajanon.grouping.problem import Problem

_WALKS_PER_REPORT = 100  # between two reports of progress, and two chances to interrupt


def insertion(rule: int | None) -> Heuristic:
    """Return the heuristic that inserts the nearest city next (-1), the farthest (1), any (0).

    Without a rule, None, it is the cheapest.
    """

    @from_any_start
    def path(problem: Problem) -> Ints:
        # The cities, the dummy too, in the order in which they wait.
        turn = problem.random.permutation(len(problem.records) + 1)
        return inserted(problem.records, turn, rule)

    return path


def inserted(records: Floats, turn: Ints, rule: int | None) -> Ints:
    """Grow a tour from the first city in turn by a rule of `insertion`, and cut it at the dummy.

    Of cities between which the rule does not choose, the first in turn is inserted.
    """
    n = len(records)
    tour = GrowingTour(
        records=records,
        start=turn[0],
        following=np.full(n + 1, turn[0]),  # the first city follows itself
        place=np.empty(n + 1, dtype=np.int64),
        longer=np.empty(n + 1),
    )
    waiting = turn[1:].copy()
    if rule is None:
        insert_cheapest(tour, waiting)
    else:
        insert_by_rule(tour, waiting, np.full(n + 1, np.inf), rule)

    # The path is the tour behind the dummy, which is city n.
    following = tour.following.tolist()
    cities = [n]
    for _ in range(n):
        cities.append(following[cities[-1]])
    return np.array(cities[1:])


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

    # A tour's first city is the end of its path; -1 is the dummy, behind which any end will do.
    ends = np.arange(-1, n)

    # The path starts at a random record other than its end: of the n - 1 others, those from the end
    # on are numbered one higher.
    starts = problem.random.integers(np.where(ends < 0, n, n - 1))
    starts += (ends >= 0) & (starts >= ends)
    return _shortest_walk(problem, starts, ends)


@from_any_start
def _from_every_other(problem: Problem) -> Ints:
    """Find the shortest of the walks from every record but the start."""
    n = len(problem.records)
    return _shortest_walk(problem, np.arange(n), np.full(n, -1))


def _shortest_walk(problem: Problem, starts: Ints, ends: Ints) -> Ints:
    """Walk from each start to its end, -1 for any, and return the shortest path."""
    if len(problem.records) == 1:
        return np.zeros(1, dtype=np.int64)

    walks = walks_among(problem.records, near_lists(problem.records))
    shortest = np.inf
    task = "Walking from every record"
    for walks_done in range(0, len(starts), _WALKS_PER_REPORT):
        problem.progress(task, walks_done, len(starts))
        batch = slice(walks_done, walks_done + _WALKS_PER_REPORT)
        # A shorter walk is written to `walks.best`.
        shortest = shortest_walk(walks, starts[batch], ends[batch], shortest)
    problem.progress(task, len(starts), len(starts))
    return walks.best


def npn(problem: Problem, start: int | None = None) -> Ints:
    """Walk by Nearest Point Next: from the record farthest from the centroid, on to the nearest.

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
