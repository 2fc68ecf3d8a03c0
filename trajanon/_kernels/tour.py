"""A tour in an array, its reversals, and 2-opt and or-opt moves on it.

City n is the dummy, at distance 0 from every record: a tour through it is a path.
Every change is a reversal of a stretch, written down in a journal so that it can be
taken back.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance

_TINY = 1e-10  # of standard deviations: a gain below it is rounding
_LONGEST_SEGMENT = 3  # records that or-opt moves together
_KICKED = 50  # records at most in each of the two stretches a kick exchanges


class Tour(NamedTuple):
    """Everything the search reads and writes.

    Attributes
    ----------
    records
        Standardised, (n, p).
    neighbours, near
        The nearest records of each record, nearest first, and their distances, (n, c).
    order, position
        City at each place of the tour, and place of each city, (n + 1,).
    queue, queued
        Cities whose surroundings have changed, as a ring of n + 1 with its head and
        length in the last two cells, and whether a city is in it.
    journal
        The reversals since the last mark, two cells each; the last cell counts them.
    random
        State of the generator, one cell.
    """

    records: NDArray[np.float64]
    neighbours: NDArray[np.int64]
    near: NDArray[np.float64]
    order: NDArray[np.int64]
    position: NDArray[np.int64]
    queue: NDArray[np.int64]
    queued: NDArray[np.bool_]
    journal: NDArray[np.int64]
    random: NDArray[np.uint64]


@kernel
def below(random, limit):
    """A whole number of 0..limit-1 (xorshift64*)."""
    state = random[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    random[0] = state
    drawn = (state * np.uint64(2685821657736338717)) >> np.uint64(33)
    return np.int64(drawn) % limit


@kernel
def between(tour, a, b):
    """Distance of two cities."""
    dummy = tour.records.shape[0]
    if a == dummy or b == dummy:
        return 0.0
    return np.sqrt(squared_distance(tour.records[a], tour.records[b]))


@kernel
def after(tour, city, step):
    """The next city in the direction of ``step`` (1 or -1)."""
    size = tour.order.shape[0]
    place = tour.position[city] + step
    if place == size:
        place = 0
    elif place < 0:
        place = size - 1
    return tour.order[place]


@kernel
def reverse_places(tour, i, j):
    """Reverse the stretch from place i forward to place j, both included."""
    size = tour.order.shape[0]
    length = j - i + 1 if j >= i else j - i + 1 + size
    for _ in range(length // 2):
        a, b = tour.order[i], tour.order[j]
        tour.order[i], tour.order[j] = b, a
        tour.position[b], tour.position[a] = i, j
        i = i + 1 if i + 1 < size else 0
        j = j - 1 if j > 0 else size - 1


@kernel
def reverse_stretch(tour, first, last, step):
    """Turn round the stretch that leads from one city to another along ``step``.

    The shorter side of the tour is turned, which gives the same cycle, perhaps read the
    other way: returns the step that now leads as ``step`` did.
    """
    size = tour.order.shape[0]
    i, j = tour.position[first], tour.position[last]
    if step < 0:
        i, j = j, i
    length = j - i + 1 if j >= i else j - i + 1 + size
    other_side = 2 * length > size
    if other_side:
        i, j = (j + 1) % size, (i - 1 + size) % size
    reverse_places(tour, i, j)
    count = tour.journal[-1]
    if 2 * count + 2 < tour.journal.shape[0]:
        tour.journal[2 * count] = i
        tour.journal[2 * count + 1] = j
    tour.journal[-1] = count + 1
    return -step if other_side else step


@kernel
def enqueue(tour, city):
    size = tour.order.shape[0]
    if not tour.queued[city]:
        tour.queued[city] = True
        tour.queue[(tour.queue[size] + tour.queue[size + 1]) % size] = city
        tour.queue[size + 1] += 1


@kernel
def exchange_stretches(tour, first, middle, last, step):
    """Exchange the stretches first..middle and (behind it)..last along ``step``."""
    behind = after(tour, middle, step)
    step = reverse_stretch(tour, first, last, step)
    # Now last..behind middle..first.
    step = reverse_stretch(tour, last, behind, step)
    reverse_stretch(tour, middle, first, step)


@kernel
def two_opt(tour, a):
    """Link a with a near record instead of a next one; the gain, 0 if there is none."""
    for step in (1, -1):
        b = after(tour, a, step)
        from_b = between(tour, a, b)
        for i in range(tour.neighbours.shape[1]):
            c = tour.neighbours[a, i]
            if tour.near[a, i] > from_b + _TINY:
                break
            d = after(tour, c, step)
            gain = from_b + between(tour, c, d) - tour.near[a, i] - between(tour, b, d)
            if gain > _TINY:
                reverse_stretch(tour, b, c, step)
                enqueue(tour, a)
                enqueue(tour, b)
                enqueue(tour, c)
                enqueue(tour, d)
                return gain
    return 0.0


@kernel
def place_segment(tour, a, e, c, d, step):
    """Move the segment a..e (along ``step``) between the neighbours c and d, a by c."""
    if after(tour, c, step) == d:
        # c before d: the segment keeps its direction.
        if tour_reaches(tour, e, c, step):
            exchange_stretches(tour, a, e, c, step)
        else:
            exchange_stretches(tour, d, after(tour, a, -step), e, step)
        return
    if tour_reaches(tour, e, c, step):
        # d before c, behind the segment: a..e, x..d | c becomes x..d, e..a | c.
        behind = after(tour, e, step)
        step = reverse_stretch(tour, a, d, step)
        reverse_stretch(tour, d, behind, step)
    else:
        # d | c..x, a..e becomes d | e..a, c..x.
        before = after(tour, a, -step)
        step = reverse_stretch(tour, c, e, step)
        reverse_stretch(tour, before, c, step)


@kernel
def tour_reaches(tour, e, c, step):
    """Whether c comes within half a tour behind e along ``step``."""
    size = tour.order.shape[0]
    ahead = (tour.position[c] - tour.position[e]) * step
    if ahead < 0:
        ahead += size
    return 2 * ahead <= size


@kernel
def or_opt(tour, a):
    """Move a segment that begins at a next to a near record; the gain, or 0."""
    for step in (1, -1):
        before = after(tour, a, -step)
        from_before = between(tour, before, a)
        e = a
        for _ in range(_LONGEST_SEGMENT):
            behind = after(tour, e, step)
            if behind == before or after(tour, behind, step) == before:
                break
            removed = (
                from_before + between(tour, e, behind) - between(tour, before, behind)
            )
            for i in range(tour.neighbours.shape[1]):
                c = tour.neighbours[a, i]
                if tour.near[a, i] > removed + _TINY:
                    break
                if segment_holds(tour, a, e, c, step):
                    continue
                for side in (1, -1):
                    d = after(tour, c, side)
                    if segment_holds(tour, a, e, d, step):
                        continue
                    gain = removed + between(tour, c, d)
                    gain -= tour.near[a, i] + between(tour, e, d)
                    if gain > _TINY:
                        place_segment(tour, a, e, c, d, step)
                        enqueue(tour, before)
                        enqueue(tour, behind)
                        enqueue(tour, a)
                        enqueue(tour, e)
                        enqueue(tour, c)
                        enqueue(tour, d)
                        return gain
            e = behind
            if e == tour.records.shape[0]:
                break
    return 0.0


@kernel
def segment_holds(tour, a, e, city, step):
    """Whether a city lies on the stretch a..e along ``step``."""
    size = tour.order.shape[0]
    length = (tour.position[e] - tour.position[a]) * step
    ahead = (tour.position[city] - tour.position[a]) * step
    if length < 0:
        length += size
    if ahead < 0:
        ahead += size
    return ahead <= length


@kernel
def improve(tour):
    """Make 2-opt and or-opt moves until no queued city has one; the gain."""
    size = tour.order.shape[0]
    gained = 0.0
    while tour.queue[size + 1] > 0:
        city = tour.queue[tour.queue[size]]
        tour.queue[size] = (tour.queue[size] + 1) % size
        tour.queue[size + 1] -= 1
        tour.queued[city] = False
        if city == size - 1:
            continue  # the dummy has no neighbours of its own
        gain = two_opt(tour, city)
        if gain == 0.0:
            gain = or_opt(tour, city)
        if gain > 0.0:
            gained += gain
            enqueue(tour, city)
    return gained


@kernel
def take_back(tour):
    """Undo the reversals of the journal, the last first."""
    for entry in range(tour.journal[-1] - 1, -1, -1):
        reverse_places(tour, tour.journal[2 * entry], tour.journal[2 * entry + 1])
    tour.journal[-1] = 0


@kernel
def kick(tour):
    """Exchange two short neighbouring stretches at random; the loss."""
    size = tour.order.shape[0]
    longest = min(_KICKED, (size - 2) // 2)
    place = below(tour.random, size)
    first = tour.order[place]
    before = after(tour, first, -1)
    cut = place + below(tour.random, longest)
    end = cut + 1 + below(tour.random, longest)
    middle, behind = tour.order[cut % size], tour.order[(cut + 1) % size]
    last, beyond = tour.order[end % size], tour.order[(end + 1) % size]
    loss = between(tour, before, behind) + between(tour, last, first)
    loss += between(tour, middle, beyond) - between(tour, before, first)
    loss -= between(tour, middle, behind) + between(tour, last, beyond)
    exchange_stretches(tour, first, middle, last, 1)
    for city in (before, first, middle, behind, last, beyond):
        enqueue(tour, city)
    return loss


@kernel
def kicks(tour, count):
    """Kick and improve ``count`` times; keep what is no longer than before."""
    for _ in range(count):
        tour.journal[-1] = 0
        loss = kick(tour)
        gain = improve(tour)
        # A journal that overflowed cannot be undone: then the longer tour stays.
        if gain < loss - _TINY and 2 * tour.journal[-1] < tour.journal.shape[0]:
            take_back(tour)
