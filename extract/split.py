"""Traces -> unbroken pieces of track inside the box."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from pyproj import Geod

from trajanon.extract.areas import Box
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules

WGS84 = Geod(ellps="WGS84")

_JITTER = 50.0
"""Metres; a shorter hop never counts as too fast: noise over a second is no speed."""


def hops(
    points: Points,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure the way from each point to the next of its piece.

    Returns
    -------
    tuple[NDArray[np.float64], NDArray[np.float64]]
        Azimuth in degrees and geodesic length in metres, each of shape (n,); the
        length is 0 at the end of a piece.
    """
    azimuth, length = np.zeros(len(points)), np.zeros(len(points))
    start = np.flatnonzero(points.follows) - 1
    azimuth[start], _, length[start] = WGS84.inv(
        points.lon[start],
        points.lat[start],
        points.lon[start + 1],
        points.lat[start + 1],
    )
    return azimuth, length


def split(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """Cut where the recording was interrupted.

    Parameters
    ----------
    points
        Cleaned points.
    rules
        The limits for time, length and speed of a hop.
    counts
        Told how many cuts each limit made; a hop over several limits counts once.
    """
    follows = points.follows[1:]
    seconds = np.diff(points.time)
    metres = hops(points)[1][:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = metres / seconds  # NaN, which is never too fast, in an untimed piece
    pause = follows & (seconds > rules.max_pause)
    far = follows & ~pause & (metres > (rules.max_gap or np.inf))
    fast = follows & ~pause & ~far & (metres > _JITTER)
    fast &= speed > rules.max_speed
    counts["cuts at pauses"] += int(pause.sum())
    counts["cuts at long hops"] += int(far.sum())
    counts["cuts at impossible speeds"] += int(fast.sum())
    return points.cut(np.append(False, pause | far | fast)[: len(points)])


def clip(points: Points, box: Box) -> Points:
    """Keep what lies inside the box; a piece that leaves it ends there."""
    inside = box.contains(points.lat, points.lon)
    enters = np.zeros(len(points), dtype=np.bool_)
    enters[1:] = inside[1:] & ~inside[:-1]
    return points.cut(enters).take(inside)
