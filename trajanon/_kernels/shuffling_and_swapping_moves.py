"""Moves of the papers' refinements: Random Cluster Shuffling (RCS), and two-swapping.

RCS: Maya-López, thesis (URV 2023), chapter 6, Algorithm 4. Two-swapping: Castro, Gentile and
Spagnolo-Arrizabalaga (PSD 2022), section 3. Records and groups are numbers; the moves change the
`Groups` that they are given.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.column_search import count_subjects
from trajanon._kernels.common import draw_below, insert_rising, squared_distance
from trajanon._kernels.compiled import bare, kernel
from trajanon._kernels.group_state import (
    Groups,
    close_group,
    exchange,
    exchange_change,
    joining_change,
    leaving_change,
    may_leave,
    may_replace,
    move,
    open_group,
)

_DRAWS = 2**31  # as many numbers as `draw_below` can tell apart


@bare
def nearest_other(groups, point, group):
    """Find the group with the centroid nearest to a point, (p,), but for one group; -1 for none."""
    best = -1
    least = np.inf

    for neighbour in range(groups.heads.shape[0]):
        if neighbour == group or groups.heads[neighbour].size == 0:
            continue
        square = squared_distance(groups.centroids[neighbour], point)
        if square < least:
            best = neighbour
            least = square
    return best


@kernel
def dissolve(groups, group):
    """Send each member to the nearest other group unless that raises the SSE."""
    members = np.empty(groups.heads[group].size, dtype=np.int64)
    targets = np.empty_like(members)

    # All targets are found before anything moves; where there is no other group, nothing does.
    rise = 0.0
    member = groups.heads[group].first

    for i in range(members.shape[0]):
        point = groups.records[member]
        members[i] = member
        targets[i] = nearest_other(groups, point, group)
        if targets[i] < 0:
            return
        rise -= squared_distance(point, groups.centroids[group])
        member = groups.members[member].following

    # Members that go to one group change its centroid, so the rise is known when all have moved.
    for i in range(members.shape[0]):
        rise += joining_change(groups, groups.records[members[i]], targets[i])
        move(groups, members[i], targets[i])

    if rise <= 0.0:
        close_group(groups, group)
        return
    for member in members:
        move(groups, member, group)


@kernel
def recut(groups, a, b, k):
    """Merge groups a and b and cut them into runs by distance to their mean, of k subjects each.

    Returned is whether that was done. It is not if there would be fewer than two runs, or fewer
    subjects than k in one of them.
    """
    count = groups.heads[a].size + groups.heads[b].size
    members = np.empty(count, dtype=np.int64)
    listed = 0
    for record in range(groups.members.shape[0]):
        if groups.members[record].group in (a, b):
            members[listed] = record
            listed += 1

    mean = np.empty(groups.records.shape[1])
    for column in range(mean.shape[0]):
        total = groups.centroids[b, column] * groups.heads[b].size
        total += groups.centroids[a, column] * groups.heads[a].size
        mean[column] = total / count

    # Sort the members by their squared distances to the mean.
    squares = np.empty(count)
    for i in range(count):
        square = squared_distance(groups.records[members[i]], mean)
        insert_rising(squares, members, i, square, members[i])

    subjects = groups.members["subject"]
    runs = count_subjects(subjects, members) // k
    if runs < 2:
        return False

    # Nothing has moved yet: where a run would hold too few subjects, nothing will.
    for run in range(runs):
        run_members = members[run * count // runs : (run + 1) * count // runs]
        if count_subjects(subjects, run_members) < k:
            return False

    # All go to the first group, and the later runs to new ones.
    while groups.heads[b].first >= 0:
        move(groups, groups.heads[b].first, a)
    close_group(groups, b)
    for run in range(1, runs):
        group = open_group(groups)
        for member in members[run * count // runs : (run + 1) * count // runs]:
            move(groups, member, group)
    return True


@kernel
def shuffling_pass(groups, random, k, probability, events, start, stop):
    """Look at the records start..stop - 1 once; return how many shuffling events are left.

    ``events`` is how many were left before, and ``probability`` that of one after a record.
    """
    for record in range(start, stop):
        if may_leave(groups, record, k):
            point = groups.records[record]
            target = nearest_other(groups, point, groups.members[record].group)
            saved = -leaving_change(groups, record)
            if target >= 0 and joining_change(groups, point, target) < saved:
                move(groups, record, target)
        else:
            dissolve(groups, groups.members[record].group)

        # The event of shuffling. A place without a group is drawn again, so that each group is as
        # likely.
        if events > 0 and draw_below(random, _DRAWS) < probability * _DRAWS:
            a = draw_below(random, groups.heads.shape[0])
            while groups.heads[a].size == 0:
                a = draw_below(random, groups.heads.shape[0])
            b = nearest_other(groups, groups.centroids[a], a)
            if b >= 0 and recut(groups, a, b, k):
                events -= 1
    return events


class Swaps(NamedTuple):
    """Everything the exchanges read and write."""

    groups: Groups
    partner: NDArray[np.int64]  # the later record to exchange each with at best, or -1, (n,)
    change: NDArray[np.float64]  # what that changes the SSE by, (n,)


@bare
def offer_partner(swaps, k, i, j):
    """Make a later record j the partner of i if their exchange gains more than with the present.

    Of equally good ones the first is the partner.
    """
    groups = swaps.groups
    if j <= i or groups.members[i].group == groups.members[j].group:
        return

    change = exchange_change(groups, i, j)
    is_first_of_equals = change == swaps.change[i] and j < swaps.partner[i]
    is_better = change < swaps.change[i] or is_first_of_equals
    if is_better and may_replace(groups, i, j, k) and may_replace(groups, j, i, k):
        swaps.partner[i] = j
        swaps.change[i] = change


@bare
def find_partners(swaps, k, start, stop):
    """Find the best partner of each of the records start..stop - 1, or -1 where none gains."""
    for i in range(start, stop):
        swaps.partner[i] = -1
        swaps.change[i] = 0.0
        for j in range(i + 1, swaps.partner.shape[0]):
            offer_partner(swaps, k, i, j)


@bare
def make_exchanges(swaps, k, tiny, count):
    """Make the best exchange up to ``count`` times, or until it gains less than ``tiny``.

    Returned is how many were made.
    """
    groups = swaps.groups

    for done in range(count):
        best = np.argmin(swaps.change)
        if swaps.change[best] >= -tiny:
            return done

        # An exchange changes what all pairs with a member of its two groups gain. A record of them,
        # or with a partner in them, looks for a partner again; to others their members are offered.
        a = groups.members[best].group
        b = groups.members[swaps.partner[best]].group
        changed = (a, b)

        exchange(groups, best, swaps.partner[best])
        for i in range(groups.members.shape[0]):
            partner = swaps.partner[i]
            is_of_changed = groups.members[i].group in changed
            if is_of_changed or (partner >= 0 and groups.members[partner].group in changed):
                find_partners(swaps, k, i, i + 1)
                continue

            for group in changed:
                member = groups.heads[group].first
                while member >= 0:
                    offer_partner(swaps, k, i, member)
                    member = groups.members[member].following
    return count
