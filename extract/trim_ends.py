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
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.trajectories.geodesy import EQUATOR, in_space, radii, wrapped

_RADIUS = 2.5  # times the one asked for: one, one for the way to the centre, half for the anchor
_SURE = 1.01  # a factor: the error of the plane about each centre is below 1 %


def trim(points: Points, rules: Rules, anchors: "Anchors") -> Points:
    """Cut out the surroundings of the ends of pieces, and of the places where they stop."""
    if len(points) == 0:
        return points

    # A part goes from one stop or interruption to the next.
    stays = stays_of(points, rules, 0.5 * rules.trim_ends)
    begins = ~points.follows
    begins[1:] |= stays[1:] != stays[:-1]
    part = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(points)) - 1
    ends = np.stack([first, last], axis=1).ravel()  # in the order of the traces, which anchors keep
    centres = anchors.centres_of(points.lat[ends], points.lon[ends])
    centre_lat, centre_lon = (degrees.reshape(-1, 2).T for degrees in centres)  # (2, parts)
    north, east = map(np.radians, radii(np.radians(centre_lat)))  # metres of a degree
    radius = _RADIUS * rules.trim_ends * _SURE

    def from_centres(lat: Floats, lon: Floats, part: Ints) -> NDArray[np.complex128]:
        """Return places in metres east and, imaginary, north of both centres of their parts."""
        degrees_east = wrapped(lon - centre_lon[:, part])
        degrees_north = lat - centre_lat[:, part]
        return np.asarray(degrees_east * east[:, part] + 1j * (degrees_north * north[:, part]))

    def meets(lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Mark which ways come into a circle, or lead from one part to the next, past a stop."""
        begin = from_centres(lat[start], lon[start], part[start])
        way = from_centres(lat[start + 1], lon[start + 1], part[start]) - begin
        length = np.abs(way)

        # Where on the way the centre is nearest, from 0 to 1.
        with np.errstate(divide="ignore", invalid="ignore"):
            share = -(begin * way.conj()).real / length**2
        nearest = begin + np.clip(np.nan_to_num(share), 0.0, 1.0) * way
        comes_in = (np.abs(nearest) <= radius).any(axis=0)
        return np.asarray(comes_in | (part[start] != part[start + 1]))

    is_outside = (np.abs(from_centres(points.lat, points.lon, part)) > radius).all(axis=0)
    return keep(points, np.asarray(is_outside), meets)


class Anchors:
    """Places with a circle each, whose centre a secret key decides; near places share the first."""

    def __init__(self, metres: float, key: int) -> None:
        self.metres = metres
        self.key = key
        self.places: list[list[float]] = []  # latitude and longitude
        # Number of each anchor and where it is in space, by the cube of half that many metres.
        self._by_cube: dict[tuple[int, ...], list[tuple[int, list[float]]]] = {}

    def centres_of(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Return the centre of each place's circle, in degrees, shape (n,)."""
        places = np.column_stack([lat, lon])
        space = in_space(places, EQUATOR)  # a chord is as good as the way
        cubes = (space // (0.5 * self.metres)).astype(np.int64)

        anchors = list[int]()
        rows = zip(places.tolist(), space.tolist(), map(tuple, cubes.tolist()), strict=True)
        for place, in_metres, cube in rows:
            near = self._near(in_metres, cube)
            anchors.append(min(near, default=len(self.places)))
            if not near:
                self._by_cube.setdefault(cube, []).append((len(self.places), in_metres))
                self.places.append(place)

        lat, lon = np.array(self.places)[anchors].T
        # Azimuth and length of the way to the centre, evenly spread over the circle.
        azimuth_bits = bits_mixed(hashes_of(lat, lon) ^ np.uint64(self.key))
        azimuth = 2.0 * np.pi * (azimuth_bits / 2.0**64)
        length = self.metres * np.sqrt(bits_mixed(azimuth_bits) / 2.0**64)
        metres_north, metres_east = radii(np.radians(lat))
        way = length * np.exp(1j * azimuth)
        return lat + np.degrees(way.real / metres_north), lon + np.degrees(way.imag / metres_east)

    def _near(self, in_metres: list[float], cube: tuple[int, ...]) -> list[int]:
        """List the anchors within half the metres of a place, all of them in cubes next to it."""
        return [
            number
            for near_cube in product(*((side - 1, side, side + 1) for side in cube))
            for number, anchor in self._by_cube.get(near_cube, ())
            if dist(in_metres, anchor) <= 0.5 * self.metres
        ]
