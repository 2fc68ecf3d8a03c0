"""Names for the types of arrays."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Metres = NDArray[np.float32]
"""Distances in single precision, to save memory: to a millimetre in 10 km."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]


def dense(labels: NDArray[Any]) -> Ints:
    """Renumber groups 0..g-1 in the order in which they first appear.

    >>> dense(np.array([7, 7, 3, 9, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    return np.asarray(pd.factorize(labels)[0].astype(np.int64, copy=False))
