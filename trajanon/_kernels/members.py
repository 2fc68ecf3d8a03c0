"""Members of a line, exchanged one or two at a time for likelier ones."""

import numpy as np

from trajanon._kernels.compiled import bare

REACH = 20  # places in the list of members within which two are exchanged together
NEGLIGIBLE = 20.0  # what is less likely by this, as a logarithm, is not counted
ROUNDING = 1e-9


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
def exchange_members(products, worths, owners, apart, members, room, sums):
    """Exchange one or two of the ``members``, (s,), as long as that makes the set likelier.

    A set is as likely as the sum of its ``worths``, (n,), less half of the sum of its ``products``,
    (n, n), as a logarithm. Where they are ``apart``, no owner is twice in a set. ``sums`` becomes
    that of the last set, and the likelihood of all sets an exchange away that have other owners, as
    a share of its own. ``room`` is for 2 n numbers.
    """
    n, size = len(worths), len(members)
    toward, alone = room[0], room[1]
    better = True
    while better:
        own, others = 0.0, 0.0
        for c in range(n):
            toward[c] = 0.0
            for member in members:
                toward[c] += products[c, member]
        for member in members:
            own += worths[member] - 0.5 * toward[member]
        most = own
        out_i = out_j = into_c = into_d = 0
        for i in range(size):
            for j in range(i + 1, min(size, i + 1 + REACH)):
                left, right = members[i], members[j]
                rest = 0.0
                for c in range(n):
                    toward[c] -= products[c, left] + products[c, right]
                    alone[c] = worths[c] - toward[c] - 0.5 * products[c, c]
                for place in range(size):
                    if place in (i, j):
                        continue
                    member = members[place]
                    rest += worths[member] - 0.5 * toward[member]
                    alone[member] = -np.inf
                    if apart:
                        for c in range(n):
                            if owners[c] == owners[member]:
                                alone[c] = -np.inf
                for c in range(n):
                    for d in range(c):
                        if apart and owners[c] == owners[d]:
                            continue
                        likely = rest + alone[c] + alone[d] - products[c, d]
                        if likely > most:
                            most = likely
                            out_i, out_j, into_c, into_d = i, j, c, d
                        if likely > own - NEGLIGIBLE and counts(
                            owners, left, right, c, d, j == i + 1, j == size - 1
                        ):
                            others += np.exp(likely - own)
                for c in range(n):
                    toward[c] += products[c, left] + products[c, right]
        # What rounding adds to a sum makes no set likelier.
        better = most > own + ROUNDING
        if better:
            members[out_i], members[out_j] = into_c, into_d
        else:
            sums[0], sums[1] = own, others
