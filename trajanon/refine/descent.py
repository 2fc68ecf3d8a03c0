"""Descent: records move one by one while that lowers the SSE."""

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.relocate import Groups, chain_members, relocation_pass
from trajanon.loss import group_means
from trajanon.neighbours import nearest_records
from trajanon.progress import Progress, silent

NEIGHBOURS = 16
"""A record moves only to a group that holds one of so many nearest records."""


def descent(
    records: NDArray[np.float64],
    labels: NDArray[np.int64],
    k: int,
    subjects: NDArray[np.int64],
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Move single records to neighbouring groups until no move lowers the SSE.

    A record may leave its group if k different subjects stay behind. Moving x from a
    group of a records round A to one of b records round B changes the SSE by
    b/(b+1) |x - B|² - a/(a-1) |x - A|².

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    labels
        Group of each record, shape (n,), numbered 0..g-1.
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,); ``arange(n)`` counts records.
    progress
        Told of the passes over the records.

    Returns
    -------
    NDArray[np.int64]
        Labels, shape (n,), of a partition where no single record can move to a group of
        one of its 16 nearest records and lower the SSE.
    """
    centroids = group_means(records, labels)
    n, g = len(records), len(centroids)
    groups = Groups(
        records=records,
        neighbours=nearest_records(records, NEIGHBOURS),
        subjects=subjects,
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
        moves = relocation_pass(groups, k, moves)
        passes += 1
        progress("Moving single records", passes, None)
    return groups.labels
