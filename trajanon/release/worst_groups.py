"""`--leave-out`: the groups that would lose most, left out, and what this takes from whom."""

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping.group_means import group_means
from trajanon.release.report import WorstGroups
from trajanon.trajectories.distances import displacement, lengths


def leave_out_worst(points: Floats, labels: Ints, share: float) -> tuple[Ints, WorstGroups]:
    """Leave out whole groups, farthest from their means first, up to a share of trajectories.

    Return the group of each trajectory, -1 if left out, and how many of the long and of the short
    ones that takes away. At least one group stays.
    """
    rows = np.flatnonzero(labels >= 0)
    group = renumbered(labels[rows])
    # Metres of each trajectory from the mean of its group, (n,).
    means = group_means(points[rows].reshape(len(rows), -1), group)
    away = displacement(points[rows], means.reshape(-1, *points.shape[1:])[group]).mean(axis=1)

    sizes = np.bincount(group)
    farthest_first = np.argsort(-np.bincount(group, away) / sizes, kind="stable")
    may_go = farthest_first[:-1]
    # Far less than a trajectory is added, for shares such as 0.07 that are no exact floats.
    worst = may_go[np.cumsum(sizes[may_go]) <= share * len(labels) + 1e-9]

    is_worst = np.isin(group, worst)
    metres = lengths(points[rows])
    is_longest = metres >= np.quantile(metres, 0.9)  # the longest tenth
    is_shorter = metres <= np.median(metres)
    labels = labels.copy()
    labels[rows[is_worst]] = -1
    return labels, WorstGroups(
        groups=len(worst),
        trajectories=int(is_worst.sum()),
        longest=int((is_longest & is_worst).sum()),
        of_longest=int(is_longest.sum()),
        shorter=int((is_shorter & is_worst).sum()),
        of_shorter=int(is_shorter.sum()),
        metres=int(metres[is_worst].sum()),
        of_metres=int(metres.sum()),
    )
