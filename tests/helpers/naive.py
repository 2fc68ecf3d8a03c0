"""Slow twins of the kernels: shorter, and obviously right."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

import numpy as np

from trajanon.common.arrays import Floats, Ints

Ints = Ints


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


def least_sse(records: Floats, k: int) -> float:
    """Least SSE of all partitions into groups of at least k records."""
    n = len(records)

    @cache
    def rest(records_left: frozenset[int]) -> float:
        if not records_left:
            return 0.0
        first, *others = sorted(records_left)
        return min(
            (
                group_sse(records[[first, *chosen]]) + rest(records_left - {first, *chosen})
                for size in range(k - 1, len(others) + 1)
                for chosen in combinations(others, size)
                if size + 1 < 2 * k  # what is larger can be divided at no loss
            ),
            default=np.inf,
        )

    return rest(frozenset(range(n)))


# Neighbours


def nearest_distances(records: Floats, count: int) -> list[list[float]]:
    """The distances of each record to its nearest others, the least first."""
    return [
        sorted(distance(records[i], records[j]) for j in range(len(records)) if j != i)[:count]
        for i in range(len(records))
    ]


# MHM


def latest_starts(subjects: Sequence[int], k: int) -> list[int]:
    return [
        max((s for s in range(end + 1) if len(set(subjects[s : end + 1])) >= k), default=-1)
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


class Ungrouped:
    """Records without a group, and the groups so far."""

    def __init__(self, records: Floats) -> None:
        self.records = records
        self.rows = list(range(len(records)))
        self.groups: list[set[int]] = []

    def farthest_from(self, point: Floats) -> int:
        return farthest(self.records, self.rows, point)

    def take(self, seed: int, k: int) -> set[int]:
        """Group a record with its nearest: k in all."""
        group = set(
            sorted(self.rows, key=lambda i: squared_distance(self.records[i], self.records[seed]))[
                :k
            ]
        )
        self.groups.append(group)
        self.rows = [i for i in self.rows if i not in group]
        return group


def mdav(records: Floats, k: int) -> list[set[int]]:
    """Classic MDAV without subjects, as the reference describes it."""
    left = Ungrouped(records)

    def from_the_middle() -> int:
        return left.farthest_from(records[left.rows].mean(axis=0))

    while len(left.rows) >= 3 * k:
        seed = from_the_middle()
        left.take(seed, k)
        left.take(left.farthest_from(records[seed]), k)
    if len(left.rows) >= 2 * k:
        left.take(from_the_middle(), k)
    return [*left.groups, set(left.rows)]


def nearest_to_group(
    records: Floats, remaining: Sequence[int], members: Sequence[int]
) -> tuple[int, float]:
    """The record nearest to any member, and its distance."""
    pairs = [(distance(records[i], records[m]), i) for i in remaining for m in members]
    near, record = min(pairs, default=(np.inf, -1))
    return record, near


def v_mdav(records: Floats, k: int, gamma: float) -> list[set[int]]:
    """V-MDAV without subjects, as the reference describes it."""
    left = Ungrouped(records)
    while len(left.rows) >= k:
        group = left.take(left.farthest_from(records.mean(axis=0)), k)
        while left.rows and len(group) < 2 * k - 1:
            record, d_in = nearest_to_group(records, left.rows, sorted(group))
            others = [i for i in left.rows if i != record]
            _, d_out = nearest_to_group(records, others, [record])
            if not d_in < gamma * d_out:
                break
            group.add(record)
            left.rows = others
    middles = np.array([records[sorted(group)].mean(axis=0) for group in left.groups])
    for record in left.rows:
        left.groups[nearest_centroid(records[record], middles)].add(record)
    return left.groups


def diameter(records: Floats, remaining: Sequence[int]) -> tuple[int, int]:
    """The two records farthest from each other."""
    return max(
        combinations(remaining, 2),
        key=lambda pair: squared_distance(records[pair[0]], records[pair[1]]),
    )


def md(records: Floats, k: int) -> list[set[int]]:
    """MD without subjects; of the two farthest records the outer one is first."""
    left = Ungrouped(records)
    middle = records.mean(axis=0)
    while len(left.rows) >= 2 * k:
        pair = diameter(records, left.rows)
        outer = farthest(records, pair, middle)
        left.take(outer, k)
        (inner,) = set(pair) - {outer}
        if inner in left.rows and len(left.rows) >= 2 * k:
            left.take(inner, k)
    return [*left.groups, set(left.rows)]


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
            key=lambda end: squared_distance(records[end], records[order[-1]]) if order else end,
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
        distance(records[a], records[b]) for a, b in pairwise([*order, order[0]]) if n not in (a, b)
    )


def tours_one_move_away(
    records: Floats, order: Sequence[int], neighbours: Ints
) -> Iterator[list[int]]:
    """Every 2-opt move, and every move of up to three records (or-opt), that links a
    record with one of its listed neighbours in exchange for longer links.
    """
    yield from tours_two_links_away(records, order, neighbours)
    for ring in _rings(records, order):
        yield from _or_opt(records, ring, neighbours[ring[0]].tolist())


def tours_two_links_away(
    records: Floats, order: Sequence[int], neighbours: Ints
) -> Iterator[list[int]]:
    """Every 2-opt move that links a record with one of its listed neighbours in
    exchange for a longer link.
    """
    for ring in _rings(records, order):
        yield from _two_opt(records, ring, neighbours[ring[0]].tolist())


def _rings(records: Floats, order: Sequence[int]) -> Iterator[list[int]]:
    """The tour from every record onward, both ways."""
    for a in range(len(records)):
        for tour in (list(order), list(order)[::-1]):
            place = tour.index(a)
            yield tour[place:] + tour[:place]


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
