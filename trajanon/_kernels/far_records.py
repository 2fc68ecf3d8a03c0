"""The far and the near ones of records that are left: the loops of MDAV, V-MDAV and MD."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class Leaves(NamedTuple):
    """The records that are left of n, in l leaves of near ones.

    A place tells where a record lies on the q leading principal axes, and how far from these.
    """

    records: NDArray[np.float64]  # leaf by leaf, those left first, (n, p)
    rows: NDArray[np.int64]  # of each of these, (n,)
    position: NDArray[np.int64]  # of each row among these, (n,)
    leaf: NDArray[np.int64]  # of each row, (n,)
    places: NDArray[np.float64]  # of each row, (n, q + 1)
    borders: NDArray[np.int64]  # where each leaf begins, and n, (l + 1,)
    left: NDArray[np.int64]  # how many are left in each, (l,)
    low: NDArray[np.float64]  # the least of the places in each leaf, (l, q + 1)
    high: NDArray[np.float64]  # and the largest
    axes: NDArray[np.float64]  # those that lead, (q, p)
    bounds: NDArray[np.float64]  # room for a number of each leaf, (l,)
    place: NDArray[np.float64]  # room for a place, (q + 1,)
    slack: float  # by which squared distances may be wrong, for rounding


@bare
def take(leaves, rows):
    """Take records out: each changes places with the last one left in its leaf."""
    for row in rows:
        leaf = leaves.leaf[row]
        leaves.left[leaf] -= 1
        here, there = leaves.position[row], leaves.borders[leaf] + leaves.left[leaf]
        other = leaves.rows[there]
        for column in range(leaves.records.shape[1]):
            number = leaves.records[here, column]
            leaves.records[here, column] = leaves.records[there, column]
            leaves.records[there, column] = number
        leaves.rows[here], leaves.rows[there] = other, row
        leaves.position[row], leaves.position[other] = there, here


@bare
def reach(place, low, high):
    """Squared distance to the farthest record that a leaf may hold."""
    last = place.shape[0] - 1
    total = (high[last] + place[last]) * (high[last] + place[last])
    for axis in range(last):
        away = max(high[axis] - place[axis], place[axis] - low[axis])
        total += away * away
    return total


@bare
def gap(place, low, high):
    """Squared distance to the nearest record that a leaf may hold."""
    total = 0.0
    for axis in range(place.shape[0]):
        away = max(low[axis] - place[axis], place[axis] - high[axis], 0.0)
        total += away * away
    return total


@bare
def find_gaps(leaves, place):
    """Those of all leaves are ``bounds``, infinite of empty ones; the leaf of the least."""
    bounds, best = leaves.bounds, 0
    for leaf in range(bounds.shape[0]):
        bounds[leaf] = np.inf
        if leaves.left[leaf] > 0:
            bounds[leaf] = gap(place, leaves.low[leaf], leaves.high[leaf])
        if bounds[leaf] < bounds[best]:
            best = leaf
    return best


@bare
def find_place(leaves, point):
    """Let ``place`` be that of a point, not nearer to the axes than it is."""
    axes, place = leaves.axes, leaves.place
    aside = 0.0
    for column in range(point.shape[0]):
        aside += point[column] * point[column]
    rounding = 1e-12 * aside
    for axis in range(axes.shape[0]):
        along = 0.0
        for column in range(point.shape[0]):
            along += axes[axis, column] * point[column]
        place[axis] = along
        aside -= along * along
    place[-1] = np.sqrt(max(aside, 0.0) + rounding)


@bare
def farthest_left(leaves, point):
    """The record left that is farthest from a point; the first one of equals."""
    find_place(leaves, point)
    place, bounds, widest = leaves.place, leaves.bounds, 0
    for leaf in range(bounds.shape[0]):
        bounds[leaf] = -np.inf
        if leaves.left[leaf] > 0:
            bounds[leaf] = reach(place, leaves.low[leaf], leaves.high[leaf]) + leaves.slack
        if bounds[leaf] > bounds[widest]:
            widest = leaf
    best, best_distance = -1, -1.0
    for turn in range(-1, bounds.shape[0]):
        leaf = widest if turn < 0 else turn
        if bounds[leaf] < best_distance:
            continue
        first = leaves.borders[leaf]
        for there in range(first, first + leaves.left[leaf]):
            distance, row = squared_distance(leaves.records[there], point), leaves.rows[there]
            if distance > best_distance or (distance == best_distance and row < best):
                best, best_distance = row, distance
    return best


@bare
def nearest_of_other_subjects(leaves, subjects, centre, near, distance):
    """Fill in the nearest records of other subjects: one of each, the nearest first; how many.

    Of equals the first record. ``distance`` is room for how far each is.
    """
    count, found, bounds = near.shape[0], 0, leaves.bounds
    here = leaves.records[leaves.position[centre]]
    closest = find_gaps(leaves, leaves.places[centre])
    for turn in range(-1, bounds.shape[0]):
        leaf = closest if turn < 0 else turn
        limit = distance[count - 1] + leaves.slack if found == count else np.inf
        if bounds[leaf] > limit or leaves.left[leaf] == 0:
            continue
        first = leaves.borders[leaf]
        for there in range(first, first + leaves.left[leaf]):
            record = leaves.rows[there]
            if subjects[record] == subjects[centre]:
                continue
            away = squared_distance(leaves.records[there], here)
            if found == count and away > distance[count - 1]:
                continue
            # Where its subject stands already, else a new or the last place.
            place = min(found, count - 1)
            for i in range(found):
                if subjects[near[i]] == subjects[record]:
                    place = i
                    break
            if place == found:
                found += 1
            elif not is_nearer(away, record, distance[place], near[place]):
                continue
            while place > 0 and is_nearer(away, record, distance[place - 1], near[place - 1]):
                distance[place], near[place] = distance[place - 1], near[place - 1]
                place -= 1
            distance[place], near[place] = away, record
    return found


@bare
def is_nearer(away, record, other_away, other):
    """Whether a record is nearer than another one, or as near and before it."""
    return away < other_away or (away == other_away and record < other)


@bare
def nearest_to_group(leaves, members, but):
    """The record left nearest to any of ``members``, -1 for none, and its squared distance.

    One record is left out; of equals the first one is taken.
    """
    best, best_away, bounds = -1, np.inf, leaves.bounds
    for member in members:
        here = leaves.records[leaves.position[member]]
        closest = find_gaps(leaves, leaves.places[member])
        for turn in range(-1, bounds.shape[0]):
            leaf = closest if turn < 0 else turn
            if bounds[leaf] > best_away + leaves.slack:
                continue
            first = leaves.borders[leaf]
            for there in range(first, first + leaves.left[leaf]):
                away, record = squared_distance(leaves.records[there], here), leaves.rows[there]
                if record != but and is_nearer(away, record, best_away, best):
                    best, best_away = record, away
    return best, best_away
