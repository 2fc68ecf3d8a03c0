"""Columns of tracks: each row holds the piece of its run that belongs to its window.

The columns are ``run``; ``start``, the place on the run of the window's first point, in steps;
``track``, the row's piece; and ``track_times``, the times at its points, if they are known. The
pieces of a run are cut where its windows begin: the first holds the run from its
beginning, each ends with the first point of the next, the last at the end of the run.

If a window may be on any run of its recording, its row holds all of them: ``track`` has the runs
one after another, ``start`` is the place among all their points, and the column ``runs`` has a
list of how many points each run has.

The column ``track_true_ends`` says of the piece, or of each of the runs, whether it begins and ends
where its recording or a gap does: 1, or 0 where a border cut it. Without it all do.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import shapely
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Column, Floats, Geometries, Ints, indices_of_spans
from trajanon.common.errors import BadInput
from trajanon.files import geoparquet
from trajanon.files.arrow import geometries_of, lists_of
from trajanon.files.parquet_parts import ParquetParts
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks, ticks_of

_POINTS_PER_BLOCK = 1_000_000  # working on them takes several times their memory


def lines_of_tracks(tracks: Tracks) -> Iterator[Geometries]:
    """Yield each row's piece as shapely lines (lon, lat), some rows at a time."""
    begins_run = np.zeros(len(tracks.points), dtype=np.bool_)
    begins_run[tracks.first[:-1]] = True
    for places, size in places_of_rows(tracks):
        # A line begins where a run does, and where a row does.
        row = np.repeat(np.arange(len(size)), size)
        begins_line = begins_run[places]
        begins_line[np.cumsum(size) - size] = True
        line = np.cumsum(begins_line) - 1
        lines = shapely.linestrings(tracks.points[places, ::-1], indices=line)

        # A row with several runs holds them as one geometry.
        first, count = np.unique(row[begins_line], return_index=True, return_counts=True)[1:]
        row_lines = lines[first]
        has_runs = count > 1
        if has_runs.any():
            run_lines = lines[np.repeat(has_runs, count)]
            indices = np.repeat(np.arange(has_runs.sum()), count[has_runs])
            row_lines[has_runs] = shapely.multilinestrings(run_lines, indices=indices)
        yield row_lines


def runs_of_rows(tracks: Tracks) -> tuple[Ints, Ints] | None:
    """Count the runs of each row, and their points; None if each row holds a piece of one."""
    if tracks.recording is None:
        return None
    first_run, end_run = _runs_of_recordings(tracks)
    count = end_run - first_run
    return count, np.diff(tracks.first)[indices_of_spans(first_run, count)]


def starts_of_rows(tracks: Tracks) -> Ints:
    """Return the place of each window's first point: on its run, or on all that its row holds."""
    if tracks.recording is None:
        return tracks.start
    first_run, _ = _runs_of_recordings(tracks)
    return tracks.start + tracks.first[tracks.run] - tracks.first[first_run]


def true_ends_of_rows(tracks: Tracks) -> tuple[Ints, Ints]:
    """Mark whether the start and end of each run of each row are true, and count the marks."""
    first_run, end_run = tracks.run, tracks.run + 1
    if tracks.recording is not None:
        first_run, end_run = _runs_of_recordings(tracks)
    count = end_run - first_run
    is_true = tracks.ends_are_true[indices_of_spans(first_run, count)]

    # A piece may begin and end within its run.
    begin, end = _spans_of_rows(tracks)
    last = np.cumsum(count) - 1
    is_true[last - count + 1, 0] &= begin == tracks.first[first_run]
    is_true[last, 1] &= end == tracks.first[end_run]
    return is_true.ravel().astype(np.int8), 2 * count


def _runs_of_recordings(tracks: Tracks) -> tuple[Ints, Ints]:
    """Find the first run of each row's recording, and the first run after them, (n,) each."""
    assert tracks.recording is not None
    recording = tracks.recording[tracks.run]
    first_run = np.searchsorted(tracks.recording, recording, side="left")
    end_run = np.searchsorted(tracks.recording, recording, side="right")
    return first_run, end_run


