"""The farthest and the nearest of some records.

Records are rows, (n, p); ``remaining`` are the row numbers of those looked at: in MD and V-MDAV the
records without a group. Rules that are
the same for all squares of distances compare the squares, and take no roots.
"""

import numpy as np

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare


@bare
def farthest(records, remaining, point):
    """Find the remaining record farthest from a point; the first one of equals."""
    best = remaining[0]
    most = -1.0

    for record in remaining:
        square = squared_distance(records[record], point)
        if square > most:
            best = record
            most = square
    return best


@bare
def farthest_pair(records, outer_first, radius, opposite, reach, labels):
    """Find the two remaining records farthest apart.

    ``outer_first`` lists the remaining records by falling ``radius``, (n,), their distance to the
    centroid of all; ``labels``, (n,), are the groups of records, -1 for those that remain.
    ``opposite`` and ``reach``, (n,), are what was found before: the record farthest from each, -1
    if it is not known, and how far that is. They are brought up to date.
    """
    first = outer_first[0]
    second = outer_first[1]
    most = -1.0

    for i in range(outer_first.shape[0]):
        record = outer_first[i]
        # Two records are no farther apart than their distances to the centroid together, nor than
        # the record was from the farthest of more records.
        at_most = radius[record] + radius[outer_first[0]]
        if at_most < most:
            break
        if min(reach[record], at_most) < most:
            continue

        # The farthest from it is not known, or has a group by now.
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

        if reach[record] > most:
            first = record
            second = opposite[record]
            most = reach[record]
    return first, second


@bare
def nearest_to_group(records, remaining, members):
    """Find the remaining record nearest to any member; return it, and its squared distance."""
    # Groups have fewer than 2k members, so the nearest is looked up anew for each that joins.
    best = -1
    least = np.inf
    for record in remaining:
        for member in members:
            square = squared_distance(records[record], records[member])
            if square < least:
                best = record
                least = square
    return best, least
