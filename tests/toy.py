"""Four trajectories of which everything is known."""

import numpy as np

from trajanon.tracks import STEPS, TrackPoints, Tracks
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


def crossing() -> Trajectories:
    """Four drives of two windows each, three points 100 m apart, which meet at a crossing.

    Two come from the west and two from the south, 10 m apart. Behind the crossing one of each two
    goes on to the east, and one to the north: each has other companions then.
    """
    step = 100.0 / STEPS / NORTH
    east, north = np.array([0.0, step]), np.array([step, 0.0])
    before, after = np.arange(-2 * STEPS, 0)[:, None], np.arange(3 * STEPS + 1)[:, None]
    ways = [(east, east), (east, north), (north, north), (north, east)]
    runs = [
        np.concatenate([before * come, after * go]) + drive * 10.0 / NORTH
        for drive, (come, go) in enumerate(ways)
    ]
    long = len(runs[0])
    tracks = Tracks(
        points=TrackPoints.of(np.concatenate(runs)),
        first=long * np.arange(5),
        run=np.repeat(np.arange(4), 2),
        start=np.tile([0, 3 * STEPS], 4),
    )
    return Trajectories(
        tracks.windows(3), subject=tracks.run, trace=tracks.run, provenance={}, tracks=tracks
    )
