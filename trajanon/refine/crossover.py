"""Crossing: the better of two partitions, place by place."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means
from trajanon.partition import dense


def cross(records: Floats, one: Ints, other: Ints) -> Ints:
    """Take from two partitions the groups of the better one, wherever they part ways.

    Two partitions are joined to places: the smallest sets of records that are whole groups in both.

    Source: Whitley, Hains and Howe (GECCO 2009), "Tunneling between optima: partition crossover for
    the traveling salesman problem", do so with two tours.
    """
    ones, others = int(one.max()) + 1, int(other.max()) + 1
    shared = coo_array(
        (np.ones(len(one)), (one, ones + other)), shape=(ones + others, ones + others)
    )
    places, place = connected_components(shared, directed=False)
    lost = np.bincount(place[:ones], _sse_of_groups(records, one), places)
    other_lost = np.bincount(place[ones:], _sse_of_groups(records, other), places)
    taken = (other_lost < lost)[place[:ones]][one]
    return dense(np.where(taken, ones + other, one))


def _sse_of_groups(records: Floats, labels: Ints) -> Floats:
    """Sum up, group by group, the squared distances to its mean, (g,)."""
    means = group_means(records, labels)
    lost = np.zeros(len(means))
    np.add.at(lost, labels, ((records - means[labels]) ** 2).sum(axis=1))
    return lost
