"""Moves of descent: of one record, of two, of three, and of whole groups, that lower the SSE.

The moves are those that `grouping/refinements/descent.py` describes. x, z and v are records, and a
group is near a record if it holds one of its nearest. A move of one to three records is measured
before it is made; one of many records is measured by making it, and taken back if it does not gain.
"""

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
    places_lacked,
    replacing_change,
)

RECORDS, GROUPS, CREATED = np.arange(3)
"""What a pass looks at: records, groups, or records where groups are created."""


_LARGEST_K_OF_CHAINS = 16  # up to which three records are moved: beyond, there are too many


class Descent(NamedTuple):
    """Everything that moves read and write: n records in groups, and room for those that move."""

    groups: Groups  # with a place for each group that can ever be, and one more
    # The nearest records of each record, nearest first, (n, c): it may go to the groups of these,
    # which are near it. In 32 bits, more of a block is in the core's cache.
    neighbours: NDArray[np.int32]
    gathered: NDArray[np.int64]  # the records of one move, in their order, (n,)
    origins: NDArray[np.int64]  # the group that each of them came from, (n,)
    targets: NDArray[np.int64]  # the group that each goes to, where they are up to three, (3,)
    along: NDArray[np.float64]  # where the members of one group lie along a line, (n,)
    groups_near_record: NDArray[np.int64]  # near the record looked at, (c,)
    groups_near_member: NDArray[np.int64]  # near a member of one of these groups, (c,)
    tiny: float  # a gain below it is rounding


@bare
def surroundings_changed(descent, record):
    """Return whether a record's group, or a near one, changed since it was looked at."""
    members = descent.groups.members
    heads = descent.groups.heads
    since = members[record].looked

    if heads[members[record].group].changed > since:
        return True
    for neighbour in descent.neighbours[record]:
        if heads[members[neighbour].group].changed > since:
            return True
    return False


@bare
def list_near_groups(descent, record, near):
    """List the groups near a record, but for its own, in ``near``; return how many they are."""
    members = descent.groups.members
    own_group = members[record].group
    count = 0
    for neighbour in descent.neighbours[record]:
        group = members[neighbour].group
        if group == own_group:
            continue

        known = False
        for i in range(count):
            known = known or near[i] == group
        if not known:
            near[count] = group
            count += 1
    return count


@bare
def is_near(descent, record, group):
    """Return whether a group holds one of a record's nearest."""
    for neighbour in descent.neighbours[record]:
        if descent.groups.members[neighbour].group == group:
            return True
    return False


@bare
def find_exchange(descent, x, k, near):
    """Find the best move of x to one of the groups ``near``, or exchange of x with a member of one.

    Which records move, and where to, is written to ``gathered`` and ``targets``; returned is how
    many move, 0 if none gains.
    """
    groups = descent.groups
    may_go = may_leave(groups, x, k)
    leaving = leaving_change(groups, x) if may_go else 0.0

    # The change is computed before it is asked whether the move is allowed: that takes a walk
    # through the members, and few moves gain.
    best = -descent.tiny
    count = 0
    for group in near:
        if may_go:
            change = leaving + joining_change(groups, groups.records[x], group)
            if change < best:
                best = change
                count = 1
                descent.gathered[0] = x
                descent.targets[0] = group

        z = groups.heads[group].first
        while z >= 0:
            change = exchange_change(groups, x, z)
            if change < best and may_replace(groups, x, z, k) and may_replace(groups, z, x, k):
                best = change
                count = 2
                descent.gathered[0] = x
                descent.targets[0] = group
                descent.gathered[1] = z
                descent.targets[1] = groups.members[x].group
            z = groups.members[z].following
    return count


