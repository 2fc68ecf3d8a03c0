"""Groups that earn more than they cost: grown round records, or found by branch and bound.

This is the pricing of column generation. There are m records, numbered from 0; ``prices`` are their
duals in the linear programme. A group earns the prices of its members, less its SSE, less the duals
of the cuts that hold two of its members. The SSE is the sum of the squared distances of all pairs,
divided by the size. A search adds members to a root one by one; ``depth`` is how many there are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import insert_rising
from trajanon._kernels.compiled import bare


class PricingProblem(NamedTuple):
    """Records by their distances, with prices, and cuts with duals."""

    squares: NDArray[np.float64]  # squared distance of each pair, (m, m)
    # Half the sum of squared distances of each record to its 0, 1, ... nearest others, (m, size of
    # the largest group).
    half_sums: NDArray[np.float64]
    subjects: NDArray[np.int64]  # of each record, (m,)
    prices: NDArray[np.float64]  # of each record, (m,)
    k: int  # least number of different subjects in a group
    # A cut counts, once, every group that holds two or three of its records.
    cuts: NDArray[np.int64]  # the three records of each cut, (t, 3)
    cut_duals: NDArray[np.float64]  # not negative, (t,)
    # The cuts of record i are ``cuts_by_record[first_cut[i] : first_cut[i + 1]]``.
    first_cut: NDArray[np.int64]
    cuts_by_record: NDArray[np.int64]


@bare
def earnings(pricing, members):
    """Compute what a group earns before the duals of cuts."""
    prices = 0.0
    squares_of_pairs = 0.0

    for i in range(members.shape[0]):
        prices += pricing.prices[members[i]]
        for j in range(i):
            squares_of_pairs += pricing.squares[members[i], members[j]]

    return prices - squares_of_pairs / members.shape[0]


@bare
def has_subject(subjects, members, record):
    """Return whether a member has the subject of a record."""
    for member in members:  # noqa: SIM110  # numba has no `any` of a generator
        if subjects[member] == subjects[record]:
            return True
    return False


@bare
def count_subjects(subjects, members):
    """Count the different subjects of members."""
    count = 0
    for place in range(members.shape[0]):
        if not has_subject(subjects, members[:place], members[place]):
            count += 1
    return count


@bare
def grow_group(pricing, members, to_members):
    """Grow a group from its first member, and fill in the others; return the best size.

    The best size is that at which the group earns most, 0 if no size has k subjects. ``to_members``
    is room for the squared distances of each record to all members, summed, (m,).
    """
    # The next member is always the record that costs least by its distances to those so far.
    subjects = pricing.subjects
    to_members[:] = 0.0

    best_size = 0
    most = -np.inf
    for size in range(1, members.shape[0] + 1):
        newest = members[size - 1]
        to_members[newest] = np.inf  # it shall not join again
        for record in range(to_members.shape[0]):
            to_members[record] += pricing.squares[newest, record]

        group = members[:size]
        subject_count = count_subjects(subjects, group)
        if subject_count >= pricing.k:
            earned = earnings(pricing, group)
            if earned > most:
                best_size = size
                most = earned
        if size == members.shape[0]:
            break

        # The largest group has 2k - 1 members, of k subjects at least: so only k - 1 members may be
        # of a subject that another member is of.
        may_repeat = size - subject_count < members.shape[0] - pricing.k
        cheapest = -1
        least = np.inf
        for record in range(to_members.shape[0]):
            cost = to_members[record] / (size + 1) - pricing.prices[record]
            if cost < least and (may_repeat or not has_subject(subjects, group, record)):
                cheapest = record
                least = cost

        if cheapest < 0:
            break
        members[size] = cheapest
    return best_size


@bare
def grow_groups(pricing, grown, sizes, to_members):
    """Grow a group in each row of ``grown``, (r, largest), from its first record; fill in sizes."""
    for row in range(grown.shape[0]):
        sizes[row] = grow_group(pricing, grown[row], to_members)


_ROOT = np.int64(1)  # the depth of a group that is only its root


class Search(NamedTuple):
    """The state of a branch and bound over groups of one size round a root.

    A row (or number) of an array of (size,) or (size, m) is that of a depth: it stays as it is
    while the search is deeper, so that it can step back.
    """

    members: NDArray[np.int64]  # the group so far, (size,), the root first
    candidates: NDArray[np.int64]  # records that may join, the cheapest first, (size, m)
    costs: NDArray[np.float64]  # what each of these costs at least, less its price, (size, m)
    candidate_counts: NDArray[np.int64]  # how many there are, (size,); all else is room
    next_places: NDArray[np.int64]  # place among them of the one to be tried next, (size,)
    # What the members earn by themselves: their prices, less their squared pair distances divided
    # by the group's size, less the duals of cuts that hold two of them, (size,).
    earned: NDArray[np.float64]
    lowest: NDArray[np.float64]  # room for the least costs of records, by two bounds, (2, size)
    # Squared distances of each record to all members so far, summed, (size, m).
    to_members: NDArray[np.float64]
    # Half the duals of each record's cuts that hold one member of the group, (size, m): the other
    # half is left to the third record, which may join too.
    half_duals: NDArray[np.float64]
    held: NDArray[np.int64]  # how many members of the group each cut holds, (t,)
    results: NDArray[np.int64]  # the groups found, a row each, the root first
    sizes: NDArray[np.int64]  # how many members each of these has; 0 where no group was found
    finds_all: bool  # whether all groups that earn enough are looked for, or the best


@bare
def keep_lowest(lowest, value):
    """Insert a value in a rising list of the lowest so far, whose highest drops."""
    if value < lowest[-1]:
        # The values are their own items.
        insert_rising(lowest, lowest, lowest.shape[0] - 1, value, value)


@bare
def cost_by_root(pricing, search, record):
    """Bound what a member costs from below by its distance to the root, less its price.

    The SSE is at least half the sum of all members' squared distances to any one of them.
    """
    return pricing.squares[search.members[0], record] / 2.0 - pricing.prices[record]


@bare
def keep_promising(pricing, search, depth, size, least):
    """Keep in the list of a depth the records with which a group may earn more than ``least``.

    They are sorted by what they cost at least.
    """
    wanted = size - depth  # members that are still to join
    # The last one to join pays both halves of a dual: it cannot leave one to another record.
    halves_due = 2.0 if wanted == 1 else 1.0
    candidates = search.candidates[depth]
    costs = search.costs[depth]
    count = search.candidate_counts[depth]

    lowest = search.lowest[0, :wanted]
    lowest_by_root = search.lowest[1, :wanted]
    lowest[:] = np.inf
    lowest_by_root[:] = np.inf

    # A record costs its distances to the members, and half of those to the others that will join,
    # which are no less than those to its nearest.
    for i in range(count):
        record = candidates[i]
        costs[i] = search.to_members[depth, record] + pricing.half_sums[record, wanted - 1]
        costs[i] = costs[i] / size + halves_due * search.half_duals[depth, record]
        costs[i] -= pricing.prices[record]
        keep_lowest(lowest, costs[i])
        keep_lowest(lowest_by_root, cost_by_root(pricing, search, record))

    # What a record may cost, by either bound, if the other wanted ones are the cheapest, and the
    # group is to earn more than the least.
    most = search.earned[depth] - least - lowest[: wanted - 1].sum()
    most_by_root = -least - lowest_by_root[: wanted - 1].sum()
    for member in search.members[:depth]:
        most_by_root -= cost_by_root(pricing, search, member)

    promising = 0
    for i in range(count):
        record = candidates[i]
        if costs[i] < most and cost_by_root(pricing, search, record) < most_by_root:
            insert_rising(costs, candidates, promising, costs[i], record)
            promising += 1

    search.candidate_counts[depth] = promising
    search.next_places[depth] = 0


@bare
def enter_cuts(pricing, search, depth, record):
    """Count a record that has joined as the last of ``depth`` in its cuts.

    Returned is the sum of the duals that become due by that: of cuts that hold two members now.
    """
    due = 0.0
    for i in range(pricing.first_cut[record], pricing.first_cut[record + 1]):
        cut = pricing.cuts_by_record[i]
        dual = pricing.cut_duals[cut]
        search.held[cut] += 1
        if search.held[cut] == 2:
            due += dual
        # With one member, the others of the cut may pay for a half each; with two, it is paid.
        if search.held[cut] <= 2:
            change = dual / 2.0 if search.held[cut] == 1 else -dual / 2.0
            for third in pricing.cuts[cut]:
                search.half_duals[depth, third] += change
    return due


@bare
def begin_group(pricing, search):
    """Begin a group with the root, which all others may join."""
    root = search.members[0]
    search.half_duals[_ROOT] = 0.0
    search.held[:] = 0

    count = 0
    for record in range(pricing.prices.shape[0]):
        search.to_members[_ROOT, record] = pricing.squares[root, record]
        if record != root:
            search.candidates[_ROOT, count] = record
            count += 1

    search.candidate_counts[_ROOT] = count
    search.earned[_ROOT] = pricing.prices[root] - enter_cuts(pricing, search, _ROOT, root)


@bare
def join_group(pricing, search, depth, size):
    """Add the last of ``depth`` + 1 members: the candidates after it may join next."""
    record = search.members[depth]
    next_place = search.next_places[depth]
    # Those before it in the list were tried as members already: each set is looked at once.
    search.candidate_counts[depth + 1] = search.candidate_counts[depth] - next_place
    for i in range(search.candidate_counts[depth + 1]):
        candidate = search.candidates[depth, next_place + i]
        search.candidates[depth + 1, i] = candidate
        search.to_members[depth + 1, candidate] = (
            search.to_members[depth, candidate] + pricing.squares[record, candidate]
        )
        search.half_duals[depth + 1, candidate] = search.half_duals[depth, candidate]

    due = enter_cuts(pricing, search, depth + 1, record)
    cost = search.to_members[depth, record] / size
    search.earned[depth + 1] = search.earned[depth] + pricing.prices[record] - cost - due


@bare
def search_group(pricing, search, size, least, nodes, place):
    """Find the group of a size round the root that earns most, or every one above ``least``.

    Groups are written to ``search.results`` from row ``place`` on, in at most ``nodes`` steps.
    Returned are what the best earns (or ``least``), what none earns more than, how many nodes are
    left (0 if there were too few, or too little room), and the next row.
    """
    # What was chosen stands in arrays by depth, so one loop steps down and back.
    begin_group(pricing, search)
    keep_promising(pricing, search, _ROOT, size, least)

    # If the search is given up: with the cheapest records a group earns no more than this.
    most = least
    if search.candidate_counts[_ROOT] >= size - 1:
        most = max(least, search.earned[_ROOT] - search.costs[_ROOT, : size - 1].sum())

    depth = _ROOT
    while depth > 0 and nodes > 0:
        # With the cheapest candidates that are left, at places first..end - 1, it earns at most:
        first = search.next_places[depth]
        end = first + size - depth
        at_most = search.earned[depth] - search.costs[depth, first:end].sum()

        # Too few records are left at this depth, or too dear ones: step back.
        if end > search.candidate_counts[depth] or at_most <= least:
            depth -= 1
            record = search.members[depth]
            for i in range(pricing.first_cut[record], pricing.first_cut[record + 1]):
                search.held[pricing.cuts_by_record[i]] -= 1
            continue

        nodes -= 1
        search.next_places[depth] += 1
        search.members[depth] = search.candidates[depth, first]
        group = search.members[: depth + 1]
        # More members of equal subjects than a group of this size, with k subjects, has room for.
        if depth + 1 - count_subjects(pricing.subjects, group) > size - pricing.k:
            continue

        if depth + 1 < size:
            join_group(pricing, search, depth, size)
            depth += 1
            keep_promising(pricing, search, depth, size, least)
        elif place == search.results.shape[0]:
            nodes = 0  # more groups than there is room for: a search without all of them is none
        else:
            # A whole group earns exactly ``at_most``.
            for i in range(size):
                search.results[place, i] = group[i]
            search.sizes[place] = size
            if search.finds_all:
                place += 1
            else:
                least = at_most
    return least, least if nodes > 0 else most, nodes, place


def room_for(pricing: PricingProblem, groups: int, finds_all: bool) -> Search:
    """Make room for a search, and for so many groups: for all, or for the best round each root."""
    m, largest = pricing.half_sums.shape
    return Search(
        members=np.empty(largest, dtype=np.int64),
        candidates=np.empty((largest, m), dtype=np.int64),
        costs=np.empty((largest, m)),
        candidate_counts=np.empty(largest, dtype=np.int64),
        next_places=np.empty(largest, dtype=np.int64),
        earned=np.empty(largest),
        lowest=np.empty((2, largest)),
        to_members=np.empty((largest, m)),
        half_duals=np.empty((largest, m)),
        held=np.empty(len(pricing.cut_duals), dtype=np.int64),
        results=np.empty((groups, largest), dtype=np.int64),
        sizes=np.empty(groups, dtype=np.int64),
        finds_all=finds_all,
    )


@bare
def search_groups(pricing, search, roots, least, nodes, at_most):
    """Find the best group round each root, or all groups, that earn more than ``least``.

    ``search.results`` is filled, with a row for each root if only the best is looked for, and
    ``at_most``, (roots,): what no group round each root earns more than. A search round a root has
    so many ``nodes``. Returned is whether none needed more.
    """
    search.sizes[:] = 0
    place = 0
    complete = True

    for i in range(roots.shape[0]):
        search.members[0] = roots[i]
        best = least
        nodes_left = nodes
        at_most[i] = least
        if not search.finds_all:
            place = i
        for size in range(pricing.k, search.members.shape[0] + 1):
            best, most, nodes_left, place = search_group(
                pricing, search, size, best, nodes_left, place
            )
            at_most[i] = max(at_most[i], most)
        complete = complete and nodes_left > 0
    return complete
