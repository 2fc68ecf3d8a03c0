"""Tracks, row by row: each row holds a piece of its run, valid by itself.

Three columns: ``run``; ``start``, the place on the run of the window's first point, in steps;
``track``, the row's piece; and ``track_times``, the times at its points, if they are known. The
pieces of a run are cut where its windows begin: the first holds the run from its
beginning, each ends with the first point of the next, the last at the end of the run. Where rows
are taken out, what is left of a run falls apart into shorter ones.

If a window may be on any run of its recording, its row holds all of them: ``track`` has the runs
one after another, ``start`` is the place among all their points, and the column ``runs`` has a
list of how many points each run has.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.arrow import lists_of
from trajanon.files.wkb import WkbLines, read_lines
from trajanon.tracks import STEPS, TrackPoints, Tracks, spans, ticks_of

_AT_ONCE = 1_000_000  # points, as they take several times their memory when they are worked on


def lines_of_tracks(tracks: Tracks) -> Iterator[NDArray[Any]]:
    """Yield each row's piece as shapely lines (lon, lat), some rows at a time."""
    import shapely

    begins = np.zeros(len(tracks.points), dtype=np.bool_)
    begins[tracks.first[:-1]] = True
    for places, size in places_of_rows(tracks):
        row = np.repeat(np.arange(len(size)), size)
        heads = begins[places]
        heads[np.cumsum(size) - size] = True
        lines = shapely.linestrings(tracks.points[places, ::-1], indices=np.cumsum(heads) - 1)
        first, count = np.unique(row[heads], return_index=True, return_counts=True)[1:]
        rows, several = lines[first], count > 1
        if several.any():
            each = np.repeat(several, count)
            of = np.repeat(np.arange(several.sum()), count[several])
            rows[several] = shapely.multilinestrings(lines[each], indices=of)
        yield rows


def runs_of_rows(tracks: Tracks) -> tuple[Ints, Ints] | None:
    """Give how many runs each row holds, and the points of each; None if only its own's piece."""
    if tracks.recording is None:
        return None
    low, high = _runs(tracks)
    return high - low, np.diff(tracks.first)[spans(low, high - low)]


def starts_of_rows(tracks: Tracks) -> Ints:
    """Give the place of each window's first point: on its run, or on all that its row holds."""
    if tracks.recording is None:
        return tracks.start
    low, _ = _runs(tracks)
    return tracks.start + tracks.first[tracks.run] - tracks.first[low]


def _runs(tracks: Tracks) -> tuple[Ints, Ints]:
    """Give the first run of each row's recording, and the first after it."""
    assert tracks.recording is not None
    own = tracks.recording[tracks.run]
    low, high = (np.searchsorted(tracks.recording, own, side=side) for side in ("left", "right"))
    return low, high


def places_of_rows(tracks: Tracks) -> Iterator[tuple[Ints, Ints]]:
    """Yield the points of the pieces of some rows, and how many each has."""
    if tracks.recording is not None:
        begin, end = (tracks.first[run] for run in _runs(tracks))
    else:
        order = np.lexsort((tracks.start, tracks.run))
        run = tracks.run[order]
        window = tracks.first[run] + tracks.start[order]
        heads = np.diff(run, prepend=-1) != 0
        tails = np.append(heads, True)[1:]
        begin, end = np.empty_like(window), np.empty_like(window)
        begin[order] = np.where(heads, tracks.first[run], window)
        end[order] = np.where(tails, tracks.first[run + 1], np.append(window, 0)[1:] + 1)
    size = end - begin
    block = np.cumsum(size) // _AT_ONCE
    for rows in np.split(np.arange(len(size)), np.flatnonzero(np.diff(block)) + 1):
        yield spans(begin[rows], size[rows]), size[rows]


def read_recordings(
    start: NDArray[Any] | None,
    track: Iterator[Any],
    runs: Iterator[Any],
    track_times: Iterator[Any] | None = None,
) -> Tracks:
    """Read rows that hold all runs of a recording each."""
    start = whole_numbers("start", start)
    held = [lists_of(batch, "runs") for batch in runs]
    number = np.concatenate([some.size for some in held])
    points = np.concatenate([some.values for some in held]).astype(np.int64)
    if (points < 1).any() or (number < 1).any():
        raise BadInput("its column runs does not hold a number of points for each run")
    last = np.cumsum(number)
    first = np.append(0, np.cumsum(points))
    size = first[last] - first[last - number]
    ticks = []
    for rows, some in _batches(track):
        if not np.array_equal(some.size, size[rows]):
            odd = rows.start + np.argmax(some.size != size[rows])
            raise BadInput(f"the track of row {odd} does not have the points of its runs")
        ticks.append(ticks_of(some.points))
    times = None
    if track_times is not None:
        times = np.concatenate([values for *_, values in _batches_of_times(track_times, size)])
    place = first[last - number] + start
    run = np.clip(np.searchsorted(first, place, side="right") - 1, last - number, last - 1)
    return Tracks(
        points=TrackPoints(np.concatenate(ticks)),
        first=first,
        run=run,
        start=place - first[run],
        times=times,
        recording=np.repeat(np.arange(len(number)), number),
    )


