"""Windows on runs that begin at the homes of several people each."""

import numpy as np

from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import Trajectories

NORTH, EAST = 111_000.0, 85_000.0  # metres of a degree at 40 degrees north, about
POINTS = 8  # of a window, 100 m apart
_STEP = 100.0 / STEPS


def windows_from_homes(
    homes: int, people: int, room: int, *, seed: int = 0, apart: float = 5_000.0
) -> Trajectories:
    """One window of each person, at the begin of a run to the east, with so many steps of room.

    The runs of one home begin within some metres, and homes lie so many metres apart in both
    directions.
    """
    n = homes * people
    size = STEPS * (POINTS - 1) + 1 + room
    random = np.random.default_rng(seed)
    begin = random.normal(0.0, 10.0, (n, 2)) / (NORTH, EAST) + (40.0, 2.0)
    begin += np.repeat(np.arange(homes), people)[:, None] * (apart / NORTH, apart / EAST)
    points = np.repeat(begin[:, None], size, axis=1)
    points[:, :, 1] += _STEP * np.arange(size) / EAST
    tracks = Tracks(
        points=TrackPoints.of(points.reshape(-1, 2)),
        first=size * np.arange(n + 1),
        run=np.arange(n),
        start=np.zeros(n, dtype=np.int64),
        recording=np.arange(n),
    )
    provenance = {"trips": False, "recordings": {"read": n}, "per_recording": 1}
    return Trajectories(
        tracks.windows(POINTS), np.arange(n), np.arange(n), provenance, tracks=tracks
    )
