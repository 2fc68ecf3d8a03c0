"""Exchanges of two records between groups, the best one first."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare
from trajanon._kernels.group_state import Groups, exchange, exchange_change, may_replace


class Swaps(NamedTuple):
    """Everything the exchanges read and write."""

    groups: Groups
    away: NDArray[np.float64]  # distance of each record from its centroid, (n,)
    radius: NDArray[np.float64]  # the largest in each group, (g,)
    partner: NDArray[np.int64]  # the later record to exchange each with at best, or -1, (n,)
    change: NDArray[np.float64]  # what that changes the SSE by, (n,)


@bare
def offer_members(swaps, i, group, k):
    """Make the later member that gains most, the first of equals, a record's partner."""
    groups = swaps.groups
    j = groups.first[group]
    while j >= 0:
        if j > i:
            change = exchange_change(groups, i, j)
            equal = change == swaps.change[i] and j < swaps.partner[i]
            gains = change < swaps.change[i] or equal
            if gains and may_replace(groups, i, j, k) and may_replace(groups, j, i, k):
                swaps.partner[i], swaps.change[i] = j, change
        j = groups.following[j]


@bare
def measure(swaps, group):
    """Measure how far the members of a group are from its centroid."""
    swaps.radius[group] = 0.0
    member = swaps.groups.first[group]
    while member >= 0:
        distance = squared_distance(swaps.groups.records[member], swaps.groups.centroids[group])
        swaps.away[member] = np.sqrt(distance)
        swaps.radius[group] = max(swaps.radius[group], swaps.away[member])
        member = swaps.groups.following[member]


@bare
def within_reach(swaps, group, away, other):
    """Whether one so far from its group's centroid may gain by another group.

    The sum of the two records' distances from their centroids must exceed that of the centroids.
    """
    reach = away + swaps.radius[other]
    apart = squared_distance(swaps.groups.centroids[group], swaps.groups.centroids[other])
    return apart < reach * reach


@bare
def find_partners(swaps, start, stop, k):
    """Find the best partners of the records from start to stop."""
    for record in range(start, stop):
        swaps.partner[record], swaps.change[record] = -1, 0.0
        own = swaps.groups.labels[record]
        for group in range(swaps.groups.sizes.shape[0]):
            if group != own and within_reach(swaps, own, swaps.away[record], group):
                offer_members(swaps, record, group, k)


@bare
def exchange_partners(swaps, i, j, k):
    """Exchange two records; partners follow, wherever one of the two groups counts."""
    labels, following = swaps.groups.labels, swaps.groups.following
    a, b = labels[i], labels[j]
    exchange(swaps.groups, i, j)
    measure(swaps, a)
    measure(swaps, b)
    for group in range(swaps.groups.sizes.shape[0]):
        near_a = within_reach(swaps, group, swaps.radius[group], a)
        near_b = within_reach(swaps, group, swaps.radius[group], b)
        member = swaps.groups.first[group]
        while member >= 0:
            partner = swaps.partner[member]
            if group in (a, b) or (partner >= 0 and labels[partner] in (a, b)):
                find_partners(swaps, member, member + 1, k)
            else:
                if near_a:
                    offer_members(swaps, member, a, k)
                if near_b:
                    offer_members(swaps, member, b, k)
            member = following[member]


@bare
def exchanges(swaps, k, tiny, count):
    """Make the best exchange up to ``count`` times; how many lowered the SSE."""
    for done in range(count):
        best = np.argmin(swaps.change)
        if swaps.change[best] >= -tiny:
            return done
        exchange_partners(swaps, best, swaps.partner[best], k)
    return count
