"""Records -> a Hamiltonian path through them: a registry of heuristics."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from trajanon.paths.or_opt import or_opt
from trajanon.progress import Progress

Heuristic = Callable[
    [NDArray[np.float64], int, np.random.Generator, Progress], NDArray[np.int64]
]
"""(standardised records (n, p), kicks per record, random generator, progress) to the
order of the records on the path, (n,)."""

HEURISTICS: Mapping[str, Heuristic] = {"or-opt": or_opt}


def path_length(records: NDArray[np.float64], path: NDArray[np.int64]) -> float:
    """Length of a path through standardised records."""
    steps = np.diff(records[path], axis=0)
    return float(np.sqrt((steps**2).sum(axis=1)).sum())