@bare
def find_chain(descent, x, k, near):
    """Find a chain, in which x takes the place of z, which joins a third group; or a cycle.

    In a cycle z takes the place of v in the third group, and v that of x. The first chain or cycle
    that gains is written and counted as in `find_exchange`.
    """
    if k > _LARGEST_K_OF_CHAINS:
        return 0

    groups = descent.groups
    own_group = groups.members[x].group
    # If x may not leave, only cycles are made, in which v takes its place.
    may_go = may_leave(groups, x, k)
    leaving = leaving_change(groups, x) if may_go else 0.0

    for group in near:
        x_square = squared_distance(groups.records[x], groups.centroids[group])
        z = groups.heads[group].first
        while z >= 0:
            first_change = replacing_change(groups, z, x, x_square)
            # Joining a group always costs: a chain without a gain by now never has one.
            if leaving + first_change < 0.0 and may_replace(groups, z, x, k):
                descent.gathered[0] = x
                descent.targets[0] = group

                # The groups near x are being gone through: those near z have a list of their own.
                near_z = descent.groups_near_member
                for onward in near_z[: list_near_groups(descent, z, near_z)]:
                    if onward == own_group:
                        continue

                    descent.gathered[1] = z
                    descent.targets[1] = onward
                    z_square = squared_distance(groups.records[z], groups.centroids[onward])
                    size = groups.heads[onward].size
                    change = leaving + first_change + z_square * (size / (size + 1.0))

                    if may_go and change < -descent.tiny:
                        return 2

                    # A cycle leaves all sizes as they are, so x need not be spared. It is followed
                    # while its first steps alone gain, as Lin and Kernighan (1973) do.
                    v = groups.heads[onward].first
                    while v >= 0 and first_change < 0.0:
                        change = first_change + replacing_change(groups, v, z, z_square)
                        if (
                            change < 0.0
                            and may_replace(groups, v, z, k)
                            and may_replace(groups, x, v, k)
                            and is_near(descent, v, own_group)
                        ):
                            v_square = squared_distance(
                                groups.records[v], groups.centroids[own_group]
                            )
                            change += replacing_change(groups, x, v, v_square)
                            if change < -descent.tiny:
                                descent.gathered[2] = v
                                descent.targets[2] = own_group
                                return 3
                        v = groups.members[v].following
            z = groups.members[z].following
    return 0


@bare
def gather(descent, group):
    """Gather the members of a group by rising number; return how many they are."""
    # The order of a chain depends on all moves before, and a seed shall repeat a result. The list
    # of members is that of the values they are sorted by, too.
    members = descent.gathered
    count = np.int64(0)

    member = descent.groups.heads[group].first
    while member >= 0:
        insert_rising(members, members, count, member, member)
        count += 1
        member = descent.groups.members[member].following
    return count


@bare
def send_back(descent, moved, staying):
    """Send gathered records, of which ``moved`` have moved, back to their origins, the last first.

    The first ``staying`` of them stay where they are.
    """
    for i in range(moved - 1, staying - 1, -1):
        move(descent.groups, descent.gathered[i], descent.origins[i])


@bare
def mark_changed(descent, count, number):
    """Mark the origins of the first gathered records, and the groups that they are in, as changed.

    ``number`` is that of the move.
    """
    heads = descent.groups.heads
    for i in range(count):
        heads[descent.origins[i]].changed = number
        heads[descent.groups.members[descent.gathered[i]].group].changed = number


@bare
def dissolve_group(descent, group, limit):
    """Send the members of a group to near groups, each where it costs least.

    Returned are how many were sent, and how many of these may stay: all, or none if the SSE does
    not change by less than ``limit``.
    """
    groups = descent.groups
    count = gather(descent, group)

    # Without the group its own SSE is saved; each member that joins another group adds to that one.
    change = 0.0
    for member in descent.gathered[:count]:
        change -= squared_distance(groups.records[member], groups.centroids[group])

    for i in range(count):
        member = descent.gathered[i]
        descent.origins[i] = group

        target = NONE
        least = np.inf
        near = descent.groups_near_record
        for near_group in near[: list_near_groups(descent, member, near)]:
            cost = joining_change(groups, groups.records[member], near_group)
            if cost < least:
                target = near_group
                least = cost

        # All that follows can only raise the change.
        change += least
        if target < 0 or change >= limit:
            return i, 0

        move(groups, member, target)

    close_group(groups, group)
    return count, count


