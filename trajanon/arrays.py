"""Names for the types of arrays."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Metres = NDArray[np.float32]
"""Distances in single precision, to save memory: to a millimetre in 10 km."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
