"""The nearest records of each record: exact in small tables, approximate in large ones.

Neighbours are row numbers, (n, c): of each of n records the c nearest others, the nearest first.
"""

from collections.abc import Callable
from functools import cached_property, partial
from math import ceil
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.forest import begin_tree, compare_leaves, grow
from trajanon.common.arrays import Floats, Ints
from trajanon.common.progress import Progress, silent
from trajanon.common.threads_and_dask import in_parts, in_threads
from trajanon.grouping.principal_axes import leading_axes, principal_axes, sums_of_products, turn

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

MOST_EXACT = 10_000
"""Up to this number of records, neighbours are exact and a table is searched in one piece."""

SHARE_LEFT_OUT = 1e-5
"""Share of the variance that the axes left out of a large table may hold. A hundredth would leave
3 columns of the 60 of cabs' tracks, where all records are near each other."""

TREE_COUNT = 4  # of a large table: each finds neighbours that the borders of another one hide

LEAST_LEAF_SIZE = 256
RECORDS_PER_NEIGHBOUR = 8
"""Records of a leaf at most: 256, or 8 times the neighbours wanted, if that is more."""

BATCHES = 64  # into which the leaves of a tree, or the blocks of a path, are put for threads

_POINTS_PER_QUERY = 1_000  # looked up by a thread at once
_RECORDS_PER_TURN = 10_000  # turned to axes by a thread at once
_TASK = "Finding near records"


def neighbour_count(k: int) -> int:
    """Return how many neighbours matter to a record's moves: 16, or 2k beyond k = 8."""
    return max(16, 2 * k)


def leaf_size(neighbours_wanted: int) -> int:
    """Return how many records a leaf holds at most."""
    return max(LEAST_LEAF_SIZE, RECORDS_PER_NEIGHBOUR * neighbours_wanted)


class Approximate(NamedTuple):
    """Approximate neighbours of the n records of a large table, and an order of these by place."""

    points: Floats  # the records along their leading principal axes, shape (n, q)
    order: Ints  # row numbers, (n,), leaf by leaf of a tree: leaves near in it are near in space
    borders: Ints  # where each leaf begins in that order, and n
    nearest: NDArray[np.int32]  # the neighbours of each record, (n, c), the nearest first
    squares: Floats  # of their distances along the leading axes, (n, c)


class Neighbours:
    """The nearest records of each record of a table, found when they are first needed.

    They are exact in tables of up to 10,000 records. In larger ones random trees cut the records
    into leaves, and the neighbours are the nearest of those that share a leaf in any tree.

    Source: Dasgupta and Freund (STOC 2008), "Random projection trees and low dimensional
    manifolds"; Silpa-Anan and Hartley (CVPR 2008), "Optimised KD-trees for fast image descriptor
    matching", for several randomised trees.
    """

    def __init__(
        self,
        records: Floats,
        count: int,
        when_found: Callable[[], None] = lambda: None,
        progress: Progress = silent,
    ) -> None:
        self.records = records
        self.count = min(count, len(records) - 1)
        self.large = len(records) > max(MOST_EXACT, leaf_size(self.count))
        self._when_found = when_found
        self._progress = progress

    @cached_property
    def nearest(self) -> NDArray[np.integer]:
        """Find the nearest of each record, (n, count)."""
        if self.large:
            return self.approximate.nearest
        return exact_neighbours(self.records, self.count)

    @cached_property
    def approximate(self) -> Approximate:
        """Find the nearest of each record among those that share a leaf of a tree with it."""
        sst = float(self._products.trace())
        points = self.turned(SHARE_LEFT_OUT * sst)
        n = len(points)
        nearest = np.full((n, self.count), -1, dtype=np.int32)
        squares = np.full((n, self.count), np.inf)

        # Each tree makes the lists better, which are empty at first.
        self._progress(_TASK, 0, TREE_COUNT)
        trees = grow_trees(points, leaf_size(self.count), TREE_COUNT)
        for number, (order, borders) in enumerate(trees):
            self._progress(_TASK, number, TREE_COUNT)
            in_batches_of_leaves(partial(compare_leaves, points, order), borders, nearest, squares)
        self._progress(_TASK, TREE_COUNT, TREE_COUNT)

        self._when_found()
        first_order, first_borders = trees[0]
        return Approximate(points, first_order, first_borders, nearest, squares)

    @cached_property
    def _products(self) -> Floats:
        """Sum the products of each two columns, (p, p)."""
        return sums_of_products(self.records)

    def turned(self, left_out: float) -> Floats:
        """Turn the records to their fewest principal axes, (n, q), that leave out little.

        ``left_out`` is the part of the SST that may lie along the other axes.
        """
        axes = leading_axes(self._products, left_out)
        parts = in_parts(lambda rows, _: turn(rows, axes), self.records, _RECORDS_PER_TURN)
        return np.concatenate(parts)