@bare
def create_group(descent, x, k, limit):
    """Make a group of x and the nearest records that their groups can spare, of k subjects.

    Returned are how many records moved, and how many of these may stay: all, or none if the SSE
    does not change by less than ``limit``, or the group would lack more places than that of x.
    """
    groups = descent.groups
    if not may_leave(groups, x, k):
        return 0, 0

    # Most tries end here; later each record that leaves may keep others from leaving.
    can_be_spared = 1  # x itself
    for neighbour in descent.neighbours[x]:
        if may_leave(groups, np.int64(neighbour), k):
            can_be_spared += 1
    if can_be_spared < k:
        return 0, 0

    lacked = places_lacked(groups, groups.members[x].group)
    group = open_group(groups)
    count = 0
    change = 0.0

    # First x itself, for -1, and then its neighbours, the nearest first.
    for rank in range(-1, descent.neighbours.shape[1]):
        record = x if rank < 0 else np.int64(descent.neighbours[x, rank])
        subject = groups.members[record].subject
        has_subject = groups.repeats and holds_subject(groups, group, subject, NONE)
        if has_subject or not may_leave(groups, record, k):
            continue

        change += leaving_change(groups, record)
        change += joining_change(groups, groups.records[record], group)
        descent.gathered[count] = record
        descent.origins[count] = groups.members[record].group
        move(groups, record, group)
        count += 1
        if count == k:
            break

    if count == k and change < limit and places_lacked(groups, group) <= lacked:
        return count, count
    close_group(groups, group)
    return count, 0


@bare
def order_along(descent, count):
    """Order the gathered members of a group along the line between two that are far apart."""
    records = descent.groups.records
    members = descent.gathered
    along = descent.along

    centroid = descent.groups.centroids[descent.groups.members[members[0]].group]
    one_end = records[farthest(records, members[:count], centroid)]
    other_end = records[farthest(records, members[:count], one_end)]

    # The difference of the squared distances to both ends rises along the line.
    for i in range(count):
        member = members[i]
        place = squared_distance(records[member], one_end)
        place -= squared_distance(records[member], other_end)
        insert_rising(along, members, i, place, member)


@bare
def split_group(descent, group, k, limit):
    """Cut a group of 2k different subjects in two across a line through it, where that gains most.

    Returned are how many records moved to a new group, and how many of these shall stay there: the
    caller sends back the others.
    """
    groups = descent.groups
    if groups.heads[group].subject_count < 2 * k:
        return 0, 0

    lacked = places_lacked(groups, group)
    count = gather(descent, group)
    order_along(descent, count)

    # Move one member after the other to the new group, and remember where that gained most.
    cut_off = open_group(groups)
    best = limit
    moved = 0
    change = 0.0
    for i in range(count - 1):
        member = descent.gathered[i]
        descent.origins[i] = group
        change += leaving_change(groups, member)
        change += joining_change(groups, groups.records[member], cut_off)
        move(groups, member, cut_off)

        if (
            groups.heads[group].subject_count >= k
            and groups.heads[cut_off].subject_count >= k
            and change < best
            and places_lacked(groups, group) <= lacked
            and places_lacked(groups, cut_off) <= lacked
        ):
            best = change
            moved = i + 1

    if moved == 0:
        close_group(groups, cut_off)
    return count - 1, moved


@bare
def descent_pass(movers, descent, k, moves, start, stop):
    """Look once at the records or groups start..stop - 1, and make moves that gain.

    ``movers`` says which moves; ``moves`` is how many were made before, and the number with these
    is returned. All are in one kernel, as what they have in common is then compiled once.
    """
    for item in range(start, stop):
        if movers == RECORDS:
            # A record that had no move has none while nothing near it changes.
            if not surroundings_changed(descent, item):
                continue
            descent.groups.members[item].looked = moves

            near = descent.groups_near_record
            near = near[: list_near_groups(descent, item, near)]
            moved = find_exchange(descent, item, k, near)
            if moved == 0:
                moved = find_chain(descent, item, k, near)
            for i in range(moved):
                descent.origins[i] = descent.groups.members[descent.gathered[i]].group
                move(descent.groups, descent.gathered[i], descent.targets[i])
        else:
            # A group is split, or else, in a second attempt, dissolved. Either is written once, as
            # each call of a move is compiled again. What does not gain is sent back, once.
            tried = 0
            moved = 0
            for attempt in range(1 if movers == CREATED else 2):
                if movers == CREATED:
                    tried, moved = create_group(descent, item, k, -descent.tiny)
                elif descent.groups.heads[item].size > 0 and attempt == 0:
                    tried, moved = split_group(descent, item, k, -descent.tiny)
                elif descent.groups.heads[item].size > 0 and moved == 0:
                    tried, moved = dissolve_group(descent, item, -descent.tiny)
                send_back(descent, tried, moved)
                tried = moved

        if moved > 0:
            moves += 1
            mark_changed(descent, moved, moves)
    return moves
