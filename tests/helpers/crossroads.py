"""Two drives to the east and two to the north, which meet at a crossing."""

import numpy as np

from trajanon.common.arrays import Ints
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.trajectories.tracks import TrackPoints, Tracks

ROOM = 20


def drives(run: Ints, start: Ints) -> Tracks:
    """Runs of which nothing matters but which windows are on them, and in which order."""
    runs = int(run.max()) + 1
    return Tracks(
        TrackPoints.of(np.zeros((runs * ROOM, 2))), ROOM * np.arange(runs + 1), run, start
    )


def crossroads() -> tuple[Published, Tracks]:
    """Two drives from west to east and two from south to north, of two windows each.

    All cross in the middle, where the first windows end and the second begin, and those of one
    direction are grouped. Places are in thousandths of a degree about a crossing at the equator.
    """
    along = np.array([-30.0, -20.0, -10.0]), np.array([0.0, 10.0, 20.0])
    eastward = [np.column_stack([[0.0, 0.0, 0.0], part]) for part in along]
    northward = [part[:, ::-1] for part in eastward]
    lines = np.array([*eastward, *northward]) / 1000.0
    labels = np.array([0, 1, 0, 1, 2, 3, 2, 3])
    tracks = drives(np.arange(8) // 2, np.arange(8) % 2)
    return Published(lines[labels], lines, labels, 2, np.arange(8) // 2), tracks
