"""Random trees that cut points into leaves of near points; comparison of the pairs in each leaf.

Dasgupta and Freund (STOC 2008). Points are rows, (n, q).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import (
    draw_below,
    insert_rising,
    keep_nearest,
    scalar_product,
    squared_distance,
)
from trajanon._kernels.compiled import bare, kernel
from trajanon._kernels.far_records import farthest

_SAMPLE_SIZE = 25  # points drawn from a part, to estimate its longest direction and its middle

# Each cut leaves at most three quarters of a part, so after 128 cuts in a row any part is a leaf;
# of each of these cuts, one part waits.
_MOST_WAITING = 128


class Tree(NamedTuple):
    """A tree of n points in q dimensions while it grows; a part of it is a range of ``order``."""

    points: NDArray[np.floating]  # (n, q)
    order: NDArray[np.int64]  # numbers of the points, (n,), sorted so that a leaf is one range
    borders: NDArray[np.int64]  # place in `order` at which each leaf begins, and then n
    random: NDArray[np.uint64]  # the state of a generator, (1,)
    spare: NDArray[np.int64]  # working space for `order`, (n,)
    waiting: NDArray[np.int64]  # begin and end of parts that are not cut yet, (128, 2)
    sample: NDArray[np.int64]  # points drawn from a part, (25,)
    along: NDArray[np.float64]  # their places along the direction, (25,)
    direction: NDArray[np.floating]  # across which a part is cut, (q,)


def begin_tree(points: NDArray[np.floating], leaf_size: int, seed: int) -> Tree:
    """Make a tree of points, (n, q), that is still one part, with room for all its leaves."""
    n = len(points)
    return Tree(
        points,
        order=np.arange(n),
        # A leaf is more than a quarter of a part that was larger than `leaf_size`.
        borders=np.zeros(4 * n // leaf_size + 3, dtype=np.int64),
        random=np.array([seed], dtype=np.uint64),
        spare=np.empty(n, dtype=np.int64),
        waiting=np.empty((_MOST_WAITING, 2), dtype=np.int64),
        sample=np.empty(_SAMPLE_SIZE, dtype=np.int64),
        along=np.empty(_SAMPLE_SIZE),
        direction=np.empty_like(points[0]),
    )


@bare
def halve(tree, start, stop):
    """Cut a part, places start..stop-1 of the order, in two; return where the second one begins.

    The cut is across the direction from a random point to a far one, at the median of a sample.
    """
    points = tree.points
    order = tree.order
    spare = tree.spare
    sample = tree.sample
    along = tree.along
    direction = tree.direction

    for i in range(_SAMPLE_SIZE):
        sample[i] = order[start + draw_below(tree.random, stop - start)]

    # The direction is from one sampled point to the farthest other: a long part is cut across its
    # length.
    one_end = points[sample[0]]
    other_end = points[farthest(points, sample, one_end)]
    for column in range(one_end.shape[0]):
        direction[column] = other_end[column] - one_end[column]

    # Sort the sample along the direction: its median is where the part is cut.
    for i in range(_SAMPLE_SIZE):
        point = sample[i]
        insert_rising(along, sample, i, scalar_product(direction, points[point]), point)
    middle = along[_SAMPLE_SIZE // 2]

    # Each point is written to the next free place on both sides, and stays on one, as only that
    # side's place moves on. A branch would cost more: the processor would guess half of them wrong.
    left = start
    right = stop - 1

    for place in range(start, stop):
        point = order[place]
        is_left = scalar_product(direction, points[point]) < middle
        spare[left] = point
        spare[right] = point
        left += is_left
        right -= not is_left

    for place in range(start, stop):
        order[place] = spare[place]

    quarter = (stop - start) // 4
    if start + quarter < left < stop - quarter:
        return left

    # Too uneven: many points are equal, or the sample was unlucky. Then the part is cut in the
    # middle of its order.
    return (start + stop) // 2


@bare
def grow(tree, leaf_size):
    """Cut parts until none holds more than ``leaf_size`` points; return the number of leaves.

    Leaves that are near in the order are near in space.
    """
    borders = tree.borders
    waiting = tree.waiting

    # A stack of parts; at first all points are one. The left part is always taken next, so leaves
    # are finished in their order.
    waiting[0, 0] = 0
    waiting[0, 1] = tree.order.shape[0]
    height = 1
    leaves = 0
    while height > 0:
        height -= 1

        start = waiting[height, 0]
        stop = waiting[height, 1]
        if stop - start <= leaf_size:
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
def compare_leaves(points, order, borders, nearest, squares):
    """Compare all pairs of points that share a leaf, and keep the c nearest of each point.

    ``nearest`` holds their numbers and ``squares`` their squared distances, both (n, c), rising;
    ``order`` and ``borders`` are those of a `Tree`.
    """
    for leaf in range(borders.shape[0] - 1):
        # The points of a leaf are copied side by side in memory, as each is read for each other.
        members = order[borders[leaf] : borders[leaf + 1]]
        leaf_points = points[members]

        for i in range(members.shape[0]):
            a = members[i]
            for j in range(i):
                square = squared_distance(leaf_points[i], leaf_points[j])
                if square < squares[a, -1]:
                    keep_nearest(nearest[a], squares[a], members[j], square)
                b = members[j]
                if square < squares[b, -1]:
                    keep_nearest(nearest[b], squares[b], a, square)
