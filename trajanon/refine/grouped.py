"""Groups, laid out for the kernels."""

import numpy as np

from trajanon._kernels.groups import Groups, chain_members
from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means


def lay_out(records: Floats, labels: Ints, subjects: Ints, places: int = 0) -> Groups:
    """Lay out records in groups for the kernels, which change none of these."""
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
