"""Paths that always go on to the nearest record not yet met."""

import numpy as np

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance

_FIRST = 4  # columns that often tell already that a record is too far


@kernel
def walk(records, start, met):
    """Walk from ``start`` through all records not ``met``, (n,); the order.

    Of several nearest records the first one is next.
    """
    waiting = np.flatnonzero(~met)
    left = waiting.shape[0]
    order = np.empty(left, dtype=np.int64)
    here = start
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
    return order


@kernel
def leave(waiting, position, left, record):
    """Take a record out of the first ``left`` of ``waiting``; how many are left."""
    last = waiting[left - 1]
    waiting[position[record]] = last
    position[last] = position[record]
    waiting[left - 1] = record
    position[record] = left - 1
    return left - 1


@kernel
def nearest_waiting(turned, here, waiting, left):
    """The nearest waiting record, the smallest row of equals, and its distance².

    The records are turned to their principal axes, so the first columns tell most of a distance.
    """
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


@kernel
def shortest_walk(turned, neighbours, near, first, last, best, shortest):
    """Walk from each start of first..last-1; keep the shortest path in ``best``.

    ``neighbours``, ``near``: the nearest records of each record and their distances, (n, c), the
    nearest first. A walk that is longer than ``shortest`` before its end is given up.
    """
    n = turned.shape[0]
    order = np.empty(n, dtype=np.int64)
    waiting = np.arange(n)
    position = np.arange(n)
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
            best[:] = order
    return shortest
