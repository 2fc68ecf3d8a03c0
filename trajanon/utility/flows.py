"""Whether as many trips still lead from here to there."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.utility.grid import cells


def flow_similarity(original: Floats, released: Floats, cell: float) -> float:
    """Compare the origin-destination matrices of two sets of trips.

    Source: M. Lenormand et al., "A universal model of commuting networks", PLOS ONE 7 (2012).
    """
    one, other = (cells(points[:, [0, -1]], cell) for points in (original, released))
    flows, place = np.unique(np.concatenate([one, other]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    before = np.bincount(place[: len(one)], minlength=len(flows))
    after = np.bincount(place[len(one) :], minlength=len(flows))
    return float(2 * np.minimum(before, after).sum() / (before.sum() + after.sum()))
