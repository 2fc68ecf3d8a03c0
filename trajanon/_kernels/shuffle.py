"""Records sent to the nearest group, small groups dissolved, two groups cut anew."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.chance import below
from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance
from trajanon._kernels.groups import Groups, close_group, may_leave, move, open_group

_DRAWS = 2**31  # as many as ``below`` can tell apart


class Shuffle(NamedTuple):
    """Everything that sending, dissolving and shuffling read and write.

    Attributes
    ----------
    groups
        The records in their groups, with a place for each group that can ever be.
    bound
        Group that each member of a group to be dissolved would join, (n,).
    random
        State of the generator, one cell.
    """

    groups: Groups
    bound: NDArray[np.int64]
    random: NDArray[np.uint64]


@kernel
def nearest_other(shuffle, point, group):
    """The group with the nearest centroid, but for one; -1 if there is no other."""
    best, least = -1, np.inf
    for other in range(shuffle.groups.sizes.shape[0]):
        if other == group or shuffle.groups.sizes[other] == 0:
            continue
        distance = squared_distance(shuffle.groups.centroids[other], point)
        if distance < least:
            best, least = other, distance
    return best


@kernel
def send(shuffle, record):
    """Move a record to the nearest other group if that lowers the SSE."""
    point, source = shuffle.groups.records[record], shuffle.groups.labels[record]
    target = nearest_other(shuffle, point, source)
    if target < 0:
        return
    a, b = shuffle.groups.sizes[source], shuffle.groups.sizes[target]
    saved = squared_distance(point, shuffle.groups.centroids[source]) * (a / (a - 1.0))
    cost = squared_distance(point, shuffle.groups.centroids[target]) * (b / (b + 1.0))
    if cost < saved:
        move(shuffle.groups, record, target)


@kernel
def joining_cost(shuffle, source, target):
    """What the members of a group who are bound for another add to its SSE."""
    total = np.zeros(shuffle.groups.records.shape[1])
    joining, cost = 0, 0.0
    member = shuffle.groups.first[source]
    while member >= 0:
        if shuffle.bound[member] == target:
            joining += 1
            for column in range(total.shape[0]):
                away = shuffle.groups.records[member, column]
                away -= shuffle.groups.centroids[target, column]
                total[column] += away
                cost += away * away
        member = shuffle.groups.following[member]
    return cost - (total * total).sum() / (shuffle.groups.sizes[target] + joining)


@kernel
def leads(shuffle, record):
    """Whether nobody before a record in its chain is bound for the same group."""
    member = shuffle.groups.first[shuffle.groups.labels[record]]
    while member != record:
        if shuffle.bound[member] == shuffle.bound[record]:
            return False
        member = shuffle.groups.following[member]
    return True


@kernel
def dissolve(shuffle, group):
    """Send each member to the nearest other group unless that raises the SSE."""
    rise = 0.0
    member = shuffle.groups.first[group]
    while member >= 0:
        point = shuffle.groups.records[member]
        shuffle.bound[member] = nearest_other(shuffle, point, group)
        if shuffle.bound[member] < 0:
            return
        rise -= squared_distance(point, shuffle.groups.centroids[group])
        member = shuffle.groups.following[member]
    member = shuffle.groups.first[group]
    while member >= 0:
        if leads(shuffle, member):
            rise += joining_cost(shuffle, group, shuffle.bound[member])
        member = shuffle.groups.following[member]
    if rise <= 0.0:
        while shuffle.groups.first[group] >= 0:
            member = shuffle.groups.first[group]
            move(shuffle.groups, member, shuffle.bound[member])
        close_group(shuffle.groups, group)


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

    There are as many runs as k goes into the number of different subjects. Fewer than two, or one
    of fewer than k different subjects, and nothing changes; whether it did.
    """
    members = np.flatnonzero((shuffle.groups.labels == a) | (shuffle.groups.labels == b))
    middle = shuffle.groups.centroids[a] * shuffle.groups.sizes[a]
    middle += shuffle.groups.centroids[b] * shuffle.groups.sizes[b]
    middle /= members.shape[0]
    distance = np.empty(members.shape[0])
    for i in range(members.shape[0]):
        distance[i] = squared_distance(shuffle.groups.records[members[i]], middle)
    members = members[np.argsort(distance, kind="mergesort")]
    subjects = shuffle.groups.subjects[members]
    runs = count_different(subjects) // k
    if runs < 2:
        return False
    borders = np.arange(runs + 1) * members.shape[0] // runs
    for run in range(runs):
        if count_different(subjects[borders[run] : borders[run + 1]]) < k:
            return False
    while shuffle.groups.first[b] >= 0:
        move(shuffle.groups, shuffle.groups.first[b], a)
    close_group(shuffle.groups, b)
    for run in range(1, runs):
        group = open_group(shuffle.groups)
        for i in range(borders[run], borders[run + 1]):
            move(shuffle.groups, members[i], group)
    return True


@kernel
def shuffle_two(shuffle, k):
    """Cut a random group and the nearest one anew; whether that could be done."""
    a = below(shuffle.random, shuffle.groups.sizes.shape[0])
    while shuffle.groups.sizes[a] == 0:
        a = below(shuffle.random, shuffle.groups.sizes.shape[0])
    b = nearest_other(shuffle, shuffle.groups.centroids[a], a)
    return b >= 0 and recut(shuffle, a, b, k)


@kernel
def shuffling_pass(shuffle, k, probability, events, start, stop):
    """Look at the records from start to stop once; how many events are left."""
    for record in range(start, stop):
        if may_leave(shuffle.groups, record, k):
            send(shuffle, record)
        else:
            dissolve(shuffle, shuffle.groups.labels[record])
        if events > 0 and below(shuffle.random, _DRAWS) < probability * _DRAWS:
            events -= shuffle_two(shuffle, k)
    return events
