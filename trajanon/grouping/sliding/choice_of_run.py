"""Places: a window that is the only one of its recording may lie on any of its runs."""

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.grouping.loss import means_and_variances, principal_axes, turn
from trajanon.grouping.neighbours import nearest_points
from trajanon.trajectories.times import Timing, search_columns
from trajanon.trajectories.tracks import STEPS, Tracks
from trajanon.trajectories.trajectories import Trajectories

_PACE = 2 * STEPS  # steps between two places of a window at least: twice the spacing
_PLACES_OF_WINDOW = 30  # about the most
_PLACES_OF_ALL = 4_000_000  # about the most
_ROUNDS = 4  # in which all go to where the others are now
_SEEN = 4  # how many windows are looked at for each one wanted: some are of the same subject
_AXES = 8  # in which they are compared
_PLACES_PER_BATCH = 10_000  # that are read


def placed(
    trajectories: Trajectories, k: int, *, subjects: Ints | None, timing: Timing | None = None
) -> Trajectories:
    """Put windows, each the only one of its recording, where windows of others are nearest.

    Over all runs of the recording, where the k - 1 nearest of other subjects are nearest, in turns:
    sliding then stays on a run.
    """
    n = len(trajectories)
    tracks = trajectories.tracks
    if tracks is None or tracks.recording is None or n < k:
        return trajectories
    window, places = _places(tracks, trajectories.points.shape[1])
    if len(window) == n:
        return trajectories

    records = _records_at(trajectories, places, timing)
    people = np.arange(n) if subjects is None else dense(subjects)
    chosen = np.arange(n)  # the places where they are come first
    for _ in range(_ROUNDS):
        away, near = nearest_points(cKDTree(records[chosen]), records, min(_SEEN * k, n))
        away[people[near] == people[window][:, None]] = np.inf
        cost = (np.sort(away, axis=1)[:, : k - 1] ** 2).sum(axis=1)

        # Of equal ones: where it is, or nearer the beginning.
        order = np.lexsort((cost, window))
        chosen_before = chosen
        chosen = order[np.diff(window[order], prepend=-1) > 0]
        if np.array_equal(chosen_before, chosen):
            break
    return trajectories.slid(places[chosen] - tracks.begin)


def _places(tracks: Tracks, points: int) -> tuple[Ints, Ints]:
    """List where windows may begin, where they are first: the window, and the place in all runs."""
    assert tracks.recording is not None
    n = len(tracks.run)
    recording = tracks.recording_of
    alone = np.flatnonzero(np.bincount(recording)[recording] == 1)
    window_of = np.full(int(tracks.recording.max()) + 1, -1)
    window_of[recording[alone]] = alone

    # The runs of such windows, and how many starts they have room for.
    room = (np.diff(tracks.first) - STEPS * (points - 1)).clip(0)
    runs = np.flatnonzero((window_of[tracks.recording] >= 0) & (room > 0))
    room = room[runs]
    window = window_of[tracks.recording[runs]]

    # All runs of a window have one pace.
    room_of_window = np.bincount(window, room, minlength=n).astype(np.int64)
    places_of_window = min(_PLACES_OF_WINDOW, max(_PLACES_OF_ALL // n, 1))
    pace = np.maximum(_PACE, room_of_window // places_of_window)[window]
    count = (room - 1) // pace + 1
    rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    places = np.repeat(tracks.first[runs], count) + rank * np.repeat(pace, count)

    places_now = tracks.first[tracks.run] + tracks.start
    windows = np.append(np.arange(n), np.repeat(window, count))
    return windows, np.append(places_now, places)


def _records_at(trajectories: Trajectories, places: Ints, timing: Timing | None) -> Floats:
    """Read windows at places as the search sees them, on leading axes of where they are, (v, q)."""
    tracks = trajectories.tracks
    assert tracks is not None
    columns, weights = search_columns(trajectories, timing)
    mean, variance = means_and_variances(columns)
    weight = 1.0 if weights is None else weights
    share = np.sqrt(weight / np.where(variance > 0.0, variance, np.inf))
    axes = share[:, None] * principal_axes((columns - mean) * share)[:, :_AXES]

    along = STEPS * np.arange(trajectories.points.shape[1])
    records = np.empty((len(places), axes.shape[1]))
    for begin in range(0, len(places), _PLACES_PER_BATCH):
        batch = slice(begin, begin + _PLACES_PER_BATCH)
        points = places[batch, None] + along
        times = None if timing is None or tracks.times is None else tracks.times[points]
        windows = Trajectories(tracks.points[points], times=times)
        records[batch] = turn(search_columns(windows, timing)[0] - mean, axes)
    return records
