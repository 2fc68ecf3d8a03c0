"""Where on its run each window may start, its records there, and the windows near it.

A run is a piece of a track without a gap; a window starts at a step of its run, counted from 0. A
record, (p,), holds the coordinates of a window's points, and perhaps its departure.
"""

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
from trajanon.common.threads_and_dask import in_parts
from trajanon.grouping.neighbours import grow_trees, in_batches_of_leaves, leaf_size
from trajanon.trajectories.tracks import STEPS, Tracks

_WINDOWS_PER_BATCH = 10_000  # read by a thread at a time
_PACE = 2 * STEPS  # steps between two starts where a window is looked for: twice the spacing
_STARTS = 15  # of a window, about the most: with more room they lie farther apart
_TREES = 3  # of such starts: a fourth brings a million windows only 0.4 % nearer to their groups


def lay_out(tracks: Tracks, points: int, departure: Floats | None = None) -> Windows:
    """Lay out tracks for windows of ``points`` points, not yet standardised.

    ``departure``, (t,), is that from each point of the runs, in seconds. Windows of a run keep
    their order, and a spacing from the last point of one to the first of the next; or what lies
    between them now, if that is less.
    """
    before, after, apart = _neighbours_on_runs(tracks, points)
    numbers = 2 * points + (0 if departure is None else 1)  # in a record
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
    """Lay out windows whose records are standardised, and weighted by column, (p,)."""
    windows = lay_out(tracks, points, departure)
    count = len(tracks.run)

    # Subtract one record first: sums of squares far from zero lose precision.
    origin = records_at(windows._replace(place=windows.place[:1]), tracks.start[:1])[0]
    about_origin = windows._replace(mean=origin)
    mean = summed(about_origin, tracks.start, lambda records: records.sum(axis=0)) / count
    squares = summed(
        about_origin, tracks.start, lambda records: ((records - mean) ** 2).sum(axis=0)
    )

    spread = np.sqrt(squares / max(count - 1, 1))  # a single window has none
    spread[spread == 0.0] = np.inf  # a constant column counts 0
    share = 1.0 / spread if weights is None else np.sqrt(weights) / spread
    return windows._replace(mean=origin + mean, share=share)


def _neighbours_on_runs(tracks: Tracks, points: int) -> tuple[Ints, Ints, Ints]:
    """Find the window before and after each on its run, -1 for none; each (n,).

    The third is how many steps each has to start behind the start of the one before.
    """
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
    """Read the records of the windows in these rows, each at a start, into ``turned``, (rows, q).

    They are turned to ``axes``, (p, q).
    """
    # For the kernel these are windows that cannot slide: each has one row, at any pace.
    at_start = windows._replace(place=windows.place[rows] + start, most=np.zeros_like(start))
    one_record = np.empty(len(axes))
    pace = 1
    build_rows(at_start, axes.T.copy(), one_record, pace, np.arange(len(rows)), turned)


def summed(windows: Windows, start: Ints, measure: Callable[[Floats], Floats]) -> Floats:
    """Sum up a measure of the records of windows at their starts, batch by batch.

    The batches are the same for any number of threads, so that the sum is, too.
    """

    def batch(rows: Ints, stop: Event) -> Floats:
        return measure(records_at(windows._replace(place=windows.place[rows]), start[rows]))

    return np.asarray(np.sum(in_parts(batch, np.arange(len(start)), _WINDOWS_PER_BATCH), axis=0))


def centred(windows: Windows, start: Ints) -> Windows:
    """Return the windows with means such that their records, at these starts, have means of 0."""
    unscaled = windows._replace(share=np.ones_like(windows.share))
    off = summed(unscaled, start, lambda records: records.sum(axis=0)) / len(start)
    return windows._replace(mean=windows.mean + off)


def about_first(windows: Windows, start: Ints) -> Windows:
    """Return the windows with means such that the record of the first one, at its start, is 0.

    Of near windows records are small then, too, and lose little in single precision.
    """
    first = windows._replace(place=windows.place[:1], share=np.ones_like(windows.share))
    return windows._replace(mean=windows.mean + records_at(first, start[:1])[0])


