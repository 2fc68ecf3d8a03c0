"""Tracks, row by row: each row holds a piece of its run, valid by itself.

Three columns: ``run``; ``start``, the place on the run of the window's first point, in steps;
``track``, the row's piece. The pieces of a run are cut where its windows begin: the first holds the
run from its beginning, each ends with the first point of the next, the last at the end of the run.
Where rows are taken out, what is left of a run falls apart into shorter ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.wkb import WkbLines, read_lines
from trajanon.tracks import STEPS, Tracks

_AT_ONCE = 1_000_000
"""Points that are worked on at once, as they take several times their memory then."""


def lines_of_tracks(tracks: Tracks) -> Iterator[NDArray[Any]]:
    """Yield each row's piece as a shapely line (lon, lat), some rows at a time."""
    import shapely

    order = np.lexsort((tracks.start, tracks.run))
    run = tracks.run[order]
    window = tracks.first[run] + tracks.start[order]
    heads = np.diff(run, prepend=-1) != 0
    tails = np.append(heads, True)[1:]
    begin, end = np.empty_like(window), np.empty_like(window)
    begin[order] = np.where(heads, tracks.first[run], window)
    end[order] = np.where(tails, tracks.first[run + 1], np.append(window, 0)[1:] + 1)
    size = end - begin
    for rows in _blocks(size):
        places = _spans(begin[rows], size[rows])
        row = np.repeat(np.arange(len(rows)), size[rows])
        yield shapely.linestrings(tracks.points[places, ::-1], indices=row)


