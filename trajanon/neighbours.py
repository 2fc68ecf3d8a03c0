"""The nearest records of each record: the candidate lists of every search."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree


def nearest_records(records: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Find the nearest other records of each record, exactly.

    A kd-tree on the records turned to their principal axes, where the first few
    coordinates tell most of a distance.

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    count
        Neighbours wanted; n - 1 of them if there are no more.

    Returns
    -------
    NDArray[np.int64]
        Row numbers, shape (n, min(count, n - 1)), the nearest first.
    """
    n = len(records)
    count = min(count, n - 1)
    turned = turn(records, principal_axes(records))
    _, found = cKDTree(turned).query(turned, k=range(1, count + 2))
    # A record is its own nearest, but need not come first among its duplicates.
    other = found != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False
    neighbours: NDArray[np.int64] = found[other].reshape(n, count)
    return neighbours.astype(np.int64)


def principal_axes(records: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the principal axes of standardised records, (n, p): columns, longest first.

    Sums run in a fixed order, so the number of cores changes nothing.
    """
    covariance = np.einsum("ij,ik->jk", records, records)
    return np.linalg.eigh(covariance)[1][:, ::-1]


def turn(
    records: NDArray[np.float64], axes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Turn records, (n, p), to axes, (p, q); all axes leave distances as they are."""
    return np.ascontiguousarray(np.einsum("ij,jk->ik", records, axes))
