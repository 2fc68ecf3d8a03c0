"""Releases without times, at places all over the Earth."""

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


def points_of(n: int = 6, m: int = 3, seed: int = 0) -> Floats:
    """Latitude and longitude, as rounded as those of a release."""
    rng = np.random.default_rng(seed)
    return np.round(rng.uniform((-90, -180), (90, 180), (n, m, 2)), 7)


def release(attribution: str | None = OSM_ATTRIBUTION, n: int = 6) -> Trajectories:
    """A release with these words."""
    return Trajectories(points_of(n), provenance={"attribution": attribution})
