"""The far and the near ones of records that are left, found without a look at most of them."""

from threading import Event

import numpy as np

from trajanon._kernels import leaves as kernels
from trajanon.arrays import Floats, Ints
from trajanon.axes import principal_axes, turn
from trajanon.neighbours import grow_trees
from trajanon.workers import in_parts

_LEAF = 32  # records of a leaf at most
_LEADING = 4  # principal axes that tell most of a distance
_ROUNDING = 1e-12  # of a squared distance, as a share of the square of the longest record

_AT_ONCE = 10_000  # records that a thread turns


class Leaves:
    """Records that are taken out one after another; what it finds is exact, the first of equals."""

    def __init__(self, records: Floats) -> None:
        n, columns = records.shape
        axes, leading = principal_axes(records), min(_LEADING, columns)

        def placed(some: Floats, stop: Event) -> Floats:
            turned = turn(some, axes)
            aside = np.sqrt((turned[:, leading:] ** 2).sum(axis=1))
            return np.column_stack([turned[:, :leading], aside])

        places = np.concatenate(in_parts(placed, records, _AT_ONCE))
        [(rows, borders)] = grow_trees(places, _LEAF, 1)
        sizes = np.diff(borders)
        position, leaf = np.empty((2, n), dtype=np.int64)
        position[rows] = np.arange(n)
        leaf[rows] = np.repeat(np.arange(len(sizes)), sizes)
        low, high = (ends.reduceat(places[rows], borders[:-1]) for ends in (np.minimum, np.maximum))
        self._leaves = kernels.Leaves(
            records=records[rows],
            rows=rows,
            position=position,
            leaf=leaf,
            places=places,
            borders=borders,
            left=sizes,
            low=low,
            high=high,
            axes=np.ascontiguousarray(axes[:, :leading].T),
            bounds=np.empty(len(sizes)),
            place=np.empty(leading + 1),
            slack=_ROUNDING * float((places**2).sum(axis=1).max()),
        )

    def take(self, rows: Ints) -> None:
        """Take records out."""
        kernels.take(self._leaves, rows)

    def farthest(self, point: Floats) -> int:
        """Find the record farthest from a point."""
        return int(kernels.farthest_left(self._leaves, point))

    def nearest(self, record: int, subjects: Ints, count: int) -> Ints:
        """Find the nearest records of other subjects, one of each, the nearest first, or fewer."""
        near, away = np.empty(count, dtype=np.int64), np.empty(count)
        return near[: kernels.nearest_of_other_subjects(self._leaves, subjects, record, near, away)]

    def nearest_to_group(self, members: Ints, but: int = -1) -> tuple[int, float]:
        """Find the record nearest to any of some, -1 for none, and its squared distance."""
        near, away = kernels.nearest_to_group(self._leaves, members, but)
        return int(near), float(away)
