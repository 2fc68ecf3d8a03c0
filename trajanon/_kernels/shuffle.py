"""Records sent to the nearest group, small groups dissolved, two groups cut anew."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance
from trajanon._kernels.relocate import may_leave, move
from trajanon._kernels.tour import below

_DRAWS = 2**31  # as many as ``below`` can tell apart


class Shuffle(NamedTuple):
    """Everything that sending, dissolving and shuffling read and write.

    Attributes
    ----------
    records, subjects
        Standardised records (n, p), and their subjects (n,).
    labels
        Group of each record, (n,).
    centroids, sizes, different
        Mean record (g, p), records, and different subjects of each group, (g,). A
        group of no records is a place for a new one; its centroid means nothing.
    first, following
        Members of a group as a chain: its first record (g,), and the record after
        each record (n,); -1 ends a chain.
    bound
        Group that each member of a group to be dissolved would join, (n,).
    random
        State of the generator, one cell.
    """

    records: NDArray[np.float64]
    subjects: NDArray[np.int64]
    labels: NDArray[np.int64]
    centroids: NDArray[np.float64]
    sizes: NDArray[np.int64]
    different: NDArray[np.int64]
    first: NDArray[np.int64]
    following: NDArray[np.int64]
    bound: NDArray[np.int64]
    random: NDArray[np.uint64]


@kernel
def nearest_other(shuffle, point, group):
    """The group with the nearest centroid, but for one; -1 if there is no other."""
    best, least = -1, np.inf
    for other in range(shuffle.sizes.shape[0]):
        if other == group or shuffle.sizes[other] == 0:
            continue
        distance = squared_distance(shuffle.centroids[other], point)
        if distance < least:
            best, least = other, distance
    return best


@kernel
def send(shuffle, record):
    """Move a record to the nearest other group if that lowers the SSE."""
    point, source = shuffle.records[record], shuffle.labels[record]
    target = nearest_other(shuffle, point, source)
    if target < 0:
        return
    a, b = shuffle.sizes[source], shuffle.sizes[target]
    saved = squared_distance(point, shuffle.centroids[source]) * (a / (a - 1.0))
    cost = squared_distance(point, shuffle.centroids[target]) * (b / (b + 1.0))
    if cost < saved:
        move(shuffle, record, target)


@kernel
def joining_cost(shuffle, source, target):
    """What the members of a group who are bound for another add to its SSE."""
    total = np.zeros(shuffle.records.shape[1])
    joining, cost = 0, 0.0
    member = shuffle.first[source]
    while member >= 0:
        if shuffle.bound[member] == target:
            joining += 1
            for column in range(total.shape[0]):
                away = shuffle.records[member, column]
                away -= shuffle.centroids[target, column]
                total[column] += away
                cost += away * away
        member = shuffle.following[member]
    return cost - (total * total).sum() / (shuffle.sizes[target] + joining)


@kernel
def leads(shuffle, record):
    """Whether nobody before a record in its chain is bound for the same group."""
    member = shuffle.first[shuffle.labels[record]]
    while member != record:
        if shuffle.bound[member] == shuffle.bound[record]:
            return False
        member = shuffle.following[member]
    return True


@kernel
def dissolve(shuffle, group):
    """Send each member to the nearest other group unless that raises the SSE."""
    rise = 0.0
    member = shuffle.first[group]
    while member >= 0:
        point = shuffle.records[member]
        shuffle.bound[member] = nearest_other(shuffle, point, group)
        if shuffle.bound[member] < 0:
            return
        rise -= squared_distance(point, shuffle.centroids[group])
        member = shuffle.following[member]
    member = shuffle.first[group]
    while member >= 0:
        if leads(shuffle, member):
            rise += joining_cost(shuffle, group, shuffle.bound[member])
        member = shuffle.following[member]
    if rise <= 0.0:
        while shuffle.first[group] >= 0:
            member = shuffle.first[group]
            move(shuffle, member, shuffle.bound[member])


@kernel
def count_different(subjects):
    """How many different subjects there are among a few."""
    count = 0
    for i in range(subjects.shape[0]):
        met = False
        for j in range(i):
            met = met or subjects[j] == subjects[i]
        count += not met
    return count


@kernel
def recut(shuffle, a, b, k):
    """Merge two groups, and cut them into runs by distance to the common centroid.

    There are as many runs as k goes into the number of different subjects. Fewer than
    two, or one of fewer than k different subjects, and nothing changes; whether it did.
    """
    members = np.flatnonzero((shuffle.labels == a) | (shuffle.labels == b))
    middle = shuffle.centroids[a] * shuffle.sizes[a]
    middle += shuffle.centroids[b] * shuffle.sizes[b]
    middle /= members.shape[0]
    distance = np.empty(members.shape[0])
    for i in range(members.shape[0]):
        distance[i] = squared_distance(shuffle.records[members[i]], middle)
    members = members[np.argsort(distance, kind="mergesort")]
    subjects = shuffle.subjects[members]
    runs = count_different(subjects) // k
    if runs < 2:
        return False
    borders = np.arange(runs + 1) * members.shape[0] // runs
    for run in range(runs):
        if count_different(subjects[borders[run] : borders[run + 1]]) < k:
            return False
    while shuffle.first[b] >= 0:
        move(shuffle, shuffle.first[b], a)
    for run in range(1, runs):
        group = 0
        while shuffle.sizes[group] > 0:
            group += 1
        shuffle.centroids[group] = 0.0
        for i in range(borders[run], borders[run + 1]):
            move(shuffle, members[i], group)
    return True


@kernel
def shuffle_two(shuffle, k):
    """Cut a random group and the nearest one anew; whether that could be done."""
    a = below(shuffle.random, shuffle.sizes.shape[0])
    while shuffle.sizes[a] == 0:
        a = below(shuffle.random, shuffle.sizes.shape[0])
    b = nearest_other(shuffle, shuffle.centroids[a], a)
    return b >= 0 and recut(shuffle, a, b, k)


@kernel
def shuffling_pass(shuffle, k, probability, events, start, stop):
    """Look at the records from start to stop once; how many events are left."""
    for record in range(start, stop):
        if may_leave(shuffle, record, k):
            send(shuffle, record)
        else:
            dissolve(shuffle, shuffle.labels[record])
        if events > 0 and below(shuffle.random, _DRAWS) < probability * _DRAWS:
            events -= shuffle_two(shuffle, k)
    return events
