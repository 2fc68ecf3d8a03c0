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
"""Hashes of anything, 64 bits each."""
Geometries = NDArray[np.object_]
"""Geometries of shapely, of which any may be None."""
Column = NDArray[Any]
"""A column as a file has it, of any values."""


def dense(labels: Column) -> Ints:
    """Renumber groups 0..g-1 in the order in which they first appear.

    >>> dense(np.array([7, 7, 3, 9, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    if labels.dtype.kind == "i":
        # By sorting twice: which label stands at each place, and which place each label stands at
        # first.
        _, first_place, label = np.unique(labels, return_index=True, return_inverse=True)
        return np.asarray(np.argsort(np.argsort(first_place))[label])

    import pandas as pd  # tables without names do not wait for it

    return np.asarray(pd.factorize(labels)[0].astype(np.int64, copy=False))
