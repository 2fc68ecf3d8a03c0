"""V-MDAV: groups round the farthest records, grown while a neighbour belongs there."""

import numpy as np

from trajanon._kernels.mdav import nearest_to_group
from trajanon.arrays import Floats, Ints
from trajanon.grouping.remaining import Remaining
from trajanon.progress import Progress, silent


def v_mdav(
    records: Floats, k: int, subjects: Ints, gamma: float, progress: Progress = silent
) -> Ints:
    """Group records round the farthest ones, k to 2k - 1 at a time.

    The record farthest from the centroid of all records takes its k - 1 nearest. Then the record e
    nearest to the group joins while its distance to the nearest member is below ``gamma`` times
    that to the nearest other record without a group, up to 2k - 1 records. What remains when fewer
    than k do joins the groups with the nearest centroids, so a group may then be larger.

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,), numbered from 0; at least k different. ``arange(n)``
        counts records.
    gamma
        How readily a group grows, from 0 (never: groups of k).
    progress
        Told of the records grouped.

    Returns
    -------
    Ints
        Group of each record, shape (n,).

    References
    ----------
    Solanas, Martínez-Ballesté (2006), "V-MDAV: a multivariate microaggregation with
    variable group size".
    """
    left = Remaining(records, k, subjects)
    centroid = records.mean(axis=0)
    n = len(records)
    while left.subjects_left >= k:
        members = left.group_round(left.farthest_from(centroid))
        while gamma > 0.0 and len(left) > 0 and len(members) < 2 * k - 1:
            near, inside = nearest_to_group(records, left.rows, members)
            others = left.rows[left.rows != near]
            _, outside = nearest_to_group(records, others, np.array([near]))
            if inside >= gamma * gamma * outside:  # both are squared
                break
            members = np.append(members, near)
            left.join(members[-1:], left.groups - 1)
        progress("Grouping by V-MDAV", n - len(left), n)
    left.join_nearest()
    return left.labels
