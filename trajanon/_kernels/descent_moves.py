"""Moves of descent: of one record, of two, of three, and of whole groups, below a limit."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import insert_rising, squared_distance
from trajanon._kernels.compiled import bare
from trajanon._kernels.far_records import farthest
from trajanon._kernels.group_state import (
    NONE,
    Groups,
    close_group,
    exchange_change,
    holds_subject,
    joining_change,
    leaving_change,
    may_leave,
    may_replace,
    move,
    open_group,
    replacing_change,
)

RECORDS, GROUPS, CREATED = np.arange(3)
"""What a pass looks at: records, groups, or records where groups are created."""

_NOBODY = np.int64(0)
_LARGEST = 16  # k up to which three records are moved: beyond, there are too many


class Descent(NamedTuple):
    """Everything the moves read and write."""

    groups: Groups  # with a place for each group that can ever be, and one more
    # The nearest records of each record, nearest first, (n, c): it may go to the groups of these,
    # which are near it.
    neighbours: NDArray[np.int64]
    changed: NDArray[np.int64]  # number of the move that last changed a group, (g,)
    looked: NDArray[np.int64]  # number of the last move when each record was looked at, (n,)
    near: NDArray[np.int64]  # the groups near a record, (c,)
    nearer: NDArray[np.int64]  # and those near one of their members, (c,)
    gathered: NDArray[np.int64]  # records of one move, (n,)
    origins: NDArray[np.int64]  # the groups they came from, (n,)
    along: NDArray[np.float64]  # places of the members of one group on a line, (n,)
    tiny: float  # a gain below it is rounding


@bare
def surroundings_changed(descent, record):
    """Return whether a record's group, or a near one, changed since it was looked at."""
    labels = descent.groups.labels
    since = descent.looked[record]

    if descent.changed[labels[record]] > since:
        return True
    for neighbour in descent.neighbours[record]:
        if descent.changed[labels[neighbour]] > since:
            return True
    return False


@bare
def list_near_groups(descent, record, near):
    """List the groups near a record, but for its own; return how many they are."""
    labels = descent.groups.labels
    count = 0
    for neighbour in descent.neighbours[record]:
        group = labels[neighbour]
        is_new = group != labels[record]
        for i in range(count):
            is_new = is_new and near[i] != group
        if is_new:
            near[count] = group
            count += 1
    return count


@bare
def find_move(descent, x, k, near):
    """Find the near group that a record had best join, and whose place it takes there.

    Returns the group, the member in whose place it goes, if any, and where that one goes: to the
    group of the record. All are NONE where nothing gains.
    """
    groups = descent.groups
    may_go = may_leave(groups, x, k)
    leaving = leaving_change(groups, x) if may_go else 0.0

    target = NONE
    partner = NONE
    least = -descent.tiny
    for group in near:
        if may_go:
            change = leaving + joining_change(groups, groups.records[x], group)
            if change < least:
                target = group
                partner = NONE
                least = change

        z = groups.first[group]
        while z >= 0:
            if may_replace(groups, x, z, k) and may_replace(groups, z, x, k):
                change = exchange_change(groups, x, z)
                if change < least:
                    target = group
                    partner = z
                    least = change
            z = groups.following[z]
    return target, partner, groups.labels[x]


@bare
def is_near(descent, record, group):
    """Return whether a group holds one of a record's nearest."""
    for neighbour in descent.neighbours[record]:
        if descent.groups.labels[neighbour] == group:
            return True
    return False


@bare
def find_third(descent, x, z, group, k, change):
    """Find a member whose place z takes in a group, and that takes the place of x; NONE if none."""
    groups = descent.groups
    source = groups.labels[x]
    enters = squared_distance(groups.records[z], groups.centroids[group])

    v = groups.first[group]
    while v >= 0 and change < 0.0:
        by_now = change + replacing_change(groups, v, z, enters)
        if (
            by_now < 0.0
            and may_replace(groups, v, z, k)
            and may_replace(groups, x, v, k)
            and is_near(descent, v, source)
        ):
            returns = squared_distance(groups.records[v], groups.centroids[source])
            if by_now + replacing_change(groups, x, v, returns) < -descent.tiny:
                return v
        v = groups.following[v]
    return NONE


@bare
def find_chain(descent, x, k, near):
    """Find a near group for a record, a member whose place it takes, and where that one goes on.

    Returns these, and whose place that one takes in turn, if any: who goes to the group of x.
    """
    groups = descent.groups
    may_go = may_leave(groups, x, k)
    leaving = leaving_change(groups, x) if may_go else 0.0

    for group in near:
        enters = squared_distance(groups.records[x], groups.centroids[group])
        z = groups.first[group]
        while z >= 0:
            replaced = replacing_change(groups, z, x, enters)
            # Joining a group always costs: a chain without a gain by now never has one.
            if leaving + replaced < 0.0 and may_replace(groups, z, x, k):
                for onward in descent.nearer[: list_near_groups(descent, z, descent.nearer)]:
                    if onward == groups.labels[x]:
                        continue

                    joins = joining_change(groups, groups.records[z], onward)
                    if may_go and leaving + replaced + joins < -descent.tiny:
                        return group, z, onward, NONE
                    third = find_third(descent, x, z, onward, k, replaced)
                    if third >= 0:
                        return group, z, onward, third
            z = groups.following[z]
    return NONE, NONE, NONE, NONE


