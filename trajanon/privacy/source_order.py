"""Whether a release stands in the order of its originals: only their holder can see."""

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from trajanon.arrays import Floats, Ints
from trajanon.privacy.order import CHANCE


def told_by_source_order(file: Ints, source: Ints) -> list[str]:
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
    """Number lines as `told_by_source_order` takes them; equal ones are one."""
    both = np.concatenate([points, lines])
    _, line = np.unique(both.reshape(len(both), -1), axis=0, return_inverse=True)
    line = line.reshape(-1)
    return line[: len(points)], line[len(points) :][labels]


def _near_too_often(rows: Ints, source: Ints, sizes: Ints) -> bool:
    """Whether rows are near members of their groups more often than by chance."""
    distances = list(_distances(len(rows)))
    least = np.log(CHANCE / (4 * max(len(distances), 1)))
    return any(
        log_chance_of_so_near(rows, source, sizes, distance) < least for distance in distances
    )


def _distances(n: int) -> Iterator[int]:
    """Rows that still count as near: none, 1, 2, 4, ..., below an eighth of all."""
    if n:
        yield 0
    distance = 1
    while 8 * distance < n:
        yield distance
        distance *= 2


def log_chance_of_so_near(rows: Ints, source: Ints, sizes: Ints, distance: int) -> float:
    """Bound the logarithm of the chance that a shuffle has so many members so near.

    Counted is, for each row, the share of its group's members whose place among the originals is at
    most so many rows from the row's own.

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
