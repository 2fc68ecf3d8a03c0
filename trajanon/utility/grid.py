"""Counts in places: density maps, trips between cells of a grid, and lines in random boxes."""

from threading import Event

import numpy as np
from scipy.special import rel_entr

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import DEGREE, metres_of_degrees
from trajanon.workers import in_parts

_COLUMNS = 2**31  # more than there are cells of a metre round the equator's half

_BOXES_AT_ONCE = 125  # in which a thread counts lines

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
    return np.asarray(row * _COLUMNS + column)


def cell_middles(numbers: Ints, metres: float) -> Floats:
    """Latitude and longitude of the middles of `cells`, (n, 2)."""
    row = (numbers + _COLUMNS // 2) // _COLUMNS
    latitude = (row + 0.5) * (metres / DEGREE)
    width = metres / (DEGREE * np.cos(np.clip(np.radians(latitude), -np.pi / 2, np.pi / 2)) + 1e-9)
    return np.stack([latitude, (numbers - row * _COLUMNS + 0.5) * width], axis=-1)


def density_divergence(original: Floats, released: Floats, cell: float) -> float:
    """Compare two density maps: the Jensen-Shannon divergence of the shares of points in cells.

    Source: J. Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Inform. Theory
    37 (1991). In bits.
    """
    counts = counted(*(cells(points, cell).reshape(-1) for points in (original, released)))
    before, after = (each / each.sum() for each in counts)
    middle = (before + after) / 2
    bits = (rel_entr(before, middle) + rel_entr(after, middle)) / np.log(2.0)
    return float(bits.sum()) / 2


def counted(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Count in two sets each of the numbers, or rows of numbers, that either holds."""
    by_row = None if one.ndim == 1 else 0
    # Each set by itself: there may be many of few, and those of both take little to compare.
    mine, here = np.unique(one, axis=by_row, return_counts=True)
    others, there = np.unique(other, axis=by_row, return_counts=True)
    found, place = np.unique(np.concatenate([mine, others]), axis=by_row, return_inverse=True)
    first, second = np.zeros((2, len(found)), dtype=np.int64)
    places = place.reshape(-1)
    first[places[: len(mine)]], second[places[len(mine) :]] = here, there
    return first, second


def flows(points: Floats, cell: float) -> Ints:
    """Number the cells where trips begin and end, (n, 2)."""
    return cells(points[:, [0, -1]], cell)


def flow_similarity(one: Ints, other: Ints) -> float:
    """Compare the origin-destination matrices of two sets of trips, given as `flows`.

    With the hour of departure as one column more, those of each hour.

    Source: M. Lenormand et al., "A universal model of commuting networks", PLOS ONE 7 (2012).
    """
    before, after = counted(one, other)
    return float(2 * np.minimum(before, after).sum() / max(before.sum() + after.sum(), 1))


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
    return np.asarray(np.abs(after - before) / np.maximum(before, fewest))


def _passing(points: Floats, boxes: Floats) -> Ints:
    """Count lines with a point in each box of shape (queries, 2, 2)."""
    m = points.shape[1]
    order = np.argsort(points[..., 0].reshape(-1), kind="stable")
    latitude, longitude = points.reshape(-1, 2)[order].T
    line = order // m

    def passing(queries: Ints, stop: Event) -> list[int]:
        counts = []
        for (south, west), (north, east) in boxes[queries]:
            low = np.searchsorted(latitude, south)
            high = np.searchsorted(latitude, north, side="right")
            inside = (longitude[low:high] >= west) & (longitude[low:high] <= east)
            passes = np.zeros(len(points), dtype=np.bool_)
            passes[line[low:high][inside]] = True
            counts.append(int(passes.sum()))
        return counts

    return np.concatenate(in_parts(passing, np.arange(len(boxes)), _BOXES_AT_ONCE))
