"""Slow twins of the kernels: shorter, and obviously right."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def squared_distance(a: Floats, b: Floats) -> float:
    return float(((a - b) ** 2).sum())


def distance(a: Floats, b: Floats) -> float:
    return float(np.sqrt(squared_distance(a, b)))


# What a partition loses


def standardise(X: Floats) -> Floats:
    """In exact arithmetic up to the square root."""
    columns = []
    for column in np.asarray(X).T:
        exact = [Fraction(float(value)) for value in column]
        mean = sum(exact, Fraction(0)) / len(exact)
        centred = [value - mean for value in exact]
        variance = sum((c * c for c in centred), Fraction(0)) / max(len(exact) - 1, 1)
        spread = float(variance) ** 0.5
        columns.append([float(c) / spread if spread else 0.0 for c in centred])
    return np.array(columns).T


def group_sse(records: Floats) -> float:
    middle = records.mean(axis=0)
    return sum(squared_distance(record, middle) for record in records)


def sse(records: Floats, labels: Ints) -> float:
    return sum(group_sse(records[labels == group]) for group in set(labels.tolist()))


def holds(labels: Ints, subjects: Ints | None, k: int) -> bool:
    """Whether every group has k records, and k subjects."""
    whose = np.arange(len(labels)) if subjects is None else subjects
    groups = set(labels.tolist())
    return all(len(set(whose[labels == group].tolist())) >= k for group in groups)


# Neighbours


def nearest_distances(records: Floats, count: int) -> list[list[float]]:
    """The distances of each record to its nearest others, the least first."""
    return [
        sorted(distance(records[i], records[j]) for j in range(len(records)) if j != i)[
            :count
        ]
        for i in range(len(records))
    ]


# MHM


def latest_starts(subjects: Sequence[int], k: int) -> list[int]:
    return [
        max(
            (s for s in range(end + 1) if len(set(subjects[s : end + 1])) >= k),
            default=-1,
        )
        for end in range(len(subjects))
    ]


def cuts(n: int) -> Iterator[list[int]]:
    """Every way to cut n records in a row into groups: the borders, 0 and n too."""
    for chosen in product([False, True], repeat=n - 1):
        yield [0, *(i for i, cut in enumerate(chosen, start=1) if cut), n]


def least_cut(path_records: Floats, subjects: Sequence[int], k: int) -> float:
    """Least SSE of all cuts into groups of k different subjects."""
    n = len(path_records)
    cost = {
        (start, end): group_sse(path_records[start:end])
        for start in range(n)
        for end in range(start + 1, n + 1)
        if len(set(subjects[start:end])) >= k
    }
    return min(
        sum(cost[group] for group in pairwise(borders))
        for borders in cuts(n)
        if all(group in cost for group in pairwise(borders))
    )


# MDAV


def farthest(records: Floats, remaining: Sequence[int], point: Floats) -> int:
    return max(remaining, key=lambda record: squared_distance(records[record], point))


def nearest_centroid(point: Floats, centroids: Floats) -> int:
    distances = [squared_distance(centroid, point) for centroid in centroids]
    return distances.index(min(distances))


def nearest_of_other_subjects(
    records: Floats, remaining: Sequence[int], subjects: Ints, centre: int, count: int
) -> list[int]:
    nearest: list[int] = []
    for record in sorted(
        remaining, key=lambda record: squared_distance(records[record], records[centre])
    ):
        met = {subjects[centre], *(subjects[other] for other in nearest)}
        if subjects[record] not in met:
            nearest.append(record)
    return nearest[:count]


def mdav(records: Floats, k: int) -> list[set[int]]:
    """Classic MDAV without subjects, as the reference describes it."""
    remaining = list(range(len(records)))
    groups = []

    def take(seed: int) -> None:
        near = sorted(
            remaining, key=lambda i: squared_distance(records[i], records[seed])
        )
        groups.append(set(near[:k]))
        remaining[:] = [i for i in remaining if i not in groups[-1]]

    def from_the_middle() -> int:
        return farthest(records, remaining, records[remaining].mean(axis=0))

    while len(remaining) >= 3 * k:
        seed = from_the_middle()
        take(seed)
        take(farthest(records, remaining, records[seed]))
    if len(remaining) >= 2 * k:
        take(from_the_middle())
    return [*groups, set(remaining)]


# Paths


def greedy_links(edges: Ints, n: int) -> list[set[int]]:
    """The neighbours of each record after taking edges that neither fork nor close."""
    links: list[set[int]] = [set() for _ in range(n)]
    piece = list(range(n))
    for a, b in edges.tolist():
        if len(links[a]) < 2 and len(links[b]) < 2 and piece[a] != piece[b]:
            links[a].add(b)
            links[b].add(a)
            piece = [piece[a] if p == piece[b] else p for p in piece]
    return links


def join(records: Floats, links: list[set[int]]) -> list[int]:
    """Walk the pieces, each from the free end nearest to the last record."""
    order: list[int] = []
    while len(order) < len(records):
        ends = [i for i, met in enumerate(links) if len(met) < 2 and i not in order]
        city = min(
            ends,
            key=lambda end: (
                squared_distance(records[end], records[order[-1]]) if order else end
            ),
        )
        order.append(city)
        while onward := [other for other in links[city] if other not in order]:
            city = onward[0]
            order.append(city)
    return order


def tour_length(records: Floats, order: Sequence[int]) -> float:
    """Length of a closed tour through the records and the dummy city n."""
    n = len(records)
    return sum(
        distance(records[a], records[b])
        for a, b in pairwise([*order, order[0]])
        if n not in (a, b)
    )


def tours_one_move_away(
    records: Floats, order: Sequence[int], neighbours: Ints
) -> Iterator[list[int]]:
    """Every 2-opt move, and every move of up to three records (or-opt), that links a
    record with one of its listed neighbours in exchange for longer links.
    """
    n = len(records)
    for a in range(n):
        for tour in (list(order), list(order)[::-1]):
            place = tour.index(a)
            ring = tour[place:] + tour[:place]  # from a onward
            yield from _two_opt(records, ring, neighbours[a].tolist())
            yield from _or_opt(records, ring, neighbours[a].tolist())


def _two_opt(records: Floats, ring: list[int], near: list[int]) -> Iterator[list[int]]:
    a, b = ring[0], ring[1]
    given_up = 0.0 if b == len(records) else distance(records[a], records[b])
    for c in near:
        if distance(records[a], records[c]) < given_up:
            place = ring.index(c)
            yield [a, *ring[1 : place + 1][::-1], *ring[place + 1 :]]


def _or_opt(records: Floats, ring: list[int], near: list[int]) -> Iterator[list[int]]:
    a, n = ring[0], len(records)
    for length in (1, 2, 3):
        segment, rest = ring[:length], ring[length:]
        if n in segment or len(rest) < 3:
            return
        given_up = (
            tour_length(records, ring)
            - tour_length(records, rest)
            - sum(distance(records[i], records[j]) for i, j in pairwise(segment))
        )
        for c in near:
            if c in rest and distance(records[a], records[c]) < given_up:
                place = rest.index(c)
                yield [*rest[: place + 1], *segment, *rest[place + 1 :]]
                if place > 0:  # else it is turned where it stands: a 2-opt move
                    yield [*rest[:place], *segment[::-1], *rest[place:]]


# Descent


def best_relocation(
    records: Floats, labels: Ints, k: int, subjects: Ints, neighbours: Ints
) -> float:
    """How much the best move of one record to a near record's group gains."""
    before = sse(records, labels)
    best = 0.0
    for record in range(len(records)):
        for target in set(labels[neighbours[record]].tolist()) - {int(labels[record])}:
            moved = labels.copy()
            moved[record] = target
            if holds(moved, subjects, k):
                best = max(best, before - sse(records, moved))
    return best
