"""The nearest records of each record: the candidate lists of every search."""

from functools import partial
from threading import Event
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from trajanon.arrays import Floats, Ints
from trajanon.workers import in_threads

_AT_ONCE = 1_000  # points that a thread asks for


def nearest_records(records: Floats, count: int) -> Ints:
    """Find the nearest other records of each record, exactly.

    A kd-tree on the records turned to their principal axes, where the first few coordinates tell
    most of a distance.
    """
    n = len(records)
    count = min(count, n - 1)
    turned = turn(records, principal_axes(records))
    _, found = cKDTree(turned).query(turned, k=range(1, count + 2))
    # A record is its own nearest, but need not come first among its duplicates.
    other = found != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False
    neighbours: Ints = found[other].reshape(n, count)
    return neighbours.astype(np.int64)


def nearest_points(
    tree: cKDTree, points: Floats, count: int, within: float = np.inf
) -> tuple[Floats, Ints]:
    """Ask a tree for the points nearest to each of some, in threads that Ctrl-C ends.

    The tree's own threads would go on after Ctrl-C, in memory that is given back.
    """

    def ask(some: Floats, stop: Event) -> tuple[Any, Any]:
        if stop.is_set():
            raise KeyboardInterrupt
        ranks = range(1, count + 1)
        away, which = tree.query(some, k=ranks, distance_upper_bound=within)
        return away, which

    parts = np.split(points, range(_AT_ONCE, len(points), _AT_ONCE))
    found = in_threads([partial(ask, part) for part in parts])
    away, which = (np.concatenate(part) for part in zip(*found, strict=True))
    return away, which


def principal_axes(records: Floats) -> Floats:
    """Find the principal axes of standardised records, (n, p): columns, longest first.

    Sums run in a fixed order, so the number of cores changes nothing.
    """
    covariance = np.einsum("ij,ik->jk", records, records)
    return np.linalg.eigh(covariance)[1][:, ::-1]


def turn(records: Floats, axes: Floats) -> Floats:
    """Turn records, (n, p), to axes, (p, q); all axes leave distances as they are."""
    return np.ascontiguousarray(np.einsum("ij,jk->ik", records, axes))
