"""What alignment did, for the holder of the data."""

from threading import Event
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.loss import loss_to
from trajanon.released_lines import TrajectoryGroups
from trajanon.tracks import Tracks
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement, moved_to, summary
from trajanon.workers import in_parts

MEASURED = (
    "Losses and displacements before alignment are measured from the windows in the file; "
    "those after it from the windows that were averaged."
)

_RUNS = 1_000  # runs that a thread measures at a time


def account(
    given: Trajectories, before: TrajectoryGroups, after: TrajectoryGroups
) -> dict[str, Any] | None:
    """Tell how alignment changed trajectories that were given, ready for JSON."""
    tracks, slid = given.tracks, after.trajectories.tracks
    if tracks is None or slid is None or given is after.trajectories:
        return None
    step = step_lengths(tracks)
    far = np.abs(slid.along - tracks.along) * step[tracks.run]
    cut = before.trajectories.points
    moved = summary(moved_to(cut, before.released, before.partition.labels))
    return {
        "measured": MEASURED,
        "before": {"information_loss": before.information_loss, "displacement": moved},
        "slid": {
            "share": float((far > 0.0).mean()),
            **summary(far[far > 0.0] if far.any() else far[:1]),
        },
        "starts": slid.along.tolist(),
    }


def as_cut(points: Floats, lines: Floats, labels: Ints) -> dict[str, Any]:
    """Measure lines against windows where they were cut, although they slid."""
    return {
        "information_loss": loss_to(points, lines, labels),
        "displacement": summary(moved_to(points, lines, labels)),
    }


def step_lengths(tracks: Tracks) -> Floats:
    """Measure the metres along the track between neighbouring points of each run, the most."""

    def longest(runs: Ints, stop: Event) -> Floats:
        first = tracks.first[runs[0] : runs[-1] + 2]
        points = tracks.points[first[0] : first[-1]]
        # The longest way between two is taken: where the track bends, it is shorter.
        hops = displacement(points[:-1], points[1:])
        hops[first[1:-1] - first[0] - 1] = 0.0  # from one run to the next
        found: Floats = np.maximum.reduceat(np.append(hops, 0.0), first[:-1] - first[0])
        return found

    return np.concatenate(in_parts(longest, np.arange(len(tracks.first) - 1), _RUNS))
