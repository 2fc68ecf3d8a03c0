"""Slow twins of what groups as columns need: every group and every partition."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from naive import group_sse, squared_distance
from scipy.optimize import linprog

from trajanon.common.arrays import Floats, Ints


def every_group(m: int, k: int, subjects: Ints) -> Iterator[list[int]]:
    """The groups of k to 2k - 1 records that hold k different subjects."""
    for size in range(k, min(2 * k - 1, m) + 1):
        for group in combinations(range(m), size):
            if len(set(subjects[list(group)].tolist())) >= k:
                yield list(group)


def earnings(records: Floats, prices: Floats, group: list[int]) -> float:
    return float(prices[group].sum()) - group_sse(records[group])


def duals_due(cuts: Ints, cut_duals: Floats, group: list[int]) -> float:
    """What a group pays for the cuts of which it holds two records or more."""
    return sum(
        float(dual)
        for cut, dual in zip(cuts.tolist(), cut_duals, strict=True)
        if len(set(cut) & set(group)) > 1
    )


def is_centre(records: Floats, group: list[int], centre: int) -> bool:
    """Whether no member has a smaller sum of squared distances to the others."""
    sums = {i: sum(squared_distance(records[i], records[j]) for j in group) for i in group}
    return sums[centre] <= min(sums.values()) + 1e-12


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
