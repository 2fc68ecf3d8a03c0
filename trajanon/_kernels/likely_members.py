"""The likeliest members of a released line, exchanged one or two at a time for likelier ones.

Of n trajectories, the candidates, a set of s is to be found whose mean, moved by some noise, is the
line. How likely a set is, is given as a logarithm.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare

REACH = 20  # places in the list of members within which two are exchanged together
NEGLIGIBLE = 20.0  # a set that is less likely by this, as a logarithm, is not counted
ROUNDING = 1e-9  # share of a likelihood by which another one must be larger to count as larger


class Candidates(NamedTuple):
    """Trajectories that may be members of a line.

    The logarithm of a set's likelihood is the sum of its worths, less half of the square of its
    mean noise. Where a release averages people, trajectories of one person count together as one in
    the mean; else each counts as a person's of its own.
    """

    noise: NDArray[np.float64]  # that would make the line of each alone, whitened, (n, q)
    worths: NDArray[np.float64]  # how likely each is by itself, as a logarithm, (n,)
    owners: NDArray[np.int64]  # whose each is, (n,)
    people: NDArray[np.int64]  # number of the person that each counts as in a mean, 0..p-1, (n,)
    apart: bool  # whether no owner is twice in a set


class Rest(NamedTuple):
    """Room for the members that stay, and for what each candidate would change beside them."""

    held: NDArray[np.int64]  # how many members each person has, (p,)
    noise_sums: NDArray[np.float64]  # sums of the noise of these, (p, q)
    total: NDArray[np.float64]  # sum over people of their mean noise, (q,)
    added: NDArray[np.float64]  # what each candidate adds to that, (n, q)
    worths: NDArray[np.float64]  # of candidates that may join; minus infinity for others, (n,)

    @classmethod
    def room(cls, candidates: Candidates) -> "Rest":
        """Make room for sets of these candidates."""
        n, q = candidates.noise.shape
        people = int(candidates.people.max()) + 1
        held = np.zeros(people, dtype=np.int64)
        return cls(held, np.zeros((people, q)), np.zeros(q), np.zeros((n, q)), np.zeros(n))


@bare
def counts_as_other_set(owners, left, right, c, d, are_neighbours, is_last):
    """Return whether a set in which candidates c and d replace two members is to be counted.

    It is if its owners are others, and it is met here for the first time. The members are ``left``
    and ``right``, in the order of their list. A set in which only one of them changes is met with
    each member that stays. It counts where that one follows in the list (``are_neighbours``); or
    precedes, if the one that changes ``is_last``.
    """
    left_owner = owners[left]
    right_owner = owners[right]

    has_same_owners = owners[c] == left_owner and owners[d] == right_owner
    if has_same_owners or (owners[c] == right_owner and owners[d] == left_owner):
        return False

    # The right member stays, and the left one changes; or the other way round.
    if right in (c, d):
        return are_neighbours
    if left in (c, d):
        return are_neighbours and is_last
    return True


@bare
def lay_out_rest(candidates, rest, members, left, right):
    """Fill in ``rest`` with the members that stay when two leave, or one that is both.

    Returned are how many people these are, and the sum of their worths.
    """
    people = candidates.people
    noise = candidates.noise
    rest.held[:] = 0
    rest.noise_sums[:] = 0.0
    rest.total[:] = 0.0
    for c in range(len(people)):
        rest.worths[c] = candidates.worths[c]

    # A candidate that is a member, or of its owner, may not join: its worth is minus infinity.
    worth = 0.0
    for member in members:
        if member in (left, right):
            continue

        worth += candidates.worths[member]
        rest.held[people[member]] += 1
        for column in range(noise.shape[1]):
            rest.noise_sums[people[member], column] += noise[member, column]
        rest.worths[member] = -np.inf
        if candidates.apart:
            for c in range(len(people)):
                if candidates.owners[c] == candidates.owners[member]:
                    rest.worths[c] = -np.inf

    # The mean is that of people: the noise of one person's members is averaged first.
    people_count = 0.0
    for person in range(len(rest.held)):
        if rest.held[person] == 0:
            continue
        people_count += 1.0
        for column in range(noise.shape[1]):
            rest.total[column] += rest.noise_sums[person, column] / rest.held[person]

    # A candidate changes the mean of its person.
    for c in range(len(people)):
        person = people[c]
        held = rest.held[person]
        for column in range(noise.shape[1]):
            before = rest.noise_sums[person, column]
            rest.added[c, column] = (before + noise[c, column]) / (held + 1)
            rest.added[c, column] -= before / max(held, 1)
    return people_count, worth


@bare
def likelihood_with(candidates, rest, people_and_worth, c, d):
    """Compute how likely the rest is with two candidates; or with one, if they are the same.

    ``people_and_worth`` are what `lay_out_rest` returned; the likelihood is a logarithm.
    """
    people_count, worth = people_and_worth
    noise = candidates.noise
    person = candidates.people[c]
    held = rest.held[person]

    # The square of the mean noise is that of the sum over people, by the square of their number.
    square = 0.0
    worth += rest.worths[c]
    people_count += 1.0 if held == 0 else 0.0

    if c == d:
        for column in range(noise.shape[1]):
            value = rest.total[column] + rest.added[c, column]
            square += value * value
        return worth - 0.5 * square / people_count**2

    worth += rest.worths[d]
    if person != candidates.people[d]:
        people_count += 1.0 if rest.held[candidates.people[d]] == 0 else 0.0
        for column in range(noise.shape[1]):
            value = rest.total[column] + rest.added[c, column] + rest.added[d, column]
            square += value * value
        return worth - 0.5 * square / people_count**2

    # Both are of one person, whose mean they change together.
    for column in range(noise.shape[1]):
        before = rest.noise_sums[person, column]
        after = before + noise[c, column] + noise[d, column]
        value = rest.total[column] - before / max(held, 1) + after / (held + 2)
        square += value * value
    return worth - 0.5 * square / people_count**2


@bare
def make_best_exchange(candidates, members, rest, likelihood, reach):
    """Exchange the two members that make the set likeliest; return whether it is likelier then.

    ``members``, (s,), change; ``likelihood`` is that of the set, as a logarithm. Both members are
    at most ``reach`` places apart in their list; with a reach of 0 a single one is exchanged. Also
    returned is the likelihood of all sets an exchange of two away that have other owners, as a
    share of the set's own.
    """
    owners = candidates.owners
    size = len(members)
    in_pairs = reach > 0
    most = likelihood + ROUNDING * (1.0 + abs(likelihood))
    best_i = -1
    best_j = -1
    best_c = 0
    best_d = 0
    share_of_others = 0.0

    for i in range(size):
        # A single member is a pair of one place, and of one candidate: i is j, and c is d. Else
        # each pair of places is taken once, i before j, and each pair of candidates, d before c.
        for j in range(i + 1 if in_pairs else i, min(size, i + 1 + reach)):
            left = members[i]
            right = members[j]
            people_and_worth = lay_out_rest(candidates, rest, members, left, right)
            for c in range(len(owners)):
                if rest.worths[c] == -np.inf:
                    continue
                for d in range(0 if in_pairs else c, c if in_pairs else c + 1):
                    if rest.worths[d] == -np.inf:
                        continue
                    if in_pairs and candidates.apart and owners[c] == owners[d]:
                        continue

                    likely = likelihood_with(candidates, rest, people_and_worth, c, d)
                    if likely > most:
                        most = likely
                        best_i = i
                        best_j = j
                        best_c = c
                        best_d = d

                    if (
                        in_pairs
                        and likely > likelihood - NEGLIGIBLE
                        and counts_as_other_set(
                            owners, left, right, c, d, j == i + 1, j == size - 1
                        )
                    ):
                        share_of_others += np.exp(likely - likelihood)

    if best_i >= 0:
        members[best_i] = best_c
        members[best_j] = best_d
    return best_i >= 0, share_of_others


@bare
def exchange_members(candidates, members, rest):
    """Exchange the ``members``, (s,), as long as that makes the set likelier: one, or else two.

    Returned are how likely the last set is, as a logarithm, and the likelihood of all sets an
    exchange away that have other owners, as a share of its own.
    """
    share = 0.0
    is_likelier = True
    while is_likelier:
        # The set is the first member, and the rest when that leaves.
        member = members[0]
        people_and_worth = lay_out_rest(candidates, rest, members, member, member)
        likelihood = likelihood_with(candidates, rest, people_and_worth, member, member)

        # Two cost far more than one: they are tried where no single exchange is left.
        is_likelier, _ = make_best_exchange(candidates, members, rest, likelihood, 0)
        if not is_likelier:
            is_likelier, share = make_best_exchange(candidates, members, rest, likelihood, REACH)
    return likelihood, share
