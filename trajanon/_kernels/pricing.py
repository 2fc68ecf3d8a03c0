"""Groups grown round records that earn more than they cost, at a price for each record."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare
from trajanon._kernels.groups import NONE


class PricingProblem(NamedTuple):
    """Records, the price of each, and subset-row cuts: the state of the pricing kernels.

    A group earns the prices of its members, less its SSE (the sum of its squared pair distances
    divided by its size), less the duals of the cuts that count it: its reduced cost, negated.
    Growing ignores the cuts; the search is exact.
    """

    distances: NDArray[np.float64]  # squared distance of each pair, (m, m)
    # Half the sum of squared distances of each record to its 0, 1, ... nearest others, (m, size of
    # the largest group).
    halves: NDArray[np.float64]
    subjects: NDArray[np.int64]  # of each record, (m,)
    prices: NDArray[np.float64]  # of each record, (m,)
    k: int  # least number of different subjects in a group
    # A cut counts, once, every group that holds two or three of its records.
    cuts: NDArray[np.int64]  # the three records of each cut, (t, 3)
    cut_duals: NDArray[np.float64]  # not negative, (t,)
    # The cuts of record i are ``cuts_of[first_cut[i] : first_cut[i + 1]]``.
    first_cut: NDArray[np.int64]
    cuts_of: NDArray[np.int64]


@bare
def earnings(pricing, members):
    """What a group earns before the duals of cuts."""
    prices, pairs = 0.0, 0.0
    for i in range(members.shape[0]):
        prices += pricing.prices[members[i]]
        for j in range(i):
            pairs += pricing.distances[members[i], members[j]]
    return prices - pairs / members.shape[0]


@bare
def has_subject(subjects, members, record, leave_out):
    """Whether a member other than ``leave_out`` has the subject of a record."""
    for member in members:
        if member == leave_out:
            continue
        if subjects[member] == subjects[record]:
            return True
    return False


@bare
def different_subjects(subjects, members):
    """Count the different subjects of some records."""
    different = 0
    for place in range(members.shape[0]):
        if not has_subject(subjects, members[:place], members[place], NONE):
            different += 1
    return different


@bare
def sum_distances(pricing, members, to_members):
    """Sum up the squared distances of each record to members; those of a member are infinite."""
    for record in range(to_members.shape[0]):
        to_members[record] = 0.0
    for member in members:
        to_members[member] = np.inf
        for record in range(to_members.shape[0]):
            to_members[record] += pricing.distances[member, record]


@bare
def grow_group(pricing, members, started, to_members):
    """Grow ``members`` from the first ``started``, which stay; the best size, 0 if none holds k.

    ``to_members`` is room for a number of each record.
    """
    sum_distances(pricing, members[:started], to_members)
    best_size, most = 0, -np.inf
    for size in range(started, members.shape[0] + 1):
        group = members[:size]
        different = different_subjects(pricing.subjects, group)
        if different >= pricing.k:
            earned = earnings(pricing, group)
            if earned > most:
                best_size, most = size, earned
        if size == members.shape[0]:
            break
        repeats = size - different < members.shape[0] - pricing.k
        best, least = -1, np.inf
        for record in range(pricing.prices.shape[0]):
            cost = to_members[record] / (size + 1) - pricing.prices[record]
            if cost < least and (repeats or not has_subject(pricing.subjects, group, record, NONE)):
                best, least = record, cost
        if best < 0:
            break
        members[size] = best
        to_members[best] = np.inf  # never to join again
        for record in range(to_members.shape[0]):
            to_members[record] += pricing.distances[best, record]
    return best_size


@bare
def exchange_member(pricing, members, to_members):
    """Exchange the member and the record outside that earn most; whether they do."""
    size, subjects = members.shape[0], pricing.subjects
    sum_distances(pricing, members, to_members)
    spare = different_subjects(subjects, members) > pricing.k
    highest, place, entering = 0.0, -1, -1
    for price in pricing.prices:
        highest = max(highest, abs(price))
    most = 1e-12 * highest
    for i in range(size):
        leaving = members[i]
        before = 0.0
        for member in members:
            before += pricing.distances[leaving, member]
        free = spare or has_subject(subjects, members, leaving, leaving)
        for record in range(pricing.prices.shape[0]):
            after = to_members[record] - pricing.distances[leaving, record]
            gain = pricing.prices[record] - pricing.prices[leaving]
            gain += (before - after) / size
            if gain > most and (free or not has_subject(subjects, members, record, leaving)):
                most, place, entering = gain, i, record
    if place < 0:
        return False
    members[place] = entering
    return True


@bare
def grow_groups(pricing, started, exchanged, found, sizes, to_members):
    """Grow each group ``found`` from the first ``started``, who stay at first.

    Then members are ``exchanged``, if asked for, while that earns more.
    """
    for i in range(found.shape[0]):
        sizes[i] = grow_group(pricing, found[i], started, to_members)
        if exchanged and sizes[i]:
            group = found[i, : sizes[i]]
            while exchange_member(pricing, group, to_members):
                pass
