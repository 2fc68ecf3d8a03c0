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
    """Say whether a set in which c and d replace two members counts: with other owners, and once.

    A set with one other member is met with each that stays; it counts where the ``following`` one
    of the list does, or the one before the ``last``.
    """
    one, other = owners[left], owners[right]
    if (owners[c] == one and owners[d] == other) or (owners[c] == other and owners[d] == one):
        return False
    if c == right or d == right:
        return following
    if c == left or d == left:
        return following and last
    return True


@bare
def join(candidates, rest, member, times):
    """Let a member join the rest, or leave it: ``times`` is 1 or -1."""
    person = candidates.people[member]
    rest.held[person] += times
    for c in range(len(rest.toward)):
        rest.sums[person, c] += times * candidates.products[member, c]


@bare
def prepare(candidates, rest, members, left, right):
    """Sum up what stays without two members, or with all: the square, people, and worths."""
    products, people = candidates.products, candidates.people
    square, different, worth = 0.0, 0.0, 0.0
    for c in range(len(products)):
        rest.toward[c] = 0.0
        rest.worths[c] = candidates.worths[c]
    for member in members:
        rest.ahead[people[member]] = rest.squares[people[member]] = 0.0
    for member in members:
        if member in (left, right):
            continue
        share = 1.0 / rest.held[people[member]]
        different += share
        worth += candidates.worths[member]
        rest.worths[member] = -np.inf
        for c in range(len(products)):
            rest.toward[c] += share * products[member, c]
            if candidates.apart and candidates.owners[c] == candidates.owners[member]:
                rest.worths[c] = -np.inf
    for member in members:
        if member not in (left, right):
            person = people[member]
            square += rest.toward[member] / rest.held[person]
            rest.ahead[person] += rest.toward[member]
            rest.squares[person] += rest.sums[person, member]
    for c in range(len(products)):
        rest.alone[c] = joined(rest, people[c], products[c, c], rest.toward[c], c, c, 1)
    return square, different, worth


@inlined
def joined(rest, person, square, toward, c, d, more):
    """Say what the square grows by if one or two trajectories of a person join the rest."""
    before = rest.held[person]
    share = 1.0 / (before + more)
    grown = share * share * square + 2.0 * share * toward
    if before > 0:
        less = 1.0 / before - share
        with_sum = rest.sums[person, c] + (rest.sums[person, d] if more == 2 else 0.0)
        grown += less * (less * rest.squares[person] - 2.0 * rest.ahead[person])
        grown -= 2.0 * share * less * with_sum
    return grown


@inlined
def both_joined(candidates, rest, members, left, right, c, d):
    """Say what the square grows by if two candidates join the rest."""
    products, first, second = candidates.products, candidates.people[c], candidates.people[d]
    if first == second:
        square = products[c, c] + products[d, d] + 2.0 * products[c, d]
        return joined(rest, first, square, rest.toward[c] + rest.toward[d], c, d, 2)
    of_first, of_second = rest.held[first], rest.held[second]
    share, other = 1.0 / (of_first + 1), 1.0 / (of_second + 1)
    between = share * other * products[c, d]
    if of_first > 0:
        between -= (1.0 / of_first - share) * other * rest.sums[first, d]
    if of_second > 0:
        between -= (1.0 / of_second - other) * share * rest.sums[second, c]
    if of_first > 0 and of_second > 0:
        less = (1.0 / of_first - share) * (1.0 / of_second - other)
        for member in members:
            if member not in (left, right) and candidates.people[member] == second:
                between += less * rest.sums[first, member]
    return rest.alone[c] + rest.alone[d] + 2.0 * between


@bare
def exchange(candidates, rest, members, place, joining):
    """Let a candidate take a member's place."""
    join(candidates, rest, members[place], -1)
    join(candidates, rest, joining, 1)
    members[place] = joining


@bare
def exchange_one(candidates, members, rest, own):
    """Exchange the one member that makes the set likeliest; say whether it was less likely."""
    most, out, into = own + ROUNDING, -1, -1
    for place in range(len(members)):
        left = members[place]
        join(candidates, rest, left, -1)
        square, different, worth = prepare(candidates, rest, members, left, left)
        for c in range(len(candidates.owners)):
            now = different + (rest.held[candidates.people[c]] == 0)
            likely = worth + rest.worths[c] - 0.5 * (square + rest.alone[c]) / now**2
            if likely > most:
                most, out, into = likely, place, c
        join(candidates, rest, left, 1)
    if out >= 0:
        exchange(candidates, rest, members, out, into)
    return out >= 0


@bare
def exchange_members(candidates, members, rest, sums):
    """Exchange the ``members``, (s,), as long as that makes the set likelier: one, or else two.

    ``sums`` becomes how likely the last set is, as a logarithm, and the likelihood of all sets an
    exchange away that have other owners, as a share of its own.
    """
    owners, people = candidates.owners, candidates.people
    n, size = len(owners), len(members)
    for member in members:
        join(candidates, rest, member, 1)
    better, before = True, -np.inf
    while better:
        square, different, worth = prepare(candidates, rest, members, -1, -1)
        own, others = worth - 0.5 * square / different**2, 0.0
        # Where products are large, rounding may promise a rise that is none: two sets would
        # take turns for ever.
        rises = own > before + ROUNDING
        before = own
        if rises and exchange_one(candidates, members, rest, own):
            continue
        most = own
        out_i = out_j = into_c = into_d = 0
        for i in range(size):
            for j in range(i + 1, min(size, i + 1 + REACH)):
                left, right = members[i], members[j]
                join(candidates, rest, left, -1)
                join(candidates, rest, right, -1)
                square, different, worth = prepare(candidates, rest, members, left, right)
                for c in range(n):
                    if rest.worths[c] == -np.inf:
                        continue
                    for d in range(c):
                        if candidates.apart and owners[c] == owners[d]:
                            continue
                        grown = both_joined(candidates, rest, members, left, right, c, d)
                        now = different + (rest.held[people[c]] == 0)
                        now += rest.held[people[d]] == 0 and people[c] != people[d]
                        likely = worth + rest.worths[c] + rest.worths[d]
                        likely -= 0.5 * (square + grown) / now**2
                        if likely > most:
                            most = likely
                            out_i, out_j, into_c, into_d = i, j, c, d
                        if likely > own - NEGLIGIBLE and counts(
                            owners, left, right, c, d, j == i + 1, j == size - 1
                        ):
                            others += np.exp(likely - own)
                join(candidates, rest, left, 1)
                join(candidates, rest, right, 1)
        # What rounding adds to a sum makes no set likelier.
        better = rises and most > own + ROUNDING
        if better:
            exchange(candidates, rest, members, out_i, into_c)
            exchange(candidates, rest, members, out_j, into_d)
        else:
            sums[0], sums[1] = own, others
