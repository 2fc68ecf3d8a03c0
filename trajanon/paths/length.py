"""How long a path is."""

import numpy as np
from numpy.typing import NDArray


def path_length(records: NDArray[np.float64], path: NDArray[np.int64]) -> float:
    """Length of a path through standardised records."""
    steps = np.diff(records[path], axis=0)
    return float(np.sqrt((steps**2).sum(axis=1)).sum())
