"""Trees that halve points across directions, and the pairs that share a leaf."""

import numpy as np

from trajanon._kernels.common import below, insert_rising, keep_nearest, squared_distance
from trajanon._kernels.compiled import bare, kernel

_LOOKED_AT = 25  # points of a part that tell where a far one is, and the middle


@bare
def place_along(direction, point):
    """Where a point lies along a direction."""
    total = 0.0
    for column in range(direction.shape[0]):
        total += direction[column] * point[column]
    return total


@kernel
def halve(points, order, spare, start, stop, random):
    """Part the points from start to stop across a line between two, about in halves; the border.

    About: the middle is that of some of them.
    """
    some, along = np.empty(_LOOKED_AT, dtype=np.int64), np.empty(_LOOKED_AT)
    for i in range(_LOOKED_AT):
        some[i] = order[start + below(random, stop - start)]
    one, other, most = points[some[0]], points[some[0]], -1.0
    for candidate in some:  # the farthest: long parts are cut across their length
        distance = squared_distance(one, points[candidate])
        if distance > most:
            other, most = points[candidate], distance
    direction = np.empty_like(one)
    for column in range(one.shape[0]):
        direction[column] = other[column] - one[column]
    for i in range(_LOOKED_AT):
        insert_rising(along, some, i, place_along(direction, points[some[i]]), some[i])
    middle = along[_LOOKED_AT // 2]
    # Without a branch that depends on the place: the processor would guess half of them wrong.
    left, right = start, stop - 1
    for place in range(start, stop):
        point = order[place]
        is_left = place_along(direction, points[point]) < middle
        spare[left], spare[right] = point, point
        left += is_left
        right -= not is_left
    for place in range(start, stop):
        order[place] = spare[place]
    quarter = (stop - start) // 4
    if start + quarter < left < stop - quarter:
        return left
    return (start + stop) // 2  # many are at one place


@kernel
def grow(points, leaf, random):
    """Halve points, (n, q), about, until no part holds more than a leaf.

    Returns their order, (n,), in which each leaf stands together, near leaves near each other, and
    the borders of the leaves, (leaves + 1,).
    """
    n = points.shape[0]
    order = np.arange(n)
    spare = np.empty_like(order)
    borders = np.empty(4 * n // leaf + 3, dtype=np.int64)  # no part is less than a quarter
    waiting = np.empty((128, 2), dtype=np.int64)  # so none is parted more than 128 times
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
        middle = halve(points, order, spare, start, stop, random)
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
