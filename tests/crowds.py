"""Walks of a few people in one place."""

import numpy as np

from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories


def crowd(seed: int = 0, n: int = 60, people: int = 9) -> Trajectories:
    """Walks in one place, several of each subject, so that groups hold some of them twice."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.0, 3e-4, (n, 4, 2)).cumsum(axis=1)
    steps[..., 0] += 0.002 * np.arange(4)  # all go north, longer than any is moved
    subject = np.concatenate([np.arange(people), rng.integers(0, people, n - people)])
    begin = 1_212_883_200 + rng.integers(0, 80_000, (n, 1))
    return Trajectories(
        np.array([40.4, -3.7]) + rng.normal(0.0, 2e-3, (n, 1, 2)) + steps,
        subject=subject,
        provenance={"attribution": OSM_ATTRIBUTION},
        times=(begin + np.arange(4) * 60).astype(np.float64),
    )
