"""Labels -> better labels: a registry of refinements."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from trajanon.refine.descent import descent
from trajanon.refine.grouped import Grouped
from trajanon.refine.rcs import rcs
from trajanon.refine.swap import swap

Refinement = Callable[[Grouped], NDArray[np.int64]]
"""Records in groups to labels, (n,), of no larger SSE. Every group keeps k different
subjects."""

REFINEMENTS: Mapping[str, Refinement] = {
    "descent": descent,
    "swap": swap,
    "rcs": rcs,
}
