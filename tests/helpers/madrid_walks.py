"""Walks in Madrid, of which nothing may be in a release."""

import numpy as np

from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


def walks_in_madrid(
    n: int = 40, m: int = 5, *, people: int | None = 12, seed: int = 0
) -> Trajectories:
    """Walks in Madrid; their subjects and traces have numbers found nowhere else."""
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.normal(0, 0.001, (n, m, 2)), axis=1)
    points += 40.4, -3.7
    if people is None:
        return Trajectories(points)
    subject = 987_000_000 + np.arange(n) % people
    return Trajectories(
        points,
        subject=subject,
        trace=876_000_000 + np.arange(n),
        provenance={"attribution": OSM_ATTRIBUTION, "source": "alice/her.gpx"},
    )
