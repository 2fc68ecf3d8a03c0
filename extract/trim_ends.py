"""Cutting out the ends of traces, which reveal where people live and work.

Around each place where a trace begins, ends, stops or is interrupted, a circle of two and a half
times the radius asked for is cut out. Its centre lies off the place by a random way, which a secret
key decides: all within the radius is cut out, all beyond four times it stays, and whoever knows the
circle knows of the place only that it lies in a disc of the radius.
"""

from itertools import product
from math import dist

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.hashing import bits_mixed, hashes_of
from trajanon.extract.gaps_and_stays import keep, stays_of
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.trajectories.geodesy import EQUATOR, in_space, radii

_RADIUS = 2.5  # times the one asked for: one, one for the way to the centre, half for the anchor
_SURE = 1.01  # a factor: the error of the plane about each centre is below 1 %


class Anchors:
    """Gives each place the centre of a circle, by a secret key, and the same one to near places."""

    def __init__(self, metres: float, key: int) -> None:
        self.metres = metres
        self.key = key
        self.places: list[list[float]] = []  # latitude and longitude
        self._cells: dict[tuple[int, ...], list[tuple[int, list[float]]]] = {}  # number, where

    def of(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Return the centre of each place's circle, in degrees, shape (n,)."""
        places, numbers = np.column_stack([lat, lon]), []
        space = in_space(places, EQUATOR)  # a chord is as good as the way
        cells = (space // (0.5 * self.metres)).astype(np.int64)
        rows = zip(places.tolist(), space.tolist(), map(tuple, cells.tolist()), strict=True)
        for place, at, cell in rows:
            near = [
                number
                for near_cell in product(*((side - 1, side, side + 1) for side in cell))
                for number, known_place in self._cells.get(near_cell, ())
                if dist(at, known_place) <= 0.5 * self.metres
            ]
            numbers.append(min(near, default=len(self.places)))
            if not near:
                self._cells.setdefault(cell, []).append((len(self.places), at))
                self.places.append(place)
        lat, lon = np.array(self.places)[numbers].T
        # Azimuth and length of the way to the centre, evenly spread over the circle.
        direction_bits = bits_mixed(hashes_of(lat, lon) ^ np.uint64(self.key))
        azimuth, share = direction_bits / 2.0**64, bits_mixed(direction_bits) / 2.0**64
        way = self.metres * np.sqrt(share) * np.exp(2j * np.pi * azimuth)
        north, east = radii(np.radians(lat))
        return lat + np.degrees(way.real / north), lon + np.degrees(way.imag / east)


def trim(points: Points, rules: Rules, anchors: Anchors) -> Points:
    """Cut out the surroundings of the ends of pieces, and of the places where they stop."""
    if len(points) == 0:
        return points
    radius = _RADIUS * rules.trim_ends * _SURE
    stays = stays_of(points, rules, 0.5 * rules.trim_ends)
    begins = ~points.follows
    begins[1:] |= stays[1:] != stays[:-1]
    part = np.cumsum(begins) - 1  # between one stop or interruption and the next
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
        """Mark which ways come into a circle, or lead from one part to the next, past a stop."""
        here = plane(lat[start], lon[start], part[start])
        way = plane(lat[start + 1], lon[start + 1], part[start]) - here
        length = np.abs(way)
        # Where on the way the centre is nearest, from 0 to 1.
        with np.errstate(divide="ignore", invalid="ignore"):
            along = -(here * way.conj()).real / length**2
        nearest = here + np.clip(np.nan_to_num(along), 0.0, 1.0) * way
        near = (np.abs(nearest) <= radius).any(axis=0)
        return np.asarray(near | (part[start] != part[start + 1]))

    outside = np.abs(plane(points.lat, points.lon, part)) > radius
    return keep(points, np.asarray(outside.all(axis=0)), meets)
