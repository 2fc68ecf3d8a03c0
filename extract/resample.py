"""Pieces of track -> windows of equally spaced points, and the runs they slide on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.extract.split import WGS84, hops
from trajanon.tracks import STEPS, Tracks

_AT_ONCE = 1_000_000
"""Places that are worked on at once: at a metre's step a batch may have 100 times as
many."""


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Trajectories of one batch.

    Attributes
    ----------
    points
        Latitude and longitude in degrees, shape (windows, points, 2).
    trace
        Which trace of the batch a window was cut from, shape (windows,).
    tracks
        The runs of the windows: each piece with a window, from its first point to the
        last whole step before its end. None where not asked for.
    track_length
        Metres of each piece of track, those without a window included.
    """

    points: NDArray[np.float64]
    trace: NDArray[np.int64]
    tracks: Tracks | None
    track_length: NDArray[np.float64]


def windows(points: Points, rules: Rules, *, keep_tracks: bool = True) -> Windows:
    """Walk along each piece and cut consecutive windows.

    The way between two fixes is their geodesic. A piece that is shorter than a window
    gives none, and so does the rest behind the last whole window of a piece; the run
    holds that rest, for windows to slide onto.
    """
    ways = _Ways.of(points)
    # The millionth of a step forgives what rounding took from an exact fit.
    spacings = ways.total / rules.spacing + 1e-6
    count = (np.floor(spacings).astype(np.int64) + 1) // rules.points
    piece = np.flatnonzero(count)
    count = count[piece]
    run = np.repeat(np.arange(len(piece)), count)
    tracks = None
    if keep_tracks:
        size = np.floor(STEPS * spacings[piece]).astype(np.int64) + 1
        number = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
        tracks = Tracks(
            points=ways.walk(piece, size, rules.spacing / STEPS),
            first=np.append(0, np.cumsum(size)),
            run=run,
            start=number * (STEPS * rules.points),
        )
        places = tracks.windows(rules.points)
    else:
        places = ways.walk(piece, count * rules.points, rules.spacing)
    return Windows(
        points=places.reshape(-1, rules.points, 2),
        trace=points.trace[ways.first[piece[run]]],
        tracks=tracks,
        track_length=ways.total,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """Pieces of track, measured.

    Attributes
    ----------
    points
        The fixes of all pieces.
    azimuth, length
        Of the hop from each fix to the next of its piece: degrees and metres.
    walked
        Metres up to each fix; goes on over the borders of pieces.
    first, last
        The first and the last fix of each piece.
    """

    points: Points
    azimuth: NDArray[np.float64]
    length: NDArray[np.float64]
    walked: NDArray[np.float64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, points: Points) -> "_Ways":
        azimuth, length = hops(points)
        first = np.flatnonzero(~points.follows)
        last = np.append(first[1:], len(points)) - 1
        walked = np.append(0.0, np.cumsum(length))[: len(points)]
        return cls(points, azimuth, length, walked, first, last)

    @property
    def total(self) -> NDArray[np.float64]:
        """Metres of each piece."""
        return self.walked[self.last] - self.walked[self.first]

    def walk(
        self, piece: NDArray[np.int64], size: NDArray[np.int64], step: float
    ) -> NDArray[np.float64]:
        """Places (lat, lon) every step metres along some pieces, so many on each."""
        first = np.cumsum(size) - size
        places = np.empty((size.sum(), 2))
        for begin in range(0, len(places), _AT_ONCE):
            some = np.arange(begin, min(begin + _AT_ONCE, len(places)))
            which = np.searchsorted(first, some, side="right") - 1
            metres = (some - first[which]) * step
            places[some] = self._at(piece[which], metres)
        return places

    def _at(
        self, piece: NDArray[np.int64], metres: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Places so many metres along their pieces, each of two fixes or more."""
        first = self.first[piece]
        target = self.walked[first] + metres
        hop = np.searchsorted(self.walked, target, side="right") - 1
        hop = np.clip(hop, first, self.last[piece] - 1)
        onward = np.minimum(target - self.walked[hop], self.length[hop])
        lon, lat, _ = WGS84.fwd(
            self.points.lon[hop],
            self.points.lat[hop],
            self.azimuth[hop],
            onward,
            return_back_azimuth=False,
        )
        return np.stack([lat, lon], axis=-1)
