"""Moves of whole groups: they are dissolved, created and split.

Each is made if it changes the SSE by less than a limit; returned is how many records have moved.
"""

import numpy as np

from trajanon._kernels.common import insert_rising, squared_distance
from trajanon._kernels.compiled import bare
from trajanon._kernels.far_records import farthest
from trajanon._kernels.group_state import (
    NONE,
    close_group,
    holds_subject,
    joining_change,
    leaving_change,
    may_leave,
    move,
    open_group,
)
from trajanon._kernels.record_moves import near_groups


@bare
def gather(descent, group):
    """Gather the members of a group, rising; how many they are."""
    members, count = descent.gathered, 0
    member = descent.groups.first[group]
    while member >= 0:
        insert_rising(members, members, count, member, member)
        count += 1
        member = descent.groups.following[member]
    return count


@bare
def send_back(descent, count):
    """Send the records gathered back where they came from, the last one first."""
    for i in range(count - 1, -1, -1):
        move(descent.groups, descent.gathered[i], descent.origins[i])


@bare
def touch(descent, count, number):
    """Mark the groups that the records gathered came from, and those they are in."""
    for i in range(count):
        descent.changed[descent.origins[i]] = number
        descent.changed[descent.groups.labels[descent.gathered[i]]] = number


@bare
def dissolve_group(descent, group, limit):
    """Send the members, one after the other, to the near group that each costs least."""
    groups = descent.groups
    count = gather(descent, group)
    change = 0.0
    for member in descent.gathered[:count]:
        away = squared_distance(groups.records[member], groups.centroids[group])
        change -= away
    for i in range(count):
        member = descent.gathered[i]
        descent.origins[i] = group
        target, least = NONE, np.inf
        for other in descent.near[: near_groups(descent, member, descent.near)]:
            cost = joining_change(groups, groups.records[member], other)
            if cost < least:
                target, least = other, cost
        change += least
        if target < 0 or change >= limit:  # what follows can only add to it
            send_back(descent, i)
            return 0
        move(groups, member, target)
    close_group(groups, group)
    return count


@bare
def create_group(descent, x, k, limit):
    """Make a group of a record and the nearest that can be spared, of k subjects."""
    groups = descent.groups
    if not may_leave(groups, x, k):
        return 0
    spared = 1
    for neighbour in descent.neighbours[x]:
        spared += may_leave(groups, neighbour, k)
    if spared < k:  # and each that leaves may keep others: most tries end here
        return 0
    group = open_group(groups)
    count, change = 0, 0.0
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
    send_back(descent, count)
    close_group(groups, group)
    return 0


@bare
def order_along(descent, count):
    """Order the records gathered on the line between two that are far apart."""
    records, members, along = descent.groups.records, descent.gathered, descent.along
    centroid = descent.groups.centroids[descent.groups.labels[members[0]]]
    one = records[farthest(records, members[:count], centroid)]
    other = records[farthest(records, members[:count], one)]
    for i in range(count):
        member = members[i]
        value = squared_distance(records[member], one)
        value -= squared_distance(records[member], other)
        insert_rising(along, members, i, value, member)


@bare
def split_group(descent, group, k, limit):
    """Cut a group of 2k different subjects in two on a line through it, where that gains most."""
    groups = descent.groups
    if groups.different[group] < 2 * k:
        return 0
    count = gather(descent, group)
    order_along(descent, count)
    cut_off = open_group(groups)
    best, moved, change = limit, 0, 0.0
    for i in range(count - 1):
        member = descent.gathered[i]
        descent.origins[i] = group
        change += leaving_change(groups, member)
        change += joining_change(groups, groups.records[member], cut_off)
        move(groups, member, cut_off)
        both = min(groups.different[group], groups.different[cut_off])
        if both >= k and change < best:
            best, moved = change, i + 1
    for i in range(count - 2, moved - 1, -1):
        move(groups, descent.gathered[i], group)
    if moved == 0:
        close_group(groups, cut_off)
    return moved


@bare
def group_pass(descent, k, moves, start, stop):
    """Split or dissolve each group from start to stop once; the moves made so far."""
    for group in range(start, stop):
        if descent.groups.sizes[group] == 0:
            continue
        moved = split_group(descent, group, k, -descent.tiny)
        if moved == 0:
            moved = dissolve_group(descent, group, -descent.tiny)
        if moved > 0:
            moves += 1
            touch(descent, moved, moves)
    return moves


@bare
def creation_pass(descent, k, moves, start, stop):
    """Create a group round each record from start to stop once; the moves so far."""
    for record in range(start, stop):
        moved = create_group(descent, record, k, -descent.tiny)
        if moved > 0:
            moves += 1
            touch(descent, moved, moves)
    return moves
