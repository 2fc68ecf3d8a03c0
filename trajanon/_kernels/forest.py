"""Trees that halve points across directions, and the pairs that share a leaf."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import below, insert_rising, keep_nearest, squared_distance
from trajanon._kernels.compiled import bare, kernel

_LOOKED_AT = 25  # points of a part by which a far one and the middle are estimated

_PARTED = 128  # how often points are halved at most: no part is less than a quarter


class Tree(NamedTuple):
    """A tree while it grows."""

    points: NDArray[np.floating]  # (n, q)
    order: NDArray[np.int64]  # of the points, (n,): each leaf stands together
    borders: NDArray[np.int64]  # where each leaf begins, and n
    random: NDArray[np.uint64]  # the state of a generator, one cell
    spare: NDArray[np.int64]  # room for an order, (n,)
    waiting: NDArray[np.int64]  # where parts begin and end that are to be halved, (128, 2)
    sample: NDArray[np.int64]  # points of a part, (25,)
    along: NDArray[np.float64]  # where these lie along a line, (25,)
    direction: NDArray[np.floating]  # of that line, (q,)


def sprout(points: NDArray[np.floating], leaf: int, seed: int) -> Tree:
    """Begin a tree of points, (n, q), with room for all leaves."""
    n = len(points)
    return Tree(
        points,
        order=np.arange(n),
        borders=np.zeros(4 * n // leaf + 3, dtype=np.int64),
        random=np.array([seed], dtype=np.uint64),
        spare=np.empty(n, dtype=np.int64),
        waiting=np.empty((_PARTED, 2), dtype=np.int64),
        sample=np.empty(_LOOKED_AT, dtype=np.int64),
        along=np.empty(_LOOKED_AT),
        direction=np.empty_like(points[0]),
    )


@bare
def place_along(direction, point):
    """Compute where a point lies along a direction."""
    total = 0.0
    for column in range(direction.shape[0]):
        total += direction[column] * point[column]
    return total


@bare
def halve(tree, start, stop):
    """Part points about in halves, across a line between two, at a sample's middle; the border."""
    points = tree.points
    order = tree.order
    spare = tree.spare
    sample = tree.sample
    along = tree.along
    direction = tree.direction

    for i in range(_LOOKED_AT):
        sample[i] = order[start + below(tree.random, stop - start)]

    # From a point to the farthest: long parts are cut across their length.
    one_end = points[sample[0]]
    other_end = points[sample[0]]
    most = -1.0
    for candidate in sample:
        distance = squared_distance(one_end, points[candidate])
        if distance > most:
            other_end = points[candidate]
            most = distance

    for column in range(one_end.shape[0]):
        direction[column] = other_end[column] - one_end[column]

    for i in range(_LOOKED_AT):
        insert_rising(along, sample, i, place_along(direction, points[sample[i]]), sample[i])
    middle = along[_LOOKED_AT // 2]

    # Without a branch that depends on the place: the processor would guess half of them wrong.
    left = start
    right = stop - 1

    for place in range(start, stop):
        point = order[place]
        is_left = place_along(direction, points[point]) < middle
        spare[left] = point
        spare[right] = point
        left += is_left
        right -= not is_left
    for place in range(start, stop):
        order[place] = spare[place]

    quarter = (stop - start) // 4
    if start + quarter < left < stop - quarter:
        return left

    # Many are at one place, or the sample was unlucky: half of them go to each side.
    return (start + stop) // 2


@bare
def grow(tree, leaf):
    """Halve points until no part holds more than a leaf; the leaves, near ones together."""
    borders = tree.borders
    waiting = tree.waiting

    waiting[0, 0] = 0
    waiting[0, 1] = tree.order.shape[0]

    # The left part is always next, so leaves are met in the order in which they stand.
    height = 1
    leaves = 0
    while height > 0:
        height -= 1

        start = waiting[height, 0]
        stop = waiting[height, 1]
        if stop - start <= leaf:
            leaves += 1
            borders[leaves] = stop
            continue

        middle = halve(tree, start, stop)
        waiting[height, 0] = middle
        waiting[height, 1] = stop
        waiting[height + 1, 0] = start
        waiting[height + 1, 1] = middle
        height += 2
    return leaves


@kernel
def compare_leaves(points, order, borders, nearest, away):
    """Compare all records that share a leaf; keep the nearest of each, (n, c)."""
    for leaf in range(borders.shape[0] - 1):
        # Copied, so that the points of a leaf stand together: they are read once for each other.
        members = order[borders[leaf] : borders[leaf + 1]]
        leaf_points = points[members]

        for i in range(members.shape[0]):
            a = members[i]
            for j in range(i):
                distance = squared_distance(leaf_points[i], leaf_points[j])
                if distance < away[a, -1]:
                    keep_nearest(nearest[a], away[a], members[j], distance)
                b = members[j]
                if distance < away[b, -1]:
                    keep_nearest(nearest[b], away[b], a, distance)
