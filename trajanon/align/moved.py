"""How far a partition moves each point of its trajectories."""

from threading import Event

import numpy as np
from numpy.typing import NDArray

from trajanon.partition import Partition
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement
from trajanon.workers import in_parts

_AT_ONCE = 10_000  # trajectories that a thread measures


def metres_moved(
    trajectories: Trajectories, partition: Partition
) -> NDArray[np.float64]:
    """Measure the metres between each point and the released one, (n, m)."""

    def moved(rows: NDArray[np.int64], stop: Event) -> NDArray[np.float64]:
        points = trajectories.points[rows]
        released = partition.centroids[partition.labels[rows]]
        return displacement(points, released.reshape(points.shape))

    return np.concatenate(in_parts(moved, np.arange(len(trajectories)), _AT_ONCE))
