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
    some: NDArray[np.int64]  # points of a part, (25,)
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
        some=np.empty(_LOOKED_AT, dtype=np.int64),
        along=np.empty(_LOOKED_AT),
        direction=np.empty_like(points[0]),
    )


@bare
def place_along(direction, point):
    """Where a point lies along a direction."""
    total = 0.0
    for column in range(direction.shape[0]):
        total += direction[column] * point[column]
    return total


@bare
def halve(tree, start, stop):
    """Part points across a line between two, about in halves, by the middle of some; the border."""
    points, order, spare = tree.points, tree.order, tree.spare
    some, along, direction = tree.some, tree.along, tree.direction
    for i in range(_LOOKED_AT):
        some[i] = order[start + below(tree.random, stop - start)]
    one, other, most = points[some[0]], points[some[0]], -1.0
    for candidate in some:  # the farthest: long parts are cut across their length
        distance = squared_distance(one, points[candidate])
        if distance > most:
            other, most = points[candidate], distance
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


@bare
def grow(tree, leaf):
    """Halve points until no part holds more than a leaf; the leaves, near ones together."""
    borders, waiting = tree.borders, tree.waiting
    waiting[0, 0], waiting[0, 1] = 0, tree.order.shape[0]
    height, leaves = 1, 0
    while height > 0:
        height -= 1
        start, stop = waiting[height, 0], waiting[height, 1]
        if stop - start <= leaf:
            leaves += 1
            borders[leaves] = stop
            continue
        middle = halve(tree, start, stop)
        waiting[height, 0], waiting[height, 1] = middle, stop
        waiting[height + 1, 0], waiting[height + 1, 1] = start, middle
        height += 2
    return leaves


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
