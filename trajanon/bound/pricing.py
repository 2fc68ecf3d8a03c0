"""Pricing: groups of negative reduced cost, which earn more than they cost at given prices."""

from collections.abc import Callable, Iterator
from itertools import chain
from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from trajanon._kernels.column_search import (
    PricingProblem,
    earnings,
    grow_groups,
    room_for,
    search_groups,
)
from trajanon.arrays import Floats, Ints
from trajanon.workers import in_parts, unwatched

LEAST_EARNINGS = 1e-7  # squared standard deviations, of a group: no programme is more exact
NEAREST = 4  # neighbours to start first groups with; with fewer, prices swing for many rounds

PRICING_NODES = 20_000
"""Nodes of a search through all groups round a record: some hundredths of a second. Up to
k = 5, a tenth sufficed on 1,080 records."""

_GROWN_AT_ONCE, _SEARCHED_AT_ONCE = 64, 8  # records of one call, a fraction of a second


class FoundGroups(NamedTuple):
    """Groups that a search has found."""

    groups: list[Ints]  # their members, the root first
    at_most: Floats  # what no group round each record earns more than, shape (m,)
    complete: bool  # whether the search looked at all groups


def pricing_problem(records: Floats, k: int, subjects: Ints) -> PricingProblem:
    """Lay out records for pricing; the price of each is 0."""
    distances = cdist(records, records, "sqeuclidean")
    others = distances.copy()
    np.fill_diagonal(others, 0.0)  # exactly: each is its own nearest
    others.sort(axis=1)
    return PricingProblem(
        distances=distances,
        halves=others[:, : 2 * k - 1].cumsum(axis=1) / 2.0,
        subjects=subjects,
        prices=np.zeros(len(records)),
        k=k,
    )


def _by_distance(pricing: PricingProblem) -> Ints:
    """Sort all records by their distance to each, (m, m); each comes first itself."""
    others = pricing.distances.copy()
    np.fill_diagonal(others, -1.0)
    return np.argsort(others, axis=1, kind="stable")


def first_groups(pricing: PricingProblem) -> Iterator[Ints]:
    """Grow groups of every size, at the problem's prices, from each near pair."""
    m, largest = pricing.halves.shape
    near = _by_distance(pricing)[:, 1 : NEAREST + 1]
    grown = np.full((near.size, largest), -1)
    grown[:, 0], grown[:, 1] = np.repeat(np.arange(m), near.shape[1]), near.ravel()
    grow_groups(pricing, 2, grown, np.empty(near.size, np.int64), np.empty(m))
    for members in grown:
        for size in range(pricing.k, largest + 1):
            group = members[:size]
            if group[-1] >= 0 and len(set(pricing.subjects[group])) >= pricing.k:
                yield group


def grown_groups(pricing: PricingProblem, watch: Callable[[], None]) -> list[Ints]:
    """Grow a group round each record; those that earn more than they cost."""

    def grow(roots: Ints, _: Event) -> list[Ints]:
        found = np.zeros((len(roots), pricing.halves.shape[1]), dtype=np.int64)
        found[:, 0], sizes = roots, np.zeros(len(roots), dtype=np.int64)
        grow_groups(pricing, 1, found, sizes, np.empty(len(pricing.prices)))
        return [
            group for group in _cut_out(found, sizes) if earnings(pricing, group) > LEAST_EARNINGS
        ]

    every = np.arange(len(pricing.prices))
    return list(chain.from_iterable(in_parts(grow, every, _GROWN_AT_ONCE, watch)))


def search_best(
    pricing: PricingProblem, least: float, nodes: int, watch: Callable[[], None] = unwatched
) -> FoundGroups:
    """Search for the best group round each record, if it earns more than the least."""

    def best(roots: Ints, _: Event) -> FoundGroups:
        room, at_most = room_for(pricing, len(roots)), np.empty(len(roots))
        complete = search_groups(pricing, room, roots, least, nodes, at_most)
        return FoundGroups(_cut_out(room.found, room.sizes), at_most, complete)

    parts = in_parts(best, np.arange(len(pricing.prices)), _SEARCHED_AT_ONCE, watch)
    return FoundGroups(
        [group for part in parts for group in part.groups],
        np.concatenate([part.at_most for part in parts]),
        complete=all(part.complete for part in parts),
    )


def _cut_out(found: Ints, sizes: Ints) -> list[Ints]:
    return [found[row, : sizes[row]].copy() for row in np.flatnonzero(sizes)]
