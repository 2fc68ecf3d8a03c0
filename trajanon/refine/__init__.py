"""Labels -> better labels: a registry of refinements."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from trajanon.progress import Progress
from trajanon.refine.descent import descent

Refinement = Callable[
    [NDArray[np.float64], NDArray[np.int64], int, NDArray[np.int64], Progress],
    NDArray[np.int64],
]
"""(standardised records (n, p), labels (n,), k, subjects (n,), progress) to labels of
no larger SSE. Every group keeps k different subjects."""

REFINEMENTS: Mapping[str, Refinement] = {"descent": descent}
