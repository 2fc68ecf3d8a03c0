"""Pieces of track -> windows of equally spaced points, and their runs; or whole trips."""

from dataclasses import dataclass

import numpy as np

from trajanon.common.arrays import Bools, Floats, Hashes, Ints, places_of_spans
from trajanon.common.hashing import hashes_of, least_hashes
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points, greatest_of
from trajanon.trajectories.geodesy import wrapped
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import HOPS

_GRAIN = 2.0**-26  # metres; sums of whole grains do not depend on the lengths of other pieces
_FORGIVEN = 1e-6  # spacings; a window may be longer than its track by this, for rounding
_CALENDAR = 6e10  # seconds, some 1,900 years: a piece with a time farther from 1970 is untimed
_NO_LENGTH = 1e-9  # metres; a hop may have none, and nothing is divided by it


@dataclass(frozen=True, slots=True, eq=False)
class WindowBatch:
    """Trajectories of one batch."""

    points: Floats  # latitude and longitude in degrees, shape (windows, points, 2)
    trace: Ints  # which trace of the batch a window was cut from, shape (windows,)
    times: Floats  # seconds since 1970 UTC, NaN in untimed pieces, shape (windows, points)
    tracks: Tracks | None  # the runs of the windows
    hops: Hashes  # the least hashes of the hops of its recording or trip, shape (windows, HOPS)
    track_length: Floats  # metres of each piece of track, those without a window included
    true_ends: Bools | None = None  # as those of `Trajectories`; windows have no ends of their own


def windows(points: Points, rules: Rules) -> WindowBatch:
    """Walk along each piece, cut consecutive windows, and keep the runs with room for one."""
    assert rules.spacing is not None
    ways = _Ways(points)

    # How many windows, which share no place, have room on each piece; and how many places lie on
    # those with room: STEPS to a spacing, so that windows can slide.
    spacings = ways.total / rules.spacing + _FORGIVEN
    windows_on = (np.floor(spacings).astype(np.int64) + 1) // rules.points
    with_room = windows_on > 0
    places_on = np.where(with_room, np.floor(STEPS * spacings).astype(np.int64) + 1, 0)
    places, times = ways.walk(places_on, rules.spacing / STEPS)

    # The places of a piece with room are a run.
    windows_of_run = windows_on[with_room]
    places_of_run = places_on[with_room]
    first = np.append(0, np.cumsum(places_of_run))  # place of each run, and the end of all
    recording = points.trace[ways.first[with_room]]  # of each run

    run = np.repeat(np.arange(len(windows_of_run)), windows_of_run)  # of each window
    number = places_of_spans(0, windows_of_run)  # of each window on its run
    if rules.per_recording == 1:
        # The window in the middle of each recording's longest run.
        longest = greatest_of(recording, places_of_run)
        in_middle = np.isin(run, longest) & (number == windows_of_run[run] // 2)
        run = run[in_middle]
        number = number[in_middle]

    start = number * (STEPS * rules.points)  # the first place of each window, counted on its run
    tracks = Tracks(
        points=TrackPoints.of(places),
        first=first,
        run=run,
        start=start,
        times=times,
        # A single window may slide to any run of its recording.
        recording=recording if rules.per_recording == 1 else None,
    )

    place = (first[run] + start)[:, None] + STEPS * np.arange(rules.points)
    return WindowBatch(
        points=tracks.points[place.ravel()].reshape(-1, rules.points, 2),
        trace=recording[run],
        times=times[place].reshape(-1, rules.points),
        tracks=tracks,
        hops=ways.least_hashes(points.trace, recording[run]),
        track_length=ways.total,
    )


def whole_trips(points: Points, rules: Rules) -> WindowBatch:
    """Lay points at equal shares of the way of each long piece, with its fixes at both ends."""
    ways = _Ways(points)
    long = ways.total >= rules.length

    # Who moved by less than a grain went no way at all.
    step = np.maximum(ways.total, _GRAIN) / (rules.points - 1)
    places, times = ways.walk(np.where(long, rules.points, 0), step)
    places = places.reshape(-1, rules.points, 2)
    times = times.reshape(-1, rules.points)

    # Both ends are fixes to the last digit, and not what walking rounds.
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
    """Pieces of track, measured. Rows of points are called fixes."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self.start = points.hop_ends - 1  # the fix that each hop begins at
        self.first, self.size = points.pieces  # the first fix of each piece; its number of fixes
        self.last = self.first + self.size - 1

        grains_of_hop = np.zeros(len(points), dtype=np.int64)  # of the hop that ends at each fix
        grains_of_hop[points.hop_ends] = np.rint(points.hops / _GRAIN)
        grains = np.cumsum(grains_of_hop)
        grains -= np.repeat(grains[self.first], self.size)
        self.walked = grains * _GRAIN  # metres from the beginning of its piece to each fix
        self.total = self.walked[self.last]  # metres of each piece

        timed = np.logical_and.reduceat(np.abs(points.time) < _CALENDAR, self.first)
        self.time = np.where(np.repeat(timed, self.size), points.time, np.nan)

    def least_hashes(self, owner: Ints, wanted: Ints) -> Hashes:
        """Return the least hashes of the hops of each wanted owner, shape (wanted, HOPS).

        ``owner`` is of each point: its recording, or its trip.
        """
        lat, lon, time = self._points.lat, self._points.lon, self._points.time
        start = self.start
        end = start + 1
        hashes = hashes_of(lat[start], lon[start], time[start], lat[end], lon[end], time[end])

        owners, row = np.unique(wanted, return_inverse=True)
        is_wanted = np.isin(owner[start], owners)
        owner_row = np.searchsorted(owners, owner[start[is_wanted]])
        return least_hashes(owner_row, hashes[is_wanted], len(owners), HOPS)[row]

    def walk(self, places_on: Ints, step: Floats | float) -> tuple[Floats, Floats]:
        """Return places a step apart along each piece, (places, 2), degrees, and their times.

        Of each piece are given how many places lie on it, and its step in metres.
        """
        step_of_fix = np.repeat(np.broadcast_to(step, self.size.shape), self.size)

        # How many places of its piece lie before each fix; before the last fix, all.
        before = np.ceil(self.walked / step_of_fix)
        before = np.minimum(before, np.repeat(places_on, self.size))
        before[self.last] = places_on

        # On which hop each place lies, and its number on its piece.
        before_hop = before[self.start].astype(np.int64)
        places_on_hop = before[self.start + 1].astype(np.int64) - before_hop
        hop = np.repeat(np.arange(len(places_on_hop)), places_on_hop)
        number = places_of_spans(before_hop, places_on_hop)

        # How far along its hop, in metres and as a share from 0 to 1.
        fix = self.start[hop]
        length = self._points.hops[hop]
        metres = np.minimum(number * step_of_fix[fix] - self.walked[fix], length)
        share = metres / np.maximum(length, _NO_LENGTH)

        lat, lon = self._points.lat, self._points.lon
        place_lat = lat[fix] + share * (lat[fix + 1] - lat[fix])
        place_lon = wrapped(lon[fix] + share * wrapped(lon[fix + 1] - lon[fix]))

        left, reached = self.time[fix], self.time[fix + 1]
        times = np.minimum(left + share * (reached - left), reached)  # rounding may pass it
        return np.stack([place_lat, place_lon], axis=1), times
