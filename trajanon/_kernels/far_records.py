"""Far and near ones among remaining records: the loops of MDAV, V-MDAV and MD."""

import numpy as np

from trajanon._kernels.common import insert_rising, squared_distance
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


@bare
def nearest_of_other_subjects(records, remaining, subjects, centre, near, distance):
    """Fill in the nearest of other subjects, one of each, the first of equals; how many."""
    count, found = near.shape[0], 0
    for record in remaining:
        if subjects[record] == subjects[centre]:
            continue
        away = squared_distance(records[record], records[centre])
        if found == count and away >= distance[count - 1]:
            continue
        # Where its subject stands already, else a new or the last place.
        place = min(found, count - 1)
        for i in range(found):
            if subjects[near[i]] == subjects[record]:
                place = i
                break
        if place == found:
            found += 1
        elif away >= distance[place]:
            continue
        insert_rising(distance, near, place, away, record)
    return found


@bare
def nearest_to_group(records, remaining, members):
    """The remaining record nearest to any member, and its squared distance; the first of equals."""
    best, least = -1, np.inf
    for record in remaining:
        for member in members:
            away = squared_distance(records[record], records[member])
            if away < least:
                best, least = record, away
    return best, least
