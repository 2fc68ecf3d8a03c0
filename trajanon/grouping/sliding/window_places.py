"""Where on its run each window may start, its records there, and the windows near it."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.sliding_windows import (
    SIGHT,
    Windows,
    build_rows,
    compare_places,
    list_each_other,
    read_records,
)
from trajanon.common.arrays import Floats, Ints
from trajanon.common.workers import in_parts
from trajanon.grouping.neighbours import grow_trees, in_batches_of_leaves, leaf_size
from trajanon.trajectories.tracks import STEPS, Tracks

_WINDOWS_PER_BATCH = 10_000  # that a thread reads at a time
_PACE = 2 * STEPS  # steps between two places where a window is looked for: twice the spacing
_PLACES = 15  # about the most places of a window: with more room, its places lie farther apart
_TREES = 3  # of places: with four, a million drawn windows come 0.4 % nearer to their groups


def lay_out(tracks: Tracks, points: int, departure: Floats | None = None) -> Windows:
    """Lay out tracks for windows of ``points`` points, and their ``departure``, in no scale yet.

    Windows of a run keep their order, and a spacing from the last point of one to the first of the
    next; or what lies between them now, if that is less.
    """
    before, after, apart = _neighbours_on_runs(tracks, points)
    numbers = 2 * points + (departure is not None)
    return Windows(
        points=tracks.points.ticks,
        stride=STEPS,
        place=tracks.first[tracks.run],
        most=np.diff(tracks.first)[tracks.run] - STEPS * (points - 1) - 1,
        before=before,
        after=after,
        apart=apart,
        departure=np.empty(0) if departure is None else departure,
        mean=np.zeros(numbers),
        share=np.ones(numbers),
    )


def build_windows(
    tracks: Tracks, points: int, departure: Floats | None = None, weights: Floats | None = None
) -> Windows:
    """Lay out windows, each number of whose records is standardised, and weighted."""
    windows = lay_out(tracks, points, departure)
    count = len(tracks.run)

    # Subtract one record first: sums of squares far from zero lose precision.
    origin = records_at(windows._replace(place=windows.place[:1]), tracks.start[:1])[0]
    about_origin = windows._replace(mean=origin)
    mean = summed(about_origin, tracks.start, lambda records: records.sum(axis=0)) / count
    squares = summed(
        about_origin, tracks.start, lambda records: ((records - mean) ** 2).sum(axis=0)
    )

    spread = np.sqrt(squares / max(count - 1, 1))
    spread[spread == 0.0] = np.inf
    share = 1.0 / spread if weights is None else np.sqrt(weights) / spread
    return windows._replace(mean=origin + mean, share=share)


def _neighbours_on_runs(tracks: Tracks, points: int) -> tuple[Ints, Ints, Ints]:
    """Find the window before and after each on its run, -1 for none, and the steps between."""
    order = np.lexsort((tracks.start, tracks.run))
    goes_on = np.diff(tracks.run[order]) == 0
    earlier = order[:-1][goes_on]
    later = order[1:][goes_on]

    before = np.full(len(order), -1)
    before[later] = earlier
    after = np.full(len(order), -1)
    after[earlier] = later
    apart = np.zeros(len(order), dtype=np.int64)
    apart[later] = np.minimum(tracks.start[later] - tracks.start[earlier], STEPS * points)
    return before, after, apart


def records_at(windows: Windows, start: Ints) -> Floats:
    """Read the records of all windows at their starts, (n, p)."""
    records = np.empty((len(start), len(windows.mean)))
    read_records(windows, start, records)
    return records


def turned_at(windows: Windows, start: Ints, axes: Floats) -> Floats:
    """Read the records of all windows at their starts, turned to axes: (n, q)."""
    turned = np.empty((len(start), axes.shape[1]))

    def read(rows: Ints, stop: Event) -> None:
        fill_turned(windows, rows, start[rows], axes, turned[rows[0] : rows[-1] + 1])

    in_parts(read, np.arange(len(start)), _WINDOWS_PER_BATCH)
    return turned


def fill_turned(
    windows: Windows, rows: Ints, start: Ints, axes: Floats, turned: NDArray[np.floating]
) -> None:
    """Read the records of some windows, each at a start, turned to axes."""
    at_start = windows._replace(place=windows.place[rows] + start, most=np.zeros_like(start))
    build_rows(at_start, axes.T.copy(), np.empty(len(axes)), 1, np.arange(len(rows)), turned)


def summed(windows: Windows, start: Ints, measure: Callable[[Floats], Floats]) -> Floats:
    """Sum up a measure of windows at their starts, in the same batches for any threads."""

    def batch(rows: Ints, stop: Event) -> Floats:
        return measure(records_at(windows._replace(place=windows.place[rows]), start[rows]))

    return np.asarray(np.sum(in_parts(batch, np.arange(len(start)), _WINDOWS_PER_BATCH), axis=0))


def centred(windows: Windows, start: Ints) -> Windows:
    """Return the windows so that their records, where they are, have means of 0."""
    unscaled = windows._replace(share=np.ones_like(windows.share))
    off = summed(unscaled, start, lambda records: records.sum(axis=0)) / len(start)
    return windows._replace(mean=windows.mean + off)


def start_ranges(
    windows: Windows, start: Ints, random: np.random.Generator | None = None
) -> tuple[Ints, Ints]:
    """Find the first and the last start of each window while all others stay, near where it is.

    If random, what lies between the windows of a run is shared out among them, so that all may
    slide at once.
    """
    first = np.zeros_like(start)
    last = windows.most.copy()
    later = np.flatnonzero(windows.before >= 0)
    earlier = windows.before[later]

    # Free is what lies between two windows beyond the distance that they have to keep.
    free = start[later] - windows.apart[later] - start[earlier]
    behind = np.zeros_like(free)
    ahead = free
    if random is not None:
        behind = ahead = random.integers(0, free, endpoint=True)
    first[later] = start[earlier] + behind + windows.apart[later]
    last[earlier] = start[earlier] + ahead

    far = SIGHT * windows.stride * (len(windows.mean) // 2)
    return np.maximum(first, start - far), np.minimum(last, start + far)


def part_of(
    windows: Windows, rows: Ints, first: Ints, last: Ints, *, chained: bool
) -> tuple[Windows, Ints]:
    """Select windows, and where starts count from; chained, those of a run share its room."""
    # Of a run, some windows may be in other blocks: only those of this one that follow each other
    # directly are linked, and the rest ends where their part of the room does.
    before = windows.before[rows] if chained else np.full(len(rows), -1)
    place = np.searchsorted(rows, before).clip(max=len(rows) - 1)
    follows = (before >= 0) & (rows[place] == before)
    before = np.where(follows, place, -1)
    after = np.full(len(rows), -1)
    after[place[follows]] = np.flatnonzero(follows)

    begin = first[rows][follow(before)]
    part = windows._replace(
        place=windows.place[rows] + begin,
        most=last[rows][follow(after)] - begin,
        before=before,
        after=after,
        apart=np.where(follows, windows.apart[rows], 0),
    )
    return part, begin


def follow(following: Ints) -> Ints:
    """Follow links until there are none, -1: the last of each chain, (n,)."""
    ends = np.where(following < 0, np.arange(len(following)), following)
    while (ends[ends] != ends).any():
        ends = ends[ends]
    return ends


class Aligned(NamedTuple):
    """Windows, and their groups."""

    start: Ints  # of each window on its run, (n,)
    labels: Ints  # group of each window, (n,)


def window_neighbours(
    windows: Windows, start: Ints, axes: Floats, count: int
) -> NDArray[np.integer]:
    """Find windows that come near each one, if either of the two slides, (n, c).

    They share a leaf of a tree of all places, every eighth step or farther apart.
    """
    n = len(start)
    rows, window, place_now = _build_places(windows, start, axes)
    near = np.full((n, count), -1, np.int32)
    away = np.full((n, count), np.inf, np.float32)

    # A window is in one leaf of a tree where it is, so no two threads write its list.
    for order, borders in grow_trees(rows, leaf_size(count), _TREES):
        compare = partial(compare_places, rows, window, place_now, order)
        in_batches_of_leaves(compare, borders, near, away)
    list_each_other(near, away)
    return np.where(near < 0, np.arange(n, dtype=np.int32)[:, None], near)


def _build_places(
    windows: Windows, start: Ints, axes: Floats
) -> tuple[NDArray[np.float32], Ints, Ints]:
    """List where windows may lie: records in the axes, windows, and the place of each one now."""
    first, last = start_ranges(windows, start)
    pace = np.maximum(_PACE, (last - first) // _PLACES)
    back = (start - first) // pace
    ahead = (last - start) // pace
    places = back + ahead + 1
    begin = np.append(0, np.cumsum(places))
    window = np.repeat(np.arange(len(start)), places)
    rows = np.empty((len(window), axes.shape[1]), np.float32)

    def read(batch: Ints, stop: Event) -> None:
        part = slice(begin[batch[0]], begin[batch[-1] + 1])
        of_part = window[part]
        rank = np.arange(part.start, part.stop) - begin[of_part]
        starts = start[of_part] + (rank - back[of_part]) * pace[of_part]
        fill_turned(windows, of_part, starts, axes, rows[part])

    in_parts(read, np.arange(len(start)), _WINDOWS_PER_BATCH)
    return rows, window, back + begin[:-1]
