"""Lin-Kernighan: a chain of 2-opt moves, each perhaps a loss, that pays as a whole."""

import numpy as np

from trajanon._kernels.compiled import kernel
from trajanon._kernels.tour import TINY, after, between, enqueue, reverse_stretch, take_back

_DEEPEST = 50  # moves in a chain; also what ends one that goes in circles


@kernel
def lin_kernighan(tour, a):
    """Make a chain of moves that ends the link of a with a next city; the gain, or 0.

    Every near record of that next city is tried as the first link of a chain.
    """
    for step in (1, -1):
        b = after(tour, a, step)
        if b == tour.records.shape[0]:
            continue  # the dummy has no near records
        given_up = between(tour, a, b)
        for i in range(tour.neighbours.shape[1]):
            c = tour.neighbours[b, i]
            if tour.near[b, i] >= given_up - TINY:
                break
            if c == a or c == after(tour, b, step):
                continue
            gain = chain(tour, a, b, c, step)
            if gain > 0.0:
                return gain
    return 0.0


@kernel
def chain(tour, a, b, c, step):
    """Link b with c, the freed end with its best near record, and so on; the gain.

    b follows a along ``step``. Each move turns round the stretch from b to the city d before c:
    then d follows a, and could stay there or be the next b.
    """
    ends = np.empty(2 * _DEEPEST + 2, dtype=np.int64)
    ends[0], ends[1] = a, b
    tour.journal[-1] = 0
    freed = between(tour, a, b)
    most, kept = 0.0, 0
    depth = 0
    while c >= 0 and depth < _DEEPEST:
        d = after(tour, c, -step)
        freed += between(tour, d, c) - between(tour, b, c)
        step = reverse_stretch(tour, b, d, step)
        depth += 1
        ends[2 * depth], ends[2 * depth + 1] = c, d
        if freed - between(tour, a, d) > most + TINY:
            most, kept = freed - between(tour, a, d), depth
        b = d
        c = best_link(tour, a, b, step, freed)
    take_back(tour, kept)
    if kept > 0:
        for end in ends[: 2 * kept + 2]:
            enqueue(tour, end)
    return most


@kernel
def best_link(tour, a, b, step, freed):
    """The near record of b whose link frees most, -1 if none frees anything."""
    best, most = -1, TINY
    if b == tour.records.shape[0]:
        return best
    for i in range(tour.neighbours.shape[1]):
        c = tour.neighbours[b, i]
        if tour.near[b, i] >= freed:
            break
        if c == a or c == after(tour, b, step):
            continue
        left = freed - tour.near[b, i] + between(tour, after(tour, c, -step), c)
        if left > most:
            best, most = c, left
    return best
