"""Where traces begin, end and stop."""

import numpy as np

from trajanon.arrays import Bools, Ints
from trajanon.extract.geodesics import WGS84, Geodesics
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules

_STAY = 300.0
"""Seconds near one place that make a stop, even if longer pauses are allowed."""


def parts(points: Points, rules: Rules, near: float, stub: float) -> Ints:
    """Number the parts of traces that lie between one stop and the next.

    A trace stops where it was split at a pause, and where it stays within ``near`` metres of a
    place for 300 s, or for the longest pause if that is shorter. Pieces shorter than ``stub``
    metres at either end of a part are parts of their own.
    """
    border, size = points.pieces
    first = _are_stops(points, border, rules)
    outer = np.cumsum(first) - 1
    metres = np.zeros(len(points))
    metres[points.follows] = points.ways.length
    whole = np.add.reduceat(metres, border) >= stub
    # Pieces before the first whole one of their part, and those after the last.
    before = np.cumsum(whole) - np.r_[0, np.cumsum(whole)][np.flatnonzero(first)][outer]
    last = np.append(np.flatnonzero(first)[1:], len(border)) - 1
    leads = before == 0
    trails = before == before[last][outer]
    trails &= ~whole
    begins = np.zeros(len(points), dtype=np.bool_)
    begins[border] = first | trails
    begins[border[1:]] |= leads[:-1]
    seconds = min(_STAY, rules.max_pause or _STAY)
    stays = _stays(points, size, seconds, near)
    begins[1:] |= stays[1:] != stays[:-1]
    return np.cumsum(begins) - 1


def _are_stops(points: Points, border: Ints, rules: Rules) -> Bools:
    """Tell at which beginnings of pieces a trace begins, or goes on after a stop."""
    stops = np.ones(len(border), dtype=np.bool_)
    there = border[1:]
    here = there - 1
    lat, lon = points.lat, points.lon
    metres = WGS84.inv(lon[here], lat[here], lon[there], lat[there])[2]
    seconds = points.time[there] - points.time[here]
    with np.errstate(divide="ignore", invalid="ignore"):
        fast = metres / seconds > rules.max_speed
    stops[1:] = (points.trace[there] != points.trace[here]) | fast
    stops[1:] |= seconds > (rules.max_pause or np.inf)
    return stops


def _stays(points: Points, size: Ints, seconds: float, near: float) -> Bools:
    """Mark the points of stays: of some seconds within ``near`` metres of one place.

    Halfway and at its end, a stay is near where it began.
    """
    piece = np.repeat(np.arange(len(size)), size)
    timed = np.isfinite(points.time)
    marks = np.zeros(len(points) + 1, dtype=np.int64)
    if not timed.any():
        return marks[1:] > 0
    # One clock for all pieces: each begins long after the one before has ended.
    time = np.where(timed, points.time - np.min(points.time[timed]), 0.0)
    clock = time + piece * (time.max() + 2.0 * seconds)
    start = np.flatnonzero(timed)
    stays = np.ones(len(start), dtype=np.bool_)
    for share in (0.5, 1.0):
        after = np.searchsorted(clock, clock[start] + share * seconds)
        there = np.minimum(after, len(points) - 1)
        stays &= (after == there) & (piece[there] == piece[start])
        ways = Geodesics(points.lat[start], points.lon[start], points.lat[there], points.lon[there])
        stays &= ways.length <= near
    np.add.at(marks, start[stays], 1)
    np.add.at(marks, there[stays] + 1, -1)
    return np.cumsum(marks)[:-1] > 0
