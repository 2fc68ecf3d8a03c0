"""Insertion: a tour that grows by one city at a time, where that lengthens it least.

City n is the dummy, at distance 0 from every record: a tour through it is a path.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare
from trajanon._kernels.tour_moves import between


class GrowingTour(NamedTuple):
    """A tour, and the best place in it for each city that waits."""

    records: NDArray[np.float64]  # standardised, (n, p)
    start: int  # a city of the tour
    following: NDArray[np.int64]  # the next one of each city on the tour, (n + 1,)
    place: NDArray[np.int64]  # the city that a city had best follow, (n + 1,)
    longer: NDArray[np.float64]  # what that lengthens the tour by, (n + 1,)


@bare
def offer_place(tour, city, a, longer):
    """Let a city wait for the place behind another one, if it lengthens the tour less."""
    if longer < tour.longer[city]:
        tour.place[city], tour.longer[city] = a, longer


@bare
def look_for_place(tour, city):
    """Find the best place of a city in the whole tour."""
    tour.longer[city] = np.inf
    a = tour.start
    from_a = between(tour, a, city)
    while True:
        b = tour.following[a]
        to_b = between(tour, city, b)
        offer_place(tour, city, a, from_a + to_b - between(tour, a, b))
        a, from_a = b, to_b
        if a == tour.start:
            break


@bare
def insert_chosen(tour, waiting, chosen, left):
    """Insert the chosen one of the waiting cities at its best place; which one it is.

    The others keep their order: it decides between equals.
    """
    city = waiting[chosen]
    before = tour.place[city]
    tour.following[city] = tour.following[before]
    tour.following[before] = city
    for i in range(chosen, left - 1):
        waiting[i] = waiting[i + 1]
    return city


@bare
def insert_by_rule(tour, waiting, away, rule):
    """Let a tour grow by nearest (-1), farthest (1) or arbitrary (0) insertion.

    ``waiting`` are the cities to insert, and ``away``, (n + 1,), infinite, how far each is from the
    tour.
    """
    newest = tour.start
    for left in range(waiting.shape[0], 0, -1):
        chosen = 0
        if rule != 0:
            for i in range(left):
                city = waiting[i]
                away[city] = min(away[city], between(tour, city, newest))
                if (away[city] - away[waiting[chosen]]) * rule > 0.0:
                    chosen = i
        look_for_place(tour, waiting[chosen])
        newest = insert_chosen(tour, waiting, chosen, left)


@bare
def insert_cheapest(tour, waiting):
    """Let a tour grow by cheapest insertion; of equally cheap cities the first is next."""
    for city in waiting:
        look_for_place(tour, city)
    for left in range(waiting.shape[0], 0, -1):
        chosen = 0
        for i in range(left):
            if tour.longer[waiting[i]] < tour.longer[waiting[chosen]]:
                chosen = i
        newest = insert_chosen(tour, waiting, chosen, left)
        before, behind = tour.place[newest], tour.following[newest]
        into, out = between(tour, before, newest), between(tour, newest, behind)
        for city in waiting[: left - 1]:
            if tour.place[city] == before:
                look_for_place(tour, city)
                continue
            via = between(tour, newest, city)
            offer_place(tour, city, before, between(tour, before, city) + via - into)
            offer_place(tour, city, newest, via + between(tour, city, behind) - out)
