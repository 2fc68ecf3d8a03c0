"""Slow twins of what a hold-out measures: shorter, and obviously right."""

from itertools import product
from math import log

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.geodesy import metres_of_degrees


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


def inferred(some: Floats, lines: Floats, near: float) -> list[bool]:
    """Whether lines show where each ends: by their ends, or by how they go on: the better way."""
    known = 2 * some.shape[1] // 3
    by_end, by_rest = [], []
    for one in some:
        line = lines[np.argmin(away(one[:known], lines[:, :known]))]
        by_end.append(bool(displacement(one[-1], line[-1]) <= near))
        end = one[known - 1] + (line[-1] - line[known - 1])
        by_rest.append(bool(displacement(one[-1], end) <= near))
    return by_rest if sum(by_rest) > sum(by_end) else by_end


def goes_on(one: Floats, next_one: Floats, lines: Floats, *, way: int) -> bool:
    """Whether the line that begins where one ends, other than its own, is that of the next.

    In the second way of looking it also ends where one begins; in the third it is the way back.
    """
    scale = metres_of_degrees(lines[..., 0].mean())
    far = np.hypot(*((lines[:, 0] - one[-1]) * scale).T)
    if way == 1:
        far = np.hypot(far, np.hypot(*((lines[:, -1] - one[0]) * scale).T))
    if way == 2:
        far = np.array(away(one[::-1], lines))
    far[np.argmin(away(one, lines))] = np.inf
    return bool(np.argmin(far) == np.argmin(away(next_one, lines)))


def likelier(
    seen: list[float], shadows: list[list[float]], inside: list[list[bool]]
) -> list[float]:
    """For each trajectory, how much likelier its distance is if it is a member; a logarithm."""
    both = []
    for one, away in enumerate(seen):
        logs = [
            [
                log(row[one] + 1.0)
                for row, held in zip(shadows, inside, strict=True)
                if held[one] == own
            ]
            for own in (False, True)
        ]
        means = [sum(each) / len(each) for each in logs]
        squares = sum((x - mean) ** 2 for each, mean in zip(logs, means, strict=True) for x in each)
        off = [(log(away + 1.0) - mean) ** 2 for mean in means]
        both.append((squares, 0.5 * (off[0] - off[1])))
    usual = sum(squares for squares, _ in both) / len(both)
    return [gain / ((squares + usual) / (2 * len(shadows)) + 1e-6) for squares, gain in both]