def places_of_rows(tracks: Tracks) -> Iterator[tuple[Ints, Ints]]:
    """Yield, for a block of rows, the numbers of their points, and the number of points of each.

    Points are numbered as in `Tracks.points`. A row has those of its piece, or of all runs of its
    recording.
    """
    begin, end = _spans_of_rows(tracks)
    size = end - begin
    block = np.cumsum(size) // _POINTS_PER_BLOCK
    for rows in np.split(np.arange(len(size)), np.flatnonzero(np.diff(block)) + 1):
        yield indices_of_spans(begin[rows], size[rows]), size[rows]


def _spans_of_rows(tracks: Tracks) -> tuple[Ints, Ints]:
    """Find the first of each row's points, and the first point after them, (n,) each."""
    if tracks.recording is not None:
        first_run, end_run = _runs_of_recordings(tracks)
        return tracks.first[first_run], tracks.first[end_run]

    order = np.lexsort((tracks.start, tracks.run))
    run = tracks.run[order]
    window_point = tracks.first[run] + tracks.start[order]  # the first one of each window
    is_first_of_run = np.diff(run, prepend=-1) != 0
    is_last_of_run = np.append(is_first_of_run, True)[1:]

    # A piece ends with the first point of the next one.
    next_window_point = np.append(window_point, 0)[1:]
    begin = np.empty_like(window_point)
    begin[order] = np.where(is_first_of_run, tracks.first[run], window_point)
    end = np.empty_like(window_point)
    end[order] = np.where(is_last_of_run, tracks.first[run + 1], next_window_point + 1)
    return begin, end


def read_tracks(file: ParquetParts, windows: Floats, *, times: bool) -> Tracks:
    """Read the tracks of windows, (n, m, 2), and times if wanted; pieces are joined to runs."""
    names = file.schema_arrow.names
    start = whole_numbers("start", geoparquet.written_column(file, "start"))
    ticks, size = _pieces(file)

    point_times = None
    if times and "track_times" in names:
        point_times, sizes = lists_of(file.read(["track_times"])["track_times"], "track_times")
        _require(np.array_equal(size, sizes))

    points_of_runs, runs_per_row = np.empty(0), np.ones(len(start), dtype=np.int64)
    if "runs" in names:
        points_of_runs, runs_per_row = lists_of(file.read(["runs"])["runs"], "runs")

    true_ends = None
    if "track_true_ends" in names:
        marks, sizes = lists_of(
            file.read(["track_true_ends"])["track_true_ends"], "track_true_ends"
        )
        _require(np.array_equal(sizes, 2 * runs_per_row))
        true_ends = marks.reshape(-1, 2) != 0

    if "runs" in names:
        tracks = _tracks_of_recordings(
            start, ticks, size, point_times, points_of_runs, runs_per_row
        )
        return replace(tracks, true_ends=true_ends)
    run = whole_numbers("run", geoparquet.written_column(file, "run"))
    return _tracks_of_pieces(run, start, ticks, size, point_times, true_ends, windows)


def _pieces(file: ParquetParts) -> tuple[NDArray[np.int32], Ints]:
    """Read the points of each row's piece, in ticks, one after another; and how many it has."""
    lines = (shapely.GeometryType.LINESTRING, shapely.GeometryType.MULTILINESTRING)
    ticks = [np.empty((0, 2), np.int32)]
    sizes = [np.empty(0, np.int64)]
    for batch in geoparquet.batches_of(file, "track"):
        try:
            geometries = geometries_of(batch, "ignore")
        except TypeError:
            geometries = np.full(len(batch), None)

        _require(np.isin(shapely.get_type_id(geometries), lines).all())
        ticks.append(ticks_of(shapely.get_coordinates(geometries)[:, ::-1]))
        sizes.append(shapely.get_num_coordinates(geometries).astype(np.int64))
    return np.concatenate(ticks), np.concatenate(sizes)


def _require(is_sound: object) -> None:
    """Refuse tracks that somebody has changed."""
    if not is_sound:
        raise BadInput("its tracks are not as extract writes them")


