"""MD: groups of k round the two records farthest from each other."""

import numpy as np

from trajanon._kernels.mdav import farthest_pair
from trajanon.arrays import Ints
from trajanon.methods.remaining import Remaining
from trajanon.problem import Problem


def md(problem: Problem) -> Ints:
    """Group records round the two farthest from each other, k at a time.

    While 2k records remain: of the two remaining records with the greatest distance, one takes its
    k - 1 nearest, then the other does, if the first has left it. The last k to 2k - 1 are one
    group; where subjects leave fewer than k of them, they join the groups with the nearest
    centroids.

    References
    ----------
    "Maximum Distance" of Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented
    microaggregation for statistical disclosure control".

    Examples
    --------
    The two farthest from each other are 1 and 26; of those left, 8 and 22. Each takes its nearest:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="md", refine="none").labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    left, records = Remaining(problem, "Grouping by maximum distance"), problem.records
    radius = np.sqrt(((records - records.mean(axis=0)) ** 2).sum(axis=1))
    outer_first = np.argsort(-radius, kind="stable")
    # Of each record: the farthest one that was found last, and how far it was.
    opposite = np.full(len(records), -1, dtype=np.int64)
    reach = np.full(len(records), np.inf)
    while left.enough_for(2):
        outer_first = outer_first[left.labels[outer_first] < 0]
        pair = farthest_pair(records, outer_first, radius, opposite, reach, left.labels)
        for seed in pair:
            if left.enough_for(2) and left.labels[seed] < 0:
                left.group_round(int(seed))
        left.tell()
    return left.finished()
