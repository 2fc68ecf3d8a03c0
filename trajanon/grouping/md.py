"""MD: groups of k round the two records farthest from each other."""

import numpy as np

from trajanon._kernels.diameter import farthest_pair
from trajanon.arrays import Floats, Ints
from trajanon.grouping.remaining import Remaining
from trajanon.progress import Progress, silent


def md(records: Floats, k: int, subjects: Ints, progress: Progress = silent) -> Ints:
    """Group records round the two farthest from each other, k at a time.

    While 2k records remain: of the two remaining records with the greatest distance, one takes its
    k - 1 nearest, then the other does, if the first has left it. The last k to 2k - 1 are one
    group; where subjects leave fewer than k of them, they join the groups with the nearest
    centroids.

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,), numbered from 0; at least k different.
    progress
        Told of the records grouped.

    Returns
    -------
    Ints
        Group of each record, shape (n,).

    References
    ----------
    "Maximum Distance" of Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented
    microaggregation for statistical disclosure control".
    """
    left = Remaining(records, k, subjects)
    n = len(records)
    radius = np.sqrt(((records - records.mean(axis=0)) ** 2).sum(axis=1))
    outer_first = np.argsort(-radius, kind="stable")
    # Of each record: the farthest one that was found last, and how far it was.
    opposite = np.full(n, -1, dtype=np.int64)
    reach = np.full(n, np.inf)
    while len(left) >= 2 * k and left.subjects_left >= k:
        outer_first = outer_first[left.labels[outer_first] < 0]
        pair = farthest_pair(records, outer_first, radius, opposite, reach, left.labels)
        for seed in pair:
            enough = len(left) >= 2 * k and left.subjects_left >= k
            if enough and left.labels[seed] < 0:
                left.group_round(int(seed))
        progress("Grouping by maximum distance", n - len(left), n)
    if left.subjects_left >= k:
        left.group(left.rows)
    else:
        left.join_nearest()
    progress("Grouping by maximum distance", n, n)
    return left.labels
