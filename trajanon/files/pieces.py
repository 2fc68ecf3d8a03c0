"""Tracks, row by row: each row holds a piece of its run, valid by itself.

Three columns: ``run``; ``start``, the place on the run of the window's first point, in
steps; ``track``, the row's piece. The pieces of a run are cut where its windows begin:
the first holds the run from its beginning, each ends with the first point of the next,
the last at the end of the run. Where rows are taken out, what is left of a run falls
apart into shorter ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput
from trajanon.tracks import STEPS, Tracks

_AT_ONCE = 1_000_000
"""Points that are worked on at once, as they take several times their memory then."""


def of_rows(tracks: Tracks) -> Iterator[NDArray[Any]]:
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


def read(
    run: NDArray[Any] | None,
    start: NDArray[Any] | None,
    track: NDArray[Any],
    points: NDArray[np.float64],
) -> Tracks:
    """Join pieces to runs again.

    Parameters
    ----------
    run, start, track
        The columns as read, shape (n,); the pieces as WKB.
    points
        Latitude and longitude of the trajectories, shape (n, m, 2).

    Raises
    ------
    BadInput
        If a row's trajectory does not lie on its piece; does not know the way out.
    """
    run, start = _numbers("run", run), _numbers("start", start)
    pieces = _Pieces.of(track)
    order = np.lexsort((start, run))
    heads = np.append(True, np.diff(run[order]) != 0)
    head = np.zeros(len(run), dtype=np.bool_)
    head[order] = heads
    begin = start - pieces.find(points, start, head)
    ordered = pieces.take(order)
    meets = ~heads[1:] & ordered.meet(begin[order])
    heads[1:] = ~meets
    joined = np.cumsum(heads) - 1
    new_run, new_start = np.empty_like(run), np.empty_like(start)
    new_run[order] = joined
    new_start[order] = start[order] - begin[order[heads]][joined]
    size = ordered.size - np.append(meets, False)  # the point at a seam is in both
    return Tracks(
        points=_gather(pieces.points, ordered.first, size),
        first=np.append(0, np.cumsum(size)[np.append(heads, True)[1:]]),
        run=new_run,
        start=new_start,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """Points (lat, lon), and which of them are each row's piece."""

    points: NDArray[np.float64]
    first: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, track: NDArray[Any]) -> "_Pieces":
        import shapely

        try:
            with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
                lines = shapely.from_wkb(track, on_invalid="ignore")
        except TypeError:
            lines = np.full(len(track), None)
        others = shapely.get_type_id(lines) != shapely.GeometryType.LINESTRING
        if others.any():
            msg = (
                f"the track of row {np.argmax(others)} is missing, or is no LineString"
            )
            raise BadInput(msg)
        size = shapely.get_num_coordinates(lines).astype(np.int64)
        return cls(
            shapely.get_coordinates(lines)[:, ::-1], np.cumsum(size) - size, size
        )

    def take(self, which: NDArray[np.int64]) -> "_Pieces":
        return _Pieces(self.points, self.first[which], self.size[which])

    def find(
        self,
        windows: NDArray[np.float64],
        start: NDArray[np.int64],
        head: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Find on each row's piece the place where its window begins.

        That is the piece's first point or, where a piece begins with its run, the
        start; a track that repeats itself to the bit may allow both.
        """
        at_start, at_once = (
            self._hold(windows, place) for place in (start, np.zeros_like(start))
        )
        stray = ~at_start & ~at_once
        if stray.any():
            msg = (
                f"the trajectory of row {np.argmax(stray)} is not every {STEPS}th "
                "point of its track from its start on"
            )
            raise BadInput(msg)
        return np.where(at_start & (head | ~at_once), start, 0)

    def _hold(
        self, windows: NDArray[np.float64], place: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Tell which windows lie at such a place of their pieces."""
        steps = STEPS * np.arange(windows.shape[1])
        held: NDArray[np.bool_] = (place >= 0) & (place < self.size - steps[-1])
        there = (self.first + place)[held, None] + steps
        held[held] = (self.points[there] == windows[held]).all(axis=(1, 2))
        return held

    def meet(self, begin: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell where a piece goes on where the one before it ends, shape (n - 1,).

        The number says so, and the point: files put together use numbers twice.
        """
        last = self.size[:-1] - 1
        seam = self.points[self.first[:-1] + last] == self.points[self.first[1:]]
        meets: NDArray[np.bool_] = (begin[1:] == begin[:-1] + last) & seam.all(axis=1)
        return meets


def _numbers(name: str, column: NDArray[Any] | None) -> NDArray[np.int64]:
    if column is None:
        msg = f"it has a column track, and no column {name}"
        raise BadInput(msg)
    with np.errstate(invalid="ignore"):  # NaN is no number either
        whole = column.astype(np.int64) if column.dtype.kind in "iuf" else None
    if whole is None or (whole != column).any():
        msg = f"its column {name} does not hold a whole number in each row"
        raise BadInput(msg)
    return whole


def _gather(
    points: NDArray[np.float64], first: NDArray[np.int64], size: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Put spans of points one after another."""
    gathered = np.empty((size.sum(), 2))
    end = np.cumsum(size)
    for rows in _blocks(size):
        into = slice(end[rows[0]] - size[rows[0]], end[rows[-1]])
        gathered[into] = points[_spans(first[rows], size[rows])]
    return gathered


def _blocks(size: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split rows of so many points into blocks of some `_AT_ONCE` points."""
    block = np.cumsum(size) // _AT_ONCE
    return np.split(np.arange(len(size)), np.flatnonzero(np.diff(block)) + 1)


def _spans(begin: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places begin, begin + 1, ... of each span, one span after another."""
    before = np.cumsum(size) - size
    return np.repeat(begin - before, size) + np.arange(size.sum())
