"""Trajectories whose holder keeps a release and its report."""

from pathlib import Path

import numpy as np
from planted import K

import trajanon
from trajanon.common.search_and_release_options import MethodName
from trajanon.trajectories.trajectories import Trajectories


def held(folder: Path, method: MethodName = "hm2") -> Trajectories:
    """Trajectories of which a release and its report stand in the folder."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (30, 3, 2))
    trajectories = Trajectories(points, subject=np.arange(30) % 6)
    release = trajanon.anonymize(trajectories, K, method=method, refine="none")
    release.write(folder / "r.parquet")
    return trajectories
