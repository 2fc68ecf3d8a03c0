"""Local search for a short tour: 2-opt, or-opt, random kicks, and chains of Lin and Kernighan.

A tour is a circle of n + 1 cities: records, numbered 0..n-1, and a dummy, number n, at distance 0
from all, where the path is cut. ``step`` is 1 or -1, the direction in which the tour is read. In
the moves a, b, c, d are cities: the links a-b and c-d are given up for a-c and b-d. Every change is
made of stretches that are turned round (Bentley 1992; Lin and Kernighan 1973).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import draw_below, squared_distance
from trajanon._kernels.compiled import bare, kernel

TINY = 1e-10  # of standard deviations: a gain below it is rounding

AHEAD = np.int64(1)
BACK = np.int64(-1)
"""Directions along a tour."""

CHAINS = None
"""In place of ``or_opt``: chains alone. As numba compiles a function anew for None, one that makes
chains is compiled without the other moves."""

_LONGEST_SEGMENT = 3  # records that or-opt moves together
_LONGEST_KICKED = 50  # records at most in each of the two stretches that a kick exchanges
_DEEPEST = 5  # links that a chain of Lin and Kernighan exchanges after its first


class Tour(NamedTuple):
    """A tour, and everything that its search reads and writes."""

    records: NDArray[np.float64]  # standardised, (n, p)
    neighbours: NDArray[np.int64]  # the nearest records of each record, nearest first, (n, c)
    distances: NDArray[np.float64]  # of each record from these, (n, c)
    order: NDArray[np.int64]  # city at each place of the tour, (n + 1,)
    position: NDArray[np.int64]  # place of each city, (n + 1,)
    # Cities to be looked at, as their surroundings changed: a ring of n + 1 places, and in two more
    # the place of its first city, and how many wait.
    queue: NDArray[np.int64]
    queued: NDArray[np.bool_]  # whether a city waits in the queue, (n + 1,)
    # Stretches that were turned round since a kick, for taking them back: first and last place of
    # each, one after the other; the last cell is how many.
    journal: NDArray[np.int64]
    # A move: the first and last city of up to three stretches to turn round one after the other; in
    # the last row, how many, and the step along which they lead, (4, 2).
    plan: NDArray[np.int64]
    random: NDArray[np.uint64]  # state of the generator, one cell


@bare
def distance(tour, a, b):
    """Compute the distance of two cities of a tour, or of one that grows; 0 to the dummy."""
    dummy = tour.records.shape[0]
    if a == dummy or b == dummy:
        return 0.0
    return np.sqrt(squared_distance(tour.records[a], tour.records[b]))


@bare
def after(tour, city, step):
    """Return the city after a city in the direction of ``step``."""
    size = tour.order.shape[0]
    place = tour.position[city] + step
    if place == size:
        place = 0
    elif place < 0:
        place = size - 1
    return tour.order[place]


@bare
def steps_between(tour, a, b, step):
    """Count the steps from city a to city b in the direction of ``step``."""
    steps = (tour.position[b] - tour.position[a]) * step
    return steps if steps >= 0 else steps + tour.order.shape[0]


@bare
def reverse_places(tour, i, j):
    """Reverse the stretch from place i forward to place j, both included."""
    size = tour.order.shape[0]
    length = j - i + 1 if j >= i else j - i + 1 + size

    for _ in range(length // 2):
        a = tour.order[i]
        b = tour.order[j]
        tour.order[i] = b
        tour.order[j] = a
        tour.position[b] = i
        tour.position[a] = j

        i = i + 1 if i + 1 < size else 0
        j = j - 1 if j > 0 else size - 1


@bare
def reverse_stretch(tour, first, last, step):
    """Turn round the stretch from a first to a last city along ``step``, and journal it.

    If all the rest is shorter, that is turned instead: the same tour, read the other way. Returned
    is the step along which the tour reads as it should.
    """
    size = tour.order.shape[0]
    i = tour.position[first]
    j = tour.position[last]
    if step < 0:
        i, j = j, i

    length = j - i + 1 if j >= i else j - i + 1 + size
    other_side = 2 * length > size
    if other_side:
        i, j = (j + 1) % size, (i - 1 + size) % size
    reverse_places(tour, i, j)

    # What does not fit into the journal is counted, so that a kick knows it cannot be undone.
    count = tour.journal[-1]
    if 2 * count + 2 < tour.journal.shape[0]:
        tour.journal[2 * count] = i
        tour.journal[2 * count + 1] = j
    tour.journal[-1] = count + 1

    return -step if other_side else step


@bare
def take_back(tour, staying):
    """Undo the reversals of the journal, the last first, but for the first ones that stay."""
    for entry in range(tour.journal[-1] - 1, staying - 1, -1):
        reverse_places(tour, tour.journal[2 * entry], tour.journal[2 * entry + 1])
    tour.journal[-1] = staying


@bare
def enqueue(tour, city):
    """Put a city at the end of the queue, unless it waits there already."""
    size = tour.order.shape[0]
    if not tour.queued[city]:
        tour.queued[city] = True
        tour.queue[(tour.queue[size] + tour.queue[size + 1]) % size] = city
        tour.queue[size + 1] += 1


@bare
def plan_stretches(tour, step, first, last, second_first, second_last):
    """Plan to turn round two stretches, each from a first to a last city along ``step``."""
    plan = tour.plan
    plan[0, 0] = first
    plan[0, 1] = last
    plan[1, 0] = second_first
    plan[1, 1] = second_last
    plan[3, 0] = 2
    plan[3, 1] = step


@bare
def plan_exchange(tour, first, middle, last, step):
    """Plan to exchange two stretches along ``step``: first..middle, and all behind it ..last."""
    # All of it is turned round, and then each of the two stretches, which are read backward now.
    plan_stretches(tour, step, first, last, last, after(tour, middle, step))

    tour.plan[2, 0] = middle
    tour.plan[2, 1] = first
    tour.plan[3, 0] = 3


@bare
def carry_out(tour):
    """Turn round the stretches of the plan, one after the other."""
    step = tour.plan[3, 1]
    for i in range(tour.plan[3, 0]):
        step = reverse_stretch(tour, tour.plan[i, 0], tour.plan[i, 1], step)


@bare
def two_opt_move(tour, a):
    """Plan to link a with a near record c instead of a next city b; return the gain, or 0.

    The city d after c is then linked with b: the stretch b..c is turned round.
    """
    for step in (1, -1):
        b = after(tour, a, step)
        given_up = distance(tour, a, b)

        for i in range(tour.neighbours.shape[1]):
            # The nearest come first: from here on the new link is longer than the one given up.
            c = tour.neighbours[a, i]
            if tour.distances[a, i] > given_up + TINY:
                break

            d = after(tour, c, step)
            gain = given_up + distance(tour, c, d) - tour.distances[a, i] - distance(tour, b, d)
            if gain > TINY:
                plan_stretches(tour, step, b, c, b, c)
                tour.plan[3, 0] = 1  # the first stretch alone
                for city in (a, b, c, d):
                    enqueue(tour, city)
                return gain
    return 0.0


@bare
def plan_segment(tour, a, e, c, d, step):
    """Plan to move the segment a..e (along ``step``) between linked cities c and d, a next to c.

    The segment and the stretch between it and c change places: the shorter way round the tour.
    """
    c_is_behind = 2 * steps_between(tour, e, c, step) <= tour.order.shape[0]

    if after(tour, c, step) == d:
        # c before d: the segment keeps its direction.
        if c_is_behind:
            plan_exchange(tour, a, e, c, step)
        else:
            plan_exchange(tour, d, after(tour, a, -step), e, step)
    elif c_is_behind:
        # d before c, behind the segment: a..e, x..d | c becomes x..d, e..a | c.
        plan_stretches(tour, step, a, d, d, after(tour, e, step))
    else:
        # d | c..x, a..e becomes d | e..a, c..x.
        plan_stretches(tour, step, c, e, after(tour, a, -step), c)


@bare
def or_opt_move(tour, a):
    """Plan to move a segment a..e so that a is linked with a near record c; return the gain, or 0.

    The segment of up to three records goes between c and d, a city linked with c. Its old
    neighbours, the cities before a and behind e, are linked with each other.
    """
    for step in (1, -1):
        before = after(tour, a, -step)
        from_before = distance(tour, before, a)

        e = a
        for _ in range(_LONGEST_SEGMENT):
            # Where at most two other cities are left, there is nowhere else to go.
            behind = after(tour, e, step)
            if behind == before or after(tour, behind, step) == before:
                break

            segment_steps = steps_between(tour, a, e, step)
            removed = from_before + distance(tour, e, behind) - distance(tour, before, behind)

            for i in range(tour.neighbours.shape[1]):
                c = tour.neighbours[a, i]
                if tour.distances[a, i] > removed + TINY:
                    break
                if steps_between(tour, a, c, step) <= segment_steps:
                    continue  # on the segment itself

                for side in (1, -1):
                    d = after(tour, c, side)
                    if steps_between(tour, a, d, step) <= segment_steps:
                        continue

                    gain = removed + distance(tour, c, d)
                    gain -= tour.distances[a, i] + distance(tour, e, d)
                    if gain > TINY:
                        plan_segment(tour, a, e, c, d, step)
                        for city in (before, behind, a, e, c, d):
                            enqueue(tour, city)
                        return gain

            # The segment grows by one, but not by the dummy.
            e = behind
            if e == tour.records.shape[0]:
                break
    return 0.0


@bare
def best_link(tour, a, b, step, freed):
    """Find the record c near b for the next step of a chain, -1 if none is left with a gain.

    b follows a along ``step``. ``freed`` is the length of the links given up so far, less that of
    the new ones. Linking b with c adds a link, and gives up that of c with the city before it: the
    c that leaves most is best.
    """
    best = -1
    most = TINY
    if b == tour.records.shape[0]:
        return best  # the dummy has no near records

    for i in range(tour.neighbours.shape[1]):
        c = tour.neighbours[b, i]
        if tour.distances[b, i] >= freed:
            break

        if c == a or c == after(tour, b, step):
            continue
        left = freed - tour.distances[b, i] + distance(tour, after(tour, c, -step), c)
        if left > most:
            best = c
            most = left
    return best


@kernel
def chain(tour, a, b, c, step):
    """Link b with c, the freed end with its best near record, and so on; return the gain.

    b follows a along ``step``. Each move turns round the stretch from b to the city d before c:
    then d follows a, and could stay there or be the next b. What is kept is the best depth.
    """
    ends = np.empty(2 * _DEEPEST + 2, dtype=np.int64)  # cities whose links change
    ends[0] = a
    ends[1] = b
    tour.journal[-1] = 0

    freed = distance(tour, a, b)
    most = 0.0
    best_depth = 0
    depth = 0

    # Each step is made at once, as the next one is read off the tour; the best depth stays.
    while c >= 0 and depth < _DEEPEST:
        d = after(tour, c, -step)
        freed += distance(tour, d, c) - distance(tour, b, c)
        step = reverse_stretch(tour, b, d, step)
        depth += 1
        ends[2 * depth] = c
        ends[2 * depth + 1] = d

        if freed - distance(tour, a, d) > most + TINY:
            most = freed - distance(tour, a, d)
            best_depth = depth

        b = d
        c = best_link(tour, a, b, step, freed)

    take_back(tour, best_depth)
    if best_depth > 0:
        for end in ends[: 2 * best_depth + 2]:
            enqueue(tour, end)
    return most


@bare
def lin_kernighan(tour, a):
    """Make a chain of moves that gives up the link of a with a next city; return the gain, or 0."""
    for step in (1, -1):
        b = after(tour, a, step)
        if b == tour.records.shape[0]:
            continue  # the dummy has no near records

        given_up = distance(tour, a, b)
        for i in range(tour.neighbours.shape[1]):
            c = tour.neighbours[b, i]
            if tour.distances[b, i] >= given_up - TINY:
                break

            if c == a or c == after(tour, b, step):
                continue
            gain = chain(tour, a, b, c, step)
            if gain > 0.0:
                return gain
    return 0.0


@bare
def dequeue(tour):
    """Return the first city of the queue."""
    size = tour.order.shape[0]
    city = tour.queue[tour.queue[size]]
    tour.queue[size] = (tour.queue[size] + 1) % size
    tour.queue[size + 1] -= 1
    tour.queued[city] = False
    return city


@bare
def improve(tour, or_opt):
    """Make 2-opt moves, and or-opt moves if ``or_opt``, until no queued city has one.

    With `CHAINS`, chains of Lin and Kernighan are made instead. Returned is the gain.
    """
    size = tour.order.shape[0]
    gained = 0.0
    while tour.queue[size + 1] > 0:
        city = dequeue(tour)
        if city == size - 1:
            continue  # the dummy has no near records

        # A chain is made as it is found; other moves are planned first.
        if or_opt is None:  # CHAINS
            gain = lin_kernighan(tour, city)
        else:
            gain = two_opt_move(tour, city)
            if gain == 0.0 and or_opt:
                gain = or_opt_move(tour, city)
            if gain > 0.0:
                carry_out(tour)

        if gain > 0.0:
            gained += gain
            enqueue(tour, city)
    return gained


@bare
def kick(tour):
    """Exchange two short stretches that follow each other, drawn at random; return the loss."""
    # They are short, so that the loss is small, and a few moves near by make it good.
    size = tour.order.shape[0]
    longest = min(_LONGEST_KICKED, (size - 2) // 2)

    # The tour reads: before, first..middle, behind..last, beyond.
    place = draw_below(tour.random, size)
    first = tour.order[place]
    before = after(tour, first, BACK)

    middle_place = place + draw_below(tour.random, longest)
    last_place = middle_place + 1 + draw_below(tour.random, longest)
    middle = tour.order[middle_place % size]
    behind = tour.order[(middle_place + 1) % size]
    last = tour.order[last_place % size]
    beyond = tour.order[(last_place + 1) % size]

    loss = distance(tour, before, behind) + distance(tour, last, first)
    loss += distance(tour, middle, beyond) - distance(tour, before, first)
    loss -= distance(tour, middle, behind) + distance(tour, last, beyond)

    plan_exchange(tour, first, middle, last, AHEAD)
    carry_out(tour)

    for city in (before, first, middle, behind, last, beyond):
        enqueue(tour, city)
    return loss


@bare
def shorten(tour, or_opt, kicks):
    """Shorten a tour until no city has a move; then kick it so many times, and repair it each time.

    A kick is taken back if the repaired tour is longer than before. ``or_opt`` is as in `improve`.
    """
    # Lists of near records are not symmetric: a city that was not queued may have a move now.
    while improve(tour, or_opt) > 0.0:
        for city in tour.order:
            enqueue(tour, city)

    for _ in range(kicks):
        tour.journal[-1] = 0
        loss = kick(tour)
        gain = improve(tour, or_opt)
        # A journal that overflowed cannot be undone: then the longer tour stays.
        if gain < loss - TINY and 2 * tour.journal[-1] < tour.journal.shape[0]:
            take_back(tour, np.int64(0))
