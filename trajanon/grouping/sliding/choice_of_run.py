"""The choice of a run: a window that is the only one of its recording may lie on any of its runs.

It is put where windows of others are nearest; sliding then stays on that run. This is our own. A
"place" is the number of a point, in the points of all runs, at which a window may begin.
"""

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, indices_of_spans, renumbered
from trajanon.grouping.loss import means_and_variances
from trajanon.grouping.neighbours import nearest_points
from trajanon.grouping.principal_axes import principal_axes, turn
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.search_columns import search_columns
from trajanon.trajectories.tracks import STEPS, Tracks
from trajanon.trajectories.trajectories import Trajectories

_PACE = 2 * STEPS  # steps between two places of a window at least: twice the spacing
_PLACES_OF_WINDOW = 30  # about the most
_PLACES_OF_ALL = 4_000_000  # about the most
_ROUNDS = 4  # in each of which all windows go to where the others are now
_LOOKED_AT = 4  # windows looked at for each one wanted: some are of the same subject
_AXES = 8  # principal axes along which they are compared
_PLACES_PER_BATCH = 10_000  # whose windows are read at once


def placed(
    trajectories: Trajectories, k: int, *, subjects: Ints | None, timing: Timing | None = None
) -> Trajectories:
    """Put windows, each the only one of its recording, where windows of others are nearest.

    Of all places on the runs of its recording each window takes that with the least sum of squares
    to the k - 1 nearest windows of other subjects, as these are now; and so in a few rounds.
    """
    n = len(trajectories)
    tracks = trajectories.tracks
    if tracks is None or tracks.recording is None or n < k:
        return trajectories
    window, places = _possible_places(tracks, trajectories.points.shape[1])
    if len(window) == n:
        return trajectories

    records = _records_at(trajectories, places, timing)
    people = np.arange(n) if subjects is None else renumbered(subjects)
    chosen = np.arange(n)  # which of the places each window takes: at first, where it is
    # `near` are the nearest windows of each place, (v, c), and `away` their distances.
    for _ in range(_ROUNDS):
        away, near = nearest_points(cKDTree(records[chosen]), records, min(_LOOKED_AT * k, n))
        away[people[near] == people[window][:, None]] = np.inf
        cost = (np.sort(away, axis=1)[:, : k - 1] ** 2).sum(axis=1)

        # The cheapest place of each window, which is its first one in this order; of equal ones
        # where it was cut, or the first.
        order = np.lexsort((cost, window))
        is_cheapest = np.diff(window[order], prepend=-1) > 0
        chosen_before = chosen
        chosen = order[is_cheapest]
        if np.array_equal(chosen_before, chosen):
            break
    return trajectories.slid(places[chosen] - tracks.begin)


def _possible_places(tracks: Tracks, points: int) -> tuple[Ints, Ints]:
    """List v places where windows of ``points`` points may begin: whose, (v,), and where, (v,).

    The first n are where all n windows are.
    """
    assert tracks.recording is not None
    n = len(tracks.run)
    # The windows that are the only one of their recording, by recording; -1 for others.
    recording = tracks.recording_of
    alone = np.flatnonzero(np.bincount(recording)[recording] == 1)
    window_of_recording = np.full(int(tracks.recording.max()) + 1, -1)
    window_of_recording[recording[alone]] = alone

    # The runs of such windows, whose window each is for, and how many starts it has room for.
    room = (np.diff(tracks.first) - STEPS * (points - 1)).clip(0)
    window_of_run = window_of_recording[tracks.recording]
    runs = np.flatnonzero((window_of_run >= 0) & (room > 0))
    room = room[runs]
    window = window_of_run[runs]

    # Places lie a pace apart, which is one for all runs of a window; how many each run gets, and
    # how many paces each of its places lies from the begin of the run.
    room_of_window = np.bincount(window, room, minlength=n).astype(np.int64)
    places_of_window = min(_PLACES_OF_WINDOW, max(_PLACES_OF_ALL // n, 1))
    pace = np.maximum(_PACE, room_of_window // places_of_window)[window]
    count = (room - 1) // pace + 1
    paces = indices_of_spans(0, count)
    places = np.repeat(tracks.first[runs], count) + paces * np.repeat(pace, count)

    places_now = tracks.first[tracks.run] + tracks.start
    windows = np.append(np.arange(n), np.repeat(window, count))
    return windows, np.append(places_now, places)


def _records_at(trajectories: Trajectories, places: Ints, timing: Timing | None) -> Floats:
    """Read the windows at places, (v,), as the search sees them, along leading axes: (v, q).

    The axes, means and deviations are those of the windows where they are.
    """
    tracks = trajectories.tracks
    assert tracks is not None
    columns, weights = search_columns(trajectories, timing)
    mean, variance = means_and_variances(columns)
    weight = 1.0 if weights is None else weights
    scale = np.sqrt(weight / np.where(variance > 0.0, variance, np.inf))
    axes = scale[:, None] * principal_axes((columns - mean) * scale)[:, :_AXES]

    along = STEPS * np.arange(trajectories.points.shape[1])
    records = np.empty((len(places), axes.shape[1]))
    for begin in range(0, len(places), _PLACES_PER_BATCH):
        batch = slice(begin, begin + _PLACES_PER_BATCH)
        points = places[batch, None] + along
        times = None if timing is None or tracks.times is None else tracks.times[points]
        windows = Trajectories(tracks.points[points], times=times)
        records[batch] = turn(search_columns(windows, timing)[0] - mean, axes)
    return records
