"""Whether points still lie where they lay."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.utility.grid import cells


def density_divergence(original: Floats, released: Floats, cell: float) -> float:
    """Compare two density maps.

    Source: J. Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Inform. Theory
    37 (1991).
    """
    before, after = shares(original, released, cell)
    middle = (before + after) / 2
    return (_bits(before, middle) + _bits(after, middle)) / 2


def busyness(runs: Floats, points: Floats, cell: float) -> float:
    """Compare how busy places are with how busy those of the runs are."""
    everywhere, there = shares(runs, points, cell)
    return float((there * everywhere).sum() / (everywhere * everywhere).sum())


def shares(one: Floats, other: Floats, cell: float) -> tuple[Floats, Floats]:
    """Share of the points of each of two sets in each cell that either is in."""
    places = [cells(points, cell).reshape(-1) for points in (one, other)]
    found, place = np.unique(np.concatenate(places), return_inverse=True)
    first, second = np.split(place, [len(places[0])])
    return (
        np.bincount(first, minlength=len(found)) / len(first),
        np.bincount(second, minlength=len(found)) / len(second),
    )


def _bits(share: Floats, of: Floats) -> float:
    """Kullback-Leibler divergence."""
    there = share > 0.0
    return float((share[there] * np.log2(share[there] / of[there])).sum())
