"""People who walk along streets, 200 m apart, and groups of those who walk alike."""

from collections.abc import Callable

import numpy as np

import trajanon
from trajanon.common.arrays import Floats, Ints
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.grouping.group_means import group_means
from trajanon.trajectories.geodesy import metres_of_degrees

HOP = 100.0
SCALE = metres_of_degrees(np.array(0.0))

Writer = Callable[[Floats, Floats, Ints], Floats]
"""Writes lines from points, means and labels."""


def walked(seed: int, n: int, m: int, blocks: int = 8) -> Floats:
    """Ways in hops of 100 m, near the middle of streets; at crossings some turn."""
    random = np.random.default_rng(seed)
    place = 200.0 * random.integers(0, blocks, (n, 2)).astype(float)
    heading = random.integers(0, 4, n)
    ways = [place]
    for hop in range(m - 1):
        if hop % 2 == 0:  # at a crossing
            heading = (heading + random.choice([0, 0, 0, 1, 3], n)) % 4
        angle = heading * (np.pi / 2.0)
        place = place + HOP * np.round(np.column_stack([np.cos(angle), np.sin(angle)]))
        ways.append(place)
    metres = np.stack(ways, axis=1) + random.normal(0.0, 4.0, (n, 1, 2))
    along: Floats = random.uniform(-100.0, 100.0, (n, 1, 1)) * np.diff(metres[:, :2], axis=1) / HOP
    moved: Floats = metres + along
    return moved / SCALE


def plain(points: Floats, means: Floats, labels: Ints) -> Floats:
    return np.round(means, 5)


def grouped(points: Floats, k: int, seed: int = 0, writer: Writer = plain) -> Published:
    """A release of groups of at least k, quickly found."""
    records = points.reshape(len(points), -1)
    labels = trajanon.microaggregate(records, k, method="mdav", refine="none", seed=seed).labels
    means = group_means(records, labels).reshape(-1, *points.shape[1:])
    return Published(points, writer(points, means, labels), labels, k)
