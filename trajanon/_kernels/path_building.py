"""Paths built step by step, and tours that grow by insertion.

Records are rows, (n, p), numbered from 0. A city is a record, or the dummy, number n, which is at
distance 0 from all. A path is the order in which it meets the records, (n,).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare
from trajanon._kernels.two_opt_or_opt_lin_kernighan import distance


class Walks(NamedTuple):
    """What walks to the nearest record need, and the shortest path so far."""

    records: NDArray[np.float64]  # standardised, (n, p)
    neighbours: NDArray[np.int64]  # of each record, the nearest first, (n, c)
    distances: NDArray[np.float64]  # of each record from these, (n, c)
    is_waiting: NDArray[np.bool_]  # whether the present walk has yet to meet each record, (n,)
    order: NDArray[np.int64]  # the present walk, (n,)
    best: NDArray[np.int64]  # the shortest path, (n,)


@bare
def nearest_waiting(walks, city):
    """Find the nearest record that is waiting; return it and its distance."""
    # Most steps find the next record in the list; late ones have met all that are listed.
    for i in range(walks.neighbours.shape[1]):
        if walks.is_waiting[walks.neighbours[city, i]]:
            return walks.neighbours[city, i], walks.distances[city, i]

    nearest = -1
    least = np.inf
    for record in range(walks.records.shape[0]):
        if walks.is_waiting[record]:
            square = squared_distance(walks.records[city], walks.records[record])
            if square < least:
                nearest = record
                least = square
    return nearest, np.sqrt(least)


@bare
def shortest_walk(walks, starts, ends, least_length):
    """Walk from each start to its end, any for -1; return the length of the shortest path.

    ``starts`` and ``ends`` are records. A path shorter than ``least_length`` becomes
    ``walks.best``; a walk that gets longer is given up.
    """
    n = walks.records.shape[0]
    for number in range(starts.shape[0]):
        walks.is_waiting[:] = True
        end = ends[number]
        last_place = n - 1
        # A record that is to be the last one is met by no step before.
        if end >= 0:
            walks.is_waiting[end] = False
            last_place = n - 2

        city = starts[number]
        length = 0.0
        for place in range(last_place + 1):
            walks.order[place] = city
            walks.is_waiting[city] = False
            if place == last_place or length >= least_length:
                break
            city, step_length = nearest_waiting(walks, city)
            length += step_length

        if end >= 0:
            walks.order[n - 1] = end
            length += np.sqrt(squared_distance(walks.records[city], walks.records[end]))
        if length < least_length:
            least_length = length
            for place in range(n):
                walks.best[place] = walks.order[place]
    return least_length


@bare
def greedy_fragments(edges, links, other_end):
    """Link cities by edges, (m, 2), in turn, unless that makes a fork or a circle.

    Filled in are ``links``, the cities linked with each, (n, 2), -1 for none, and ``other_end``,
    (n,): of a city at one end of a fragment the city at its other end.
    """
    for edge in range(edges.shape[0]):
        a = edges[edge, 0]
        b = edges[edge, 1]
        if links[a, 1] >= 0 or links[b, 1] >= 0 or other_end[a] == b:
            continue

        # Only the ends of a fragment have to know its other end: those inside have two links.
        links[a, 0 if links[a, 0] < 0 else 1] = b
        links[b, 0 if links[b, 0] < 0 else 1] = a
        end_a = other_end[a]
        end_b = other_end[b]
        other_end[end_a] = end_b
        other_end[end_b] = end_a


@bare
def join_fragments(records, links, ends, is_met, order):
    """Walk fragment by fragment from the first of the ``ends``, on to the nearest free end.

    ``links``, (n, 2), are as in `greedy_fragments`. A record without links is a fragment by itself,
    so this also walks from record to record. Of ends that are equally near the first one is next.
    The walk is written to ``order``; ``is_met``, (n,), marks the records that it has met, and
    ``ends`` is left in disorder.
    """
    free_count = ends.shape[0]
    city = ends[0]
    filled = 0
    while True:
        # Along the fragment to its other end.
        previous = -1
        while city >= 0:
            order[filled] = city
            filled += 1
            is_met[city] = True
            onward = links[city, 0] if links[city, 0] != previous else links[city, 1]
            previous = city
            city = onward
        if filled == order.shape[0]:
            return

        # Ends that are still free move up, so each search looks at fewer.
        nearest = -1
        least = np.inf
        still_free = 0
        for i in range(free_count):
            end = ends[i]
            if is_met[end]:
                continue
            ends[still_free] = end
            still_free += 1
            square = squared_distance(records[end], records[previous])
            if square < least:
                nearest = end
                least = square
        free_count = still_free
        city = nearest


class GrowingTour(NamedTuple):
    """A tour that grows, and the best place in it for each city that waits."""

    records: NDArray[np.float64]  # standardised, (n, p)
    start: int  # the first city of the tour
    following: NDArray[np.int64]  # the city after each city on the tour, (n + 1,)
    best_before: NDArray[np.int64]  # the city that each waiting one had best follow, (n + 1,)
    lengthening: NDArray[np.float64]  # by how much that lengthens the tour, (n + 1,)


@bare
def offer_place(tour, city, before, lengthening):
    """Make the place after ``before`` a city's best, if it lengthens the tour less than that."""
    if lengthening < tour.lengthening[city]:
        tour.best_before[city] = before
        tour.lengthening[city] = lengthening


