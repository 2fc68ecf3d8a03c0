"""Cutting out the ends of traces, which reveal where people live and work.

Around each place where a trace begins, ends or stops, a circle is cut out. A circle about the place
itself would reveal it: it is the centre. So the circle has two and a half times the radius asked
for, and its centre lies off the place by a random way, as `trajanon.extract.anchors` draws it.
Everything within the radius asked for is always cut out, everything beyond four times that radius
stays, and whoever knows the circle exactly knows of the place only that it lies in a disc of the
radius asked for.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.anchors import Anchors
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.extract.split import hide
from trajanon.extract.stops import parts
from trajanon.geodesy import radii

_RADIUS = 2.5
"""Times the radius asked for: one, one for the way to the centre, half for the anchor."""

_SURE = 1.01
"""A factor: the plane about each centre is right to some thousandths, so cut more."""

_BULGE = 2.5e7
"""Metres. A geodesic of length L lies off a straight line in the plane by at most
L^2 / _BULGE, times 1 + the tangent of its latitude."""


def trim(points: Points, rules: Rules, anchors: Anchors) -> Points:
    """Cut out the surroundings of the ends of traces, and of the places where they stop."""
    if len(points) == 0:
        return points
    metres = rules.trim_ends
    part = parts(points, rules, near=0.5 * metres, stub=2.0 * _RADIUS * metres)
    first = np.flatnonzero(np.diff(part, prepend=-1))
    last = np.append(first[1:], len(points)) - 1
    ends = np.stack([first, last], axis=1).ravel()  # in the order of the traces
    lat, lon = (side.reshape(-1, 2).T for side in anchors.of(points.lat[ends], points.lon[ends]))
    north, east = map(np.radians, radii(np.radians(lat)))
    return hide(points, _Ends(part, lat, lon, north, east, _RADIUS * metres * _SURE))


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """An exclusion of the points it was made of: for each point, the two circles of its part."""

    part: Ints  # of each point
    lat: Floats  # degrees, of the centres of the circles, shape (2, parts) as all others
    lon: Floats  # degrees
    north: Floats  # metres of a degree at the centre
    east: Floats  # metres of a degree at the centre
    radius: float

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points lie in a circle of their part."""
        away = np.abs(self._plane(lat, lon, self.part))
        return np.asarray((away <= self.radius).any(axis=0))

    def meets(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways, each from a point to the next, come into a circle.

        A way from one part to the next leads past a stop, and is cut as well.
        """
        part = self.part[start]
        here = self._plane(lat[start], lon[start], part)
        way = self._plane(lat[start + 1], lon[start + 1], part) - here
        length = np.abs(way)
        # Where on the way the centre is nearest, from 0 to 1.
        with np.errstate(divide="ignore", invalid="ignore"):
            along = -(here * way.conj()).real / length**2
        nearest = here + np.clip(np.nan_to_num(along), 0.0, 1.0) * way
        steep = 1.0 + np.abs(np.tan(np.radians(lat[start])))
        near = np.abs(nearest) <= self.radius + length**2 / _BULGE * steep
        return np.asarray(near.any(axis=0) | (part != self.part[start + 1]))

    def _plane(self, lat: Floats, lon: Floats, part: Ints) -> NDArray[np.complex128]:
        """Places in metres east and, imaginary, north of the centres of their parts."""
        away = np.mod(lon - self.lon[:, part] + 180.0, 360.0) - 180.0
        east, north = away * self.east[:, part], (lat - self.lat[:, part]) * self.north[:, part]
        return np.asarray(east + 1j * north)
