"""Far and near ones among remaining records: the loops of MDAV, V-MDAV and MD."""

import numpy as np

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare


@bare
def farthest(records, remaining, point):
    """Find the remaining record farthest from a point; the first one of equals."""
    best = remaining[0]
    best_distance = -1.0

    for record in remaining:
        distance = squared_distance(records[record], point)
        if distance > best_distance:
            best = record
            best_distance = distance
    return best


@bare
def farthest_pair(records, outer_first, radius, opposite, reach, labels):
    """Find the two remaining records farthest apart: ``outer_first``, by falling ``radius``."""
    first = outer_first[0]
    second = outer_first[1]
    best = -1.0

    for i in range(outer_first.shape[0]):
        record = outer_first[i]
        # Two records are no farther apart than their distances to any one point together.
        outermost = radius[record] + radius[outer_first[0]]
        if outermost < best:
            break
        if min(reach[record], outermost) < best:
            continue

        # Its farthest was not found yet, or has left.
        if opposite[record] < 0 or labels[opposite[record]] >= 0:
            reach[record] = -1.0
            for partner in outer_first:
                if radius[record] + radius[partner] < reach[record]:
                    break
                if partner == record:
                    continue
                distance = np.sqrt(squared_distance(records[record], records[partner]))
                if distance > reach[record]:
                    reach[record] = distance
                    opposite[record] = partner

        if reach[record] > best:
            first = record
            second = opposite[record]
            best = reach[record]
    return first, second


@bare
def nearest_to_group(records, remaining, members):
    """Find the remaining record nearest to any member, and its squared distance."""
    # Groups have fewer than 2k members, so the nearest is looked up anew for each that joins.
    best = -1
    least = np.inf
    for record in remaining:
        for member in members:
            away = squared_distance(records[record], records[member])
            if away < least:
                best = record
                least = away
    return best, least
