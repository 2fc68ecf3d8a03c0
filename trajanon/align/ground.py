"""Ground: the free track between windows of a run is divided between their parts."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from trajanon.align.windows import build_windows, follow, part_of, start_ranges
from trajanon.arrays import Ints
from trajanon.tracks import STEPS, Tracks, spans
from trajanon.trajectories import Trajectories


def shared_out(
    trajectories: Trajectories, part: Ints, random: np.random.Generator
) -> Iterator[tuple[int, Ints, Trajectories]]:
    """Divide trajectories; yield the number of each part, its rows, and their free track.

    What lies between two windows of a run is shared out at random between their parts. Windows of
    one part that follow each other on a run share what is free. A window that is alone in its
    recording keeps all runs of it.
    """
    order = np.argsort(part, kind="stable")
    numbers, first = np.unique(part[order], return_index=True)
    tracks, m = trajectories.tracks, trajectories.points.shape[1]
    cut = replace(trajectories, tracks=None)
    if tracks is not None and tracks.recording is not None:
        cut, tracks = trajectories, None
    if tracks is not None:
        windows = build_windows(tracks, m)
        low, high = start_ranges(windows, tracks.start, random)
    for number, rows in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
        some = cut.take(rows)
        if tracks is not None:
            own, begin = part_of(windows, rows, low, high, chained=True)
            heads = np.flatnonzero(own.before < 0)
            size = own.most[heads] + STEPS * (m - 1) + 1
            held = spans(own.place[heads], size)
            ground = Tracks(
                points=tracks.points.take(held),
                first=np.append(0, np.cumsum(size)),
                run=np.searchsorted(heads, follow(own.before)),
                start=tracks.start[rows] - begin,
                times=None if tracks.times is None else tracks.times[held],
            )
            some = replace(some, tracks=ground)
        yield number, rows, some


def without_ends(tracks: Tracks, points: int) -> Tracks:
    """Take a spacing, or the free track if shorter, off the end of each run.

    The run may go on in another slice, with a window that begins at this end; both would have the
    point there.
    """
    size = np.zeros(len(tracks.first) - 1, dtype=np.int64)
    np.maximum.at(size, tracks.run, tracks.start + STEPS * (points - 1) + 1)
    size = np.maximum(size, np.diff(tracks.first) - STEPS)
    held = spans(tracks.first[:-1], size)
    return replace(
        tracks,
        points=tracks.points.take(held),
        first=np.append(0, np.cumsum(size)),
        times=None if tracks.times is None else tracks.times[held],
    )
