"""Where on its run each window may start, and its records there."""

from collections.abc import Callable
from threading import Event

import numpy as np

from trajanon._kernels.sliding import SIGHT
from trajanon._kernels.windows import Windows
from trajanon.arrays import Floats, Ints
from trajanon.axes import turn
from trajanon.tracks import STEPS, Tracks
from trajanon.workers import in_parts

AT_ONCE = 10_000
"""Windows whose records a thread reads."""


def build_windows(tracks: Tracks, points: int) -> Windows:
    """Lay out tracks for windows of so many points that slide on them.

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

    return np.concatenate(in_parts(turned, np.arange(len(start)), AT_ONCE))


def summed(windows: Windows, start: Ints, measure: Callable[[Floats], Floats]) -> Floats:
    """Sum up what is measured of records, in batches: all would take a table's memory.

    The batches are the same for any number of threads.
    """

    def part(rows: Ints, stop: Event) -> Floats:
        return measure(records_at(take(windows, rows), start[rows]))

    parts = in_parts(part, np.arange(len(start)), AT_ONCE)
    total: Floats = np.sum(parts, axis=0)
    return total


def mean_record(windows: Windows, start: Ints) -> Floats:
    """Average the records of the windows at their starts, (p,)."""
    return summed(windows, start, lambda some: some.sum(axis=0)) / len(start)


def centred(windows: Windows, start: Ints) -> Windows:
    """Let the records of the windows where they are have means of 0."""
    off = mean_record(windows._replace(share=np.ones_like(windows.share)), start)
    return windows._replace(mean=windows.mean + off)


def start_ranges(windows: Windows, start: Ints) -> tuple[Ints, Ints]:
    """Find the first and the last start of each window while all others stay.

    Each within two lengths of a window from where it is: where few windows were kept of long
    tracks, there would be too much to look at.
    """
    first, last = np.zeros_like(start), windows.most.copy()
    later = np.flatnonzero(windows.before >= 0)
    first[later] = start[windows.before[later]] + windows.apart[later]
    earlier = windows.before[later]
    last[earlier] = start[later] - windows.apart[later]
    return _in_sight(windows, start, first, last)


def _in_sight(windows: Windows, start: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    far = SIGHT * windows.stride * (len(windows.mean) // 2)
    return np.maximum(first, start - far), np.minimum(last, start + far)


def shared_ranges(windows: Windows, start: Ints, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Share out what lies between the windows of each run, at random; as in `start_ranges`."""
    first, last = np.zeros_like(start), windows.most.copy()
    later = np.flatnonzero(windows.before >= 0)
    earlier = windows.before[later]
    free = start[later] - windows.apart[later] - start[earlier]
    last[earlier] = start[earlier] + random.integers(0, free, endpoint=True)
    first[later] = last[earlier] + windows.apart[later]
    return _in_sight(windows, start, first, last)


def take(windows: Windows, rows: Ints) -> Windows:
    """Take some windows, to read their records: where they start."""
    return windows._replace(place=windows.place[rows])


def part_of(windows: Windows, rows: Ints, first: Ints, last: Ints) -> tuple[Windows, Ints]:
    """Take some windows, each for itself from its first start on."""
    alone, begin = np.full(len(rows), -1), first[rows]
    own = windows._replace(
        place=windows.place[rows] + begin,
        most=last[rows] - begin,
        before=alone,
        after=alone,
        apart=np.zeros_like(alone),
    )
    return own, begin


def chained_part_of(windows: Windows, rows: Ints, first: Ints, last: Ints) -> tuple[Windows, Ints]:
    """Take some windows, where neighbours on a run share what is free."""
    before = windows.before[rows]
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
