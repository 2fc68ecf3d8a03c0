"""Pieces of track -> windows of equally spaced points, and the runs they slide on."""

from dataclasses import dataclass

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.geodesics import Geodesics
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.tracks import STEPS, Tracks

_AT_ONCE = 50_000
"""Places that are worked on at once, so that they stay in the processor's cache: at a
step of a metre, a batch has about a hundred times as many places as points."""

_GRAIN = 2.0**-26
"""Metres, about 15 nanometres: lengths are added up in whole grains, so that a sum does
not depend on the lengths of other pieces."""

_FORGIVEN = 1e-6  # spacings; a window may be longer than its track by this, for rounding


@dataclass(frozen=True, slots=True, eq=False)
class WindowBatch:
    """Trajectories of one batch."""

    points: Floats  # latitude and longitude in degrees, shape (windows, points, 2)
    trace: Ints  # which trace of the batch a window was cut from, shape (windows,)
    filled: Ints  # points of a window farther than a spacing from both fixes of their hop
    displacement: Floats  # metres from the first to the last point of a window, shape (windows,)
    tracks: Tracks | None  # the runs of the windows
    track_length: Floats  # metres of each piece of track, those without a window included

    def take(self, which: Bools) -> "WindowBatch":
        """Keep some windows."""
        if which.all():
            return self
        return WindowBatch(
            self.points[which],
            self.trace[which],
            self.filled[which],
            self.displacement[which],
            None if self.tracks is None else self.tracks.take(which),
            self.track_length,
        )


def windows(points: Points, rules: Rules, *, keep_tracks: bool = True) -> WindowBatch:
    """Walk along each piece, from fix to fix on geodesics, and cut consecutive windows."""
    ways = _Ways(points)
    spacings = ways.total / rules.spacing + _FORGIVEN
    count = (np.floor(spacings).astype(np.int64) + 1) // rules.points
    if keep_tracks:
        size = np.floor(STEPS * spacings).astype(np.int64) + 1
        size[count == 0] = 0
        places, filled = ways.walk(size, rules.spacing / STEPS, rules.spacing)
        # A run of the places on each piece that has a window.
        first, many = np.append(0, np.cumsum(size[count > 0])), count[count > 0]
        run = np.repeat(np.arange(len(many)), many)
        number = np.arange(len(run)) - np.repeat(np.cumsum(many) - many, many)
        start = number * (STEPS * rules.points)
        tracks = Tracks(points=places, first=first, run=run, start=start)
        begins = first[run] + start
        window = begins[:, None] + STEPS * np.arange(rules.points)
        places, filled = places[window], filled[window]
    else:
        tracks = None
        size = count * rules.points
        places, filled = ways.walk(size, rules.spacing, rules.spacing)
    found = places.reshape(-1, rules.points, 2)
    here, there = found[:, 0].T, found[:, -1].T
    return WindowBatch(
        points=found,
        trace=points.trace[np.repeat(ways.first, count)],
        filled=filled.reshape(-1, rules.points).sum(axis=1),
        displacement=Geodesics(*here, *there).length,
        tracks=tracks,
        track_length=ways.total,
    )


class _Ways:
    """Pieces of track, measured."""

    def __init__(self, points: Points) -> None:
        follows = points.follows
        self.hops = points.ways  # from each fix to the next of its piece
        self.start = np.flatnonzero(follows) - 1  # the fix that each hop begins at
        self.first, self.size = points.pieces
        self.last = self.first + self.size - 1
        grains = np.zeros(len(points), dtype=np.int64)
        grains[follows] = np.rint(self.hops.length / _GRAIN)
        grains = np.cumsum(grains)
        grains -= np.repeat(grains[self.first], self.size)
        self.walked = grains * _GRAIN  # metres from the beginning of its piece to each fix
        self.total = self.walked[self.last]  # metres of each piece

    def walk(self, size: Ints, step: float, spacing: float) -> tuple[Floats, Bools]:
        """Give the places at every step (metres) of the pieces, and which lie far from both fixes.

        ``size`` is the number of places on each piece; far is more than a spacing.
        """
        # The number of places on a piece that lie before each fix; before the last fix, all.
        before = np.ceil(self.walked / step)
        before = np.minimum(before, np.repeat(size, self.size))
        before[self.last] = size
        start = self.walked[self.start]
        done = before[self.start]
        count = (before[self.start + 1] - done).astype(np.int64)
        end = np.cumsum(count)
        skipped = end - count - done  # places on other pieces
        places = np.empty((size.sum(), 2))
        filled = np.empty(size.sum(), dtype=np.bool_)
        for begin in range(0, len(places), _AT_ONCE):
            some = slice(begin, min(begin + _AT_ONCE, len(places)))
            low, high = np.searchsorted(end, (begin, some.stop - 1), side="right")
            reached = np.minimum(end[low : high + 1], some.stop)
            hop = np.repeat(np.arange(low, high + 1), np.diff(reached, prepend=begin))
            # The number of a place on its piece is exact, whatever the batch.
            number = np.arange(begin, some.stop) - skipped[hop]
            length = self.hops.length[hop]
            metres = np.minimum(number * step - start[hop], length)
            places[some, 0], places[some, 1] = self.hops.at(hop, metres)
            apart = np.minimum(metres, length - metres)
            filled[some] = apart > spacing * (1 + _FORGIVEN)
        return places, filled
