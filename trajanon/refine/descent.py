"""Descent: records move one by one while that lowers the SSE."""

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.relocate import Groups, chain_members, relocation_pass
from trajanon.loss import group_means
from trajanon.neighbours import nearest_records
from trajanon.refine.grouped import Grouped

NEIGHBOURS = 16
"""A record moves only to a group that holds one of so many nearest records."""


def descent(grouped: Grouped) -> NDArray[np.int64]:
    """Move single records to neighbouring groups until no move lowers the SSE.

    A record may leave its group if k different subjects stay behind. Moving x from a
    group of a records round A to one of b records round B changes the SSE by
    b/(b+1) |x - B|² - a/(a-1) |x - A|².

    Parameters
    ----------
    grouped
        The records in their groups.

    Returns
    -------
    NDArray[np.int64]
        Labels, shape (n,), of a partition where no single record can move to a group of
        one of its 16 nearest records and lower the SSE.
    """
    records, labels = grouped.records, grouped.labels
    centroids = group_means(records, labels)
    n, g = len(records), len(centroids)
    groups = Groups(
        records=records,
        neighbours=nearest_records(records, NEIGHBOURS),
        subjects=grouped.subjects,
        labels=labels.copy(),
        centroids=centroids,
        sizes=np.bincount(labels),
        different=np.zeros(g, dtype=np.int64),
        first=np.full(g, -1, dtype=np.int64),
        following=np.full(n, -1, dtype=np.int64),
        changed=np.zeros(g, dtype=np.int64),
        looked=np.full(n, -1, dtype=np.int64),
    )
    chain_members(groups)
    moves, before, passes = 0, -1, 0
    while moves > before:
        before = moves
        moves = relocation_pass(groups, grouped.k, moves)
        passes += 1
        grouped.progress("Moving single records", passes, None)
    return groups.labels
