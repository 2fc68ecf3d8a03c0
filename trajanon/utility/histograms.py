"""Histograms of errors that do not fit into memory together."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints, Metres

_LEAST, _STEP, _BINS = 1e-3, 0.002, 12_500
"""Bins from a millimetre to some 70,000 km, each 0.2 % wide."""


class Histogram(NamedTuple):
    """How many of some errors, in metres or seconds, are how large."""

    bins: Ints  # how many are in each
    total: float  # of all errors
    largest: float

    @classmethod
    def of(cls, errors: Floats | Metres) -> "Histogram":
        """Count errors, an array of any shape."""
        with np.errstate(divide="ignore"):
            place = np.ceil(np.log(errors.ravel() / _LEAST) / _STEP).clip(0, _BINS - 1)
        bins = np.bincount(place.astype(np.int64), minlength=_BINS)
        return cls(bins, float(errors.sum(dtype=np.float64)), float(errors.max(initial=0.0)))

    @property
    def summary(self) -> dict[str, float]:
        """As `trajanon.utility.summary`; median and 95 % are right to 0.2 %."""
        below = np.cumsum(self.bins)
        places = np.searchsorted(below, np.array([0.5, 0.95]) * below[-1]).tolist()
        median, p95 = (
            min(_LEAST * float(np.exp(place * _STEP)), self.largest) if place else 0.0
            for place in places  # the first bin is of those under a thousandth
        )
        mean = self.total / max(int(below[-1]), 1)
        return {"mean": mean, "median": median, "p95": p95, "max": self.largest}


def joined_histograms(several: Sequence[Histogram]) -> Histogram:
    """Put histograms together, in their order."""
    bins, total, largest = zip(*several, strict=True)
    return Histogram(np.sum(bins, axis=0), sum(total), max(largest))
