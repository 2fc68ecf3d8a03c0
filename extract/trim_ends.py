"""Cutting out the ends of traces, which reveal where people live and work.

Around each place where a trace begins, ends or stops, a circle is cut out. A circle about the place
itself would reveal it: it is the centre. So the circle has two and a half times the radius asked
for, and its centre lies off the place by a random way, as `Anchors` draws it. Everything within the
radius asked for is always cut out, everything beyond four times that radius stays, and whoever
knows the circle exactly knows of the place only that it lies in a disc of the radius asked for.
"""

from itertools import product
from math import dist

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.points import WGS84, Geodesics, Points
from trajanon.extract.rules import Rules
from trajanon.extract.split import keep
from trajanon.geodesy import EQUATOR, in_space, radii
from trajanon.hashing import bits_mixed, hashes_of

_RADIUS = 2.5  # times the one asked for: one, one for the way to the centre, half for the anchor
_SURE = 1.01  # a factor: the plane about each centre is right to some thousandths, so cut more
_STAY = 300.0  # seconds near one place that make a stop, even if longer pauses are allowed

_BULGE = 2.5e7
"""Metres. A geodesic of length L lies off a straight line in the plane by at most
L^2 / _BULGE, times 1 + the tangent of its latitude."""


class Anchors:
    """Gives each place the centre of a circle, and places near each other the same one.

    The first place of a neighbourhood, half of ``metres`` around it, is its anchor. The centre lies
    off the anchor by a random way of up to ``metres``, which the secret ``key`` decides.
    """

    def __init__(self, metres: float, key: int) -> None:
        self.metres = metres
        self.key = key
        self.places: list[list[float]] = []  # latitude and longitude
        self._cells: dict[tuple[int, ...], list[tuple[int, list[float]]]] = {}  # number, where

    def of(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Give the centre of each place's circle, in degrees, shape (n,)."""
        places, numbers = np.column_stack([lat, lon]), []
        space = in_space(places, EQUATOR)  # a chord is as good as the way
        cells = (space // (0.5 * self.metres)).astype(np.int64)
        rows = zip(places.tolist(), space.tolist(), map(tuple, cells.tolist()), strict=True)
        for place, at, cell in rows:
            near = [
                number
                for each in product(*((side - 1, side, side + 1) for side in cell))
                for number, other in self._cells.get(each, ())
                if dist(at, other) <= 0.5 * self.metres
            ]
            numbers.append(min(near, default=len(self.places)))
            if not near:
                self._cells.setdefault(cell, []).append((len(self.places), at))
                self.places.append(place)
        lat, lon = np.array(self.places)[numbers].T
        # Azimuth and length of the way to the centre, evenly spread over the circle.
        one = bits_mixed(hashes_of(lat, lon) ^ np.uint64(self.key))
        azimuth, share = one / 2.0**64, bits_mixed(one) / 2.0**64
        lon, lat, _ = WGS84.fwd(lon, lat, 360.0 * azimuth, self.metres * np.sqrt(share))
        return lat, lon


def trim(points: Points, rules: Rules, anchors: Anchors) -> Points:
    """Cut out the surroundings of the ends of traces, and of the places where they stop."""
    if len(points) == 0:
        return points
    metres = rules.trim_ends
    radius = _RADIUS * metres * _SURE
    part = _parts(points, rules, near=0.5 * metres, stub=2.0 * _RADIUS * metres)
    first = np.flatnonzero(np.diff(part, prepend=-1))
    last = np.append(first[1:], len(points)) - 1
    ends = np.stack([first, last], axis=1).ravel()  # in the order of the traces
    centres = anchors.of(points.lat[ends], points.lon[ends])
    centre_lat, centre_lon = (degrees.reshape(-1, 2).T for degrees in centres)
    north, east = map(np.radians, radii(np.radians(centre_lat)))  # metres of a degree

    def plane(lat: Floats, lon: Floats, part: Ints) -> NDArray[np.complex128]:
        """Places in metres east and, imaginary, north of the two centres of their parts."""
        x = np.mod(lon - centre_lon[:, part] + 180.0, 360.0) - 180.0
        y = lat - centre_lat[:, part]
        return np.asarray(x * east[:, part] + 1j * (y * north[:, part]))

    def meets(lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways come into a circle, or lead from one part to the next, past a stop."""
        here = plane(lat[start], lon[start], part[start])
        way = plane(lat[start + 1], lon[start + 1], part[start]) - here
        length = np.abs(way)
        # Where on the way the centre is nearest, from 0 to 1.
        with np.errstate(divide="ignore", invalid="ignore"):
            along = -(here * way.conj()).real / length**2
        nearest = here + np.clip(np.nan_to_num(along), 0.0, 1.0) * way
        steep = 1.0 + np.abs(np.tan(np.radians(lat[start])))
        near = np.abs(nearest) <= radius + length**2 / _BULGE * steep
        return np.asarray(near.any(axis=0) | (part[start] != part[start + 1]))

    outside = np.abs(plane(points.lat, points.lon, part)) > radius
    return keep(points, np.asarray(outside.all(axis=0)), meets)


def _parts(points: Points, rules: Rules, near: float, stub: float) -> Ints:
    """Number the parts of traces that lie between one stop and the next.

    A trace stops where it was split at a pause, and where it stays within ``near`` metres of a
    place for 300 s, or for the longest pause if that is shorter. Pieces shorter than ``stub``
    metres at either end of a part are parts of their own.
    """
    border, _ = points.pieces
    # The pieces at which a trace begins, or goes on after a stop.
    there, here = border[1:], border[1:] - 1
    lat, lon = points.lat, points.lon
    metres = WGS84.inv(lon[here], lat[here], lon[there], lat[there])[2]
    pause = points.time[there] - points.time[here]
    with np.errstate(divide="ignore", invalid="ignore"):
        stops = (metres / pause > (rules.max_speed or np.inf)) | (pause > rules.longest_pause)
    first = np.append(True, stops | (points.trace[there] != points.trace[here]))
    outer = np.cumsum(first) - 1
    length = np.zeros(len(points))
    length[points.follows] = points.ways.length
    whole = np.add.reduceat(length, border) >= stub
    # Pieces before the first whole one of their part, and those after the last.
    before = np.cumsum(whole) - np.r_[0, np.cumsum(whole)][np.flatnonzero(first)][outer]
    last = np.append(np.flatnonzero(first)[1:], len(border)) - 1
    leads = before == 0
    trails = before == before[last][outer]
    trails &= ~whole
    begins = np.zeros(len(points), dtype=np.bool_)
    begins[border] = first | trails
    begins[border[1:]] |= leads[:-1]
    stays = stays_of(points, rules, near)
    begins[1:] |= stays[1:] != stays[:-1]
    return np.cumsum(begins) - 1


def longest_stop(rules: Rules) -> float:
    """Seconds of a stop that ends no trip, at most."""
    return min(_STAY, rules.longest_pause)


def stays_of(points: Points, rules: Rules, near: float) -> Bools:
    """Mark the points of stays: within ``near`` metres of one place, for 300 s.

    Or for the longest pause, if that is shorter. Halfway and at its end, a stay is near where it
    began.
    """
    seconds, size = longest_stop(rules), points.pieces[1]
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
