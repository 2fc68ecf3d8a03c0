"""Places: a window that is the only one of its recording may lie on any of its runs."""

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.grouping.axes import principal_axes, turn
from trajanon.grouping.loss import means_and_variances
from trajanon.grouping.neighbours import nearest_points
from trajanon.trajectories.times import Timing, search_columns
from trajanon.trajectories.tracks import STEPS, Tracks
from trajanon.trajectories.trajectories import Trajectories

_PACE = 2 * STEPS  # steps between two places of a window at least: twice the spacing
_PLACES, _IN_ALL = 30, 4_000_000  # about the most places of a window, and of all
_LOOKS = 4  # times that all look at where the others are now
_SEEN = 4  # how many windows are looked at for each one wanted: some are of the same subject
_AXES = 8  # in which they are compared
_AT_ONCE = 10_000  # places that are read


def placed(
    trajectories: Trajectories, k: int, *, subjects: Ints | None, timing: Timing | None = None
) -> Trajectories:
    """Put windows, each the only one of its recording, where windows of others are nearest.

    Over all runs of the recording, where the k - 1 nearest of other subjects are nearest, in turns:
    sliding then stays on a run.
    """
    tracks, n = trajectories.tracks, len(trajectories)
    if tracks is None or tracks.recording is None or n < k:
        return trajectories
    window, places = _places(tracks, trajectories.points.shape[1])
    if len(window) == n:
        return trajectories
    rows = _turned(trajectories, places, timing)
    own = np.arange(n) if subjects is None else dense(subjects)
    chosen = np.arange(n)  # the places where they are come first
    for _ in range(_LOOKS):
        away, which = nearest_points(cKDTree(rows[chosen]), rows, min(_SEEN * k, n))
        away[own[which] == own[window][:, None]] = np.inf
        cost = (np.sort(away, axis=1)[:, : k - 1] ** 2).sum(axis=1)
        order = np.lexsort((cost, window))  # equal ones: where it is, or nearer the beginning
        before, chosen = chosen, order[np.diff(window[order], prepend=-1) > 0]
        if np.array_equal(before, chosen):
            break
    return trajectories.slid(places[chosen] - tracks.begin)


def _places(tracks: Tracks, points: int) -> tuple[Ints, Ints]:
    """List where windows may begin, where they are first: the window, and the place in all runs."""
    assert tracks.recording is not None
    recording, n = tracks.recording_of, len(tracks.run)
    alone = np.flatnonzero(np.bincount(recording)[recording] == 1)
    owner = np.full(int(tracks.recording.max()) + 1, -1)
    owner[recording[alone]] = alone
    starts = (np.diff(tracks.first) - STEPS * (points - 1)).clip(0)
    runs = np.flatnonzero((owner[tracks.recording] >= 0) & (starts > 0))
    first, starts, owned = tracks.first[runs], starts[runs], owner[tracks.recording[runs]]
    room = np.bincount(owned, starts, minlength=n).astype(np.int64)
    pace = np.maximum(_PACE, room // min(_PLACES, max(_IN_ALL // n, 1)))[owned]
    count = (starts - 1) // pace + 1
    rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    places = np.repeat(first, count) + rank * np.repeat(pace, count)
    here = tracks.first[tracks.run] + tracks.start
    return np.append(np.arange(n), np.repeat(owned, count)), np.append(here, places)


def _turned(trajectories: Trajectories, places: Ints, timing: Timing | None) -> Floats:
    """Read windows at places as the search sees them, on leading axes of where they are, (v, q)."""
    seen, weights = search_columns(trajectories, timing)
    mean, variance = means_and_variances(seen)
    share = np.sqrt(
        (1.0 if weights is None else weights) / np.where(variance > 0.0, variance, np.inf)
    )
    axes = share[:, None] * principal_axes((seen - mean) * share)[:, :_AXES]
    tracks, along = trajectories.tracks, STEPS * np.arange(trajectories.points.shape[1])
    assert tracks is not None
    rows = np.empty((len(places), axes.shape[1]))
    for begin in range(0, len(places), _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        which = places[some, None] + along
        times = None if timing is None or tracks.times is None else tracks.times[which]
        windows = Trajectories(tracks.points[which], times=times)
        rows[some] = turn(search_columns(windows, timing)[0] - mean, axes)
    return rows
