"""Shards as stretches of a Hilbert curve: where rows lie on it, and where it is cut."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Ints


class Rows(NamedTuple):
    """Where rows begin, and where they are on the curve: those of a run where its first row is."""

    start: NDArray[np.float32]  # latitude and longitude, (n, 2)
    key: Ints  # along the curve; equal in a run alone, (n,)
    person: NDArray[np.uint64]  # (n,)

    def take(self, which: Bools) -> Self:
        """Select rows."""
        return type(self)(self.start[which], self.key[which], self.person[which])


class SharedRuns(NamedTuple):
    """Runs with rows in several parts, and the key of the first row of each."""

    run: Ints  # rising
    key: Ints

    def put_together(self, rows: Rows, run: Ints) -> Rows:
        """Return rows with those of these runs where the first row of the run is."""
        if not len(self.run):
            return rows
        number = np.searchsorted(self.run, run).clip(max=len(self.run) - 1)
        key = np.where(self.run[number] == run, self.key[number], rows.key)
        return rows._replace(key=key)


def cuts_of(sample: Rows, k: int, shards: int) -> Ints:
    """Choose the keys at which all shards but the first begin: equally many rows are in each.

    In each are k people at least, also of all rows: those of the sample are among them.
    """
    order = np.argsort(sample.key, kind="stable")
    key = sample.key[order]
    person = sample.person[order]

    cuts: list[int] = []
    begin = 0
    for cut in np.unique(key[len(key) * np.arange(1, shards) // shards]).tolist():
        end = int(np.searchsorted(key, cut))
        if len(np.unique(person[begin:end])) >= k:
            cuts.append(cut)
            begin = end
    if len(np.unique(person[begin:])) < k:
        cuts = cuts[:-1]
    return np.array(cuts, dtype=np.int64)