def neighbours_of(records: Floats, count: int, known: Neighbours | None) -> Ints:
    """Find the neighbours of each record, (n, count), unless those of these records are known."""
    # Neighbours of a whole table do not help a part of it, which is another array.
    if known is None or known.records is not records:
        return exact_neighbours(records, count)

    if known.count < min(count, len(records) - 1):
        return exact_neighbours(records, count)
    return np.ascontiguousarray(known.nearest[:, :count], dtype=np.int64)


def exact_neighbours(records: Floats, count: int) -> Ints:
    """Find the nearest other records of each record, (n, count), by a kd-tree."""
    from scipy.spatial import cKDTree  # takes a third of a second to load: MDAV needs none

    n = len(records)
    count = min(count, n - 1)
    turned = turn(records, principal_axes(records))
    _, nearest = nearest_points(cKDTree(turned), turned, count + 1)

    # Drop one of the count + 1: the record itself, which need not come first among its duplicates;
    # or the last one, if more duplicates come first than there is room for.
    is_neighbour = nearest != np.arange(n)[:, None]
    is_neighbour[is_neighbour.all(axis=1), -1] = False
    neighbours: Ints = nearest[is_neighbour].reshape(n, count)
    return neighbours.astype(np.int64)


def grow_trees(
    points: NDArray[np.floating], most_in_leaf: int, count: int
) -> list[tuple[Ints, Ints]]:
    """Grow random trees of points, (n, q), of leaves of at most so many points.

    Returned are, of each tree, the order of the points, (n,), leaf by leaf, and where in it each
    leaf begins, (leaves + 1,), the last of which is n.
    """

    def grow_tree(seed: int, stop: Event) -> tuple[Ints, Ints]:
        """Grow one tree; return its order and borders."""
        tree = begin_tree(points, most_in_leaf, seed)
        leaf_count = grow(tree, most_in_leaf)
        return tree.order, tree.borders[: leaf_count + 1]

    return in_threads([partial(grow_tree, seed) for seed in range(1, count + 1)])


def in_batches_of_leaves(
    compare: Callable[[Ints, NDArray[np.integer], NDArray[np.floating]], None],
    borders: Ints,
    nearest: NDArray[np.integer],
    squares: NDArray[np.floating],
) -> None:
    """Compare what shares a leaf, in threads, and keep the nearest of each.

    ``compare`` does so with the leaves between some ``borders``. ``nearest`` and ``squares`` (of
    their distances), both (n, c), are filled.
    """

    def compare_batch(leaves: Ints, stop: Event) -> None:
        """Compare in leaves that follow one another."""
        compare(borders[leaves[0] : leaves[-1] + 2], nearest, squares)

    leaf_count = len(borders) - 1
    in_parts(compare_batch, np.arange(leaf_count), ceil(leaf_count / BATCHES))


def nearest_points(tree: "cKDTree", points: Floats, count: int) -> tuple[Floats, Ints]:
    """Find the points of a tree nearest to each point: their distances and numbers, (n, count)."""
    ranks = range(1, count + 1)
    parts = in_parts(lambda part, _: tree.query(part, k=ranks), points, _POINTS_PER_QUERY)
    distances, numbers = zip(*parts, strict=True)
    return np.concatenate(distances), np.concatenate(numbers)
