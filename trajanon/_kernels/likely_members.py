"""Members of a line, exchanged one or two at a time for likelier ones."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare, inlined

REACH = 20  # places in the list of members within which two are exchanged together
NEGLIGIBLE = 20.0  # what is less likely by this, as a logarithm, is not counted
ROUNDING = 1e-9


class Candidates(NamedTuple):
    """Trajectories that may be members of a line.

    A set is as likely as the sum of its worths, less half of the square of its mean noise, as a
    logarithm. Trajectories of one person count together as one in the mean.
    """

    products: NDArray[np.float64]  # of the noise that each would need alone, (n, n)
    worths: NDArray[np.float64]  # how likely each is by itself, as a logarithm, (n,)
    owners: NDArray[np.int64]  # (n,)
    people: NDArray[np.int64]  # who count together as one, 0..p-1, (n,)
    apart: bool  # whether no owner is twice in a set


class Rest(NamedTuple):
    """Members that stay, and what each candidate would change beside them."""

    held: NDArray[np.int64]  # members of each person, (p,)
    sums: NDArray[np.float64]  # products of a person's sum and each candidate, (p, n)
    toward: NDArray[np.float64]  # products of the sum of people's means and each candidate, (n,)
    ahead: NDArray[np.float64]  # of the same sum and each person's, (p,)
    squares: NDArray[np.float64]  # of each person's sum, (p,)
    alone: NDArray[np.float64]  # what a candidate adds to the square of the sum of means, (n,)
    worths: NDArray[np.float64]  # of candidates that may join, else less than any, (n,)

    @classmethod
    def room(cls, candidates: int, people: int) -> "Rest":
        """Make room."""
        return cls(
            held=np.zeros(people, dtype=np.int64),
            sums=np.zeros((people, candidates)),
            toward=np.zeros(candidates),
            ahead=np.zeros(people),
            squares=np.zeros(people),
            alone=np.zeros(candidates),
            worths=np.zeros(candidates),
        )


@bare
def counts(owners, left, right, c, d, following, last):
    """Return whether a set in which c and d replace two members counts: of other owners, and once.

    A set with one other member is met with each that stays; it counts where the ``following`` one
    of the list does, or the one before the ``last``.
    """
    left_owner = owners[left]
    right_owner = owners[right]

    if (owners[c] == left_owner and owners[d] == right_owner) or (
        owners[c] == right_owner and owners[d] == left_owner
    ):
        return False

    if c == right or d == right:
        return following
    if c == left or d == left:
        return following and last
    return True


@bare
def join(candidates, staying, member, times):
    """Add a member to those that stay, or take it away: ``times`` is 1 or -1."""
    person = candidates.people[member]
    staying.held[person] += times
    for c in range(len(staying.toward)):
        staying.sums[person, c] += times * candidates.products[member, c]


@bare
def prepare(candidates, staying, members, left, right):
    """Sum up what stays without two members, or with all: the square, people, and worths."""
    products = candidates.products
    people = candidates.people

    square = 0.0
    different = 0.0
    worth = 0.0

    for c in range(len(products)):
        staying.toward[c] = 0.0
        staying.worths[c] = candidates.worths[c]

    for member in members:
        staying.ahead[people[member]] = staying.squares[people[member]] = 0.0
    for member in members:
        if member in (left, right):
            continue

        share = 1.0 / staying.held[people[member]]
        different += share
        worth += candidates.worths[member]
        staying.worths[member] = -np.inf
        for c in range(len(products)):
            staying.toward[c] += share * products[member, c]
            if candidates.apart and candidates.owners[c] == candidates.owners[member]:
                staying.worths[c] = -np.inf

    for member in members:
        if member not in (left, right):
            person = people[member]
            square += staying.toward[member] / staying.held[person]
            staying.ahead[person] += staying.toward[member]
            staying.squares[person] += staying.sums[person, member]

    for c in range(len(products)):
        staying.alone[c] = joined(staying, people[c], products[c, c], staying.toward[c], c, c, 1)

    return square, different, worth


@inlined
def joined(staying, person, square, toward, c, d, joining):
    """Compute what the square grows by if one or two trajectories of a person join."""
    before = staying.held[person]
    share = 1.0 / (before + joining)
    grown = share * share * square + 2.0 * share * toward

    if before > 0:
        less = 1.0 / before - share
        with_sum = staying.sums[person, c] + (staying.sums[person, d] if joining == 2 else 0.0)
        grown += less * (less * staying.squares[person] - 2.0 * staying.ahead[person])
        grown -= 2.0 * share * less * with_sum

    return grown


@inlined
def both_joined(candidates, staying, members, left, right, c, d):
    """Compute what the square grows by if two candidates join."""
    products = candidates.products
    person = candidates.people[c]
    other_person = candidates.people[d]

    if person == other_person:
        square = products[c, c] + products[d, d] + 2.0 * products[c, d]
        return joined(staying, person, square, staying.toward[c] + staying.toward[d], c, d, 2)

    of_person = staying.held[person]
    of_other = staying.held[other_person]
    share = 1.0 / (of_person + 1)
    other_share = 1.0 / (of_other + 1)

    between = share * other_share * products[c, d]
    if of_person > 0:
        between -= (1.0 / of_person - share) * other_share * staying.sums[person, d]
    if of_other > 0:
        between -= (1.0 / of_other - other_share) * share * staying.sums[other_person, c]
    if of_person > 0 and of_other > 0:
        share_less = (1.0 / of_person - share) * (1.0 / of_other - other_share)
        for member in members:
            if member not in (left, right) and candidates.people[member] == other_person:
                between += share_less * staying.sums[person, member]

    return staying.alone[c] + staying.alone[d] + 2.0 * between


@bare
def exchange(candidates, staying, members, place, joining):
    """Put a candidate in a member's place."""
    join(candidates, staying, members[place], -1)
    join(candidates, staying, joining, 1)
    members[place] = joining


