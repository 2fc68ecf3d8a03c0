"""Groups of records that change record by record, with all that moves ask of them.

Records are numbered 0..n-1, groups 0..g-1. A move changes the SSE by what it changes in its groups,
which is computed from their centroids: with a group of a records round its centroid A,

- leaving it saves a/(a-1) |x - A|²,
- joining it costs a/(a+1) |x - A|²,
- taking the place of z in it changes the SSE by |x - A|² - |z - A|² - |x - z|²/a.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare

NONE = np.int64(-1)  # no record, or no group

ONE_PLACE = 200.0
"""Metres between the ends of trips up to which they are in one place."""


# The members of a group are a chain, from its first one on; -1 ends it. What belongs to one record,
# or to one group, stands together: moves read it together, and the compiler handles two arrays in
# place of nine in each call.
MEMBER = np.dtype(
    [
        ("group", np.int64),
        ("subject", np.int64),
        ("following", np.int64),  # the record after it in the chain of its group
        ("preceding", np.int64),  # the record before it there
        ("looked", np.int64),  # how many moves were made when descent last looked at it
    ]
)
HEAD = np.dtype(
    [
        ("first", np.int64),  # the first record of its chain
        ("size", np.int64),  # records in it
        ("subject_count", np.int64),  # different subjects in it
        ("changed", np.int64),  # number of the move that changed it last
    ]
)


class Groups(NamedTuple):
    """n records in g groups; a group of no records is a place for a new one."""

    records: NDArray[np.float64]  # standardised, (n, p)
    members: NDArray[np.void]  # where each record is, (n,) of MEMBER
    heads: NDArray[np.void]  # what each group is, (g,) of HEAD
    centroids: NDArray[np.float64]  # mean record of each group, (g, p); of no records, anything
    repeats: bool  # whether any subject has several records
    empty: NDArray[np.int64]  # groups of no records, (g + 1,): a stack, its height in the last cell
    # Where the trips of records begin and end, in metres in space, (n, e, 3): NaN where that is
    # nobody's place. With no ends, (n, 0, 3), groups need no places.
    ends: NDArray[np.float64]
    # Room for a record of each place that a group needs at an end; its length is their number.
    picked: NDArray[np.int64]
    # Metres up to which another end counts as another place: with a farther one, a group would be
    # too wide.
    reach: float

    @property
    def labels(self) -> NDArray[np.int64]:
        """Return the group of each record, (n,)."""
        return self.members["group"].copy()


@bare
def holds_subject(groups, group, subject, left_out):
    """Return whether a member of a group is of a subject, with one record left out, or NONE."""
    member = groups.heads[group].first
    while member >= 0:
        if member != left_out and groups.members[member].subject == subject:
            return True
        member = groups.members[member].following
    return False


@bare
def close_group(groups, group):
    """Put a group that has become empty on the stack of empty ones."""
    groups.empty[groups.empty[-1]] = group
    groups.empty[-1] += 1


@bare
def open_group(groups):
    """Take an empty group off the stack, and return it."""
    groups.empty[-1] -= 1
    return groups.empty[groups.empty[-1]]


@bare
def hand_over(groups, record, following, preceding):
    """Put others in the place of a record in its chain, or nobody; return the records beside it.

    The record before it is linked with ``following``, and the one behind it with ``preceding``:
    with each other, if the record only leaves. Returned are both, -1 for none.
    """
    before = groups.members[record].preceding
    behind = groups.members[record].following

    if before >= 0:
        groups.members[before].following = following
    else:
        groups.heads[groups.members[record].group].first = following
    if behind >= 0:
        groups.members[behind].preceding = preceding

    return before, behind


@bare
def move(groups, record, target):
    """Move a record to another group; centroids, chains and counts follow."""
    source = groups.members[record].group

    # A bool counts as 0 or 1: the subject leaves with its last record, and comes with its first.
    if groups.repeats:
        subject = groups.members[record].subject
        groups.heads[source].subject_count -= not holds_subject(groups, source, subject, record)
        groups.heads[target].subject_count += not holds_subject(groups, target, subject, record)
    else:
        groups.heads[source].subject_count -= 1
        groups.heads[target].subject_count += 1

    # The record leaves its chain ...
    hand_over(groups, record, groups.members[record].following, groups.members[record].preceding)

    # ... and begins the other one.
    head = groups.heads[target].first
    groups.members[record].following = head
    groups.members[record].preceding = -1
    if head >= 0:
        groups.members[head].preceding = record
    groups.heads[target].first = record

    groups.members[record].group = target
    groups.heads[source].size -= 1
    groups.heads[target].size += 1
    source_size = groups.heads[source].size
    target_size = groups.heads[target].size

    # A centroid moves towards a record that joins, and away from one that leaves. A group of one
    # has its record as centroid, whatever was there before.
    share = 1.0 / target_size
    for column in range(groups.records.shape[1]):
        value = groups.records[record, column]
        mean = groups.centroids[target, column]
        groups.centroids[target, column] = (
            value if target_size == 1 else mean + (value - mean) * share
        )
        mean = groups.centroids[source, column]
        if source_size > 0:
            groups.centroids[source, column] = mean + (mean - value) / source_size


@bare
def exchange(groups, x, z):
    """Exchange two records of different groups; centroids, chains, counts follow."""
    x_group = groups.members[x].group  # which z enters
    z_group = groups.members[z].group  # which x enters

    # As in `move`, a bool counts as 0 or 1.
    if groups.repeats:
        x_subject = groups.members[x].subject
        z_subject = groups.members[z].subject
        groups.heads[x_group].subject_count -= not holds_subject(groups, x_group, x_subject, x)
        groups.heads[x_group].subject_count += not holds_subject(groups, x_group, z_subject, x)
        groups.heads[z_group].subject_count -= not holds_subject(groups, z_group, z_subject, z)
        groups.heads[z_group].subject_count += not holds_subject(groups, z_group, x_subject, z)

    x_before, x_behind = hand_over(groups, x, z, z)
    z_before, z_behind = hand_over(groups, z, x, x)
    groups.members[z].preceding = x_before
    groups.members[z].following = x_behind
    groups.members[x].preceding = z_before
    groups.members[x].following = z_behind

    groups.members[x].group = z_group
    groups.members[z].group = x_group

    # A record counts this share of its group's centroid.
    x_share = 1.0 / groups.heads[x_group].size
    z_share = 1.0 / groups.heads[z_group].size
    for column in range(groups.records.shape[1]):
        difference = groups.records[z, column] - groups.records[x, column]
        groups.centroids[x_group, column] += difference * x_share
        groups.centroids[z_group, column] -= difference * z_share


@bare
def refresh_centroids(groups):
    """Compute the centroids again: many moves add up their rounding."""
    for group in range(groups.heads.shape[0]):
        if groups.heads[group].first < 0:
            continue
        for column in range(groups.records.shape[1]):
            member = groups.heads[group].first
            origin = groups.records[member, column]
            total = 0.0  # of the differences from the first member, which lose fewer digits
            while member >= 0:
                total += groups.records[member, column] - origin
                member = groups.members[member].following
            groups.centroids[group, column] = origin + total / groups.heads[group].size


@bare
def member_after(groups, group, member, entering):
    """Return the member that follows in a group, as if a record had entered first; -1 for none.

    ``entering`` is that record, or -1.
    """
    return groups.heads[group].first if member == entering else groups.members[member].following


@bare
def count_places(groups, group, end, leaving, entering):
    """Count the places of a group at an end, up to those it needs, after a record left or entered.

    ``leaving`` and ``entering`` are these records, or -1. Members in different places are picked,
    each time from another member on, in the order of the chain; the most that were picked count.
    Where three are needed, there may be more places than are found so.
    """
    picked = groups.picked
    needed = picked.shape[0]
    most = 0
    first = entering if entering >= 0 else groups.heads[group].first
    start = first
    while start >= 0 and most < needed:
        picked[0] = start
        count = 1
        member = first
        while member >= 0 and count < needed:
            # A member in another place than all that are picked is picked, too.
            is_apart = member != leaving
            i = 0
            while is_apart and i < count:
                before = picked[i]
                x = groups.ends[member, end, 0] - groups.ends[before, end, 0]
                y = groups.ends[member, end, 1] - groups.ends[before, end, 1]
                z = groups.ends[member, end, 2] - groups.ends[before, end, 2]
                square = x * x + y * y + z * z
                # With NaN no comparison holds: it is another place.
                is_same_place = square <= ONE_PLACE * ONE_PLACE
                is_too_far = square > groups.reach * groups.reach
                is_apart = not (is_same_place or is_too_far) and member != before
                i += 1

            if is_apart:
                picked[count] = member
                count += 1
            member = member_after(groups, group, member, entering)

        if start != leaving and count > most:
            most = count
        start = member_after(groups, group, start, entering)
    return most


@bare
def keeps_places(groups, group, leaving, entering):
    """Return whether a group lacks no place at an end after a move, or no more than before."""
    for end in range(groups.ends.shape[1]):
        places = count_places(groups, group, end, leaving, entering)
        needed = groups.picked.shape[0]
        if places < needed and places < count_places(groups, group, end, NONE, NONE):
            return False
    return True


@bare
def places_lacked(groups, group):
    """Count the places that a group lacks at all its ends together."""
    lacked = 0
    for end in range(groups.ends.shape[1]):
        lacked += groups.picked.shape[0] - count_places(groups, group, end, NONE, NONE)
    return lacked


@bare
def may_leave(groups, record, k):
    """Return whether a record's group keeps k different subjects, and its places, without it."""
    source = groups.members[record].group
    if groups.heads[source].subject_count < k:
        return False
    if groups.heads[source].subject_count == k:
        if not groups.repeats:
            return False
        if not holds_subject(groups, source, groups.members[record].subject, record):
            return False
    return keeps_places(groups, source, record, NONE)


