"""Slow twins of the trees' kernels."""

from collections.abc import Sequence

import numpy as np
from naive import squared_distance
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints


def parted_by_a_plane(left: Floats, right: Floats, points: Floats) -> bool:
    """Whether a plane across a line between two of the points has these sides."""
    for one in points:
        for other in points:
            direction = other - one
            if (left @ direction).max() < (right @ direction).min():
                return True
    return False


def nearest_in_leaves(points: Floats, leaves: Sequence[Ints], count: int) -> list[list[float]]:
    """Squared distances to the nearest that share a leaf; fewer where few do."""
    found = []
    for a in range(len(points)):
        mates = {b for leaf in leaves if a in leaf for b in leaf.tolist()} - {a}
        away = sorted(squared_distance(points[a], points[b]) for b in mates)
        found.append(away[:count])
    return found


def recall(records: Floats, found: NDArray[np.integer], rows: Ints) -> float:
    """Share of the nearest of some records that were found."""
    shares = []
    for row in rows:
        away = ((records - records[row]) ** 2).sum(axis=1)
        away[row] = np.inf
        nearest = np.argsort(away)[: found.shape[1]]
        shares.append(np.isin(nearest, found[row]).mean())
    return float(np.mean(shares))
