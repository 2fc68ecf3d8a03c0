"""Groups, laid out for the kernels."""

import numpy as np

from trajanon._kernels.descent import Descent
from trajanon._kernels.groups import Groups, chain_members
from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means

_TINY = 1e-12  # of the largest squared distance to the mean: a gain below is rounding


def build_groups(records: Floats, labels: Ints, subjects: Ints, places: int = 0) -> Groups:
    """Lay out records in groups; none of these arrays is changed.

    ``places`` are the groups that there may ever be at once, if they are more than now.
    """
    # Centred, so that rounding is small beside the spread.
    records = records - records.mean(axis=0)
    means = group_means(records, labels)
    places = max(places, len(means))
    centroids = np.zeros((places, records.shape[1]))
    centroids[: len(means)] = means
    n = len(records)
    groups = Groups(
        records=records,
        subjects=subjects,
        repeats=len(np.unique(subjects)) < n,
        labels=labels.copy(),
        centroids=centroids,
        sizes=np.bincount(labels, minlength=places),
        different=np.zeros(places, dtype=np.int64),
        first=np.full(places, -1, dtype=np.int64),
        following=np.full(n, -1, dtype=np.int64),
        preceding=np.full(n, -1, dtype=np.int64),
        empty=np.zeros(places + 1, dtype=np.int64),
    )
    chain_members(groups)
    return groups


def build_descent(
    records: Floats, labels: Ints, subjects: Ints, k: int, neighbours: Ints
) -> Descent:
    """Lay out groups and what their moves need; no record has been looked at."""
    groups = build_groups(records, labels, subjects, len(labels) // k + 1)
    n, places = len(labels), len(groups.sizes)
    return Descent(
        groups=groups,
        neighbours=neighbours,
        changed=np.zeros(places, dtype=np.int64),
        looked=np.full(n, -1, dtype=np.int64),
        gathered=np.zeros(n, dtype=np.int64),
        origins=np.zeros(n, dtype=np.int64),
        along=np.zeros(n),
        tiny=_TINY * float((groups.records**2).sum(axis=1).max()),
    )
