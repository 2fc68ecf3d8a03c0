"""Lines of a release, for counting in cells and tiles."""

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.trajectories.clock_and_time_zones import Clock

K = 4

ACROSS = ReleasedLines(
    np.array([[[-16.5, 179.99], [-16.5, -179.99]], [[-16.5, -179.99], [-16.5, 179.99]]]),
    np.array([4, 4]),
)
"""Two lines over the antimeridian, there and back."""


def lines(n: int = 12, seed: int = 0, trips: int | None = None) -> ReleasedLines:
    """Straight lines of some kilometres each, K trips or more on a line."""
    random = np.random.default_rng(seed)
    ends = random.uniform((47.0, 9.5), (47.05, 9.57), (n, 2, 2))
    share = np.linspace(0.0, 1.0, 30)[:, None]
    points: Floats = ends[:, :1] + share * (ends[:, 1:] - ends[:, :1])
    counts = random.integers(K, 3 * K, n) if trips is None else np.full(n, trips)
    times = random.uniform(0, 86_000, (n, 1)) + 300.0 * share[:, 0]
    return ReleasedLines(points, counts, times, Clock("of-day", "Europe/Vaduz", 300), k=K)
