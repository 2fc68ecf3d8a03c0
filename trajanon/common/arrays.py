"""Names for the types of arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Metres = NDArray[np.float32]
"""Distances in single precision, to save memory: to a millimetre in 10 km."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Geometries = NDArray[np.object_]
"""Geometries of shapely, of which any may be None."""
Column = NDArray[Any]
"""A column as a file has it, of any values."""


def dense(labels: Column) -> Ints:
    """Renumber groups 0..g-1 in the order in which they first appear.

    >>> dense(np.array([7, 7, 3, 9, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    if len(labels) and labels.dtype.kind == "i":
        least = int(labels.min())
        width = int(labels.max()) - least + 1
        if width <= 2 * len(labels):  # as of labels: counting them takes no table of hashes
            return _dense_of_range(labels - least, width)

    import pandas as pd

    return np.asarray(pd.factorize(labels)[0].astype(np.int64, copy=False))


def _dense_of_range(labels: Ints, width: int) -> Ints:
    """Renumber labels of 0..width-1."""
    first = np.full(width, len(labels))
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)  # of several the last one stays

    number = np.empty(width, dtype=np.int64)
    number[np.argsort(first)] = np.arange(width)  # those that do not appear come last
    return np.asarray(number[labels])
