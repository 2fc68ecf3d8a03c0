"""`--leave-out`: the groups that would lose most, left out, and what this takes from whom."""

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.grouping.loss import group_means
from trajanon.release.report import WorstGroups
from trajanon.trajectories.distances import displacement, lengths


def without_worst(points: Floats, labels: Ints, share: float) -> tuple[Ints, WorstGroups]:
    """Leave out whole groups, farthest from their means first, up to a share of trajectories.

    Return the group of each trajectory, -1 if left out, and what that takes away. At least one
    group stays.
    """
    left_in = np.flatnonzero(labels >= 0)
    group = dense(labels[left_in])
    means = group_means(points[left_in].reshape(len(left_in), -1), group)
    away = displacement(points[left_in], means.reshape(-1, *points.shape[1:])[group]).mean(axis=1)
    sizes = np.bincount(group)
    farthest = np.argsort(-np.bincount(group, away) / sizes, kind="stable")[:-1]
    worst = farthest[np.cumsum(sizes[farthest]) <= share * len(labels) + 1e-9]

    is_worst = np.isin(group, worst)
    metres = lengths(points[left_in])
    longest = metres >= np.quantile(metres, 0.9)
    shorter = metres <= np.median(metres)
    labels = labels.copy()
    labels[left_in[is_worst]] = -1
    return labels, WorstGroups(
        groups=len(worst),
        trajectories=int(is_worst.sum()),
        longest=int((longest & is_worst).sum()),
        of_longest=int(longest.sum()),
        shorter=int((shorter & is_worst).sum()),
        of_shorter=int(shorter.sum()),
        metres=int(metres[is_worst].sum()),
        of_metres=int(metres.sum()),
    )
