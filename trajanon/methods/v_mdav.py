"""V-MDAV and CBFS: groups round the farthest records, grown while a neighbour belongs there."""

import numpy as np

from trajanon.arrays import Ints
from trajanon.loss import sse
from trajanon.methods.remaining import Remaining
from trajanon.problem import Problem

GAMMAS = tuple(np.arange(0, 41) / 20)  # 0, 0.05, ..., 2: tried if no gamma is given


def v_mdav(problem: Problem) -> Ints:
    """Group records round the farthest ones, k to 2k - 1 at a time.

    The record farthest from the centroid of all records takes its k - 1 nearest. Then the record e
    nearest to the group joins while its distance to the nearest member is below gamma times that to
    the nearest other record without a group, up to 2k - 1 records. What remains when fewer than k
    do joins the groups with the nearest centroids, so a group may then be larger. If the settings
    name no gamma, the best of several is taken.

    References
    ----------
    Solanas, Martínez-Ballesté (2006), "V-MDAV: a multivariate microaggregation with
    variable group size". Maya-López, thesis (URV 2023), section 4.3.1, reports the best of
    several gamma from 0 to 2 (its footnote 3), without their step.

    Examples
    --------
    The group of 1 and 5 grows by 8, and that of 26 and 23 by 22:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="v-mdav", refine="none").labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """
    gamma = problem.settings.gamma
    tried = [_grown(problem, one) for one in (GAMMAS if gamma is None else (gamma,))]
    return min(tried, key=lambda labels: sse(problem.records, labels))


def cbfs(problem: Problem) -> Ints:
    """Group records round those farthest from the centroid of all, k at a time.

    This is V-MDAV with gamma 0: the centroid is computed once, and groups never grow.

    References
    ----------
    Laszlo, Mukherjee (2005), "Minimum spanning tree partitioning algorithm for
    microaggregation".

    Examples
    --------
    The mean is 15.4. Farthest from it is 1, then 26, then 8; each takes its nearest:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="cbfs", refine="none").labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    return _grown(problem, 0.0)


def _grown(problem: Problem, gamma: float) -> Ints:
    records = problem.records
    left, centroid = Remaining(problem, "Grouping by V-MDAV"), records.mean(axis=0)
    while left.enough_for(1):
        members = left.group_round(left.leaves.farthest(centroid))
        while gamma > 0.0 and left.count > 0 and len(members) < 2 * problem.k - 1:
            near, inside = left.leaves.nearest_to_group(members)
            _, outside = left.leaves.nearest_to_group(np.array([near]), but=near)
            if inside >= gamma * gamma * outside:  # both are squared
                break
            members = np.append(members, near)
            left.join(members[-1:], left.groups - 1)
        left.tell()
    return left.join_nearest()