def _tracks_of_recordings(
    start: Ints,
    ticks: NDArray[np.int32],
    size: Ints,
    times: Floats | None,
    points_of_runs: Floats,
    runs_of_row: Ints,
) -> Tracks:
    """Make tracks of rows that hold all runs of a recording each.

    ``start`` is the place of each row's window among all points of the row, and ``size`` how many
    these are; ``ticks`` are the points of all rows.
    """
    run_points = whole_numbers("runs", points_of_runs)
    _require((run_points > 0).all() and (runs_of_row > 0).all())

    end_run = np.cumsum(runs_of_row)
    first_run = end_run - runs_of_row
    first = np.append(0, np.cumsum(run_points))  # point of each run
    begin = first[first_run]
    _require(np.array_equal(size, first[end_run] - begin))

    # The run on which the window's first point is.
    window = begin + start
    run = np.clip(np.searchsorted(first, window, side="right") - 1, first_run, end_run - 1)
    return Tracks(
        points=TrackPoints(ticks),
        first=first,
        run=run,
        start=window - first[run],
        times=times,
        recording=np.repeat(np.arange(len(runs_of_row)), runs_of_row),
    )


def _tracks_of_pieces(
    run: Ints,
    start: Ints,
    ticks: NDArray[np.int32],
    size: Ints,
    times: Floats | None,
    true_ends: Bools | None,
    windows: Floats,
) -> Tracks:
    """Join the pieces of runs: one for each row, with the points of ``ticks`` one after another.

    ``start`` is the place of each row's window on its run. If the row's piece is the first of the
    run, it holds what lies before the window, too; any other piece begins with the window.
    """
    first = np.cumsum(size) - size
    has_window_at_start = _has_window(ticks, first, size, windows, start)
    has_window_at_head = _has_window(ticks, first, size, windows, np.zeros_like(start))
    _require((has_window_at_start | has_window_at_head).all())

    order = np.lexsort((start, run))
    first = first[order]
    size = size[order]
    start = start[order]
    begins_run = np.append(True, np.diff(run[order]) != 0)

    # Where each piece begins on its run. A track that repeats itself to the bit may hold the
    # window at both places: then it begins at zero if it is the first piece of its run.
    begins_at_zero = has_window_at_start[order] & (begins_run | ~has_window_at_head[order])
    begin = np.where(begins_at_zero, 0, start)

    # Pieces are joined if they follow each other on the run, and the points where they meet are
    # equal: files that were put together use the number of a run twice.
    has_equal_ends = (ticks[(first + size - 1)[:-1]] == ticks[first[1:]]).all(axis=1)
    goes_on = begin[1:] == begin[:-1] + size[:-1] - 1
    is_joined = ~begins_run[1:] & has_equal_ends & goes_on
    begins_run[1:] = ~is_joined
    joined_run = np.cumsum(begins_run) - 1
    size = size - np.append(is_joined, False)  # the point where pieces meet is in both
    ends_run = np.append(begins_run, True)[1:]
    if true_ends is not None:
        true_ends = true_ends[order]
        true_ends = np.column_stack([true_ends[begins_run, 0], true_ends[ends_run, 1]])

    pieces = [slice(at, at + n) for at, n in zip(first.tolist(), size.tolist(), strict=True)]
    place_in_order = np.argsort(order)
    return Tracks(
        points=TrackPoints(np.concatenate([ticks[piece] for piece in pieces])),
        first=np.append(0, np.cumsum(size)[ends_run]),
        run=joined_run[place_in_order],
        start=(start - begin[begins_run][joined_run])[place_in_order],
        times=None if times is None else np.concatenate([times[piece] for piece in pieces]),
        true_ends=true_ends,
    )


def _has_window(
    ticks: NDArray[np.int32], first: Ints, size: Ints, windows: Floats, place: Ints
) -> Bools:
    """Mark the windows that lie at these places of their pieces, (n,)."""
    steps = STEPS * np.arange(windows.shape[1])  # from the first point to each
    is_held: Bools = (place >= 0) & (place < size - steps[-1])  # there is room for it
    window_points = (first + place)[is_held, None] + steps
    is_held[is_held] = (ticks[window_points] == ticks_of(windows[is_held])).all(axis=(1, 2))
    return is_held


def whole_numbers(name: str, column: Column | None) -> Ints:
    """Return a column that has a whole number in each row, or refuse it."""
    if column is not None and column.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):  # NaN is no number either
            numbers = column.astype(np.int64)
        if (numbers == column).all():
            return numbers
    raise BadInput(f"its column {name} does not hold a whole number in each row")