def start_ranges(
    windows: Windows, start: Ints, random: np.random.Generator | None = None
) -> tuple[Ints, Ints]:
    """Find the first and the last start of each window, (n,), while all others stay.

    Neither is far from where it is. With ``random`` the free room between two windows of a run is
    shared out between them at random, so that all may slide at once.
    """
    first = np.zeros_like(start)
    last = windows.most.copy()
    later = np.flatnonzero(windows.before >= 0)
    earlier = windows.before[later]

    # Free is what lies between two windows beyond the distance that they have to keep. The earlier
    # one may slide up to the first number of steps, the later one back to the second.
    free = start[later] - windows.apart[later] - start[earlier]
    up_to = free
    back_to = np.zeros_like(free)
    if random is not None:
        up_to = random.integers(0, free, endpoint=True)
        back_to = up_to
    first[later] = start[earlier] + back_to + windows.apart[later]
    last[earlier] = start[earlier] + up_to

    # So many lengths of a window, in steps; half of the numbers of a record are its points.
    far = SIGHT * windows.stride * (len(windows.mean) // 2)
    return np.maximum(first, start - far), np.minimum(last, start + far)


def part_of(
    windows: Windows, rows: Ints, first: Ints, last: Ints, *, chained: bool
) -> tuple[Windows, Ints]:
    """Select the windows in these rows, with starts that count from where each may first start.

    ``first`` and ``last``, (n,), are the starts that all windows may have. If ``chained``, windows
    of a run that follow each other in the part share all their room, and each may slide up to the
    next one. Also returned is where on their runs the starts count from, (rows,).
    """
    # Windows are numbered anew in the part; one before or after them in another part is none.
    before = windows.before[rows] if chained else np.full(len(rows), -1)
    place = np.searchsorted(rows, before).clip(max=len(rows) - 1)
    follows = (before >= 0) & (rows[place] == before)
    before = np.where(follows, place, -1)
    after = np.full(len(rows), -1)
    after[place[follows]] = np.flatnonzero(follows)

    first_of_chain = last_links(before)
    last_of_chain = last_links(after)
    begin = first[rows][first_of_chain]
    part = windows._replace(
        place=windows.place[rows] + begin,
        most=last[rows][last_of_chain] - begin,
        before=before,
        after=after,
        apart=np.where(follows, windows.apart[rows], 0),
    )
    return part, begin


def last_links(following: Ints) -> Ints:
    """Follow links, (n,), from each window until there is none, -1; return where they end, (n,)."""
    ends = np.where(following < 0, np.arange(len(following)), following)
    # Each round doubles how many links are followed.
    while (ends[ends] != ends).any():
        ends = ends[ends]
    return ends


class Aligned(NamedTuple):
    """Where windows are, and in which groups."""

    start: Ints  # of each window on its run, (n,)
    labels: Ints  # group of each window, (n,)


def window_neighbours(
    windows: Windows, start: Ints, axes: Floats, count: int
) -> NDArray[np.integer]:
    """Find the windows that come nearest to each one if either of the two slides, (n, c).

    Each window where it is, is compared with possible starts of the others, some steps apart, that
    share a leaf of a tree with it.
    """
    n = len(start)
    # Windows that lie near one another come one after the other: a tree reads near places often.
    ((by_place, _),) = grow_trees(turned_at(windows, start, axes), leaf_size(count), 1)
    rows, window, place_now = _build_possible_starts(windows, start, axes, by_place)
    near = np.full((n, count), -1, np.int32)
    away = np.full((n, count), np.inf, np.float32)

    # A window is in one leaf of a tree where it is, so no two threads write its list.
    for order, borders in grow_trees(rows, leaf_size(count), _TREES):
        compare = partial(compare_places, rows, window, place_now, order)
        in_batches_of_leaves(compare, borders, near, away)
    list_each_other(near, away)
    # A window that met fewer has itself for those that are missing.
    near = np.where(near < 0, np.arange(n, dtype=np.int32)[:, None], near)

    by_window = np.empty_like(near)
    by_window[by_place] = by_place[near]
    return by_window


def _build_possible_starts(
    windows: Windows, start: Ints, axes: Floats, order: Ints
) -> tuple[NDArray[np.float32], Ints, Ints]:
    """List v possible starts of windows, a pace apart, window by window.

    Windows are numbered anew, in an order, (n,). Returned are the records there, turned to axes,
    (v, q); the window of each, (v,); and of each window, (n,), the number of the start where it is.
    """
    first, last = (ends[order] for ends in start_ranges(windows, start))
    start = start[order]
    windows = windows._replace(place=windows.place[order])
    pace = np.maximum(_PACE, (last - first) // _STARTS)
    paces_back = (start - first) // pace
    paces_ahead = (last - start) // pace
    counts = paces_back + paces_ahead + 1
    begin = np.append(0, np.cumsum(counts))
    window = np.repeat(np.arange(len(start)), counts)
    rows = np.empty((len(window), axes.shape[1]), np.float32)

    def read(batch: Ints, stop: Event) -> None:
        part = slice(begin[batch[0]], begin[batch[-1] + 1])
        part_windows = window[part]
        rank = np.arange(part.start, part.stop) - begin[part_windows]
        steps = (rank - paces_back[part_windows]) * pace[part_windows]
        fill_turned(windows, part_windows, start[part_windows] + steps, axes, rows[part])

    in_parts(read, np.arange(len(start)), _WINDOWS_PER_BATCH)
    return rows, window, begin[:-1] + paces_back
