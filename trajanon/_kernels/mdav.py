"""Far records and the nearest ones to them: the loops of MDAV, V-MDAV and MD."""

import numpy as np

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare


@bare
def farthest(records, remaining, point):
    """The remaining record farthest from a point; the first one of equals."""
    best, best_distance = remaining[0], -1.0
    for record in remaining:
        distance = squared_distance(records[record], point)
        if distance > best_distance:
            best, best_distance = record, distance
    return best


@bare
def nearest_centroid(point, centroids):
    """The row of ``centroids`` nearest to a point."""
    best, best_distance = 0, np.inf
    for group in range(centroids.shape[0]):
        distance = squared_distance(centroids[group], point)
        if distance < best_distance:
            best, best_distance = group, distance
    return best


@bare
def farthest_pair(records, outer_first, radius, opposite, reach, labels):
    """The two remaining records that are farthest apart: ``outer_first``, by falling ``radius``."""
    first, second, best = outer_first[0], outer_first[1], -1.0
    for i in range(outer_first.shape[0]):
        record = outer_first[i]
        # Two records are no farther apart than their distances to any one point together.
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
