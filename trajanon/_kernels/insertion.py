"""Insertion: a tour that grows by one city at a time, where that lengthens it least.

City n is the dummy, at distance 0 from every record: a tour through it is a path.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import insert_rising
from trajanon._kernels.compiled import bare
from trajanon._kernels.tour_moves import between


class GrowingTour(NamedTuple):
    """A tour, and the best places in it for the cities that wait."""

    records: NDArray[np.float64]  # standardised, (n, p)
    start: int  # a city of the tour
    following: NDArray[np.int64]  # the next one of each city on the tour, (n + 1,)
    places: NDArray[np.int64]  # cities that a city had best follow, the best first, (n + 1, kept)
    longer: NDArray[np.float64]  # what that lengthens the tour by, (n + 1, kept)
    known: NDArray[np.int64]  # how many places a city keeps, (n + 1,)
    beyond: NDArray[np.float64]  # what any other place lengthens the tour by at least, (n + 1,)


@bare
def insert(tour, city):
    """Insert a city in the best of its places; the city before it."""
    before = tour.places[city, 0]
    tour.following[city] = tour.following[before]
    tour.following[before] = city
    return before


@bare
def look_for_places(tour, city):
    """Find the best places of a city in the whole tour."""
    tour.known[city] = 0
    tour.beyond[city] = np.inf
    a = tour.start
    from_a = between(tour, a, city)
    while True:
        b = tour.following[a]
        to_b = between(tour, city, b)
        remember(tour, city, a, from_a + to_b - between(tour, a, b))
        a, from_a = b, to_b
        if a == tour.start:
            break


@bare
def remember(tour, city, a, cost):
    """Keep the place behind ``a`` among the best of a city, the best first."""
    if cost >= tour.beyond[city]:
        return
    places, longer = tour.places[city], tour.longer[city]
    i = tour.known[city]
    if i == places.shape[0]:
        i -= 1
        tour.beyond[city] = longer[i]
        if cost >= longer[i]:
            return
    else:
        tour.known[city] += 1
    insert_rising(longer, places, i, cost, a)


@bare
def forget(tour, city, a):
    """Drop the place behind ``a``, if a city keeps it."""
    places, longer = tour.places[city], tour.longer[city]
    for i in range(tour.known[city]):
        if places[i] == a:
            tour.known[city] -= 1
            for j in range(i, tour.known[city]):
                places[j], longer[j] = places[j + 1], longer[j + 1]
            return


@bare
def insert_by_rule(tour, waiting, away, rule):
    """Let a tour grow by nearest (-1), farthest (1) or arbitrary (0) insertion.

    ``waiting`` are the cities to insert, and ``away``, infinite, how far each is from the tour.
    """
    newest = tour.start
    for left in range(waiting.shape[0], 0, -1):
        chosen = 0
        if rule != 0:
            for i in range(left):
                away[i] = min(away[i], between(tour, waiting[i], newest))
                if (away[i] - away[chosen]) * rule > 0.0:
                    chosen = i
        newest = waiting[chosen]
        # The others keep their order: it decides between equals.
        for i in range(chosen, left - 1):
            waiting[i] = waiting[i + 1]
            away[i] = away[i + 1]
        look_for_places(tour, newest)
        insert(tour, newest)


@bare
def insert_cheapest(tour, waiting):
    """Let a tour grow by cheapest insertion; of equally cheap cities the first is next."""
    for left in range(waiting.shape[0], 0, -1):
        chosen = 0
        for i in range(left):
            if tour.known[waiting[i]] == 0:
                look_for_places(tour, waiting[i])
            if tour.longer[waiting[i], 0] < tour.longer[waiting[chosen], 0]:
                chosen = i
        newest = waiting[chosen]
        before = insert(tour, newest)
        behind = tour.following[newest]
        into, out = between(tour, before, newest), between(tour, newest, behind)
        for i in range(chosen, left - 1):
            waiting[i] = waiting[i + 1]
        for city in waiting[: left - 1]:
            forget(tour, city, before)
            via = between(tour, newest, city)
            remember(tour, city, before, between(tour, before, city) + via - into)
            remember(tour, city, newest, via + between(tour, city, behind) - out)
