"""Pieces of track -> windows of equally spaced points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.extract.split import WGS84, hops


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Trajectories of one batch.

    Attributes
    ----------
    points
        Latitude and longitude in degrees, shape (windows, points, 2).
    trace
        Which trace of the batch a window was cut from, shape (windows,).
    track_length
        Metres of each piece of track, those without a window included.
    """

    points: NDArray[np.float64]
    trace: NDArray[np.int64]
    track_length: NDArray[np.float64]


def windows(points: Points, rules: Rules) -> Windows:
    """Walk along each piece and cut consecutive windows.

    The way between two fixes is their geodesic. A piece that is shorter than a window
    gives none, and so does the rest behind the last whole window of a piece.
    """
    azimuth, length = hops(points)
    first = np.flatnonzero(~points.follows)
    last = np.append(first[1:], len(points)) - 1
    # Distance walked up to each point; goes on over the borders of pieces.
    walked = np.append(0.0, np.cumsum(length))[: len(points)]
    track_length = walked[last] - walked[first]
    # The millionth of a step forgives what rounding took from an exact fit.
    steps = np.floor(track_length / rules.spacing + 1e-6).astype(np.int64) + 1
    count = steps // rules.points
    piece = np.repeat(np.arange(len(first)), count)
    number = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
    step = number[:, None] * rules.points + np.arange(rules.points)
    target = walked[first[piece], None] + step * rules.spacing
    hop = np.searchsorted(walked, target, side="right") - 1
    hop = np.clip(hop, first[piece, None], np.maximum(last - 1, first)[piece, None])
    onward = np.minimum(target - walked[hop], length[hop])
    lon, lat, _ = WGS84.fwd(
        points.lon[hop],
        points.lat[hop],
        azimuth[hop],
        onward,
        return_back_azimuth=False,
    )
    return Windows(
        points=np.stack([lat, lon], axis=-1),
        trace=points.trace[first[piece]],
        track_length=track_length,
    )
