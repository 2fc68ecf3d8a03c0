"""Trees that halve points across directions, and the pairs that share a leaf."""

import numpy as np

from trajanon._kernels.common import below, keep_nearest, squared_distance
from trajanon._kernels.compiled import kernel

_LOOKED_AT = 24  # points among which a far one is chosen


@kernel
def select(along, order, start, stop, middle):
    """Put what is less than the value at ``middle`` before it; ``order`` follows."""
    low, high = start, stop - 1
    while low < high:
        pivot = along[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while along[i] < pivot:
                i += 1
            while along[j] > pivot:
                j -= 1
            if i <= j:
                along[i], along[j] = along[j], along[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def halve(points, order, along, start, stop, random):
    """Halve the points from start to stop across a line between two; the border."""
    one = points[order[start + below(random, stop - start)]]
    other, most = one, -1.0  # the farthest of some: long parts are cut across their length
    for _ in range(_LOOKED_AT):
        candidate = points[order[start + below(random, stop - start)]]
        distance = squared_distance(one, candidate)
        if distance > most:
            other, most = candidate, distance
    direction = other - one
    for place in range(start, stop):
        point = points[order[place]]
        total = 0.0
        for column in range(direction.shape[0]):
            total += direction[column] * point[column]
        along[place] = total
    middle = (start + stop) // 2
    select(along, order, start, stop, middle)
    return middle


@kernel
def grow(points, leaf, random):
    """Halve points, (n, q), until no part holds more than a leaf.

    Returns their order, (n,), in which each leaf stands together, near leaves near each other, and
    the borders of the leaves, (leaves + 1,).
    """
    n = points.shape[0]
    order, along = np.arange(n), np.empty(n)
    borders = np.empty(2 * n // leaf + 3, dtype=np.int64)
    waiting = np.empty((128, 2), dtype=np.int64)  # a part is halved 63 times at most
    waiting[0, 0], waiting[0, 1] = 0, n
    height, leaves = 1, 0
    borders[0] = 0
    while height > 0:
        height -= 1
        start, stop = waiting[height, 0], waiting[height, 1]
        if stop - start <= leaf:
            leaves += 1
            borders[leaves] = stop
            continue
        middle = halve(points, order, along, start, stop, random)
        waiting[height, 0], waiting[height, 1] = middle, stop
        waiting[height + 1, 0], waiting[height + 1, 1] = start, middle
        height += 2
    return order, borders[: leaves + 1]


@kernel
def compare_leaves(points, order, borders, nearest, away):
    """Compare all records that share a leaf; keep the nearest of each, (n, c)."""
    for leaf in range(borders.shape[0] - 1):
        members = order[borders[leaf] : borders[leaf + 1]]
        here = points[members]
        for i in range(members.shape[0]):
            a = members[i]
            for j in range(i):
                distance = squared_distance(here[i], here[j])
                if distance < away[a, -1]:
                    keep_nearest(nearest[a], away[a], members[j], distance)
                b = members[j]
                if distance < away[b, -1]:
                    keep_nearest(nearest[b], away[b], a, distance)
