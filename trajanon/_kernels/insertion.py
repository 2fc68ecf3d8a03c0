"""Insertion: a tour that grows by one city at a time, where that lengthens it least.

City n is the dummy, at distance 0 from every record: a tour through it is a path.
"""

import numpy as np

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance

_KEPT = 8  # places a city remembers: losing one is common, losing all is rare


@kernel
def distance(records, a, b):
    """Distance of two cities."""
    n = records.shape[0]
    if a == n or b == n:
        return 0.0
    return np.sqrt(squared_distance(records[a], records[b]))


@kernel
def cut_at_dummy(following):
    """The records in the order of the tour behind the dummy."""
    n = following.shape[0] - 1
    order = np.empty(n, dtype=np.int64)
    city = following[n]
    for place in range(n):
        order[place] = city
        city = following[city]
    return order


@kernel
def insert(records, following, start, city):
    """Insert a city where the tour gets least longer."""
    best, least = start, np.inf
    a = start
    from_a = distance(records, a, city)
    while True:
        b = following[a]
        to_b = distance(records, city, b)
        longer = from_a + to_b - distance(records, a, b)
        if longer < least:
            best, least = a, longer
        a, from_a = b, to_b
        if a == start:
            break
    following[city] = following[best]
    following[best] = city


@kernel
def insert_by_rule(records, turn, rule):
    """The path that nearest (-1), farthest (1) or arbitrary (0) insertion finds."""
    cities = turn.shape[0]
    following = np.full(cities, -1, dtype=np.int64)
    start = turn[0]
    following[start] = start
    waiting = turn[1:].copy()
    away = np.full(cities - 1, np.inf)  # from the tour, of each that waits
    newest = start
    for left in range(cities - 1, 0, -1):
        chosen = 0
        if rule != 0:
            for i in range(left):
                away[i] = min(away[i], distance(records, waiting[i], newest))
                if (away[i] - away[chosen]) * rule > 0.0:
                    chosen = i
        newest = waiting[chosen]
        # The others keep their order: it decides between equals.
        for i in range(chosen, left - 1):
            waiting[i] = waiting[i + 1]
            away[i] = away[i + 1]
        insert(records, following, start, newest)
    return cut_at_dummy(following)


@kernel
def remember(places, longer, known, beyond, city, a, cost):
    """Keep the place behind ``a`` among the best of a city, the best first.

    No place that a city does not keep lengthens the tour by less than ``beyond``.
    """
    if cost >= beyond[city]:
        return
    i = known[city]
    if i == places.shape[1]:
        i -= 1
        beyond[city] = longer[city, i]
        if cost >= beyond[city]:
            return
    else:
        known[city] += 1
    while i > 0 and longer[city, i - 1] > cost:
        places[city, i] = places[city, i - 1]
        longer[city, i] = longer[city, i - 1]
        i -= 1
    places[city, i] = a
    longer[city, i] = cost


@kernel
def forget(places, longer, known, city, a):
    """Drop the place behind ``a``, if a city keeps it."""
    for i in range(known[city]):
        if places[city, i] == a:
            known[city] -= 1
            for j in range(i, known[city]):
                places[city, j] = places[city, j + 1]
                longer[city, j] = longer[city, j + 1]
            return


@kernel
def look_for_places(records, following, start, places, longer, known, beyond, city):
    """Find the best places of a city in the whole tour."""
    known[city] = 0
    beyond[city] = np.inf
    a = start
    from_a = distance(records, a, city)
    while True:
        b = following[a]
        to_b = distance(records, city, b)
        cost = from_a + to_b - distance(records, a, b)
        remember(places, longer, known, beyond, city, a, cost)
        a, from_a = b, to_b
        if a == start:
            break


@kernel
def insert_cheapest(records, turn):
    """The path that cheapest insertion finds.

    ``turn`` holds the cities, the dummy too, in random order, (n + 1,): the first one starts the
    tour, and of several cities equally cheap the first one is next.
    """
    cities = turn.shape[0]
    following = np.full(cities, -1, dtype=np.int64)
    start = turn[0]
    following[start] = start
    waiting = turn[1:].copy()
    places = np.empty((cities, _KEPT), dtype=np.int64)
    longer = np.empty((cities, _KEPT))
    known = np.zeros(cities, dtype=np.int64)
    beyond = np.full(cities, np.inf)
    for left in range(cities - 1, 0, -1):
        chosen = 0
        for i in range(left):
            city = waiting[i]
            if known[city] == 0:
                look_for_places(records, following, start, places, longer, known, beyond, city)
            if longer[city, 0] < longer[waiting[chosen], 0]:
                chosen = i
        newest = waiting[chosen]
        before = places[newest, 0]
        behind = following[before]
        following[newest] = behind
        following[before] = newest
        into = distance(records, before, newest)
        out = distance(records, newest, behind)
        for i in range(chosen, left - 1):
            waiting[i] = waiting[i + 1]
        for i in range(left - 1):
            city = waiting[i]
            forget(places, longer, known, city, before)
            via = distance(records, newest, city)
            cost = distance(records, before, city) + via - into
            remember(places, longer, known, beyond, city, before, cost)
            cost = via + distance(records, city, behind) - out
            remember(places, longer, known, beyond, city, newest, cost)
    return cut_at_dummy(following)
