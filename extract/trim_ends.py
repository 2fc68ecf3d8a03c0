"""Cutting out the ends of traces, which reveal where people live and work.

Around each place where a trace begins, ends, stops or is interrupted, one of `home_zones.Circles`
is cut out, of two and a half times the radius asked for: all within the radius is cut out, all
beyond four times it stays, and whoever knows the circle knows of the place only that it lies in a
disc of the radius.
"""

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.gaps_and_stays import keep, stays_of
from trajanon.extract.home_zones import Circles, Radius
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.trajectories.geodesy import radii, wrapped

_SURE = 1.01  # a factor: the error of the plane about each centre is below 1 %


def circles_of_ends(rules: Rules, key: bytes) -> Circles:
    """Start the circles of an extraction; many people's, so that no two share a way."""
    return Circles(Radius(rules.trim_ends, 2.0 * rules.trim_ends), key)


def trim(points: Points, rules: Rules, circles: Circles) -> Points:
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
    ends = np.stack([first, last], axis=1).ravel()  # in the order of the traces, as circles come
    numbers = circles.numbers_of(np.column_stack([points.lat[ends], points.lon[ends]]))
    centre_lat, centre_lon = circles.centres(numbers).reshape(-1, 2, 2).T  # (2, parts) each
    north, east = map(np.radians, radii(np.radians(centre_lat)))  # metres of a degree
    radius = circles.radius.circle * _SURE

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
