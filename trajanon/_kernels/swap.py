"""Exchanges of two records between groups, the best one first."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance
from trajanon._kernels.groups import Groups, exchange, exchange_change, may_replace


class Swaps(NamedTuple):
    """Everything the exchanges read and write.

    Attributes
    ----------
    groups
        The records in their groups.
    away, radius
        Distance of each record from its centroid, (n,), and the largest in each group, (g,).
    partner, change
        The later record that each record had best be exchanged with, or -1, and what that changes
        the SSE by, (n,).
    """

    groups: Groups
    away: NDArray[np.float64]
    radius: NDArray[np.float64]
    partner: NDArray[np.int64]
    change: NDArray[np.float64]


@kernel
def offer(swaps, i, j, k):
    """Make j the partner of i if that gains more, or as much and is earlier."""
    change = exchange_change(swaps.groups, i, j)
    if change > swaps.change[i]:
        return
    if change == swaps.change[i] and j >= swaps.partner[i]:
        return
    if may_replace(swaps.groups, i, j, k) and may_replace(swaps.groups, j, i, k):
        swaps.partner[i], swaps.change[i] = j, change


@kernel
def offer_members(swaps, record, group, k):
    """Offer a record the members of another group that come later."""
    member = swaps.groups.first[group]
    while member >= 0:
        if member > record:
            offer(swaps, record, member, k)
        member = swaps.groups.following[member]


@kernel
def measure(swaps, group):
    """Measure how far the members of a group are from its centroid."""
    swaps.radius[group] = 0.0
    member = swaps.groups.first[group]
    while member >= 0:
        distance = squared_distance(swaps.groups.records[member], swaps.groups.centroids[group])
        swaps.away[member] = np.sqrt(distance)
        swaps.radius[group] = max(swaps.radius[group], swaps.away[member])
        member = swaps.groups.following[member]


@kernel
def within_reach(swaps, group, away, other):
    """Whether one so far from its group's centroid may gain by another group.

    The sum of the two records' distances from their centroids must exceed that of the centroids.
    """
    reach = away + swaps.radius[other]
    apart = squared_distance(swaps.groups.centroids[group], swaps.groups.centroids[other])
    return apart < reach * reach


@kernel
def find_partners(swaps, start, stop, k):
    """Find the best partners of the records from start to stop."""
    for record in range(start, stop):
        swaps.partner[record], swaps.change[record] = -1, 0.0
        own = swaps.groups.labels[record]
        for group in range(swaps.groups.sizes.shape[0]):
            if group != own and within_reach(swaps, own, swaps.away[record], group):
                offer_members(swaps, record, group, k)


@kernel
def touches(swaps, record, a, b):
    """Whether a record, or its partner, is in one of two groups."""
    if swaps.groups.labels[record] in (a, b):
        return True
    partner = swaps.partner[record]
    return partner >= 0 and swaps.groups.labels[partner] in (a, b)


@kernel
def exchange_partners(swaps, i, j, k):
    """Exchange two records; partners follow, wherever one of the two groups counts."""
    a, b = swaps.groups.labels[i], swaps.groups.labels[j]
    exchange(swaps.groups, i, j)
    measure(swaps, a)
    measure(swaps, b)
    for group in range(swaps.groups.sizes.shape[0]):
        near_a = within_reach(swaps, group, swaps.radius[group], a)
        near_b = within_reach(swaps, group, swaps.radius[group], b)
        member = swaps.groups.first[group]
        while member >= 0:
            if touches(swaps, member, a, b):
                find_partners(swaps, member, member + 1, k)
            else:
                if near_a:
                    offer_members(swaps, member, a, k)
                if near_b:
                    offer_members(swaps, member, b, k)
            member = swaps.groups.following[member]


@kernel
def exchanges(swaps, k, tiny, count):
    """Make the best exchange up to ``count`` times; how many lowered the SSE."""
    for done in range(count):
        best = np.argmin(swaps.change)
        if swaps.change[best] >= -tiny:
            return done
        exchange_partners(swaps, best, swaps.partner[best], k)
    return count
