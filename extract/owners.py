"""Whose each of many points was first."""

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Ints


class Owners:
    """Remembers hashes of points, perhaps many millions, in sorted arrays.

    Each array is at least twice as long as the one after it, so that there are few and no point is
    moved often.
    """

    def __init__(self) -> None:
        self._sorted: list[tuple[NDArray[np.uint64], NDArray[np.int32]]] = []

    def of(self, points: NDArray[np.uint64], subject: Ints) -> NDArray[np.int32]:
        """Give the first owner of each point; one that nobody had is the subject's."""
        found, first, inverse = np.unique(points, return_index=True, return_inverse=True)
        owner = subject[first].astype(np.int32)
        new = np.ones(len(found), dtype=np.bool_)
        for keys, owners in self._sorted:
            place = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
            here = keys[place] == found
            owner[here] = owners[place[here]]
            new &= ~here
        if new.any():
            self._add(found[new], owner[new])
        return owner[inverse]

    def _add(self, keys: NDArray[np.uint64], owners: NDArray[np.int32]) -> None:
        while self._sorted and len(self._sorted[-1][0]) < 2 * len(keys):
            more, theirs = self._sorted.pop()
            keys, owners = np.append(keys, more), np.append(owners, theirs)
            order = np.argsort(keys)
            keys, owners = keys[order], owners[order]
        self._sorted.append((keys, owners))
