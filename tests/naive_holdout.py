"""Slow twins of what a hold-out measures: shorter, and obviously right."""

from itertools import product

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.utility import displacement


def distance(one: Floats, line: Floats, lines: Floats) -> float:
    """Root mean square of metres over points, on the plane of the lines."""
    metres = (one - line) * metres_of_degrees(lines[..., 0].mean())
    return float(np.sqrt((metres**2).sum(axis=-1).mean()))


def away(one: Floats, lines: Floats) -> list[float]:
    return [distance(one, line, lines) for line in lines]


def auc(inside: Floats, outside: Floats) -> float:
    pairs = [(a < b) + (a == b) / 2 for a, b in product(inside, outside)]
    return float(np.mean(pairs))


def jackknife(values: Floats, clusters: Ints) -> float:
    """The variance of a mean of clusters of one size: of the means without each."""
    left = np.array([values[clusters != one].mean() for one in np.unique(clusters)])
    g = len(left)
    return float((g - 1) / g * ((left - left.mean()) ** 2).sum())


def linked(one: Floats, lines: Floats) -> bool:
    half = len(one) // 2
    first, second = (
        np.argmin(away(one[part], lines[:, part])) for part in (slice(half), slice(half, None))
    )
    return bool(first == second)


def inferred(one: Floats, lines: Floats, near: float) -> bool:
    known = 2 * len(one) // 3
    line = np.argmin(away(one[:known], lines[:, :known]))
    return bool(displacement(one[-1], lines[line, -1]) <= near)


def goes_on(one: Floats, next_one: Floats, lines: Floats) -> bool:
    """Whether the line that begins where one ends, other than its own, is that of the next."""
    scale = metres_of_degrees(lines[..., 0].mean())
    far = np.hypot(*((lines[:, 0] - one[-1]) * scale).T)
    far[np.argmin(away(one, lines))] = np.inf
    return bool(np.argmin(far) == np.argmin(away(next_one, lines)))


def mean_of(subjects: Ints, values: Floats, members: Bools) -> tuple[Floats, Floats]:
    """Means of the subjects of members, and of the others."""
    inside, outside = (
        np.array([values[subjects == one].mean() for one in np.unique(subjects[which])])
        for which in (members, ~members)
    )
    return inside, outside
