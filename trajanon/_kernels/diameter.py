"""The two records farthest from each other, as records leave."""

import numpy as np

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance


@kernel
def farthest_pair(records, outer_first, radius, opposite, reach, labels):
    """The two remaining records with the greatest distance.

    ``outer_first`` are the remaining records by falling ``radius``, (n,), the distance to any one
    point: two records are no farther apart than their radii together.
    """
    first, second, best = outer_first[0], outer_first[1], -1.0
    for i in range(outer_first.shape[0]):
        record = outer_first[i]
        outermost = radius[record] + radius[outer_first[0]]
        if outermost < best:
            break
        if min(reach[record], outermost) < best:
            continue
        if opposite[record] < 0 or labels[opposite[record]] >= 0:
            reach[record] = -1.0
            for other in outer_first:
                if radius[record] + radius[other] < reach[record]:
                    break
                if other == record:
                    continue
                distance = np.sqrt(squared_distance(records[record], records[other]))
                if distance > reach[record]:
                    reach[record] = distance
                    opposite[record] = other
        if reach[record] > best:
            first, second, best = record, opposite[record], reach[record]
    return first, second
