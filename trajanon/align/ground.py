"""The ground: where on its run each window may start."""

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.sliding import SIGHT, Ground
from trajanon.tracks import STEPS, Tracks


def lay_ground(tracks: Tracks, points: int) -> Ground:
    """Lay out tracks for windows of so many points that slide on them.

    Windows of a run keep their order, and a spacing between the last point of one and
    the first of the next; or what lies between them now, if that is less. Records are
    standardised as those of the windows where they are now; a column that is constant
    there counts nothing.
    """
    size = np.diff(tracks.first)[tracks.run]
    before, after = _on_the_same_run(tracks)
    follows = before >= 0
    apart = np.zeros(len(size), dtype=np.int64)
    apart[follows] = np.minimum(
        tracks.start[follows] - tracks.start[before[follows]], STEPS * points
    )
    records = tracks.windows(points).reshape(len(size), -1)
    centred = records - records[0]  # about one of them: nothing is lost far from zero
    spread = centred.std(axis=0, ddof=1)
    spread[spread == 0.0] = np.inf
    return Ground(
        points=tracks.points,
        stride=STEPS,
        place=tracks.first[tracks.run],
        most=size - STEPS * (points - 1) - 1,
        before=before,
        after=after,
        apart=apart,
        mean=records[0] + centred.mean(axis=0),
        share=1.0 / spread,
    )


def _on_the_same_run(tracks: Tracks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The windows before and after each one; -1 for none."""
    order = np.lexsort((tracks.start, tracks.run))
    goes_on = np.diff(tracks.run[order]) == 0
    before, after = np.full((2, len(order)), -1)
    before[order[1:][goes_on]] = order[:-1][goes_on]
    after[order[:-1][goes_on]] = order[1:][goes_on]
    return before, after


def records_at(ground: Ground, start: NDArray[np.int64]) -> NDArray[np.float64]:
    """Read the records of all windows at their starts, (n, p)."""
    steps = ground.stride * np.arange(len(ground.mean) // 2)
    points = ground.points[(ground.place + start)[:, None] + steps]
    records: NDArray[np.float64] = points.reshape(len(start), -1) - ground.mean
    return records * ground.share


def centred(ground: Ground, start: NDArray[np.int64]) -> Ground:
    """Let the records of the windows where they are have means of 0."""
    means = records_at(ground._replace(share=np.ones_like(ground.share)), start)
    return ground._replace(mean=ground.mean + means.mean(axis=0))


def reach(
    ground: Ground, start: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the first and the last start of each window while all others stay.

    Each within two lengths of a window from where it is: where few windows were kept of
    long tracks, there would be too much ground to look at.
    """
    first, last = np.zeros_like(start), ground.most.copy()
    later = np.flatnonzero(ground.before >= 0)
    first[later] = start[ground.before[later]] + ground.apart[later]
    earlier = ground.before[later]
    last[earlier] = start[later] - ground.apart[later]
    return _in_sight(ground, start, first, last)


def _in_sight(
    ground: Ground,
    start: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    far = SIGHT * ground.stride * (len(ground.mean) // 2)
    return np.maximum(first, start - far), np.minimum(last, start + far)


def shared_out(
    ground: Ground, start: NDArray[np.int64], random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Share out what lies between the windows of each run, at random; as in `reach`.

    Returns
    -------
    tuple[NDArray[np.int64], NDArray[np.int64]]
        The first and the last start of each window, (n,), whatever the others do.
    """
    first, last = np.zeros_like(start), ground.most.copy()
    later = np.flatnonzero(ground.before >= 0)
    earlier = ground.before[later]
    free = start[later] - ground.apart[later] - start[earlier]
    last[earlier] = start[earlier] + random.integers(0, free, endpoint=True)
    first[later] = last[earlier] + ground.apart[later]
    return _in_sight(ground, start, first, last)


def part_of(
    ground: Ground,
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> Ground:
    """Lay out the ground of some windows, each for itself from its first start on."""
    alone = np.full(len(rows), -1)
    return ground._replace(
        place=ground.place[rows] + first[rows],
        most=(last - first)[rows],
        before=alone,
        after=alone,
        apart=np.zeros_like(alone),
    )
