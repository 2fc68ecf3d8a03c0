"""Where on its run each window may start, and its records there."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.sliding import SIGHT
from trajanon._kernels.windows import Windows
from trajanon.arrays import Floats, Ints
from trajanon.axes import turn
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.tracks import STEPS, Tracks
from trajanon.workers import in_parts, in_threads

_AT_ONCE = 10_000
"""Windows whose records a thread reads."""


def build_windows(tracks: Tracks, points: int) -> Windows:
    """Lay out tracks for windows of ``points`` points that slide on them.

    Windows of a run keep their order, and a spacing between the last point of one and the first of
    the next; or what lies between them now, if that is less.
    """
    size = np.diff(tracks.first)[tracks.run]
    before, after = _on_the_same_run(tracks)
    follows = before >= 0
    apart = np.zeros(len(size), dtype=np.int64)
    apart[follows] = np.minimum(
        tracks.start[follows] - tracks.start[before[follows]], STEPS * points
    )
    windows = Windows(
        points=tracks.points,
        stride=STEPS,
        place=tracks.first[tracks.run],
        most=size - STEPS * (points - 1) - 1,
        before=before,
        after=after,
        apart=apart,
        mean=np.zeros(2 * points),
        share=np.ones(2 * points),
    )
    # About one of them: nothing is lost far from zero.
    origin = records_at(take(windows, np.arange(1)), tracks.start[:1])[0]
    about = windows._replace(mean=origin)
    mean = mean_record(about, tracks.start)
    squares = summed(about, tracks.start, lambda some: ((some - mean) ** 2).sum(axis=0))
    spread = np.sqrt(squares / (len(size) - 1))
    spread[spread == 0.0] = np.inf
    return windows._replace(mean=origin + mean, share=1.0 / spread)


def _on_the_same_run(tracks: Tracks) -> tuple[Ints, Ints]:
    """The windows before and after each one; -1 for none."""
    order = np.lexsort((tracks.start, tracks.run))
    goes_on = np.diff(tracks.run[order]) == 0
    before, after = np.full((2, len(order)), -1)
    before[order[1:][goes_on]] = order[:-1][goes_on]
    after[order[:-1][goes_on]] = order[1:][goes_on]
    return before, after


def records_at(windows: Windows, start: Ints) -> Floats:
    """Read the records of all windows at their starts, (n, p)."""
    steps = windows.stride * np.arange(len(windows.mean) // 2)
    points = windows.points[(windows.place + start)[:, None] + steps]
    records: Floats = points.reshape(len(start), -1) - windows.mean
    return records * windows.share


def turned_at(windows: Windows, start: Ints, axes: Floats) -> Floats:
    """Read the records of all windows at their starts, turned to axes: (n, q)."""

    def turned(rows: Ints, stop: Event) -> Floats:
        return turn(records_at(take(windows, rows), start[rows]), axes)

    return np.concatenate(in_parts(turned, np.arange(len(start)), _AT_ONCE))


def summed(windows: Windows, start: Ints, measure: Callable[[Floats], Floats]) -> Floats:
    """Sum up what is measured of records, in batches: all would take a table's memory.

    The batches are the same for any number of threads.
    """

    def part(rows: Ints, stop: Event) -> Floats:
        return measure(records_at(take(windows, rows), start[rows]))

    parts = in_parts(part, np.arange(len(start)), _AT_ONCE)
    total: Floats = np.sum(parts, axis=0)
    return total


def mean_record(windows: Windows, start: Ints) -> Floats:
    """Average the records of the windows at their starts, (p,)."""
    return summed(windows, start, lambda some: some.sum(axis=0)) / len(start)


def centred(windows: Windows, start: Ints) -> Windows:
    """Let the records of the windows where they are have means of 0."""
    off = mean_record(windows._replace(share=np.ones_like(windows.share)), start)
    return windows._replace(mean=windows.mean + off)


def start_ranges(
    windows: Windows, start: Ints, random: np.random.Generator | None = None
) -> tuple[Ints, Ints]:
    """Find the first and the last start of each window while all others stay.

    If random, what lies between the windows of a run is shared out among them, so that all may
    slide at once. Each stays within two lengths of a window from where it is: where few windows
    were kept of long tracks, there would be too much to look at.
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


def take(windows: Windows, rows: Ints) -> Windows:
    """Take some windows, to read their records: where they start."""
    return windows._replace(place=windows.place[rows])


def part_of(
    windows: Windows, rows: Ints, first: Ints, last: Ints, *, chained: bool
) -> tuple[Windows, Ints]:
    """Take some windows, and where on their runs the starts of these are counted from.

    Each for itself from its first start to its last; or, if chained, neighbours on a run share what
    is free.
    """
    before = windows.before[rows] if chained else np.full(len(rows), -1)
    found = np.searchsorted(rows, before).clip(max=len(rows) - 1)
    follows = (before >= 0) & (rows[found] == before)
    before = np.where(follows, found, -1)
    after = np.full(len(rows), -1)
    after[found[follows]] = np.flatnonzero(follows)
    begin = first[rows][_ends(before)]
    own = windows._replace(
        place=windows.place[rows] + begin,
        most=last[rows][_ends(after)] - begin,
        before=before,
        after=after,
        apart=np.where(follows, windows.apart[rows], 0),
    )
    return own, begin


def _ends(following: Ints) -> Ints:
    """Follow links until there are none, -1; the last of each chain."""
    ends = np.where(following < 0, np.arange(len(following)), following)
    while (ends[ends] != ends).any():
        ends = ends[ends]
    return ends


class Aligned(NamedTuple):
    """Windows, and their groups."""

    start: Ints  # of each window on its run, (n,)
    labels: Ints  # group of each window, (n,)


def lost_at(windows: Windows, aligned: Aligned) -> float:
    """Sum up what windows lose in groups that are numbered 0..g-1.

    Some groups after the others: the records of all would take a table's memory.
    """
    start, labels = aligned
    sizes = np.bincount(labels)
    members = np.argsort(labels, kind="stable")
    batch = np.cumsum(sizes) // _AT_ONCE
    last = np.cumsum(sizes)[np.append(np.flatnonzero(np.diff(batch)), -1)]

    def lost(rows: Ints, stop: Event) -> float:
        return sse(records_at(take(windows, rows), start[rows]), dense(labels[rows]))

    parts = np.split(members, last[:-1])
    return sum(in_threads([partial(lost, np.sort(rows)) for rows in parts]))
