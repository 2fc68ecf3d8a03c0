"""Counts in places: density maps, trips between cells of a grid, and lines in random boxes."""

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import DEGREE
from trajanon.utility.displacements import metres_of_degrees

_COLUMNS = 2**31  # more than there are cells of a metre round the equator's half

_FEWEST = 0.001
"""Share of all trajectories below which an error is not taken relative to the count."""


def cells(points: Floats, metres: float) -> Ints:
    """Number the cell that each point lies in.

    Cells are as wide as they are high at every latitude: each row of cells has as many as fit round
    the Earth there.
    """
    row = np.floor(points[..., 0] * (DEGREE / metres)).astype(np.int64)
    middle = np.radians((row + 0.5) * (metres / DEGREE))
    width = metres / (DEGREE * np.cos(np.clip(middle, -np.pi / 2, np.pi / 2)) + 1e-9)
    column = np.floor(points[..., 1] / width).astype(np.int64)
    numbers: Ints = row * _COLUMNS + column
    return numbers


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


def query_errors(
    original: Floats, released: Floats, *, queries: int, sides: tuple[float, float], seed: int
) -> Floats:
    """Ask how many trajectories pass random boxes, before and after.

    The boxes lie round random points of the originals.

    Source: X. Xiao, G. Wang, J. Gehrke, "Differential privacy via wavelet transforms", IEEE TKDE 23
    (2011), for the least count.
    """
    random = np.random.default_rng(seed)
    places = original.reshape(-1, 2)
    middle = places[random.integers(0, len(places), queries)]
    half = random.uniform(*sides, (queries, 2)) / 2
    half /= metres_of_degrees(middle[:, 0])
    boxes = np.stack([middle - half, middle + half], axis=1)
    before, after = (_passing(points, boxes) for points in (original, released))
    fewest = max(_FEWEST * len(original), 1.0)
    errors: Floats = np.abs(after - before) / np.maximum(before, fewest)
    return errors


def _passing(points: Floats, boxes: Floats) -> Ints:
    """Count lines with a point in each box of shape (queries, 2, 2)."""
    n, m, _ = points.shape
    order = np.argsort(points[..., 0], axis=None)
    latitude, longitude = points.reshape(-1, 2)[order].T
    line = order // m
    edges = np.searchsorted(latitude, boxes[:, :, 0])
    edges[:, 1] = np.searchsorted(latitude, boxes[:, 1, 0], side="right")
    counts = []
    for (low, high), (west, east) in zip(edges.tolist(), boxes[:, :, 1].tolist(), strict=True):
        inside = (longitude[low:high] >= west) & (longitude[low:high] <= east)
        seen = np.zeros(n, dtype=np.bool_)
        seen[line[low:high][inside]] = True
        counts.append(np.count_nonzero(seen))
    return np.array(counts)
