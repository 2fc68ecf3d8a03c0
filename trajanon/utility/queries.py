"""Whether counts in boxes are still right."""

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.utility.displacements import displacement

_FEWEST = 0.001
"""Share of all trajectories below which an error is not taken relative to the count."""


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
    boxes = middle[:, None, :] + _degrees(middle, half)[:, None, :] * [[-1.0], [1.0]]
    before, after = (_passing(points, boxes) for points in (original, released))
    fewest = max(_FEWEST * len(original), 1.0)
    errors: Floats = np.abs(after - before) / np.maximum(before, fewest)
    return errors


def _degrees(middle: Floats, metres: Floats) -> Floats:
    """Turn metres to the north and to the east to degrees, at each point."""
    step = 1e-3
    return np.stack(
        [
            metres[:, axis] * step / displacement(middle, middle + step * unit)
            for axis, unit in enumerate(np.eye(2))
        ],
        axis=-1,
    )


def _passing(points: Floats, boxes: Floats) -> Ints:
    """Count lines with a point in each box of shape (queries, 2, 2)."""
    n, m, _ = points.shape
    order = np.argsort(points[..., 0], axis=None)
    latitude, longitude = points.reshape(-1, 2)[order].T
    line = order // m
    edges = np.searchsorted(latitude, boxes[:, :, 0])
    edges[:, 1] = np.searchsorted(latitude, boxes[:, 1, 0], side="right")
    counts = np.empty(len(boxes), dtype=np.int64)
    seen = np.zeros(n, dtype=np.bool_)
    for query, ((low, high), (west, east)) in enumerate(
        zip(edges.tolist(), boxes[:, :, 1].tolist(), strict=True)
    ):
        inside = (longitude[low:high] >= west) & (longitude[low:high] <= east)
        seen[:] = False
        seen[line[low:high][inside]] = True
        counts[query] = np.count_nonzero(seen)
    return counts
