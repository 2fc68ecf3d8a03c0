"""How far points were moved, summed up while they go by."""

from collections.abc import Sequence

import numpy as np

from trajanon.arrays import Floats

_LEAST, _STEP, _BINS = 1e-3, 0.002, 12_500
"""Bins from a millimetre to some 70,000 km, each 0.2 % wide."""


class Distances:
    """Metres in bins, with their exact mean and greatest."""

    def __init__(self) -> None:
        self.counts = np.zeros(_BINS, dtype=np.int64)
        self.total = 0.0
        self.farthest = 0.0

    def add(self, metres: Floats) -> None:
        """Take in distances of any shape."""
        with np.errstate(divide="ignore"):
            place = np.ceil(np.log(metres.ravel() / _LEAST) / _STEP)
        bins = place.clip(0, _BINS - 1).astype(np.int64)
        self.counts += np.bincount(bins, minlength=_BINS)
        self.total += float(metres.sum())
        self.farthest = max(self.farthest, float(metres.max(initial=0.0)))

    @classmethod
    def joined(cls, several: Sequence["Distances"]) -> "Distances":
        """Put several together, in their order."""
        whole = cls()
        for one in several:
            whole.counts += one.counts
            whole.total += one.total
            whole.farthest = max(whole.farthest, one.farthest)
        return whole

    @property
    def summary(self) -> dict[str, float]:
        """As `trajanon.utility.summary`; median and 95 % are right to 0.2 %."""
        below = np.cumsum(self.counts)

        def quantile(share: float) -> float:
            place = int(np.searchsorted(below, share * below[-1]))
            if place == 0:
                return 0.0  # under a millimetre
            return min(_LEAST * float(np.exp(place * _STEP)), self.farthest)

        return {
            "mean": self.total / int(below[-1]),
            "median": quantile(0.5),
            "p95": quantile(0.95),
            "max": self.farthest,
        }