@bare
def exchange_one(candidates, members, staying, likelihood):
    """Exchange the one member that makes the set likeliest; return whether it was less likely."""
    most = likelihood + ROUNDING
    out = -1
    into = -1
    for place in range(len(members)):
        left = members[place]
        join(candidates, staying, left, -1)
        square, different, worth = prepare(candidates, staying, members, left, left)

        for c in range(len(candidates.owners)):
            people = different + (staying.held[candidates.people[c]] == 0)
            likely = worth + staying.worths[c] - 0.5 * (square + staying.alone[c]) / people**2
            if likely > most:
                most = likely
                out = place
                into = c

        join(candidates, staying, left, 1)

    if out >= 0:
        exchange(candidates, staying, members, out, into)
    return out >= 0


@bare
def compare_pairs(candidates, members, staying, likelihood):
    """Find the exchange of two members that makes the set likeliest, and sum up the others.

    Returns how likely that set is, the places of the two, the two that take them, and the
    likelihood of all sets an exchange away that have other owners, as a share of its own.
    """
    owners = candidates.owners
    people = candidates.people
    n = len(owners)
    size = len(members)
    other_sets = 0.0
    most = likelihood
    out_i = out_j = into_c = into_d = 0
    for i in range(size):
        for j in range(i + 1, min(size, i + 1 + REACH)):
            left = members[i]
            right = members[j]
            join(candidates, staying, left, -1)
            join(candidates, staying, right, -1)
            square, different, worth = prepare(candidates, staying, members, left, right)
            for c in range(n):
                if staying.worths[c] == -np.inf:
                    continue
                for d in range(c):
                    if candidates.apart and owners[c] == owners[d]:
                        continue

                    grown = both_joined(candidates, staying, members, left, right, c, d)
                    people_then = different + (staying.held[people[c]] == 0)
                    people_then += staying.held[people[d]] == 0 and people[c] != people[d]
                    likely = worth + staying.worths[c] + staying.worths[d]
                    likely -= 0.5 * (square + grown) / people_then**2

                    if likely > most:
                        most = likely
                        out_i = i
                        out_j = j
                        into_c = c
                        into_d = d

                    if likely > likelihood - NEGLIGIBLE and counts(
                        owners, left, right, c, d, j == i + 1, j == size - 1
                    ):
                        other_sets += np.exp(likely - likelihood)

            join(candidates, staying, left, 1)
            join(candidates, staying, right, 1)
    return most, out_i, out_j, into_c, into_d, other_sets


@bare
def exchange_members(candidates, members, staying, sums):
    """Exchange the ``members``, (s,), as long as that makes the set likelier: one, or else two.

    ``sums`` becomes how likely the last set is, as a logarithm, and the likelihood of all sets an
    exchange away that have other owners, as a share of its own.
    """
    for member in members:
        join(candidates, staying, member, 1)

    better = True
    before = -np.inf
    while better:
        square, different, worth = prepare(candidates, staying, members, -1, -1)
        likelihood = worth - 0.5 * square / different**2

        # Where products are large, rounding may promise a rise that is none: two sets would
        # take turns for ever.
        rises = likelihood > before + ROUNDING
        before = likelihood
        if rises and exchange_one(candidates, members, staying, likelihood):
            continue

        most, out_i, out_j, into_c, into_d, other_sets = compare_pairs(
            candidates, members, staying, likelihood
        )

        # What rounding adds to a sum makes no set likelier.
        better = rises and most > likelihood + ROUNDING
        if better:
            exchange(candidates, staying, members, out_i, into_c)
            exchange(candidates, staying, members, out_j, into_d)
        else:
            sums[0] = likelihood
            sums[1] = other_sets
