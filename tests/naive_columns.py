"""Slow twins of what groups as columns need: every group and every partition."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from naive import group_sse, squared_distance
from scipy.optimize import linprog

from trajanon.arrays import Floats, Ints


def every_group(m: int, k: int, subjects: Ints) -> Iterator[list[int]]:
    """The groups of k to 2k - 1 records that hold k different subjects."""
    for size in range(k, min(2 * k - 1, m) + 1):
        for group in combinations(range(m), size):
            if len(set(subjects[list(group)].tolist())) >= k:
                yield list(group)


def earnings(records: Floats, prices: Floats, group: list[int]) -> float:
    return float(prices[group].sum()) - group_sse(records[group])


def is_centre(records: Floats, group: list[int], centre: int) -> bool:
    """Whether no member has a smaller sum of squared distances to the others."""
    sums = {i: sum(squared_distance(records[i], records[j]) for j in group) for i in group}
    return sums[centre] <= min(sums.values()) + 1e-12


def most_earned(records: Floats, prices: Floats, subjects: Ints, k: int, centre: int) -> float:
    """What the best group round a record earns; -inf without any."""
    return max(
        (
            earnings(records, prices, group)
            for group in every_group(len(records), k, subjects)
            if centre in group and is_centre(records, group, centre)
        ),
        default=-np.inf,
    )


def grown_group(records: Floats, prices: Floats, subjects: Ints, k: int, seed: int) -> list[int]:
    """The best of the groups that a record goes through when it grows greedily."""
    m = len(records)
    group, seen = [seed], []
    while len(group) < min(2 * k - 1, m):
        # What repeats a subject may fill no place that k subjects need.
        joined = [
            [*group, record]
            for record in range(m)
            if record not in group
            and len(group) + 1 - len(set(subjects[[*group, record]].tolist()))
            <= min(2 * k - 1, m) - k
        ]
        if not joined:
            break
        group = max(joined, key=lambda members: earnings(records, prices, members))
        if len(set(subjects[group].tolist())) >= k:
            seen.append(group)
    return max(seen, key=lambda members: earnings(records, prices, members), default=[])


def relaxation(records: Floats, groups: list[list[int]]) -> float:
    """Optimum of the linear programme that parts the records into some groups."""
    rows = np.zeros((len(records), len(groups)))
    for column, group in enumerate(groups):
        rows[group, column] = 1.0
    costs = [group_sse(records[group]) for group in groups]
    return float(linprog(costs, A_eq=rows, b_eq=np.ones(len(records))).fun)


def every_partition(n: int, k: int) -> list[Ints]:
    """All partitions of n records into groups of at least k."""
    found: list[Ints] = []

    def extend(labels: list[int]) -> None:
        if len(labels) == n:
            if min(np.bincount(labels)) >= k:
                found.append(np.array(labels))
            return
        for group in range(max(labels) + 2):
            extend([*labels, group])

    extend([0])
    return found


def nearest_bound(records: Floats, k: int) -> float:
    """Half the squared distances of each record to its k - 1 nearest, divided by k."""
    total = 0.0
    for i, record in enumerate(records):
        to_others = [squared_distance(record, other) for j, other in enumerate(records) if j != i]
        total += float(np.sum(sorted(to_others)[: k - 1])) / (2 * k)
    return total
