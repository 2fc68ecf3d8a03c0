"""What alignment did, for the holder of the data."""

from threading import Event
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from trajanon import neighbours
from trajanon.arrays import Floats, Ints
from trajanon.geodesy import in_space
from trajanon.loss import loss_to
from trajanon.neighbours import nearest_points
from trajanon.suppression import TrajectoryGroups
from trajanon.tracks import STEPS, Tracks
from trajanon.utility import displacement, moved_to, summary
from trajanon.workers import in_parts

MEASURED = (
    "As slid: against the windows that were averaged. As cut: against the windows in "
    "the file. From the runs: to the nearest point of the track that a window was cut "
    "from. Losses and displacements after alignment are measured as slid."
)

_RUNS = 10_000  # whose points a thread measures

_LINES = 5_000  # in a tree

_PLACES = 1_000_000  # of a large table's tracks that are looked at, about


def account(before: TrajectoryGroups, after: TrajectoryGroups) -> dict[str, Any] | None:
    """Tell how alignment changed trajectories, ready for JSON."""
    tracks, slid = before.trajectories.tracks, after.trajectories.tracks
    if tracks is None or slid is None or before.trajectories is after.trajectories:
        return None
    step = step_lengths(tracks)
    far = np.abs(slid.start - tracks.start) * step[tracks.run]
    spacing = STEPS * float(np.median(step))
    cut = before.trajectories.points
    lines = before.released, after.released
    moved = moved_to(cut, lines[0], before.partition.labels)
    return {
        "measured": MEASURED,
        "before": {
            "information_loss": before.partition.information_loss,
            "displacement": summary(moved),
        },
        "slid": {"share": float((far > 0.0).mean()), **_of_those_that_slid(far)},
        "runs": {
            "under_windows": _under_windows(tracks, cut.shape[1]),
            "near_release_before": near_lines(tracks, lines[0], spacing),
            "near_release_after": near_lines(tracks, lines[1], spacing),
        },
        "starts": slid.start.tolist(),
    }


def as_cut(points: Floats, lines: Floats, labels: Ints) -> dict[str, Any]:
    """Measure lines against windows where they were cut, although they slid."""
    records = points.reshape(len(points), -1)
    released = lines.reshape(len(lines), -1)[labels]
    return {
        "information_loss": loss_to(records, released),
        "displacement": summary(moved_to(points, lines, labels)),
    }


def _of_those_that_slid(far: Floats) -> dict[str, float]:
    slid = far[far > 0.0]
    return summary(slid if len(slid) else np.zeros(1))


def _under_windows(tracks: Tracks, m: int) -> float:
    steps = len(tracks.run) * STEPS * (m - 1)
    return steps / float((np.diff(tracks.first) - 1).sum())


def step_lengths(tracks: Tracks) -> Floats:
    """Measure the metres along the track between neighbouring points of each run.

    The longest way between two is taken: where the track bends, it is shorter.
    """

    def longest(runs: Ints, stop: Event) -> Floats:
        first = tracks.first[runs[0] : runs[-1] + 2]
        points = tracks.points[first[0] : first[-1]]
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

    def off(some: Floats, places: Ints, stop: Event) -> Ints:
        away, _ = nearest_points(_tree(some), looked_at[places], 1, metres)
        return places[~np.isfinite(away[:, 0])]

    # A few lines are near most places; all others are asked for what is left.
    every = -(-len(lines) // _LINES)
    left = off(lines[::every], np.arange(len(looked_at)), Event())
    others = np.delete(lines, slice(None, None, every), axis=0)
    if len(left) and len(others):

        def off_as_well(some: Floats, stop: Event) -> Ints:
            return off(some, left, stop)

        for found in in_parts(off_as_well, others, _LINES):
            left = np.intersect1d(left, found, assume_unique=True)
    return (len(looked_at) - len(left)) / len(looked_at)


def _tree(lines: Floats) -> cKDTree:
    along = np.arange(STEPS)[:, None, None, None] / STEPS
    between = lines[:, :-1] + along * (lines[:, 1:] - lines[:, :-1])
    return cKDTree(in_space(np.concatenate([between.reshape(-1, 2), lines[:, -1]])))
