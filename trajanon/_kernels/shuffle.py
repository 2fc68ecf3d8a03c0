"""Records sent to the nearest group, small groups dissolved, two groups divided again."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.column_search import different_subjects
from trajanon._kernels.common import below, insert_rising, squared_distance
from trajanon._kernels.compiled import bare
from trajanon._kernels.group_state import (
    Groups,
    close_group,
    joining_change,
    leaving_change,
    may_leave,
    move,
    open_group,
)

_DRAWS = 2**31  # as many as ``below`` can tell apart


class Room(NamedTuple):
    """Room for the members of two groups."""

    members: NDArray[np.int64]  # of one group, or of both, (n,)
    bound: NDArray[np.int64]  # the group that each goes to, (n,)
    away: NDArray[np.float64]  # of each from the mean, (n,)
    sums: NDArray[np.float64]  # a number for each column, (p,)


def room_for(groups: Groups) -> Room:
    """Make room for the groups that are shuffled."""
    n, p = groups.records.shape
    members, bound = np.empty((2, n), dtype=np.int64)
    return Room(members, bound, np.empty(n), np.empty(p))


@bare
def nearest_other(groups, point, group):
    """The group with the nearest centroid, but for one; -1 if there is no other."""
    best, least = -1, np.inf
    for other in range(groups.sizes.shape[0]):
        if other == group or groups.sizes[other] == 0:
            continue
        distance = squared_distance(groups.centroids[other], point)
        if distance < least:
            best, least = other, distance
    return best


@bare
def joining_cost(groups, members, bound, total):
    """What the members bound for the same group as the first one add to its SSE."""
    target, joining, cost = bound[0], 0, 0.0
    for column in range(total.shape[0]):
        total[column] = 0.0
    for i in range(members.shape[0]):
        if bound[i] == target:
            joining += 1
            for column in range(total.shape[0]):
                away = groups.records[members[i], column] - groups.centroids[target, column]
                total[column] += away
                cost += away * away
    squares = 0.0
    for number in total:
        squares += number * number
    return cost - squares / (groups.sizes[target] + joining)


@bare
def dissolve(groups, group, room):
    """Send each member to the nearest other group unless that raises the SSE."""
    members, bound = room.members[: groups.sizes[group]], room.bound[: groups.sizes[group]]
    rise, member = 0.0, groups.first[group]
    for i in range(members.shape[0]):
        point = groups.records[member]
        members[i], bound[i] = member, nearest_other(groups, point, group)
        if bound[i] < 0:
            return
        rise -= squared_distance(point, groups.centroids[group])
        member = groups.following[member]
    for i in range(members.shape[0]):
        leads = True
        for j in range(i):
            leads = leads and bound[j] != bound[i]
        if leads:
            rise += joining_cost(groups, members[i:], bound[i:], room.sums)
    if rise <= 0.0:
        for i in range(members.shape[0]):
            move(groups, members[i], bound[i])
        close_group(groups, group)


@bare
def recut(groups, a, b, k, room):
    """Merge two groups and cut them into runs by distance to their mean, if each run holds k."""
    count, joined = groups.sizes[a] + groups.sizes[b], 0
    members, distance, middle = room.members[:count], room.away[:count], room.sums
    for record in range(groups.labels.shape[0]):
        if groups.labels[record] in (a, b):
            members[joined] = record
            joined += 1
    for column in range(middle.shape[0]):
        total = groups.centroids[b, column] * groups.sizes[b]
        total += groups.centroids[a, column] * groups.sizes[a]
        middle[column] = total / count
    for i in range(count):
        away = squared_distance(groups.records[members[i]], middle)
        insert_rising(distance, members, i, away, members[i])
    runs = different_subjects(groups.subjects, members) // k
    if runs < 2:
        return False
    for run in range(runs):
        held = members[run * count // runs : (run + 1) * count // runs]
        if different_subjects(groups.subjects, held) < k:
            return False
    while groups.first[b] >= 0:
        move(groups, groups.first[b], a)
    close_group(groups, b)
    for run in range(1, runs):
        group = open_group(groups)
        for member in members[run * count // runs : (run + 1) * count // runs]:
            move(groups, member, group)
    return True


@bare
def shuffling_pass(groups, random, room, k, probability, events, start, stop):
    """Look at the records from start to stop once; how many events are left."""
    for record in range(start, stop):
        if may_leave(groups, record, k):
            point = groups.records[record]
            target = nearest_other(groups, point, groups.labels[record])
            saved = -leaving_change(groups, record)
            if target >= 0 and joining_change(groups, point, target) < saved:
                move(groups, record, target)
        else:
            dissolve(groups, groups.labels[record], room)
        if events > 0 and below(random, _DRAWS) < probability * _DRAWS:
            a = below(random, groups.sizes.shape[0])
            while groups.sizes[a] == 0:
                a = below(random, groups.sizes.shape[0])
            b = nearest_other(groups, groups.centroids[a], a)
            events -= b >= 0 and recut(groups, a, b, k, room)
    return events
