"""Where on its run each window may start, its records there, and the windows near it."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.sliding_windows import (
    SIGHT,
    Windows,
    build_rows,
    compare_places,
    read_records,
    tell_each_other,
)
from trajanon.common.arrays import Floats, Ints
from trajanon.common.workers import in_parts
from trajanon.grouping.neighbours import grow_trees, in_leaves, leaf_size
from trajanon.trajectories.tracks import STEPS, Tracks

_AT_ONCE = 10_000  # windows that a thread reads at a time
_PACE = 2 * STEPS  # steps between two places where a window is looked for: twice the spacing
_PLACES = 15  # about the most places of a window: with more room, its places lie farther apart
_TREES = 3  # of places: with four, a million drawn windows come 0.4 % nearer to their groups


def build_windows(
    tracks: Tracks, points: int, departure: Floats | None = None, weights: Floats | None = None
) -> Windows:
    """Lay out tracks for windows of ``points`` points, and their ``departure``, with weights.

    Windows of a run keep their order, and a spacing from the last point of one to the first of the
    next; or what lies between them now, if that is less.
    """
    size = np.diff(tracks.first)[tracks.run]
    order = np.lexsort((tracks.start, tracks.run))
    goes_on = np.diff(tracks.run[order]) == 0
    earlier, later = order[:-1][goes_on], order[1:][goes_on]
    before, after = np.full((2, len(order)), -1)
    before[later], after[earlier] = earlier, later
    apart = np.zeros(len(size), dtype=np.int64)
    apart[later] = np.minimum(tracks.start[later] - tracks.start[earlier], STEPS * points)
    numbers = 2 * points + (departure is not None)
    windows = Windows(
        points=tracks.points.ticks,
        stride=STEPS,
        place=tracks.first[tracks.run],
        most=size - STEPS * (points - 1) - 1,
        before=before,
        after=after,
        apart=apart,
        departure=np.empty(0) if departure is None else departure,
        mean=np.zeros(numbers),
        share=np.ones(numbers),
    )
    # Subtract one record first: sums of squares far from zero lose precision.
    origin = records_at(windows._replace(place=windows.place[:1]), tracks.start[:1])[0]
    about = windows._replace(mean=origin)
    mean = summed(about, tracks.start, lambda some: some.sum(axis=0)) / len(size)
    squares = summed(about, tracks.start, lambda some: ((some - mean) ** 2).sum(axis=0))
    spread = np.sqrt(squares / max(len(size) - 1, 1))
    spread[spread == 0.0] = np.inf
    share = 1.0 / spread if weights is None else np.sqrt(weights) / spread
    return windows._replace(mean=origin + mean, share=share)


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

    in_parts(read, np.arange(len(start)), _AT_ONCE)
    return turned


def fill_turned(
    windows: Windows, rows: Ints, start: Ints, axes: Floats, turned: NDArray[Any]
) -> None:
    """Read the records of some windows, each at a start, turned to axes."""
    there = windows._replace(place=windows.place[rows] + start, most=np.zeros_like(start))
    build_rows(there, axes.T.copy(), np.empty(len(axes)), np.arange(len(rows)), turned)


def summed(windows: Windows, start: Ints, measure: Callable[[Floats], Floats]) -> Floats:
    """Sum up a measure of windows at their starts, in the same batches for any threads."""

    def batch(rows: Ints, stop: Event) -> Floats:
        return measure(records_at(windows._replace(place=windows.place[rows]), start[rows]))

    return np.asarray(np.sum(in_parts(batch, np.arange(len(start)), _AT_ONCE), axis=0))


def centred(windows: Windows, start: Ints) -> Windows:
    """Let the records of the windows where they are have means of 0."""
    own = windows._replace(share=np.ones_like(windows.share))
    off = summed(own, start, lambda some: some.sum(axis=0)) / len(start)
    return windows._replace(mean=windows.mean + off)


def start_ranges(
    windows: Windows, start: Ints, random: np.random.Generator | None = None
) -> tuple[Ints, Ints]:
    """Find the first and the last start of each window while all others stay, near where it is.

    If random, what lies between the windows of a run is shared out among them, so that all may
    slide at once.
    """
    first, last = np.zeros_like(start), windows.most.copy()
    later = np.flatnonzero(windows.before >= 0)
    earlier = windows.before[later]
    free = start[later] - windows.apart[later] - start[earlier]
    behind, ahead = np.zeros_like(free), free
    if random is not None:
        behind = ahead = random.integers(0, free, endpoint=True)
    first[later] = start[earlier] + behind + windows.apart[later]
    last[earlier] = start[earlier] + ahead
    far = SIGHT * windows.stride * (len(windows.mean) // 2)
    return np.maximum(first, start - far), np.minimum(last, start + far)


def part_of(
    windows: Windows, rows: Ints, first: Ints, last: Ints, *, chained: bool
) -> tuple[Windows, Ints]:
    """Take some windows, and where starts count from; chained, those of a run share its room."""
    before = windows.before[rows] if chained else np.full(len(rows), -1)
    found = np.searchsorted(rows, before).clip(max=len(rows) - 1)
    follows = (before >= 0) & (rows[found] == before)
    before = np.where(follows, found, -1)
    after = np.full(len(rows), -1)
    after[found[follows]] = np.flatnonzero(follows)
    begin = first[rows][follow(before)]
    own = windows._replace(
        place=windows.place[rows] + begin,
        most=last[rows][follow(after)] - begin,
        before=before,
        after=after,
        apart=np.where(follows, windows.apart[rows], 0),
    )
    return own, begin


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
) -> NDArray[np.integer[Any]]:
    """Find windows that come near each one, if either of the two slides, (n, c).

    By trees of all places, every eighth step, or farther apart: each is compared with its leaf.
    """
    n = len(start)
    rows, window, here = _build_places(windows, start, axes)
    near, away = np.full((n, count), -1, np.int32), np.full((n, count), np.inf, np.float32)
    compare = partial(compare_places, rows, window, here)
    # A window is in one leaf of a tree where it is, so no two threads write its list.
    for order, borders in grow_trees(rows, leaf_size(count), _TREES):
        in_leaves(compare, order, borders, near, away)
    tell_each_other(near, away)
    return np.where(near < 0, np.arange(n, dtype=np.int32)[:, None], near)


def _build_places(
    windows: Windows, start: Ints, axes: Floats
) -> tuple[NDArray[np.float32], Ints, Ints]:
    """Where windows are searched for: records in the axes, the window of each, and places now."""
    first, last = start_ranges(windows, start)
    pace = np.maximum(_PACE, (last - first) // _PLACES)
    back, on = (start - first) // pace, (last - start) // pace
    places = back + on + 1
    begin = np.append(0, np.cumsum(places))
    window = np.repeat(np.arange(len(start)), places)
    rows = np.empty((len(window), axes.shape[1]), np.float32)

    def read(some: Ints, stop: Event) -> None:
        mine = slice(begin[some[0]], begin[some[-1] + 1])
        x = window[mine]
        rank = np.arange(mine.start, mine.stop) - begin[x]
        fill_turned(windows, x, start[x] + (rank - back[x]) * pace[x], axes, rows[mine])

    in_parts(read, np.arange(len(start)), _AT_ONCE)
    return rows, window, back + begin[:-1]
