"""What alignment did, for the holder of the data."""

from functools import partial
from threading import Event
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from trajanon import neighbours
from trajanon.arrays import Floats, Ints
from trajanon.geodesy import in_space
from trajanon.loss import loss_to
from trajanon.neighbours import nearest_points
from trajanon.released_lines import TrajectoryGroups
from trajanon.tracks import STEPS, Tracks
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement, moved_to, summary
from trajanon.workers import in_parts

MEASURED = (
    "As slid: against the windows that were averaged. As cut: against the windows in "
    "the file. From the runs: to the nearest point of the track that a window was cut "
    "from. Losses and displacements after alignment are measured as slid."
)

_RUNS = 1_000  # whose points a thread measures
_LINES = 5_000  # in a tree
_PLACES = 1_000_000  # of a large table's tracks that are looked at, about


def account(
    given: Trajectories, before: TrajectoryGroups, after: TrajectoryGroups
) -> dict[str, Any] | None:
    """Tell how alignment changed trajectories that were given, ready for JSON."""
    tracks, slid = given.tracks, after.trajectories.tracks
    if tracks is None or slid is None or given is after.trajectories:
        return None
    step = step_lengths(tracks)
    far = np.abs(slid.along - tracks.along) * step[tracks.run]
    spacing = STEPS * float(np.median(step))
    cut = before.trajectories.points
    lines = before.released, after.released
    moved = summary(moved_to(cut, lines[0], before.partition.labels))
    under = len(tracks.run) * STEPS * (cut.shape[1] - 1)
    return {
        "measured": MEASURED,
        "before": {"information_loss": before.information_loss, "displacement": moved},
        "slid": {
            "share": float((far > 0.0).mean()),
            **summary(far[far > 0.0] if far.any() else far[:1]),
        },
        "runs": {
            "under_windows": under / float((np.diff(tracks.first) - 1).sum()),
            "near_release_before": near_lines(tracks, lines[0], spacing),
            "near_release_after": near_lines(tracks, lines[1], spacing),
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


def near_lines(tracks: Tracks, lines: Floats, metres: float) -> float:
    """Measure the share of the points of tracks that lie within some metres of lines."""
    apart = STEPS
    if len(tracks.run) > neighbours.WHOLE:
        apart *= max(len(tracks.points) // (STEPS * _PLACES), 1)
    looked_at = in_space(tracks.points[::apart])

    def off(places: Ints, some: Floats, stop: Event) -> Ints:
        along = np.arange(STEPS)[:, None, None, None] / STEPS
        between = some[:, :-1] + along * (some[:, 1:] - some[:, :-1])
        tree = cKDTree(in_space(np.concatenate([between.reshape(-1, 2), some[:, -1]])))
        away, _ = nearest_points(tree, looked_at[places], 1, metres)
        return places[~np.isfinite(away[:, 0])]

    # A few lines are near most places; all others are asked for what is left.
    every = -(-len(lines) // _LINES)
    left = off(np.arange(len(looked_at)), lines[::every], Event())
    others = np.delete(lines, slice(None, None, every), axis=0)
    if len(left) and len(others):
        for found in in_parts(partial(off, left), others, _LINES):
            left = np.intersect1d(left, found, assume_unique=True)
    return (len(looked_at) - len(left)) / len(looked_at)
