"""The search for a shorter tour: moves while there are any, then kicks."""

import numpy as np

from trajanon._kernels.chance import below
from trajanon._kernels.compiled import kernel
from trajanon._kernels.lin_kernighan import lin_kernighan
from trajanon._kernels.tour import (
    AHEAD,
    BACK,
    TINY,
    after,
    between,
    enqueue,
    exchange_stretches,
    take_back,
)
from trajanon._kernels.tour_moves import or_opt_move, two_opt_move

TWO_OPT, OR_OPT, LIN_KERNIGHAN = np.int64(0), np.int64(1), np.int64(2)
"""Rules: 2-opt moves alone; also or-opt moves; chains of Lin and Kernighan."""

_NOTHING = np.int64(0)
_KICKED = 50  # records at most in each of the two stretches a kick exchanges


@kernel
def improve(tour, rule):
    """Make the moves of a rule until no queued city has one; the gain."""
    size = tour.order.shape[0]
    gained = 0.0
    while tour.queue[size + 1] > 0:
        city = tour.queue[tour.queue[size]]
        tour.queue[size] = (tour.queue[size] + 1) % size
        tour.queue[size + 1] -= 1
        tour.queued[city] = False
        if city == size - 1:
            continue  # the dummy has no neighbours of its own
        if rule == LIN_KERNIGHAN:
            gain = lin_kernighan(tour, city)
        else:
            gain = two_opt_move(tour, city)
            if gain == 0.0 and rule == OR_OPT:
                gain = or_opt_move(tour, city)
        if gain > 0.0:
            gained += gain
            enqueue(tour, city)
    return gained


@kernel
def improve_everywhere(tour, rule):
    """Look at every city until none has a move of a rule.

    Neighbour lists are not symmetric, and the dummy has none: a city may gain by a move of another
    one whose surroundings have not changed.
    """
    while improve(tour, rule) > 0.0:
        for city in tour.order:
            enqueue(tour, city)


@kernel
def kick(tour):
    """Exchange two short neighbouring stretches at random; the loss."""
    size = tour.order.shape[0]
    longest = min(_KICKED, (size - 2) // 2)
    place = below(tour.random, size)
    first = tour.order[place]
    before = after(tour, first, BACK)
    cut = place + below(tour.random, longest)
    end = cut + 1 + below(tour.random, longest)
    middle, behind = tour.order[cut % size], tour.order[(cut + 1) % size]
    last, beyond = tour.order[end % size], tour.order[(end + 1) % size]
    loss = between(tour, before, behind) + between(tour, last, first)
    loss += between(tour, middle, beyond) - between(tour, before, first)
    loss -= between(tour, middle, behind) + between(tour, last, beyond)
    exchange_stretches(tour, first, middle, last, AHEAD)
    for city in (before, first, middle, behind, last, beyond):
        enqueue(tour, city)
    return loss


@kernel
def kicks(tour, count):
    """Kick and improve ``count`` times; keep what is no longer than before."""
    for _ in range(count):
        tour.journal[-1] = 0
        loss = kick(tour)
        gain = improve(tour, OR_OPT)
        # A journal that overflowed cannot be undone: then the longer tour stays.
        if gain < loss - TINY and 2 * tour.journal[-1] < tour.journal.shape[0]:
            take_back(tour, _NOTHING)
