"""Slow twins of the path heuristics' kernels, and of MF-TSP."""

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise, permutations

import numpy as np
from naive import distance, mdav, squared_distance

from trajanon.common.arrays import Floats, Ints

NEAREST, ARBITRARY, FARTHEST = -1, 0, 1


# Insertion


def between_cities(records: Floats) -> list[list[float]]:
    """Distances of the records and the dummy, which is the last city."""
    rows = [[*(distance(a, b) for b in records), 0.0] for a in records]
    return [*rows, [0.0] * (len(records) + 1)]


def lengthenings(between: list[list[float]], tour: Sequence[int], city: int) -> list[float]:
    """How much longer the tour gets by one more city behind each place."""
    return [
        between[a][city] + between[city][b] - between[a][b]
        for a, b in zip(tour, [*tour[1:], tour[0]], strict=True)
    ]


def least_inserted(
    between: list[list[float]], tour: Sequence[int], city: int
) -> list[tuple[int, ...]]:
    """The shortest tours with one more city: several, where places are equal."""
    longer = lengthenings(between, tour, city)
    return [
        (*tour[: i + 1], city, *tour[i + 1 :])
        for i in range(len(tour))
        if longer[i] <= min(longer) + 1e-12
    ]


def opened(tours: Iterable[tuple[int, ...]], n: int) -> set[tuple[int, ...]]:
    """The paths behind the dummy."""
    return {(*tour[tour.index(n) + 1 :], *tour[: tour.index(n)]) for tour in map(tuple, tours)}


def insertion(records: Floats, turn: list[int], rule: int) -> set[tuple[int, ...]]:
    """All paths that insertion may find where several places are equal.

    Of equally near, or far, cities the first one in ``turn`` is next.
    """
    between = between_cities(records)
    tours: set[tuple[int, ...]] = {(turn[0],)}
    waiting = turn[1:]
    while waiting:
        met = set(turn) - set(waiting)
        away = [min(between[city][other] for other in met) for city in waiting]
        best = {NEAREST: away.index(min(away)), ARBITRARY: 0, FARTHEST: away.index(max(away))}
        city = waiting.pop(best[rule])
        tours = {new for tour in tours for new in least_inserted(between, tour, city)}
    return opened(tours, len(records))


def cheapest_insertion(records: Floats, turn: list[int]) -> set[tuple[int, ...]]:
    """All paths that cheapest insertion may find where several places are equal.

    Of equally cheap cities the first one in ``turn`` is next.
    """
    between = between_cities(records)
    tours: set[tuple[int, ...]] = {(turn[0],)}
    for _ in turn[1:]:
        longer: set[tuple[int, ...]] = set()
        for tour in tours:
            waiting = [city for city in turn if city not in tour]
            costs = [min(lengthenings(between, tour, city)) for city in waiting]
            longer.update(least_inserted(between, tour, waiting[costs.index(min(costs))]))
        tours = longer
    return opened(tours, len(records))


# Nearest neighbours


def walk(records: Floats, start: int, met: Iterable[int] = ()) -> list[int]:
    """Go on to the nearest record; the first one of equals."""
    order = [start]
    while left := sorted(set(range(len(records))) - {*met, *order}):
        here = records[order[-1]]
        order.append(min(left, key=lambda i: squared_distance(records[i], here)))
    return order


def walk_to(records: Floats, start: int, end: int) -> list[int]:
    """Such a walk that leaves one record for the end; -1 for none."""
    return walk(records, start) if end < 0 else [*walk(records, start, [end]), int(end)]


def length_of(records: Floats, path: Sequence[int]) -> float:
    """Length of a path."""
    return sum(distance(records[a], records[b]) for a, b in pairwise(path))


# MF-TSP


def neighbour_counts(paths: Sequence[Ints], k: int) -> Ints:
    """How often at most k - 1 steps lie between two records."""
    n = len(paths[0])
    counts = np.zeros((n, n), dtype=np.int64)
    for path in paths:
        for i, j in combinations(range(n), 2):
            if j - i < k:
                counts[path[i], path[j]] += 1
                counts[path[j], path[i]] += 1
    return counts


def next_counts(paths: Sequence[Ints]) -> Ints:
    """How often one record follows another."""
    counts = np.zeros((len(paths[0]),) * 2, dtype=np.int64)
    for path in paths:
        for i, j in pairwise(path):
            counts[i, j] += 1
    return counts


def mf_tsp(records: Floats, counts: Ints, k: int) -> list[set[int]]:
    """MF-TSP without subjects; of pairs met equally often the first one counts."""
    free = set(range(len(records)))
    groups, loose = [], set()
    while pairs := [pair for pair in permutations(sorted(free), 2) if counts[pair] > 0]:
        i, j = max(pairs, key=lambda pair: counts[pair])
        group = {i, j}
        free -= group
        while len(group) < k:
            joining = [(counts[i, b], b) for b in sorted(free)]
            joining += [(counts[b, j], b) for b in sorted(free)]
            often, record = max(joining, key=lambda one: one[0], default=(0, -1))
            if often == 0:
                break
            group.add(record)
            free.remove(record)
        if len(group) == k:
            groups.append(group)
        else:
            loose |= group
    rest = sorted(free | loose)
    if len(rest) > len(groups) * (k - 1):
        found = mdav(records[rest], k)
        return [*groups, *({rest[i] for i in group} for group in found)]
    middles = [records[sorted(group)].mean(axis=0) for group in groups]
    for record in rest:
        near = sorted(
            range(len(groups)), key=lambda g: squared_distance(middles[g], records[record])
        )
        groups[next(g for g in near if len(groups[g]) < 2 * k - 1)].add(record)
    return groups


# Paths that an exact solver finds


def least_length(records: Floats, start: int | None = None) -> float:
    """Length of the shortest path, by all sets of records and their last ones."""
    n = len(records)
    first = range(n) if start is None else [start]
    reached = {(1 << i, i): 0.0 for i in first}
    for _ in range(n - 1):
        onward: dict[tuple[int, int], float] = {}
        for (met, last), done in reached.items():
            for i in range(n):
                if not met >> i & 1:
                    length = done + distance(records[last], records[i])
                    key = (met | 1 << i, i)
                    onward[key] = min(length, onward.get(key, np.inf))
        reached = onward
    return min(reached.values())


def assert_is_path(path: Ints, n: int, start: int | None) -> None:
    assert path.dtype == np.int64
    assert sorted(path.tolist()) == list(range(n))
    assert start is None or path[0] == start
