"""Colours and widths of the groups."""

import numpy as np
from scipy.spatial import KDTree

from trajanon.arrays import Floats, Ints

# Different with any colour vision, and dark enough on a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")

_NEIGHBOURS = 8


def colours(lines: Floats) -> list[int]:
    """Choose a colour for each line that its neighbours do not have."""
    middle = lines.mean(axis=1)
    middle[:, 1] *= np.cos(np.radians(middle[:, 0].mean()))
    count = min(_NEIGHBOURS + 1, len(lines))
    _, neighbours = KDTree(middle).query(middle, k=[*range(1, count + 1)])
    chosen = np.full(len(lines), -1)
    used = np.zeros(len(PALETTE))
    for line, nearest_first in enumerate(neighbours):
        taken = chosen[nearest_first]
        near = 1.0 / np.arange(1, count + 1)
        cost = np.bincount(taken[taken >= 0], near[taken >= 0], len(PALETTE))
        chosen[line] = np.lexsort((used, cost))[0]
        used[chosen[line]] += 1
    return chosen.tolist()


def weights(sizes: Ints) -> list[float]:
    """Choose a width in pixels for each released line, growing mildly with its group."""
    pixels: list[float] = np.round(2.0 + 0.75 * np.log2(sizes), 1).tolist()
    return pixels
