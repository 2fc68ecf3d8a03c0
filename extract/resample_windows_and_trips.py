"""Pieces of track -> windows of equally spaced points, and their runs; or whole trips."""

from dataclasses import dataclass

import numpy as np

from trajanon.common.arrays import Bools, Floats, Hashes, Ints, indices_of_spans
from trajanon.common.hashing import hashes_of, least_hashes
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points, greatest_of
from trajanon.trajectories.geodesy import wrapped
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import HOP_HASHES_KEPT

# Metres. Ways are summed in whole grains, as integers: in floats, the way of a piece would be
# rounded by the sum of all pieces before it.
_GRAIN = 2.0**-26
_FORGIVEN = 1e-6  # spacings; a window may be longer than its track by this, for rounding
_CALENDAR = 6e10  # seconds, some 1,900 years: a piece with a time farther from 1970 is untimed
_LEAST_DIVISOR = 1e-9  # metres; a hop of no length does not divide by 0: its share is 0


@dataclass(frozen=True, slots=True, eq=False)
class WindowBatch:
    """Trajectories of one batch."""

    points: Floats  # latitude and longitude in degrees, shape (windows, points, 2)
    trace: Ints  # which trace of the batch a window was cut from, shape (windows,)
    times: Floats  # seconds since 1970 UTC, NaN in untimed pieces, shape (windows, points)
    tracks: Tracks | None  # the runs of the windows
    # The least hashes of the hops of its recording or trip, shape (windows, HOP_HASHES_KEPT).
    hop_hashes: Hashes
    track_length: Floats  # metres of each piece of track, those without a window included
    true_ends: Bools | None = None  # as those of `Trajectories`; windows have no ends of their own


