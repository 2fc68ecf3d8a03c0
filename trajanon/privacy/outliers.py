"""Which records cost a partition most: what to leave out of a release."""

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput
from trajanon.loss import group_means, standardise
from trajanon.partition import dense


def outliers(
    points: NDArray[np.float64], labels: NDArray[np.int64], share: float
) -> NDArray[np.bool_]:
    """Choose the records without which least is lost.

    Without record x, a group of s loses s / (s - 1) d^2 less, with d the distance of x
    to the mean of its group, on standardised records. The record of which that is
    largest goes first: one far from its group, not just from everything. Then the mean
    of its group is computed anew, without it, and the next one is chosen, until the
    share is reached. A group of one loses nothing.

    SST falls, too, by what is far from everything, and so IL, which is SSE / SST, may
    fall less than SSE or even rise. It is not what is looked at: two records far from
    all others that share a group would both stay, for each of them is most of SST.

    It is greedy, by the groups as they are, and neither standardises again nor asks
    whether a group keeps k members: group the remaining records anew, and take the
    loss of that for what suppression brings.

    Parameters
    ----------
    points
        The originals, (n, p, 2); or records, (n, p). Any units.
    labels
        Group of each, (n,).
    share
        Of the records to leave out, 0 or more and below 1.

    Returns
    -------
    NDArray[np.bool_]
        Whether a record is one of the floor(share n) to leave out, (n,).

    Raises
    ------
    BadInput
        If the share is out of its range, or the labels do not fit.

    Examples
    --------
    >>> outliers(np.array([[0.0], [1.0], [9.0], [20.0]]), np.array([0, 0, 0, 0]), 0.25)
    array([False, False, False,  True])
    """
    if not 0.0 <= share < 1.0:
        msg = f"share must lie at 0 or above, and below 1 (got {share})"
        raise BadInput(msg)
    n = len(points)
    if labels.shape != (n,):
        msg = f"labels must be one group for each of the {n} records"
        raise BadInput(msg)
    labels = dense(labels)
    left_out = np.zeros(n, dtype=bool)
    many = int(share * n + 1e-9)  # 0.29 of 100 is 29, though 0.29 * 100 is less
    if many == 0:
        return left_out
    records = standardise(points.reshape(n, -1))
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    members = np.split(order, np.cumsum(sizes)[:-1])

    def costliest(group: int) -> tuple[float, int, int]:
        """What leaving out a member brings, negative; that member; the group."""
        rows = members[group]
        some = records[rows]
        spared = np.zeros(len(rows))
        if len(rows) > 1:
            away = ((some - group_means(some, np.zeros_like(rows))) ** 2).sum(axis=1)
            spared = away * (len(rows) / (len(rows) - 1))
        best = int(np.argmax(spared))
        return -float(spared[best]), int(rows[best]), group

    heap = [costliest(group) for group in range(len(sizes))]
    heapify(heap)
    for _ in range(many):
        _, record, group = heappop(heap)
        left_out[record] = True
        members[group] = members[group][members[group] != record]
        if len(members[group]) > 0:
            heappush(heap, costliest(group))
    return left_out