@bare
def may_replace(groups, leaving, entering, k):
    """Return whether a group keeps k subjects, and its places, with a record in another's place."""
    group = groups.members[leaving].group
    if (
        groups.repeats
        and groups.heads[group].subject_count <= k
        and not holds_subject(groups, group, groups.members[leaving].subject, leaving)
        and holds_subject(groups, group, groups.members[entering].subject, leaving)
    ):
        return False
    return keeps_places(groups, group, leaving, entering)


@bare
def leaving_change(groups, record):
    """Compute by how much the SSE changes when a record leaves its group: 0 or less."""
    group = groups.members[record].group
    size = groups.heads[group].size
    if size == 1:
        return 0.0
    square = squared_distance(groups.records[record], groups.centroids[group])
    return -square * (size / (size - 1.0))


@bare
def joining_change(groups, point, group):
    """Compute by how much the SSE changes when a record joins a group: 0 or more.

    ``point``, (p,), are the numbers of the record.
    """
    size = groups.heads[group].size
    if size == 0:
        return 0.0
    square = squared_distance(point, groups.centroids[group])
    return square * (size / (size + 1.0))


@bare
def replacing_change(groups, leaving, entering, entering_square):
    """Compute by how much the SSE changes when a record takes another's place in its group.

    ``entering_square`` is the squared distance of the one that enters from the group's centroid.
    """
    group = groups.members[leaving].group
    leaving_square = squared_distance(groups.records[leaving], groups.centroids[group])
    square_between = squared_distance(groups.records[entering], groups.records[leaving])
    return entering_square - leaving_square - square_between / groups.heads[group].size


@bare
def exchange_change(groups, x, z):
    """Compute by how much the SSE changes when two records of different groups are exchanged."""
    # 2 (z - x)·(B - A) - (1/a + 1/b) |z - x|², with x in a group of a records round A, and z in one
    # of b records round B.
    x_group = groups.members[x].group
    z_group = groups.members[z].group
    product = 0.0
    square = 0.0
    for column in range(groups.records.shape[1]):
        difference = groups.records[z, column] - groups.records[x, column]
        from_a_to_b = groups.centroids[z_group, column] - groups.centroids[x_group, column]
        product += difference * from_a_to_b
        square += difference * difference
    a = groups.heads[x_group].size
    b = groups.heads[z_group].size
    return 2.0 * product - square * ((a + b) / (a * b))
