"""Insertion heuristics: a tour grows by the city that a rule chooses.

Each is inserted where it lengthens the tour least. As in the published experiments the dummy is a
city like the others: once the tour holds it every record is at distance 0 from the tour. Nearest
insertion then takes records at random, as arbitrary insertion does, while farthest insertion comes
to the dummy last. Random choices, and those between equals, come from the seed.

References
----------
Maya-López, thesis (URV 2023), section 2.2.3; Rosenkrantz, Stearns, Lewis (1977), "An analysis of
several heuristics for the traveling salesman problem".
"""

import numpy as np

from trajanon._kernels.insertion import GrowingTour, insert_by_rule, insert_cheapest
from trajanon.arrays import Floats, Ints
from trajanon.problem import Problem
from trajanon.search.paths import from_any_start

_NEAREST, _ARBITRARY, _FARTHEST = -1, 0, 1

KEPT = 8  # places a city remembers for cheapest insertion: losing all of them is rare


@from_any_start
def nearest_insertion(problem: Problem) -> Ints:
    """Insert the city nearest to the tour next.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="nearest-insertion").path_length, 2)
    8.33
    """
    return _inserted(problem, _NEAREST)


@from_any_start
def farthest_insertion(problem: Problem) -> Ints:
    """Insert the city farthest from the tour next.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="farthest-insertion").path_length, 2)
    7.74
    """
    return _inserted(problem, _FARTHEST)


@from_any_start
def arbitrary_insertion(problem: Problem) -> Ints:
    """Insert the cities in random order.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="arbitrary-insertion").path_length, 2)
    8.49
    """
    return _inserted(problem, _ARBITRARY)


@from_any_start
def cheapest_insertion(problem: Problem) -> Ints:
    """Insert the city that lengthens the tour least next.

    Examples
    --------
    A path through seven places; the shortest is 7.68 standard deviations long:

    >>> import trajanon
    >>> places = [[0, 1], [2, 3], [4, 2], [2, 0], [1, 5], [0, 3], [2, 2]]
    >>> round(trajanon.microaggregate(places, k=2, heuristic="cheapest-insertion").path_length, 2)
    7.74
    """
    return cheapest_inserted(problem.records, _turn(problem))


def _inserted(problem: Problem, rule: int) -> Ints:
    return inserted(problem.records, _turn(problem), rule)


def _turn(problem: Problem) -> Ints:
    """Draw the order in which cities wait, the dummy too, (n + 1,)."""
    return problem.random.permutation(len(problem.records) + 1)


def inserted(records: Floats, turn: Ints, rule: int) -> Ints:
    """Find the path of nearest (-1), farthest (1) or arbitrary (0) insertion."""
    tour = begin(records, turn[0], kept=1)
    insert_by_rule(tour, turn[1:].copy(), np.full(len(records), np.inf), rule)
    return _cut_at_dummy(tour)


def cheapest_inserted(records: Floats, turn: Ints) -> Ints:
    """Find the path of cheapest insertion; of equally cheap cities the first in turn is next."""
    tour = begin(records, turn[0], kept=KEPT)
    insert_cheapest(tour, turn[1:].copy())
    return _cut_at_dummy(tour)


def begin(records: Floats, start: int, kept: int) -> GrowingTour:
    """Begin a tour with one city."""
    cities = len(records) + 1
    return GrowingTour(
        records,
        start,
        following=np.full(cities, start),
        places=np.empty((cities, kept), dtype=np.int64),
        longer=np.empty((cities, kept)),
        known=np.zeros(cities, dtype=np.int64),
        beyond=np.full(cities, np.inf),
    )


def _cut_at_dummy(tour: GrowingTour) -> Ints:
    """Order the records as the tour behind the dummy does."""
    following, order = tour.following.tolist(), [len(tour.records)]
    for _ in range(len(tour.records)):
        order.append(following[order[-1]])
    return np.array(order[1:])
