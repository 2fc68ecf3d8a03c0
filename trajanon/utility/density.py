"""Whether points still lie where they lay."""

import numpy as np
from numpy.typing import NDArray

from trajanon.utility.grid import cells


def density_divergence(
    original: NDArray[np.float64], released: NDArray[np.float64], cell: float
) -> float:
    """Compare two density maps.

    Parameters
    ----------
    original, released
        Latitude and longitude in degrees, shape (n, m, 2).
    cell
        Side of the maps' cells, metres.

    Returns
    -------
    float
        The Jensen-Shannon divergence in bits: 0 if each cell has the same share of the
        points, 1 if no cell has points of both.

    References
    ----------
    J. Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Inform.
    Theory 37 (1991).
    """
    one, other = (cells(points, cell).reshape(-1) for points in (original, released))
    found, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    before = np.bincount(place[: len(one)], minlength=len(found)) / len(one)
    after = np.bincount(place[len(one) :], minlength=len(found)) / len(other)
    middle = (before + after) / 2
    return (_bits(before, middle) + _bits(after, middle)) / 2


def _bits(share: NDArray[np.float64], of: NDArray[np.float64]) -> float:
    """Kullback-Leibler divergence."""
    there = share > 0.0
    return float((share[there] * np.log2(share[there] / of[there])).sum())
