"""Descent: moves of one record, of two and of three."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare
from trajanon._kernels.group_state import (
    NONE,
    Groups,
    exchange_change,
    joining_change,
    leaving_change,
    may_leave,
    may_replace,
    move,
    replacing_change,
)

_LARGEST = 16  # k up to which three records are moved: beyond, there are too many


class Descent(NamedTuple):
    """Everything the moves read and write."""

    groups: Groups  # with a place for each group that can ever be, and one more
    # The nearest records of each record, nearest first, (n, c): it may go to the groups of these,
    # which are near it.
    neighbours: NDArray[np.int64]
    changed: NDArray[np.int64]  # number of the move that last changed a group, (g,)
    looked: NDArray[np.int64]  # number of the last move when each record was looked at, (n,)
    gathered: NDArray[np.int64]  # records of one move, (n,)
    origins: NDArray[np.int64]  # the groups they came from, (n,)
    along: NDArray[np.float64]  # places of the members of one group on a line, (n,)
    near: NDArray[np.int64]  # the groups near a record, (c,)
    nearer: NDArray[np.int64]  # and those near one of their members, (c,)
    tiny: float  # a gain below it is rounding


@bare
def surroundings_changed(descent, record):
    """Whether a record's group, or a near one, changed since it was looked at."""
    labels, since = descent.groups.labels, descent.looked[record]
    if descent.changed[labels[record]] > since:
        return True
    for neighbour in descent.neighbours[record]:
        if descent.changed[labels[neighbour]] > since:
            return True
    return False


@bare
def near_groups(descent, record, found):
    """The groups near a record, but for its own; how many they are."""
    labels = descent.groups.labels
    count = 0
    for neighbour in descent.neighbours[record]:
        group = labels[neighbour]
        if group == labels[record]:
            continue
        known = False
        for i in range(count):
            known = known or found[i] == group
        if not known:
            found[count] = group
            count += 1
    return count


@bare
def is_near(descent, record, group):
    """Whether a group holds one of a record's nearest."""
    for neighbour in descent.neighbours[record]:
        if descent.groups.labels[neighbour] == group:
            return True
    return False


@bare
def move_on(descent, record, target, number):
    """Move a record, as a part of the move of a number."""
    descent.changed[descent.groups.labels[record]] = number
    descent.changed[target] = number
    move(descent.groups, record, target)


@bare
def relocate_or_exchange(descent, x, k, number, near):
    """Move a record to a near group, or exchange it with a member, at best; whether that gains."""
    groups = descent.groups
    may_go = may_leave(groups, x, k)
    leaving = leaving_change(groups, x) if may_go else 0.0
    best, target, partner = -descent.tiny, NONE, NONE
    for group in near:
        if may_go:
            change = leaving + joining_change(groups, groups.records[x], group)
            if change < best:
                best, target, partner = change, group, NONE
        z = groups.first[group]
        while z >= 0:
            if may_replace(groups, x, z, k) and may_replace(groups, z, x, k):
                change = exchange_change(groups, x, z)
                if change < best:
                    best, target, partner = change, group, z
            z = groups.following[z]
    if target < 0:
        return False
    own = groups.labels[x]
    move_on(descent, x, target, number)
    if partner >= 0:
        move_on(descent, partner, own, number)
    return True


@bare
def exchange_three(descent, x, k, number, near):
    """Move a record into the place of another, and that one on; whether that gains."""
    if k > _LARGEST:
        return False
    groups = descent.groups
    own = groups.labels[x]
    may_go = may_leave(groups, x, k)
    leaving = leaving_change(groups, x) if may_go else 0.0
    for group in near:
        x_enters = squared_distance(groups.records[x], groups.centroids[group])
        z = groups.first[group]
        while z >= 0:
            first = replacing_change(groups, z, x, x_enters)
            # Whoever joins a group costs something: no chain gains that has not by now.
            if leaving + first < 0.0 and may_replace(groups, z, x, k):
                for other in descent.nearer[: near_groups(descent, z, descent.nearer)]:
                    if other == own:
                        continue
                    z_enters = squared_distance(groups.records[z], groups.centroids[other])
                    if may_go:
                        size = groups.sizes[other]
                        change = leaving + first + z_enters * (size / (size + 1.0))
                        if change < -descent.tiny:
                            move_on(descent, x, group, number)
                            move_on(descent, z, other, number)
                            return True
                    v = groups.first[other]
                    while v >= 0 and first < 0.0:
                        change = first + replacing_change(groups, v, z, z_enters)
                        if (
                            change < 0.0
                            and may_replace(groups, v, z, k)
                            and may_replace(groups, x, v, k)
                            and is_near(descent, v, own)
                        ):
                            v_enters = squared_distance(groups.records[v], groups.centroids[own])
                            change += replacing_change(groups, x, v, v_enters)
                            if change < -descent.tiny:
                                move_on(descent, x, group, number)
                                move_on(descent, z, other, number)
                                move_on(descent, v, own, number)
                                return True
                        v = groups.following[v]
            z = groups.following[z]
    return False


@bare
def record_pass(descent, k, moves, start, stop):
    """Look at the records from start to stop once; the moves made so far."""
    for x in range(start, stop):
        if not surroundings_changed(descent, x):
            continue
        descent.looked[x] = moves
        near = descent.near[: near_groups(descent, x, descent.near)]
        moves += relocate_or_exchange(descent, x, k, moves + 1, near) or exchange_three(
            descent, x, k, moves + 1, near
        )
    return moves