def windows(points: Points, rules: Rules, true_ends: Bools | None = None) -> WindowBatch:
    """Walk along each piece, cut consecutive windows, and keep the runs with room for one.

    ``true_ends`` says of each piece whether its ends are true ones, (pieces, 2); None if all are.
    """
    assert rules.spacing is not None
    ways = _Ways(points)

    # How many windows, which share no place, have room on each piece; and how many places lie on
    # those with room: STEPS to a spacing, so that windows can slide.
    spacings = ways.piece_length / rules.spacing + _FORGIVEN
    windows_on = (np.floor(spacings).astype(np.int64) + 1) // rules.points
    with_room = windows_on > 0
    places_on = np.where(with_room, np.floor(STEPS * spacings).astype(np.int64) + 1, 0)
    places, times = ways.walk(places_on, rules.spacing / STEPS)

    # The places of a piece with room are a run.
    windows_of_run = windows_on[with_room]
    places_of_run = places_on[with_room]
    first_of_run = np.append(0, np.cumsum(places_of_run))  # first places, and the end of all
    recording = points.trace[ways.piece_first[with_room]]  # of each run

    run = np.repeat(np.arange(len(windows_of_run)), windows_of_run)  # of each window
    number = indices_of_spans(0, windows_of_run)  # of each window on its run
    if rules.per_recording == 1:
        # The window in the middle of each recording's longest run.
        longest = greatest_of(recording, places_of_run)
        in_middle = np.isin(run, longest) & (number == windows_of_run[run] // 2)
        run = run[in_middle]
        number = number[in_middle]

    start_on_run = number * (STEPS * rules.points)  # the first place of each window
    tracks = Tracks(
        points=TrackPoints.of(places),
        first=first_of_run,
        run=run,
        start=start_on_run,
        times=times,
        # A single window may slide to any run of its recording.
        recording=recording if rules.per_recording == 1 else None,
        true_ends=None if true_ends is None else true_ends[with_room],
    )

    place_index = (first_of_run[run] + start_on_run)[:, None] + STEPS * np.arange(rules.points)
    return WindowBatch(
        points=tracks.points[place_index.ravel()].reshape(-1, rules.points, 2),
        trace=recording[run],
        times=times[place_index].reshape(-1, rules.points),
        tracks=tracks,
        hop_hashes=ways.least_hashes(points.trace, recording[run]),
        track_length=ways.piece_length,
    )


def whole_trips(points: Points, rules: Rules) -> WindowBatch:
    """Lay points at equal shares of the way of each long piece, with its fixes at both ends."""
    ways = _Ways(points)
    long = ways.piece_length >= rules.length

    # Who moved by less than a grain went no way at all, and `walk` would divide by a step of 0.
    step = np.maximum(ways.piece_length, _GRAIN) / (rules.points - 1)
    places, times = ways.walk(np.where(long, rules.points, 0), step)
    places = places.reshape(-1, rules.points, 2)
    times = times.reshape(-1, rules.points)

    # Both ends are fixes to the last digit, and not what walking rounds.
    for end, fix in ((0, ways.piece_first[long]), (-1, ways.piece_last[long])):
        places[:, end] = np.stack([points.lat[fix], points.lon[fix]], axis=1)
        times[:, end] = ways.fix_time[fix]

    # To a centimetre, as tracks are: where all trips lead along one meridian, their longitudes
    # would differ by what rounding adds, and by nothing else.
    return WindowBatch(
        points=np.round(places, 7),
        trace=points.trace[ways.piece_first[long]],
        times=times,
        tracks=None,
        hop_hashes=ways.least_hashes(points.piece, points.piece[ways.piece_first[long]]),
        track_length=ways.piece_length,
    )


class _Ways:
    """Pieces of track, measured. Rows of points are called fixes.

    Names begin with what an array has a row for: ``hop_``, ``piece_`` or ``fix_``.
    """

    def __init__(self, points: Points) -> None:
        self._points = points
        self.hop_start = points.hop_ends - 1  # the fix that each hop begins at
        self.piece_first, self.piece_size = points.pieces  # a fix; and the number of fixes
        self.piece_last = self.piece_first + self.piece_size - 1

        grains_of_hop = np.zeros(len(points), dtype=np.int64)  # of the hop that ends at each fix
        grains_of_hop[points.hop_ends] = np.rint(points.hop_metres / _GRAIN)
        grains = np.cumsum(grains_of_hop)
        grains -= np.repeat(grains[self.piece_first], self.piece_size)
        self.fix_walked = grains * _GRAIN  # metres from the beginning of its piece
        self.piece_length = self.fix_walked[self.piece_last]  # metres

        timed = np.logical_and.reduceat(np.abs(points.time) < _CALENDAR, self.piece_first)
        self.fix_time = np.where(np.repeat(timed, self.piece_size), points.time, np.nan)

    def least_hashes(self, owner: Ints, wanted: Ints) -> Hashes:
        """Return the least hashes of the hops of each wanted owner.

        ``owner`` is of each point: its recording, or its trip. The shape is (wanted,
        HOP_HASHES_KEPT).
        """
        lat, lon, time = self._points.lat, self._points.lon, self._points.time
        start = self.hop_start
        end = start + 1
        hashes = hashes_of(lat[start], lon[start], time[start], lat[end], lon[end], time[end])

        owners, row = np.unique(wanted, return_inverse=True)
        is_wanted = np.isin(owner[start], owners)
        owner_row = np.searchsorted(owners, owner[start[is_wanted]])
        return least_hashes(owner_row, hashes[is_wanted], len(owners), HOP_HASHES_KEPT)[row]

    def walk(self, places_on: Ints, step: Floats | float) -> tuple[Floats, Floats]:
        """Return places a step apart along each piece, (places, 2), degrees, and their times.

        Of each piece are given how many places lie on it, and its step in metres.
        """
        step_of_fix = np.repeat(np.broadcast_to(step, self.piece_size.shape), self.piece_size)

        # How many places of its piece lie before each fix; before the last fix, all.
        before = np.ceil(self.fix_walked / step_of_fix)
        before = np.minimum(before, np.repeat(places_on, self.piece_size))
        before[self.piece_last] = places_on

        # On which hop each place lies, and its number on its piece.
        before_hop = before[self.hop_start].astype(np.int64)
        places_on_hop = before[self.hop_start + 1].astype(np.int64) - before_hop
        hop = np.repeat(np.arange(len(places_on_hop)), places_on_hop)
        number = indices_of_spans(before_hop, places_on_hop)

        # How far along its hop, in metres and as a share from 0 to 1.
        fix = self.hop_start[hop]
        length = self._points.hop_metres[hop]
        metres = np.minimum(number * step_of_fix[fix] - self.fix_walked[fix], length)
        share = metres / np.maximum(length, _LEAST_DIVISOR)

        lat, lon = self._points.lat, self._points.lon
        place_lat = lat[fix] + share * (lat[fix + 1] - lat[fix])
        place_lon = wrapped(lon[fix] + share * wrapped(lon[fix + 1] - lon[fix]))

        left, reached = self.fix_time[fix], self.fix_time[fix + 1]
        times = np.minimum(left + share * (reached - left), reached)  # rounding may pass it
        return np.stack([place_lat, place_lon], axis=1), times