def read_tracks(
    run: NDArray[Any] | None,
    start: NDArray[Any] | None,
    track: Callable[[], Iterator[Any]],
    points: Floats,
    track_times: Iterator[Any] | None = None,
) -> Tracks:
    """Join pieces, which are read twice, so that their points are never there twice, to runs."""
    run, start = whole_numbers("run", run), whole_numbers("start", start)
    pieces = _pieces(track(), points, start)
    stray = ~pieces["at_start"] & ~pieces["at_once"]
    if stray.any():
        raise BadInput(
            f"the trajectory of row {np.argmax(stray)} is not every {STEPS}th "
            "point of its track from its start on"
        )
    order = np.lexsort((start, run))
    heads = np.append(True, np.diff(run[order]) != 0)
    pieces, start = pieces[order], start[order]
    # A track that repeats itself to the bit may hold the window at both places.
    at_start = pieces["at_start"] & (heads | ~pieces["at_once"])
    begin = start - np.where(at_start, start, 0)
    # The number says where a piece goes on, and the point: files put together use numbers twice.
    seam = (pieces["ends"][:-1, 1] == pieces["ends"][1:, 0]).all(axis=1)
    meets = ~heads[1:] & seam & (begin[1:] == begin[:-1] + pieces["size"][:-1] - 1)
    heads[1:] = ~meets
    joined = np.cumsum(heads) - 1
    size = pieces["size"] - np.append(meets, False)  # the point at a seam is in both
    ends = np.cumsum(size)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    gathered = np.empty((size.sum(), 2), dtype=np.int32)
    into = size[place], (ends - size)[place]
    _gather(
        ((rows, some.size, ticks_of(some.points)) for rows, some in _batches(track())),
        *into,
        gathered,
    )
    times = None
    if track_times is not None:
        times = np.empty(len(gathered))
        _gather(_batches_of_times(track_times, pieces["size"][place]), *into, times)
    return Tracks(
        points=TrackPoints(gathered),
        first=np.append(0, ends[np.append(heads, True)[1:]]),
        run=joined[place],
        start=(start - begin[heads][joined])[place],
        times=times,
    )


_Values = Iterator[tuple[slice, Ints, NDArray[Any]]]
"""Rows, how many values each has, and the values of all."""

_PIECE = np.dtype(
    [
        ("size", np.int64),
        ("ends", np.float64, (2, 2)),  # its first and its last point
        ("at_start", np.bool_),  # whether the row's window is on it from its start on
        ("at_once", np.bool_),  # and whether from the piece's first point on
    ]
)


def _pieces(track: Iterator[Any], windows: Floats, start: Ints) -> NDArray[Any]:
    """Read what must be known of each row's piece before all are joined, (n,)."""
    pieces = np.zeros(len(windows), dtype=_PIECE)
    pieces["ends"] = np.nan
    for rows, some in _batches(track):
        last = np.cumsum(some.size)
        first, there = last - some.size, some.size > 0
        piece = pieces[rows]
        piece["size"] = some.size
        piece["ends"][there, 0] = some.points[first[there]]
        piece["ends"][there, 1] = some.points[last[there] - 1]
        piece["at_start"] = _hold(some, first, windows[rows], start[rows])
        piece["at_once"] = _hold(some, first, windows[rows], np.zeros_like(first))
    return pieces


def _batches(track: Iterator[Any]) -> Iterator[tuple[slice, WkbLines]]:
    row = 0
    for batch in track:
        try:
            some = read_lines(batch, "ignore")
            missing = ~some.line
        except TypeError:
            missing = np.ones(len(batch), dtype=np.bool_)
        if missing.any():
            raise BadInput(
                f"the track of row {row + np.argmax(missing)} is missing, or is no LineString"
            )
        yield slice(row, row + len(batch)), some
        row += len(batch)


def _hold(some: WkbLines, first: Ints, windows: Floats, place: Ints) -> Bools:
    """Tell which windows lie at such a place of their pieces."""
    steps = STEPS * np.arange(windows.shape[1])
    held: Bools = (place >= 0) & (place < some.size - steps[-1])
    there = (first + place)[held, None] + steps
    held[held] = (ticks_of(some.points[there]) == ticks_of(windows[held])).all(axis=(1, 2))
    return held


def whole_numbers(name: str, column: NDArray[Any] | None) -> Ints:
    """Take a column that has a whole number in each row."""
    if column is None:
        raise BadInput(f"it has a column track, and no column {name}")
    with np.errstate(invalid="ignore"):  # NaN is no number either
        whole = column.astype(np.int64) if column.dtype.kind in "iuf" else None
    if whole is None or (whole != column).any():
        raise BadInput(f"its column {name} does not hold a whole number in each row")
    return whole


def _batches_of_times(column: Iterator[Any], size: Ints) -> _Values:
    """Yield the times of some rows' pieces, of so many points each."""
    row = 0
    for batch in column:
        times = lists_of(batch, "track_times")
        rows = slice(row, row + len(batch))
        if not np.array_equal(times.size, size[rows]):
            odd = row + np.argmax(times.size != size[rows])
            raise BadInput(f"the track of row {odd} does not have a time for each of its points")
        yield rows, times.size, times.values
        row += len(batch)


def _gather(some: _Values, size: Ints, into: Ints, gathered: NDArray[Any]) -> None:
    """Put the values of pieces where they belong, each without its last if the next begins so."""
    for rows, whole, values in some:
        mine, begin = size[rows], into[rows]
        kept = np.ones(len(values), dtype=np.bool_)
        kept[np.cumsum(whole)[mine < whole] - 1] = False
        in_order = bool((np.diff(begin) == mine[:-1]).all())
        places = slice(begin[0], begin[-1] + mine[-1]) if in_order else spans(begin, mine)
        gathered[places] = values[kept]
