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
    spacings = ways.total / rules.spacing + _FORGIVEN
    count = (np.floor(spacings).astype(np.int64) + 1) // rules.points
    size = np.floor(STEPS * spacings).astype(np.int64) + 1
    size[count == 0] = 0
    places, times = ways.walk(size, rules.spacing / STEPS)
    # A run of the places on each piece that has a window.
    first, many = np.append(0, np.cumsum(size[count > 0])), count[count > 0]
    recording = points.trace[ways.first[count > 0]]
    run = np.repeat(np.arange(len(many)), many)
    number = np.arange(len(run)) - np.repeat(np.cumsum(many) - many, many)
    taken = np.ones(len(run), dtype=np.bool_)
    if rules.per_recording == 1:
        longest = greatest_of(recording, size[count > 0])
        taken = np.isin(run, longest) & (number == many[run] // 2)  # in its middle
    run, start = run[taken], number[taken] * (STEPS * rules.points)
    tracks = Tracks(
        points=TrackPoints.of(places),
        first=first,
        run=run,
        start=start,
        times=times,
        recording=recording if rules.per_recording == 1 else None,
    )
    window = (first[run] + start)[:, None] + STEPS * np.arange(rules.points)
    times = times[window]
    return WindowBatch(
        points=tracks.points[window.ravel()].reshape(-1, rules.points, 2),
        trace=recording[run],
        times=times.reshape(-1, rules.points),
        tracks=tracks,
        hops=ways.least_hashes(points.trace, recording[run]),
        track_length=ways.total,
    )


def whole_trips(points: Points, rules: Rules) -> WindowBatch:
    """Take each long piece as a trip: points at equal shares of its way, fixes at both ends."""
    ways = _Ways(points)
    kept = ways.total >= rules.length
    size = np.where(kept, rules.points, 0)
    # Who moved by less than a grain went no way at all.
    step = np.maximum(ways.total, _GRAIN) / (rules.points - 1)
    places, times = ways.walk(size, step)
    places = places.reshape(-1, rules.points, 2)
    times = times.reshape(-1, rules.points)
    for place, fix in ((0, ways.first[kept]), (-1, ways.last[kept])):
        places[:, place] = np.stack([points.lat[fix], points.lon[fix]], axis=1)
        times[:, place] = ways.time[fix]
    # To a centimetre, as tracks are: where all trips lead along one meridian, their longitudes
    # would differ by what rounding adds, and by nothing else.
    return WindowBatch(
        points=np.round(places, 7),
        trace=points.trace[ways.first[kept]],
        times=times,
        tracks=None,
        hops=ways.least_hashes(points.piece, points.piece[ways.first[kept]]),
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
        """Give the least hashes of hops, (wanted, HOPS); `owner` is that of each point."""
        points, begin = self._points, self.start
        columns = (points.lat, points.lon, points.time)
        hashes = hashes_of(*(one[fix] for fix in (begin, begin + 1) for one in columns))
        each, place = np.unique(wanted, return_inverse=True)
        held = np.isin(owner[begin], each)
        owners = np.searchsorted(each, owner[begin[held]])
        return least_hashes(owners, hashes[held], len(each), HOPS)[place]

    def walk(self, size: Ints, step: Floats | float) -> tuple[Floats, Floats]:
        """Give the places at every step, in metres, and their times; size is of each piece."""
        step = np.repeat(np.broadcast_to(step, self.size.shape), self.size)
        # The number of places on a piece that lie before each fix; before the last fix, all.
        before = np.ceil(self.walked / step)
        before = np.minimum(before, np.repeat(size, self.size))
        before[self.last] = size
        start, step = self.walked[self.start], step[self.start]
        left, reached = self.time[self.start], self.time[self.start + 1]
        late = reached - left
        done = before[self.start]
        count = (before[self.start + 1] - done).astype(np.int64)
        end = np.cumsum(count)
        skipped = end - count - done  # places on other pieces
        hop = np.repeat(np.arange(len(count)), count)
        number = np.arange(len(hop)) - skipped[hop]  # of the place, on its piece
        length, fix = self._points.hops[hop], self.start[hop]
        metres = np.minimum(number * step[hop] - start[hop], length)
        share = metres / np.maximum(length, 1e-9)  # a hop may have no length
        lat, lon = self._points.lat, self._points.lon
        north = lat[fix] + share * (lat[fix + 1] - lat[fix])
        east = wrapped(lon[fix] + share * wrapped(lon[fix + 1] - lon[fix]))
        times = np.minimum(left[hop] + share * late[hop], reached[hop])
        return np.stack([north, east], axis=1), times
