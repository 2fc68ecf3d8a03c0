"""Pieces of track -> windows of equally spaced points, and their runs; or whole trips."""

from dataclasses import dataclass

import numpy as np

from trajanon.common.arrays import Floats, Hashes, Ints
from trajanon.common.hashing import hashes_of, least_hashes
from trajanon.extract.points import Points, greatest_of
from trajanon.extract.rules import Rules
from trajanon.trajectories.geodesy import wrapped
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import HOPS

_GRAIN = 2.0**-26  # metres; sums of whole grains do not depend on the lengths of other pieces
_FORGIVEN = 1e-6  # spacings; a window may be longer than its track by this, for rounding
_CALENDAR = 6e10  # seconds; a piece with a time farther from 1970 counts as untimed


@dataclass(frozen=True, slots=True, eq=False)
class WindowBatch:
    """Trajectories of one batch."""

    points: Floats  # latitude and longitude in degrees, shape (windows, points, 2)
    trace: Ints  # which trace of the batch a window was cut from, shape (windows,)
    times: Floats  # seconds since 1970 UTC, NaN in untimed pieces, shape (windows, points)
    tracks: Tracks | None  # the runs of the windows
    hops: Hashes  # the least hashes of the hops of its recording or trip, shape (windows, HOPS)
    track_length: Floats  # metres of each piece of track, those without a window included


def windows(points: Points, rules: Rules) -> WindowBatch:
    """Walk along each piece, cut consecutive windows, and keep the runs with room for one."""
    assert rules.spacing is not None
    ways = _Ways(points)

    # How many windows have room on each piece, and places a step apart on those that have any.
    spacings = ways.total / rules.spacing + _FORGIVEN
    count = (np.floor(spacings).astype(np.int64) + 1) // rules.points
    size = np.floor(STEPS * spacings).astype(np.int64) + 1
    size[count == 0] = 0
    places, times = ways.walk(size, rules.spacing / STEPS)

    # The places of a piece with room are a run.
    with_room = count > 0
    size, count = size[with_room], count[with_room]
    first = np.append(0, np.cumsum(size))
    recording = points.trace[ways.first[with_room]]

    run = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
    if rules.per_recording == 1:
        longest = greatest_of(recording, size)
        in_middle = np.isin(run, longest) & (number == count[run] // 2)
        run, number = run[in_middle], number[in_middle]

    start = number * (STEPS * rules.points)
    tracks = Tracks(
        points=TrackPoints.of(places),
        first=first,
        run=run,
        start=start,
        times=times,
        recording=recording if rules.per_recording == 1 else None,
    )

    window = (first[run] + start)[:, None] + STEPS * np.arange(rules.points)
    return WindowBatch(
        points=tracks.points[window.ravel()].reshape(-1, rules.points, 2),
        trace=recording[run],
        times=times[window].reshape(-1, rules.points),
        tracks=tracks,
        hops=ways.least_hashes(points.trace, recording[run]),
        track_length=ways.total,
    )


def whole_trips(points: Points, rules: Rules) -> WindowBatch:
    """Lay points at equal shares of the way of each long piece, with its fixes at both ends."""
    ways = _Ways(points)
    long = ways.total >= rules.length
    size = np.where(long, rules.points, 0)

    # Who moved by less than a grain went no way at all.
    step = np.maximum(ways.total, _GRAIN) / (rules.points - 1)
    places, times = ways.walk(size, step)
    places = places.reshape(-1, rules.points, 2)
    times = times.reshape(-1, rules.points)

    for place, fix in ((0, ways.first[long]), (-1, ways.last[long])):
        places[:, place] = np.stack([points.lat[fix], points.lon[fix]], axis=1)
        times[:, place] = ways.time[fix]

    # To a centimetre, as tracks are: where all trips lead along one meridian, their longitudes
    # would differ by what rounding adds, and by nothing else.
    return WindowBatch(
        points=np.round(places, 7),
        trace=points.trace[ways.first[long]],
        times=times,
        tracks=None,
        hops=ways.least_hashes(points.piece, points.piece[ways.first[long]]),
        track_length=ways.total,
    )


class _Ways:
    """Pieces of track, measured."""

    def __init__(self, points: Points) -> None:
        follows = points.follows
        self._points = points
        self.start = np.flatnonzero(follows) - 1  # the fix that each hop begins at
        self.first, self.size = points.pieces
        self.last = self.first + self.size - 1

        grains = np.zeros(len(points), dtype=np.int64)
        grains[follows] = np.rint(points.hops / _GRAIN)
        grains = np.cumsum(grains)
        grains -= np.repeat(grains[self.first], self.size)
        self.walked = grains * _GRAIN  # metres from the beginning of its piece to each fix
        self.total = self.walked[self.last]  # metres of each piece

        known = np.minimum.reduceat(np.abs(points.time) < _CALENDAR, self.first)
        self.time = np.where(np.repeat(known, self.size), points.time, np.nan)

    def least_hashes(self, owner: Ints, wanted: Ints) -> Hashes:
        """Return the least hashes of the hops of owners, (wanted, HOPS); each point has one."""
        lat, lon, time = self._points.lat, self._points.lon, self._points.time
        begin = self.start
        end = begin + 1
        hashes = hashes_of(lat[begin], lon[begin], time[begin], lat[end], lon[end], time[end])

        owners, place = np.unique(wanted, return_inverse=True)
        is_wanted = np.isin(owner[begin], owners)
        number = np.searchsorted(owners, owner[begin[is_wanted]])
        return least_hashes(number, hashes[is_wanted], len(owners), HOPS)[place]

    def walk(self, size: Ints, step: Floats | float) -> tuple[Floats, Floats]:
        """Return the places at every step, in metres, and their times; size is of each piece."""
        step = np.repeat(np.broadcast_to(step, self.size.shape), self.size)

        # The number of places on a piece that lie before each fix; before the last fix, all.
        before = np.ceil(self.walked / step)
        before = np.minimum(before, np.repeat(size, self.size))
        before[self.last] = size

        # On which hop each place lies, and its number on its piece.
        done = before[self.start]
        count = (before[self.start + 1] - done).astype(np.int64)
        hop = np.repeat(np.arange(len(count)), count)
        on_other_pieces = np.cumsum(count) - count - done
        number = np.arange(len(hop)) - on_other_pieces[hop]

        # How far along its hop.
        fix = self.start[hop]
        length = self._points.hops[hop]
        metres = np.minimum(number * step[fix] - self.walked[fix], length)
        share = metres / np.maximum(length, 1e-9)  # a hop may have no length

        lat, lon = self._points.lat, self._points.lon
        north = lat[fix] + share * (lat[fix + 1] - lat[fix])
        east = wrapped(lon[fix] + share * wrapped(lon[fix + 1] - lon[fix]))

        left, reached = self.time[fix], self.time[fix + 1]
        times = np.minimum(left + share * (reached - left), reached)
        return np.stack([north, east], axis=1), times
