"""Four trajectories of which everything is known."""

import numpy as np

from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories

NORTH = 110_574.3  # metres of a degree of latitude at the equator


def toy(people: int | None = 4) -> Trajectories:
    """Two pairs of lines to the east: 20 m apart within a pair, 2 km between them."""
    north = np.array([0.0, 20.0, 2_000.0, 2_020.0])[:, None] / NORTH
    east = np.broadcast_to([0.0, 0.001, 0.002], (4, 3))
    points = np.stack([np.broadcast_to(north, (4, 3)), east], axis=-1)
    return Trajectories(
        np.ascontiguousarray(points),
        subject=None if people is None else np.arange(4) % people,
        provenance={"attribution": OSM_ATTRIBUTION, "source": "alice/her.gpx"},
    )