def read_tracks(
    run: NDArray[Any] | None,
    start: NDArray[Any] | None,
    track: Callable[[], Iterator[Any]],
    points: Floats,
) -> Tracks:
    """Join pieces to runs again.

    They are read twice: to see how long they are and where they meet, and to put them where they
    belong. So their points are never there twice.
    """
    run, start = _numbers("run", run), _numbers("start", start)
    pieces = _Pieces.of(track(), points, start)
    order = np.lexsort((start, run))
    heads = np.append(True, np.diff(run[order]) != 0)
    head = np.zeros(len(run), dtype=np.bool_)
    head[order] = heads
    begin = start - pieces.found(start, head)
    ordered = pieces.take(order)
    meets = ~heads[1:] & ordered.meet(begin[order])
    heads[1:] = ~meets
    joined = np.cumsum(heads) - 1
    new_run, new_start = np.empty_like(run), np.empty_like(start)
    new_run[order] = joined
    new_start[order] = start[order] - begin[order[heads]][joined]
    in_order = ordered.size - np.append(meets, False)  # the point at a seam is in both
    size, into = np.empty_like(run), np.empty_like(run)
    size[order] = in_order
    into[order] = np.cumsum(in_order) - in_order
    return Tracks(
        points=_gather(track(), size, into),
        first=np.append(0, np.cumsum(in_order)[np.append(heads, True)[1:]]),
        run=new_run,
        start=new_start,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """What must be known of each row's piece, (n,), before all are joined.

    Its size; its first and last point, (n, 2); and whether the row's window is on it from its start
    on, or from the piece's first point on.
    """

    size: Ints
    first: Floats
    last: Floats
    at_start: Bools
    at_once: Bools

    @classmethod
    def of(cls, track: Iterator[Any], windows: Floats, start: Ints) -> "_Pieces":
        n = len(windows)
        size, ends = np.empty(n, dtype=np.int64), np.full((2, n, 2), np.nan)
        holds, row = np.empty((2, n), dtype=np.bool_), 0
        for batch in track:
            some = _lines(batch, row)
            rows = slice(row, row + len(batch))
            first = np.cumsum(some.size) - some.size
            there = np.flatnonzero(some.size)
            size[rows] = some.size
            ends[0, rows][there] = some.points[first[there]]
            ends[1, rows][there] = some.points[(first + some.size - 1)[there]]
            for hold, place in zip(holds, (start[rows], 0 * start[rows]), strict=True):
                hold[rows] = _hold(some, first, windows[rows], place)
            row += len(batch)
        return cls(size, *ends, *holds)

    def take(self, which: Ints) -> "_Pieces":
        return _Pieces(
            self.size[which],
            self.first[which],
            self.last[which],
            self.at_start[which],
            self.at_once[which],
        )

    def found(self, start: Ints, head: Bools) -> Ints:
        """Tell on each row's piece the place where its window begins.

        That is the piece's first point or, where a piece begins with its run, the start; a track
        that repeats itself to the bit may allow both.
        """
        stray = ~self.at_start & ~self.at_once
        if stray.any():
            msg = (
                f"the trajectory of row {np.argmax(stray)} is not every {STEPS}th "
                "point of its track from its start on"
            )
            raise BadInput(msg)
        return np.where(self.at_start & (head | ~self.at_once), start, 0)

    def meet(self, begin: Ints) -> Bools:
        """Tell where a piece goes on where the one before it ends, shape (n - 1,).

        The number says so, and the point: files put together use numbers twice.
        """
        seam = (self.last[:-1] == self.first[1:]).all(axis=1)
        meets: Bools = (begin[1:] == begin[:-1] + self.size[:-1] - 1) & seam
        return meets


def _lines(batch: Any, row: int) -> WkbLines:
    """Read the pieces of some rows, of which this one is the first."""
    try:
        some = read_lines(batch, "ignore")
        missing = ~some.line
    except TypeError:
        missing = np.ones(len(batch), dtype=np.bool_)
    if missing.any():
        msg = f"the track of row {row + np.argmax(missing)} is missing, or is no LineString"
        raise BadInput(msg)
    return some


def _hold(some: WkbLines, first: Ints, windows: Floats, place: Ints) -> Bools:
    """Tell which windows lie at such a place of their pieces."""
    steps = STEPS * np.arange(windows.shape[1])
    held: Bools = (place >= 0) & (place < some.size - steps[-1])
    there = (first + place)[held, None] + steps
    held[held] = (some.points[there] == windows[held]).all(axis=(1, 2))
    return held


def _numbers(name: str, column: NDArray[Any] | None) -> Ints:
    if column is None:
        msg = f"it has a column track, and no column {name}"
        raise BadInput(msg)
    with np.errstate(invalid="ignore"):  # NaN is no number either
        whole = column.astype(np.int64) if column.dtype.kind in "iuf" else None
    if whole is None or (whole != column).any():
        msg = f"its column {name} does not hold a whole number in each row"
        raise BadInput(msg)
    return whole


def _gather(track: Iterator[Any], size: Ints, into: Ints) -> Floats:
    """Put so many points of each row's piece where they belong."""
    gathered = np.empty((size.sum(), 2))
    row = 0
    for batch in track:
        some = _lines(batch, row)
        rows = slice(row, row + len(batch))
        mine, begin = size[rows], into[rows]
        last = np.cumsum(some.size) - 1
        kept = np.ones(len(some.points), dtype=np.bool_)
        kept[last[mine < some.size]] = False
        in_order = bool((np.diff(begin) == mine[:-1]).all())
        places = slice(begin[0], begin[-1] + mine[-1]) if in_order else _spans(begin, mine)
        gathered[places] = some.points[kept]
        row += len(batch)
    return gathered


def _blocks(size: Ints) -> list[Ints]:
    """Split rows of so many points into blocks of some `_AT_ONCE` points."""
    block = np.cumsum(size) // _AT_ONCE
    return np.split(np.arange(len(size)), np.flatnonzero(np.diff(block)) + 1)


def _spans(begin: Ints, size: Ints) -> Ints:
    """Places begin, begin + 1, ... of each span, one span after another."""
    before = np.cumsum(size) - size
    return np.repeat(begin - before, size) + np.arange(size.sum())