@bare
def look_for_place(tour, city):
    """Find the best place of a city in the whole tour, between any linked cities a and b."""
    tour.lengthening[city] = np.inf
    a = tour.start
    from_a = distance(tour, a, city)
    while True:
        b = tour.following[a]
        to_b = distance(tour, city, b)
        offer_place(tour, city, a, from_a + to_b - distance(tour, a, b))
        a = b
        from_a = to_b
        if a == tour.start:
            break


@bare
def insert_chosen(tour, waiting, count, chosen):
    """Insert a city at its best place, and return it: that at place ``chosen`` in ``waiting``.

    The first ``count`` cities there are waiting; the others of them keep their order, and move up.
    """
    city = waiting[chosen]
    before = tour.best_before[city]
    tour.following[city] = tour.following[before]
    tour.following[before] = city
    for i in range(chosen, count - 1):
        waiting[i] = waiting[i + 1]
    return city


@bare
def insert_by_rule(tour, waiting, from_tour, rule):
    """Grow a tour by nearest (-1), farthest (1) or arbitrary (0) insertion of the ``waiting``.

    ``from_tour`` becomes how far each city is from the tour, (n + 1,).
    """
    newest = tour.start
    for count in range(waiting.shape[0], 0, -1):
        chosen = 0
        if rule != 0:
            for i in range(count):
                city = waiting[i]
                from_tour[city] = min(from_tour[city], distance(tour, city, newest))
                # The rule is the sign by which a larger distance counts.
                if (from_tour[city] - from_tour[waiting[chosen]]) * rule > 0.0:
                    chosen = i

        look_for_place(tour, waiting[chosen])
        newest = insert_chosen(tour, waiting, count, chosen)


@bare
def insert_cheapest(tour, waiting):
    """Grow a tour by cheapest insertion; of equally cheap cities the first is next."""
    for city in waiting:
        look_for_place(tour, city)

    for count in range(waiting.shape[0], 0, -1):
        chosen = 0
        for i in range(count):
            if tour.lengthening[waiting[i]] < tour.lengthening[waiting[chosen]]:
                chosen = i
        newest = insert_chosen(tour, waiting, count, chosen)

        # The link from before to behind is gone, and two are new. A city whose best place was in
        # that link looks at the whole tour again; all others try the two new ones.
        before = tour.best_before[newest]
        behind = tour.following[newest]
        from_before = distance(tour, before, newest)
        to_behind = distance(tour, newest, behind)
        for city in waiting[: count - 1]:
            if tour.best_before[city] == before:
                look_for_place(tour, city)
                continue
            to_city = distance(tour, newest, city)
            offer_place(tour, city, before, distance(tour, before, city) + to_city - from_before)
            offer_place(tour, city, newest, to_city + distance(tour, city, behind) - to_behind)
