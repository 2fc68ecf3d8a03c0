"""Paths that go on to the nearest record, or fragment, not yet met."""

import numpy as np

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare

_FIRST = 4  # principal axes that often tell already that a record is too far


@bare
def walk(records, start, waiting, order):
    """Walk through the records that are waiting, always to the nearest, the first of equals."""
    here, left = start, waiting.shape[0]
    for place in range(order.shape[0]):
        order[place] = here
        kept = 0
        nearest, least = -1, np.inf
        for i in range(left):
            record = waiting[i]
            if record == here:
                continue
            waiting[kept] = record
            kept += 1
            away = squared_distance(records[here], records[record])
            if away < least:
                nearest, least = record, away
        left = kept
        here = nearest


@bare
def leave(waiting, position, left, record):
    """Take a record out of the first ``left`` of ``waiting``; how many are left."""
    last = waiting[left - 1]
    waiting[position[record]] = last
    position[last] = position[record]
    waiting[left - 1] = record
    position[record] = left - 1
    return left - 1


@bare
def nearest_waiting(turned, here, waiting, left):
    """The nearest waiting record, the smallest row of equals, and its squared distance."""
    columns = turned.shape[1]
    nearest, least = -1, np.inf
    for i in range(left):
        record = waiting[i]
        away = 0.0
        for column in range(min(_FIRST, columns)):
            difference = turned[here, column] - turned[record, column]
            away += difference * difference
        if away > least:
            continue
        for column in range(_FIRST, columns):
            difference = turned[here, column] - turned[record, column]
            away += difference * difference
        if away < least or (away == least and record < nearest):
            nearest, least = record, away
    return nearest, least


@bare
def shortest_walk(turned, neighbours, near, first, last, room, best, shortest):
    """Walk from first, ..., last-1, no farther than ``shortest``; ``best`` takes the best path.

    There is ``room`` for three orders, (3, n), of which the first two are those of the rows.
    """
    n = turned.shape[0]
    waiting, position, order = room[0], room[1], room[2]
    for start in range(first, last):
        left = leave(waiting, position, n, start)
        order[0] = here = start
        length = 0.0
        for place in range(1, n):
            onward, step = -1, 0.0
            for i in range(neighbours.shape[1]):
                if position[neighbours[here, i]] < left:
                    onward, step = neighbours[here, i], near[here, i]
                    break
            if onward < 0:
                onward, step = nearest_waiting(turned, here, waiting, left)
                step = np.sqrt(step)
            length += step
            if length >= shortest:
                break
            left = leave(waiting, position, left, onward)
            order[place] = here = onward
        if length < shortest:
            shortest = length
            for place in range(n):
                best[place] = order[place]
    return shortest


@bare
def greedy_fragments(edges, links, other_end):
    """Take edges, (m, 2), in turn, unless they fork or close a circle.

    The ``links`` of each record, (n, 2), are -1 before; the ``other_end`` of its fragment is itself
    before, and right of ends only.
    """
    for edge in range(edges.shape[0]):
        a, b = edges[edge, 0], edges[edge, 1]
        if links[a, 1] >= 0 or links[b, 1] >= 0 or other_end[a] == b:
            continue
        links[a, 0 if links[a, 0] < 0 else 1] = b
        links[b, 0 if links[b, 0] < 0 else 1] = a
        end_a, end_b = other_end[a], other_end[b]
        other_end[end_a], other_end[end_b] = end_b, end_a


@bare
def join_fragments(records, links, ends, used, order):
    """Walk fragment by fragment from the first of the ``ends``, always on to the nearest free one.

    ``used`` are no records before.
    """
    free, city, filled = ends.shape[0], ends[0], 0
    while True:
        previous = -1
        while city >= 0:  # along the fragment to its other end
            order[filled] = city
            filled += 1
            used[city] = True
            onward = links[city, 0] if links[city, 0] != previous else links[city, 1]
            previous, city = city, onward
        if filled == order.shape[0]:
            return
        nearest, best = -1, np.inf
        kept = 0
        for i in range(free):
            end = ends[i]
            if used[end]:
                continue
            ends[kept] = end
            kept += 1
            distance = squared_distance(records[end], records[previous])
            if distance < best:
                nearest, best = end, distance
        free = kept
        city = nearest
