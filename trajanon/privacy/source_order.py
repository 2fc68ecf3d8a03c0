"""Tests whether a release stands in the order of its originals, which only the holder knows."""

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from trajanon.arrays import Floats, Ints
from trajanon.privacy.order import CHANCE


def find_source_order(file: Ints, source: Ints) -> list[str]:
    """Say whether released rows stand where their members stand among the originals."""
    n = len(file)
    sizes = np.bincount(source)
    ways = ((file, ""), (file[::-1], ", backwards"))
    by_chance = float(gammaln(sizes + 1.0).sum() - gammaln(n + 1.0))
    for rows, backwards in ways:
        exact = np.array_equal(rows, source) and by_chance < np.log(CHANCE / 4)
        if exact or _near_too_often(rows, source, sizes):
            return [
                "trajectories stand in the order of the originals, or nearly so"
                f"{backwards}: shuffle them"
            ]
    return []


def by_line(points: Floats, lines: Floats, labels: Ints) -> tuple[Ints, Ints]:
    """Number lines as `find_source_order` takes them; equal ones are one."""
    both = np.concatenate([points, lines])
    _, line = np.unique(both.reshape(len(both), -1), axis=0, return_inverse=True)
    line = line.reshape(-1)
    return line[: len(points)], line[len(points) :][labels]


def _near_too_often(rows: Ints, source: Ints, sizes: Ints) -> bool:
    """Whether rows are near members of their groups more often than by chance."""
    distances = list(_distances(len(rows)))
    least = np.log(CHANCE / (4 * max(len(distances), 1)))
    return any(
        log_chance_of_nearness(rows, source, sizes, distance) < least for distance in distances
    )


def _distances(n: int) -> Iterator[int]:
    """Distances in rows that count as near: 0, 1, 2, 4, ..., below an eighth of all rows."""
    if n:
        yield 0
    distance = 1
    while 8 * distance < n:
        yield distance
        distance *= 2


def log_chance_of_nearness(rows: Ints, source: Ints, sizes: Ints, distance: int) -> float:
    """Bound the logarithm of the chance that a shuffle brings as many members as near.

    For each row it counts the share of its group's members that stand among the originals within
    ``distance`` rows of the row's own place.

    Source: S. Chatterjee, "Stein's method for concentration inequalities", Probab. Theory Relat.
    Fields 138 (2007), proposition 1.1.
    """
    n = len(rows)
    place = np.arange(n)
    # Each line's places follow each other, far enough apart from those of the next.
    apart = 2 * n + 2 * distance
    members = np.sort(source * apart + place)
    here = rows * apart + place
    near = np.searchsorted(members, here + distance, side="right")
    near -= np.searchsorted(members, here - distance, side="left")
    found = float((near / sizes[rows]).sum())
    expected = (n * (2 * distance + 1) - distance * (distance + 1)) / n
    more = found - expected
    if more <= 0.0:
        return 0.0
    return min(0.0, float(np.log(2.0) - more**2 / (4.0 * expected + 2.0 * more)))
