"""Exchanges of two records between groups, the best one first."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance
from trajanon._kernels.relocate import holds_subject, move


class Swaps(NamedTuple):
    """Everything the exchanges read and write.

    Attributes
    ----------
    records, subjects
        Standardised records (n, p), and their subjects (n,).
    labels
        Group of each record, (n,).
    centroids, sizes, different
        Mean record (g, p), records, and different subjects of each group, (g,).
    first, following
        Members of a group as a chain: its first record (g,), and the record after
        each record (n,); -1 ends a chain.
    away, radius
        Distance of each record from its centroid, (n,), and the largest in each
        group, (g,).
    partner, change
        The later record that each record had best be exchanged with, or -1, and what
        that changes the SSE by, (n,).
    """

    records: NDArray[np.float64]
    subjects: NDArray[np.int64]
    labels: NDArray[np.int64]
    centroids: NDArray[np.float64]
    sizes: NDArray[np.int64]
    different: NDArray[np.int64]
    first: NDArray[np.int64]
    following: NDArray[np.int64]
    away: NDArray[np.float64]
    radius: NDArray[np.float64]
    partner: NDArray[np.int64]
    change: NDArray[np.float64]


@kernel
def exchange_change(swaps, i, j):
    """What exchanging two records of different groups changes the SSE by."""
    a, b = swaps.labels[i], swaps.labels[j]
    along, apart = 0.0, 0.0
    for column in range(swaps.records.shape[1]):
        step = swaps.records[j, column] - swaps.records[i, column]
        along += step * (swaps.centroids[b, column] - swaps.centroids[a, column])
        apart += step * step
    return 2.0 * along - apart * (1.0 / swaps.sizes[a] + 1.0 / swaps.sizes[b])


@kernel
def may_replace(swaps, leaving, entering, k):
    """Whether a record's group keeps k different subjects with another in its place."""
    group = swaps.labels[leaving]
    if swaps.different[group] > k:
        return True
    if holds_subject(swaps, group, swaps.subjects[leaving], leaving):
        return True
    return not holds_subject(swaps, group, swaps.subjects[entering], leaving)


@kernel
def offer(swaps, i, j, k):
    """Make j the partner of i if that gains more, or as much and is earlier."""
    change = exchange_change(swaps, i, j)
    if change > swaps.change[i]:
        return
    if change == swaps.change[i] and j >= swaps.partner[i]:
        return
    if may_replace(swaps, i, j, k) and may_replace(swaps, j, i, k):
        swaps.partner[i], swaps.change[i] = j, change


@kernel
def offer_members(swaps, record, group, k):
    """Offer a record the members of another group that come later."""
    member = swaps.first[group]
    while member >= 0:
        if member > record:
            offer(swaps, record, member, k)
        member = swaps.following[member]


@kernel
def measure(swaps, group):
    """Measure how far the members of a group are from its centroid."""
    swaps.radius[group] = 0.0
    member = swaps.first[group]
    while member >= 0:
        distance = squared_distance(swaps.records[member], swaps.centroids[group])
        swaps.away[member] = np.sqrt(distance)
        swaps.radius[group] = max(swaps.radius[group], swaps.away[member])
        member = swaps.following[member]


@kernel
def within_reach(swaps, group, away, other):
    """Whether one so far from its group's centroid may gain by another group.

    The sum of the two records' distances from their centroids must exceed that of the
    centroids. For let D lead from centroid to centroid, D + e from record to record,
    and s = 1/a + 1/b, at most 1: the change is 2 D·(D + e) - s |D + e|², at least
    (2 - s) |D|² - 2 (1 - s) |D| |e| - s |e|², which is positive up to |e| = |D|.
    """
    reach = away + swaps.radius[other]
    apart = squared_distance(swaps.centroids[group], swaps.centroids[other])
    return apart < reach * reach


@kernel
def find_partners(swaps, start, stop, k):
    """Find the best partners of the records from start to stop."""
    for record in range(start, stop):
        swaps.partner[record], swaps.change[record] = -1, 0.0
        own = swaps.labels[record]
        for group in range(swaps.sizes.shape[0]):
            if group != own and within_reach(swaps, own, swaps.away[record], group):
                offer_members(swaps, record, group, k)


@kernel
def touches(swaps, record, a, b):
    """Whether a record, or its partner, is in one of two groups."""
    if swaps.labels[record] in (a, b):
        return True
    partner = swaps.partner[record]
    return partner >= 0 and swaps.labels[partner] in (a, b)


@kernel
def exchange(swaps, i, j, k):
    """Exchange two records; partners follow, wherever one of the two groups counts."""
    a, b = swaps.labels[i], swaps.labels[j]
    move(swaps, i, b)
    move(swaps, j, a)
    measure(swaps, a)
    measure(swaps, b)
    for group in range(swaps.sizes.shape[0]):
        near_a = within_reach(swaps, group, swaps.radius[group], a)
        near_b = within_reach(swaps, group, swaps.radius[group], b)
        member = swaps.first[group]
        while member >= 0:
            if touches(swaps, member, a, b):
                find_partners(swaps, member, member + 1, k)
            else:
                if near_a:
                    offer_members(swaps, member, a, k)
                if near_b:
                    offer_members(swaps, member, b, k)
            member = swaps.following[member]


@kernel
def exchanges(swaps, k, tiny, count):
    """Make the best exchange up to ``count`` times; how many lowered the SSE."""
    for done in range(count):
        best = np.argmin(swaps.change)
        if swaps.change[best] >= -tiny:
            return done
        exchange(swaps, best, swaps.partner[best], k)
    return count
