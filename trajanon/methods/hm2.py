"""HM2-Micro: a short path through the records, cut optimally."""

import numpy as np

from trajanon._kernels.mhm import latest_starts, optimal_cut
from trajanon.methods.task import Grouping, Task
from trajanon.paths import HEURISTICS, path_length


def hm2(task: Task) -> Grouping:
    """Cut a short Hamiltonian path into consecutive groups at the least SSE.

    The cut is MHM: the shortest path in a graph whose edges are the allowed groups.
    With every record its own subject these hold k to 2k - 1 records. With subjects an
    allowed group has at least k different ones and cannot be divided into two that do,
    and the cut is still the best of all cuts of this path.

    References
    ----------
    Maya-López, Casino, Solanas (Symmetry 2021), Algorithm 1; thesis (URV 2023),
    Algorithm 2. MHM: Domingo-Ferrer et al., thesis section 2.2.2, after Hansen and
    Mukherjee (2003).
    """
    path = HEURISTICS[task.heuristic](
        task.records, task.kicks_per_record, task.random, task.progress
    )
    starts = optimal_cut(task.records[path], latest_starts(task.subjects[path], task.k))
    labels = np.empty(len(path), dtype=np.int64)
    labels[path] = np.cumsum(starts) - 1
    return Grouping(labels, path_length(task.records, path))