@bare
def gather(descent, group):
    """Gather the members of a group, rising; return how many they are."""
    members = descent.gathered
    count = 0

    member = descent.groups.first[group]
    while member >= 0:
        insert_rising(members, members, count, member, member)
        count += 1
        member = descent.groups.following[member]
    return count


@bare
def send_back(descent, count, staying):
    """Send the records gathered back where they came from, the last one first, but for some."""
    for i in range(count - 1, staying - 1, -1):
        move(descent.groups, descent.gathered[i], descent.origins[i])


@bare
def dissolve_group(descent, group, limit):
    """Send members to near groups, each where it costs least; return how many, 0 if undone."""
    groups = descent.groups
    count = gather(descent, group)

    change = 0.0
    for member in descent.gathered[:count]:
        change -= squared_distance(groups.records[member], groups.centroids[group])

    for i in range(count):
        member = descent.gathered[i]
        descent.origins[i] = group

        target = NONE
        least = np.inf
        for near in descent.near[: list_near_groups(descent, member, descent.near)]:
            cost = joining_change(groups, groups.records[member], near)
            if cost < least:
                target = near
                least = cost

        # What follows can only add to it.
        change += least
        if target < 0 or change >= limit:
            send_back(descent, i, _NOBODY)
            return 0

        move(groups, member, target)

    close_group(groups, group)
    return count


@bare
def create_group(descent, x, k, limit):
    """Make a group of a record and the nearest k - 1 that can be spared; return k, 0 if undone."""
    groups = descent.groups
    if not may_leave(groups, x, k):
        return 0

    # Most tries end here, although each record that leaves may keep others from it.
    spared = 1
    for neighbour in descent.neighbours[x]:
        spared += may_leave(groups, neighbour, k)
    if spared < k:
        return 0

    group = open_group(groups)
    count = 0
    change = 0.0

    for i in range(-1, descent.neighbours.shape[1]):
        record = x if i < 0 else descent.neighbours[x, i]
        subject = groups.subjects[record]
        met = groups.repeats and holds_subject(groups, group, subject, NONE)
        if met or not may_leave(groups, record, k):
            continue

        change += leaving_change(groups, record)
        change += joining_change(groups, groups.records[record], group)
        descent.gathered[count] = record
        descent.origins[count] = groups.labels[record]
        move(groups, record, group)
        count += 1
        if count == k:
            break

    if count == k and change < limit:
        return count
    send_back(descent, count, _NOBODY)
    close_group(groups, group)
    return 0


@bare
def order_along(descent, count):
    """Order the records gathered on the line between two that are far apart."""
    records = descent.groups.records
    members = descent.gathered
    along = descent.along

    centroid = descent.groups.centroids[descent.groups.labels[members[0]]]
    one_end = records[farthest(records, members[:count], centroid)]
    other_end = records[farthest(records, members[:count], one_end)]

    for i in range(count):
        member = members[i]
        value = squared_distance(records[member], one_end)
        value -= squared_distance(records[member], other_end)
        insert_rising(along, members, i, value, member)


@bare
def split_group(descent, group, k, limit):
    """Cut a group of 2k different subjects in two on a line through it, where that gains most.

    Returns how many members leave it, 0 if none.
    """
    groups = descent.groups
    if groups.different[group] < 2 * k:
        return 0

    count = gather(descent, group)
    order_along(descent, count)

    cut_off = open_group(groups)
    best = limit
    leaving = 0
    change = 0.0
    for i in range(count - 1):
        member = descent.gathered[i]
        descent.origins[i] = group
        change += leaving_change(groups, member)
        change += joining_change(groups, groups.records[member], cut_off)
        move(groups, member, cut_off)

        least_different = min(groups.different[group], groups.different[cut_off])
        if least_different >= k and change < best:
            best = change
            leaving = i + 1

    send_back(descent, count - 1, leaving)
    if leaving == 0:
        close_group(groups, cut_off)
    return leaving


@bare
def try_move(descent, movers, item, k):
    """Make the best move of a record or group, if it gains; return how many records moved."""
    if movers == CREATED:
        return create_group(descent, item, k, -descent.tiny)
    if movers == GROUPS:
        if descent.groups.sizes[item] == 0:
            return 0
        leaving = split_group(descent, item, k, -descent.tiny)
        return leaving if leaving > 0 else dissolve_group(descent, item, -descent.tiny)

    near = descent.near[: list_near_groups(descent, item, descent.near)]
    source = descent.groups.labels[item]
    third = NONE
    target, partner, onward = find_move(descent, item, k, near)
    if target < 0 and k <= _LARGEST:
        target, partner, onward, third = find_chain(descent, item, k, near)
    if target < 0:
        return 0

    descent.gathered[0] = item
    descent.origins[0] = source
    move(descent.groups, item, target)
    if partner < 0:
        return 1

    descent.gathered[1] = partner
    descent.origins[1] = target
    move(descent.groups, partner, onward)
    if third < 0:
        return 2

    descent.gathered[2] = third
    descent.origins[2] = onward
    move(descent.groups, third, source)
    return 3


@bare
def descent_pass(descent, movers, k, moves, start, stop):
    """Look at records or groups once, in one kernel for all moves; return the moves made so far."""
    for item in range(start, stop):
        if movers == RECORDS:
            if not surroundings_changed(descent, item):
                continue
            descent.looked[item] = moves

        moved = try_move(descent, movers, item, k)
        if moved > 0:
            moves += 1
        for i in range(moved):
            descent.changed[descent.origins[i]] = moves
            descent.changed[descent.groups.labels[descent.gathered[i]]] = moves
    return moves
