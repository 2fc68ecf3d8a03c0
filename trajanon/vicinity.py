"""Who is near whom in a table: found once, in the way that suits its size."""

from collections.abc import Callable
from functools import cached_property, partial
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.forest import compare_leaves, grow
from trajanon.arrays import Floats, Ints
from trajanon.loss import sums_of_products
from trajanon.neighbours import nearest_records, turn
from trajanon.progress import Progress, silent
from trajanon.workers import in_parts, in_threads

WHOLE = 10_000
"""Up to so many records, neighbours are exact and a table is searched in one piece."""

DETAIL = 1e-5
"""Share of the variance that the axes left out of a large table's vicinity may hold.
A hundredth would leave 3 columns of the 60 of cabs' tracks, where all is near all."""

TREES = 4

LEAF, CROWD = 256, 8
"""Records of a leaf at most: 256, or 8 times the neighbours wanted, if that is more."""

BATCHES = 64
"""Parts in which threads do the leaves of a tree, or the blocks of a path."""

_AT_ONCE = 10_000  # records that a thread turns


def near_count(k: int) -> int:
    """How many nearest records matter to a record's moves: 16, or 2k beyond k = 8."""
    return max(16, 2 * k)


class Near(NamedTuple):
    """Neighbours in a large table, and its order by place."""

    points: Floats  # the records in their leading principal axes, shape (n, q)
    order: Ints  # the records, (n,), leaf by leaf of a tree, near leaves near each other
    borders: Ints  # the records, (n,), leaf by leaf of a tree, near leaves near each other
    records: NDArray[np.int32]  # which are near each record, (n, c), the nearest first
    away: Floats  # their squared distances in the leading axes, (n, c)


class Vicinity:
    """The nearest records of each record of a table.

    Up to 10,000 records, or one leaf, they are exact. Of more, only the leading principal axes are
    looked at, which leave out a hundred-thousandth of the variance.

    Source: Dasgupta and Freund (STOC 2008), "Random projection trees and low dimensional
    manifolds"; Silpa-Anan and Hartley (CVPR 2008), "Optimised KD-trees for fast image descriptor
    matching", for several randomised trees.
    """

    def __init__(
        self,
        records: Floats,
        count: int,
        found: Callable[[], None] = lambda: None,
        progress: Progress = silent,
    ) -> None:
        self.records = records
        self.count = min(count, len(records) - 1)
        self.large = len(records) > max(WHOLE, leaf_of(self.count))
        self._found = found
        self._progress = progress

    @cached_property
    def nearest(self) -> NDArray[np.integer]:
        """Row numbers, shape (n, count), the nearest first."""
        if self.large:
            return self.near.records
        return nearest_records(self.records, self.count)

    @cached_property
    def near(self) -> Near:
        """The neighbours in a large table, with what they were found by."""
        points = self.turned(DETAIL * float(self._axes[1].sum()))
        near = find_near(points, self.count, self._progress)
        self._found()
        return near

    @cached_property
    def _axes(self) -> tuple[Floats, Floats]:
        """The principal axes, (p, p), longest first, and the sum of squares on each."""
        held, axes = np.linalg.eigh(sums_of_products(self.records))
        return axes[:, ::-1], held[::-1].clip(0.0)

    def turned(self, left_out: float) -> Floats:
        """Turn a large table to as few axes as leave out so much of its squares."""
        axes, held = self._axes
        behind = held[::-1].cumsum()[::-1] - held
        leading = axes[:, : int(np.argmax(behind <= left_out)) + 1]
        return np.concatenate(in_parts(partial(_turned, leading), self.records, _AT_ONCE))


def nearest(records: Floats, count: int, vicinity: Vicinity | None) -> Ints:
    """Find what `nearest_records` finds, unless a vicinity knows it already."""
    if (
        vicinity is not None
        and vicinity.records is records
        and vicinity.count >= min(count, len(records) - 1)
    ):
        return np.ascontiguousarray(vicinity.nearest[:, :count], dtype=np.int64)
    return nearest_records(records, count)


def leaf_of(count: int) -> int:
    """Records of a leaf at most, where so many neighbours are wanted."""
    return max(LEAF, CROWD * count)


def find_near(points: Floats, count: int, progress: Progress = silent) -> Near:
    """Find points that share a leaf of a tree, and are nearest of these."""
    n, leaf = len(points), leaf_of(count)

    def tree(number: int, stop: Event) -> tuple[Ints, Ints]:
        order, borders = grow(points, leaf, np.array([number], dtype=np.uint64))
        return order, borders

    def compare(order: Ints, borders: Ints, stop: Event) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        compare_leaves(points, order, borders, records, away)

    records = np.full((n, count), -1, dtype=np.int32)
    away = np.full((n, count), np.inf)
    progress("Finding near records", 0, TREES)
    trees = in_threads([partial(tree, 1 + number) for number in range(TREES)])
    for number, (order, borders) in enumerate(trees):
        progress("Finding near records", number, TREES)
        batch = -(-len(borders) // BATCHES)
        in_threads(
            [
                partial(compare, order, borders[start : start + batch + 1])
                for start in range(0, len(borders) - 1, batch)
            ]
        )
    progress("Finding near records", TREES, TREES)
    order, borders = trees[0]
    return Near(points, order, borders, records, away)


def _turned(axes: Floats, records: Floats, stop: Event) -> Floats:
    return turn(records, axes)
