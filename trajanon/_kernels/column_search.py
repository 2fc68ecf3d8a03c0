"""Groups that earn more than they cost: grown round records, or found by branch and bound."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare
from trajanon._kernels.group_state import NONE


class PricingProblem(NamedTuple):
    """Records, prices, cuts. A group earns prices, less its SSE and the duals of its cuts."""

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
    """Compute what a group earns before the duals of cuts."""
    prices = 0.0
    pairs = 0.0

    for i in range(members.shape[0]):
        prices += pricing.prices[members[i]]
        for j in range(i):
            pairs += pricing.distances[members[i], members[j]]

    return prices - pairs / members.shape[0]


@bare
def has_subject(subjects, members, record, leave_out):
    """Return whether a member other than ``leave_out`` has the subject of a record."""
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
    """Grow ``members`` from the first ``started``, which stay; the best size, 0 if none holds k."""
    sum_distances(pricing, members[:started], to_members)

    best_size = 0
    most = -np.inf

    for size in range(started, members.shape[0] + 1):
        group = members[:size]
        different = different_subjects(pricing.subjects, group)
        if different >= pricing.k:
            earned = earnings(pricing, group)
            if earned > most:
                best_size = size
                most = earned
        if size == members.shape[0]:
            break

        may_repeat = size - different < members.shape[0] - pricing.k

        nearest = -1
        least = np.inf
        for record in range(pricing.prices.shape[0]):
            cost = to_members[record] / (size + 1) - pricing.prices[record]
            if cost < least and (
                may_repeat or not has_subject(pricing.subjects, group, record, NONE)
            ):
                nearest = record
                least = cost

        if nearest < 0:
            break

        members[size] = nearest
        to_members[nearest] = np.inf  # never to join again
        for record in range(to_members.shape[0]):
            to_members[record] += pricing.distances[nearest, record]
    return best_size


@bare
def exchange_member(pricing, members, to_members):
    """Exchange the member and the record outside that earn most; return whether they do."""
    size = members.shape[0]
    subjects = pricing.subjects
    sum_distances(pricing, members, to_members)

    spare = different_subjects(subjects, members) > pricing.k
    highest = 0.0
    place = -1
    entering = -1
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
                most = gain
                place = i
                entering = record

    if place < 0:
        return False
    members[place] = entering
    return True


@bare
def grow_groups(pricing, started, exchanged, found, sizes, to_members):
    """Grow each ``found`` from the first ``started``; then exchange members while that earns."""
    for i in range(found.shape[0]):
        sizes[i] = grow_group(pricing, found[i], started, to_members)
        if exchanged and sizes[i]:
            group = found[i, : sizes[i]]
            while exchange_member(pricing, group, to_members):
                pass


_ROOT = np.int64(1)  # members of a group that has only begun


class Search(NamedTuple):
    """Branch and bound over groups of one size round the root; by depth where it is (size,)."""

    members: NDArray[np.int64]  # the group so far, (size,), the root first
    near: NDArray[np.int64]  # records that may join, the best first, (size, m)
    score: NDArray[np.float64]  # what each of these adds at most, (size, m)
    listed: NDArray[np.int64]  # their number, (size,)
    following: NDArray[np.int64]  # place of the record to be tried next, (size,)
    # What the members have by themselves: their prices, less their squared pair distances divided
    # by the group's size, less the duals of cuts that count them, (size,).
    earned: NDArray[np.float64]
    largest: NDArray[np.float64]  # of what records add at most, in two ways, (2, size)
    to_members: NDArray[np.float64]  # squared distances of each record to the members, summed
    # Half the duals of each record's cuts that have one member in the group, (size, m): the other
    # half is left to the third record, which may join too.
    half_duals: NDArray[np.float64]
    held: NDArray[np.int64]  # how many members of the group are records of each cut, (t,)
    found: NDArray[np.int64]  # the groups found, a row each, the root first
    sizes: NDArray[np.int64]  # how many members each has
    every: bool  # whether all groups that earn enough are looked for, or the best


@bare
def insert_largest(largest, value):
    """Put a value in its place among the largest so far, falling; the least drops."""
    place = largest.shape[0]
    while place > 0 and largest[place - 1] < value:
        if place < largest.shape[0]:
            largest[place] = largest[place - 1]
        place -= 1
    if place < largest.shape[0]:
        largest[place] = value


@bare
def bound_by_root(pricing, search, record):
    """Bound what a member adds: distances to the root sum to twice the SSE at most."""
    return pricing.prices[record] - pricing.distances[search.members[0], record] / 2.0


@bare
def keep_promising(pricing, search, depth, size, least):
    """Keep, in order, the records with which a group may earn more than the least."""
    wanted = size - depth
    share = 2.0 if wanted == 1 else 1.0
    near = search.near[depth]
    score = search.score[depth]

    count = search.listed[depth]

    largest = search.largest[0, :wanted]
    largest_by_root = search.largest[1, :wanted]
    for i in range(wanted):
        largest[i] = largest_by_root[i] = -np.inf
    for i in range(count):
        record = near[i]
        cost = search.to_members[depth, record] + pricing.halves[record, wanted - 1]
        score[i] = pricing.prices[record] - cost / size
        score[i] -= share * search.half_duals[depth, record]
        insert_largest(largest, score[i])
        insert_largest(largest_by_root, bound_by_root(pricing, search, record))

    # What a record must add, for all wanted records together to earn more than the least.
    needed = least - search.earned[depth] - largest[: wanted - 1].sum()
    needed_by_root = least - largest_by_root[: wanted - 1].sum()
    for member in search.members[:depth]:
        needed_by_root -= bound_by_root(pricing, search, member)

    promising = 0
    for i in range(count):
        record = near[i]
        value = score[i]
        by_root = bound_by_root(pricing, search, record)
        if value <= needed or by_root <= needed_by_root:
            continue

        place = promising
        while place > 0 and score[place - 1] < value:
            near[place] = near[place - 1]
            score[place] = score[place - 1]
            place -= 1
        near[place] = record
        score[place] = value
        promising += 1

    search.listed[depth] = promising
    search.following[depth] = 0


@bare
def enter_cuts(pricing, search, depth, record):
    """Count a record that has joined as the last of ``depth``; return the duals now due."""
    due = 0.0
    for i in range(pricing.first_cut[record], pricing.first_cut[record + 1]):
        cut = pricing.cuts_of[i]
        dual = pricing.cut_duals[cut]
        search.held[cut] += 1
        if search.held[cut] == 2:
            due += dual
        if search.held[cut] <= 2:
            change = dual / 2.0 if search.held[cut] == 1 else -dual / 2.0
            for third in pricing.cuts[cut]:
                search.half_duals[depth, third] += change
    return due


@bare
def begin_group(pricing, search):
    """Begin a group with the root, which all others may join."""
    root = search.members[0]
    search.half_duals[1] = 0.0
    search.held[:] = 0

    count = 0
    for record in range(pricing.prices.shape[0]):
        search.to_members[1, record] = pricing.distances[root, record]
        if record != root:
            search.near[1, count] = record
            count += 1

    search.listed[1] = count
    search.earned[1] = pricing.prices[root] - enter_cuts(pricing, search, _ROOT, root)


@bare
def join_group(pricing, search, depth, size):
    """Add the member at a depth to the group: those after it in the list may join next."""
    record = search.members[depth]
    behind = search.following[depth]
    search.listed[depth + 1] = search.listed[depth] - behind
    for i in range(search.listed[depth + 1]):
        candidate = search.near[depth, behind + i]
        search.near[depth + 1, i] = candidate
        search.to_members[depth + 1, candidate] = (
            search.to_members[depth, candidate] + pricing.distances[record, candidate]
        )
        search.half_duals[depth + 1, candidate] = search.half_duals[depth, candidate]

    due = enter_cuts(pricing, search, depth + 1, record)
    cost = search.to_members[depth, record] / size
    search.earned[depth + 1] = search.earned[depth] + pricing.prices[record] - cost - due


@bare
def search_group(pricing, search, size, least, nodes, place):
    """Find the group of a size round the root that earns most, at ``place``, or every one."""
    begin_group(pricing, search)
    keep_promising(pricing, search, _ROOT, size, least)

    most = least
    if search.listed[1] >= size - 1:
        most = max(least, search.earned[1] + search.score[1, : size - 1].sum())

    depth = _ROOT
    while depth > 0 and nodes > 0:
        first = search.following[depth]
        last = first + size - depth
        at_most = search.earned[depth] + search.score[depth, first:last].sum()

        # Nothing more at this depth: step back.
        if last > search.listed[depth] or at_most <= least:
            depth -= 1
            record = search.members[depth]
            for i in range(pricing.first_cut[record], pricing.first_cut[record + 1]):
                search.held[pricing.cuts_of[i]] -= 1
            continue

        nodes -= 1
        search.following[depth] += 1
        search.members[depth] = search.near[depth, first]
        group = search.members[: depth + 1]
        if depth + 1 - different_subjects(pricing.subjects, group) > size - pricing.k:
            continue

        if depth + 1 < size:
            join_group(pricing, search, depth, size)
            depth += 1
            keep_promising(pricing, search, depth, size, least)
        elif place == search.found.shape[0]:
            nodes = 0
        else:
            for i in range(size):
                search.found[place, i] = group[i]
            search.sizes[place] = size
            if search.every:
                place += 1
            else:
                least = at_most
    return least, least if nodes > 0 else most, nodes, place


def room_for(pricing: PricingProblem, groups: int, every: bool) -> Search:
    """Make room for the groups that a search finds: every one, or the best round each root."""
    m, largest = pricing.halves.shape
    return Search(
        members=np.empty(largest, dtype=np.int64),
        near=np.empty((largest, m), dtype=np.int64),
        score=np.empty((largest, m)),
        listed=np.empty(largest, dtype=np.int64),
        following=np.empty(largest, dtype=np.int64),
        earned=np.empty(largest),
        largest=np.empty((2, largest)),
        to_members=np.empty((largest, m)),
        half_duals=np.empty((largest, m)),
        held=np.empty(len(pricing.cut_duals), dtype=np.int64),
        found=np.empty((groups, largest), dtype=np.int64),
        sizes=np.empty(groups, dtype=np.int64),
        every=every,
    )


@bare
def search_groups(pricing, search, roots, least, nodes, at_most):
    """Find the best group round each root, the one nearest to all, or every one above a least."""
    for row in range(search.sizes.shape[0]):
        search.sizes[row] = 0

    place = 0
    complete = True

    for i in range(roots.shape[0]):
        search.members[0] = roots[i]
        best = least
        left = nodes
        at_most[i] = least
        if not search.every:
            place = i
        for size in range(pricing.k, search.members.shape[0] + 1):
            best, most, left, place = search_group(pricing, search, size, best, left, place)
            at_most[i] = max(at_most[i], most)
        complete = complete and left > 0
    return complete, place
