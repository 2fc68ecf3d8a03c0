"""Groups grown round each record, member by member: quickly, and not the best."""

from collections.abc import Callable, Iterator
from functools import partial
from threading import Event

import numpy as np

from trajanon._kernels.pricing import Market, earnings, grow_group, grow_groups
from trajanon.arrays import Ints
from trajanon.columns.market import TINY
from trajanon.columns.roots import found_groups, round_each

NEAREST = 4
"""Neighbours with each of which a record starts groups for the first pool.

With fewer, prices swing for many rounds before they tell anything.
"""

_SEEDS = 64  # records round which one call grows groups, a fraction of a second


def nearest_groups(market: Market) -> Iterator[Ints]:
    """List the k nearest and the k + 1 nearest of each record, if of k subjects."""
    for row in _by_distance(market):
        for size in range(market.k, min(market.k + 1, len(row)) + 1):
            group = row[:size]
            if len(set(market.subjects[group])) >= market.k:
                yield group


def _by_distance(market: Market) -> Ints:
    """All records by their distance to each, (m, m), which comes first itself."""
    others = market.distances.copy()
    np.fill_diagonal(others, -1.0)
    return np.argsort(others, axis=1, kind="stable")


def first_groups(market: Market) -> Iterator[Ints]:
    """Grow groups of every size, at the market's prices, from each near pair."""
    m, largest = market.halves.shape
    near = _by_distance(market)[:, 1 : NEAREST + 1]
    for record in range(m):
        for other in near[record]:
            members = np.array([record, other, *[-1] * (largest - 2)])
            grow_group(market, members, 2)
            for size in range(market.k, largest + 1):
                group = members[:size]
                if group[-1] >= 0 and len(set(market.subjects[group])) >= market.k:
                    yield group


def grown_groups(market: Market, watch: Callable[[], None]) -> list[Ints]:
    """Groups grown round each record, if they earn more than they cost."""
    found = round_each(partial(_grow_round, market), len(market.prices), _SEEDS, watch)
    return [group for groups in found for group in groups]


def _grow_round(market: Market, roots: Ints, _: Event) -> list[Ints]:
    """Grow groups round a few records, if they earn more than they cost."""
    found = np.zeros((len(roots), market.halves.shape[1]), dtype=np.int64)
    sizes = np.zeros(len(roots), dtype=np.int64)
    grow_groups(market, roots, found, sizes)
    return [g for g in found_groups(found, sizes) if earnings(market, g) > TINY]
