"""Members of a line, exchanged one or two at a time for likelier ones."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare

REACH = 20  # places in the list of members within which two are exchanged together
NEGLIGIBLE = 20.0  # what is less likely by this, as a logarithm, is not counted
ROUNDING = 1e-9  # share of a likelihood by which another must rise to be one


class Candidates(NamedTuple):
    """Trajectories that may be members of a line.

    A set is as likely as the sum of its worths, less half of the square of its mean noise, as a
    logarithm. Trajectories of one person count together as one in the mean.
    """

    noise: NDArray[np.float64]  # that each would need alone, (n, q)
    worths: NDArray[np.float64]  # how likely each is by itself, as a logarithm, (n,)
    owners: NDArray[np.int64]  # (n,)
    people: NDArray[np.int64]  # who count together as one, 0..p-1, (n,)
    apart: bool  # whether no owner is twice in a set


class Rest(NamedTuple):
    """Members that stay, and what each candidate would change beside them."""

    held: NDArray[np.int64]  # members of each person, (p,)
    sums: NDArray[np.float64]  # of the noise of each person's, (p, q)
    total: NDArray[np.float64]  # of people's means, (q,)
    added: NDArray[np.float64]  # what each candidate adds to that, (n, q)
    worths: NDArray[np.float64]  # of candidates that may join, else less than any, (n,)

    @classmethod
    def room(cls, candidates: Candidates) -> "Rest":
        """Make room."""
        n, q = candidates.noise.shape
        people = int(candidates.people.max()) + 1
        held = np.zeros(people, dtype=np.int64)
        return cls(held, np.zeros((people, q)), np.zeros(q), np.zeros((n, q)), np.zeros(n))


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
def leave(candidates, rest, members, left, right):
    """Lay out the members that stay when two leave; return how many people, and their worth."""
    people = candidates.people
    noise = candidates.noise
    rest.held[:] = 0
    rest.sums[:] = 0.0
    rest.total[:] = 0.0
    for c in range(len(people)):
        rest.worths[c] = candidates.worths[c]

    # Who may not join is made less likely than any set, so the loops over pairs need no question.
    worth = 0.0
    for member in members:
        if member in (left, right):
            continue

        worth += candidates.worths[member]
        rest.held[people[member]] += 1
        for column in range(noise.shape[1]):
            rest.sums[people[member], column] += noise[member, column]
        rest.worths[member] = -np.inf
        if candidates.apart:
            for c in range(len(people)):
                if candidates.owners[c] == candidates.owners[member]:
                    rest.worths[c] = -np.inf

    # The mean is that of people: what one person has is averaged first.
    different = 0.0
    for person in range(len(rest.held)):
        if rest.held[person] == 0:
            continue
        different += 1.0
        for column in range(noise.shape[1]):
            rest.total[column] += rest.sums[person, column] / rest.held[person]

    for c in range(len(people)):
        person = people[c]
        held = rest.held[person]
        for column in range(noise.shape[1]):
            before = rest.sums[person, column]
            rest.added[c, column] = (before + noise[c, column]) / (held + 1)
            rest.added[c, column] -= before / max(held, 1)
    return different, worth


@bare
def likelihood_with(candidates, rest, stays, c, d):
    """Compute how likely the rest is with two candidates; or with one, if they are the same."""
    (different, worth) = stays
    noise = candidates.noise
    person = candidates.people[c]
    held = rest.held[person]

    square = 0.0
    different += held == 0
    worth += rest.worths[c]

    if c == d:
        for column in range(noise.shape[1]):
            value = rest.total[column] + rest.added[c, column]
            square += value * value
        return worth - 0.5 * square / different**2

    worth += rest.worths[d]
    if person != candidates.people[d]:
        different += rest.held[candidates.people[d]] == 0
        for column in range(noise.shape[1]):
            value = rest.total[column] + rest.added[c, column] + rest.added[d, column]
            square += value * value
        return worth - 0.5 * square / different**2

    # Both are of one person, whose mean they change together.
    for column in range(noise.shape[1]):
        before = rest.sums[person, column]
        after = before + noise[c, column] + noise[d, column]
        value = rest.total[column] - before / max(held, 1) + after / (held + 2)
        square += value * value
    return worth - 0.5 * square / different**2


@bare
def exchange(candidates, members, rest, likelihood, reach):
    """Exchange the members that make the set likeliest; return whether it was less likely.

    Those are two at most ``reach`` places apart, or with a reach of 0 a single one. Also returns
    the likelihood of all sets an exchange of two away that have other owners, as a share of the
    set's own.
    """
    owners = candidates.owners
    size = len(members)
    most = likelihood + ROUNDING * (1.0 + abs(likelihood))
    out_i = out_j = -1
    into_c = into_d = 0
    around = 0.0

    for i in range(size):
        # The place and the candidate of a single member are taken twice.
        for j in range(i + (reach > 0), min(size, i + 1 + reach)):
            left = members[i]
            right = members[j]
            stays = leave(candidates, rest, members, left, right)
            for c in range(len(owners)):
                if rest.worths[c] == -np.inf:
                    continue
                for d in range(0 if reach > 0 else c, c if reach > 0 else c + 1):
                    if rest.worths[d] == -np.inf:
                        continue
                    if reach > 0 and candidates.apart and owners[c] == owners[d]:
                        continue

                    likely = likelihood_with(candidates, rest, stays, c, d)
                    if likely > most:
                        most = likely
                        out_i = i
                        out_j = j
                        into_c = c
                        into_d = d

                    if (
                        reach > 0
                        and likely > likelihood - NEGLIGIBLE
                        and counts(owners, left, right, c, d, j == i + 1, j == size - 1)
                    ):
                        around += np.exp(likely - likelihood)

    if out_i >= 0:
        members[out_i] = into_c
        members[out_j] = into_d
    return out_i >= 0, around


@bare
def exchange_members(candidates, members, rest, sums):
    """Exchange the ``members``, (s,), as long as that makes the set likelier: one, or else two.

    ``sums`` becomes how likely the last set is, as a logarithm, and the likelihood of all sets an
    exchange away that have other owners, as a share of its own.
    """
    better = True
    while better:
        member = members[0]
        stays = leave(candidates, rest, members, member, member)
        likelihood = likelihood_with(candidates, rest, stays, member, member)
        sums[0] = likelihood

        # Two cost far more than one: they are tried where no single exchange is left.
        better, _ = exchange(candidates, members, rest, likelihood, 0)
        if not better:
            better, sums[1] = exchange(candidates, members, rest, likelihood, REACH)
