"""The tree of halves by which rows are split in space into shards."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Ints

Places = NDArray[np.float32]
"""First, middle and last point of rows, (n, 6)."""


class Rows(NamedTuple):
    """Where some rows lie; those of a run are where its first row is."""

    places: Places
    unit: Ints  # the number of the first row of its run, (n,)
    person: NDArray[np.uint64]  # (n,)

    def take(self, which: Bools) -> Self:
        """Take some of the rows."""
        return type(self)(self.places[which], self.unit[which], self.person[which])


class SharedRuns(NamedTuple):
    """Runs with rows in several parts, and the first row of each."""

    run: Ints  # rising
    unit: Ints
    places: Places

    def put_together(self, rows: Rows, run: Ints) -> Rows:
        """Return rows with those of these runs where the first row of the run is."""
        if not len(self.run):
            return rows
        number = np.searchsorted(self.run, run).clip(max=len(self.run) - 1)
        shared = self.run[number] == run
        unit = np.where(shared, self.unit[number], rows.unit)
        places = np.where(shared[:, None], self.places[number], rows.places)
        return Rows(places, unit, rows.person)


class Half(NamedTuple):
    """A node of the tree: rows before a place along an axis are in one half, others in the other.

    Of rows at the same place, those of lesser numbers are before.
    """

    axis: int
    place: np.float32
    unit: int
    before: "Half | None"  # None is a shard
    after: "Half | None"

    def is_before(self, places: Places, unit: Ints) -> Bools:
        """Mark the rows of the first half, (n,)."""
        along = places[:, self.axis]
        before: Bools = (along < self.place) | ((along == self.place) & (unit < self.unit))
        return before


def halved(sample: Rows, k: int, shards: int) -> Half | None:
    """Halve a sample where it is spread most, until there are so many shards.

    In each half are k people at least, also of all rows: those of the sample are among them.
    """
    half = _half(sample, shards) if shards > 1 else None
    if half is None:
        return None

    first = half.is_before(sample.places, sample.unit)
    if any(len(np.unique(sample.person[rows])) < k for rows in (first, ~first)):
        return None
    before = halved(sample.take(first), k, shards // 2)
    after = halved(sample.take(~first), k, shards - shards // 2)
    return half._replace(before=before, after=after)


def _half(sample: Rows, shards: int) -> Half | None:
    """Find where a sample is cut; None if all of it is one run."""
    axis = int(sample.places.var(axis=0).argmax())
    along = sample.places[:, axis]
    order = np.lexsort((sample.unit, along))
    unit = sample.unit[order]

    # Only between units.
    begins = np.flatnonzero(np.diff(unit, prepend=unit[0]))
    if not len(begins):
        return None
    wanted = len(order) * (shards // 2) // shards
    cut = int(begins[np.abs(begins - wanted).argmin()])
    return Half(axis, along[order[cut]], int(unit[cut]), None, None)


def shard_count(half: Half | None) -> int:
    """Count the shards of a tree."""
    return 1 if half is None else shard_count(half.before) + shard_count(half.after)


def shards_of_rows(half: Half | None, places: Places, unit: Ints) -> Ints:
    """Find the shard of each row, (n,)."""
    shard = np.zeros(len(unit), dtype=np.int64)
    if half is None:
        return shard
    first = half.is_before(places, unit)
    shard[first] = shards_of_rows(half.before, places[first], unit[first])
    after = shards_of_rows(half.after, places[~first], unit[~first])
    shard[~first] = shard_count(half.before) + after
    return shard
