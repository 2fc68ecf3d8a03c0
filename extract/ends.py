"""The ends of traces, which tell where people live and work, are cut out.

Around each end of a trace, and around each stop at which it was split, a circle is cut
out. A circle about the end itself would give the end away: it is the centre. So the
circle has twice the radius asked for, and its centre lies off the end by a random way
of at most that radius, uniform in the disc: all within the radius asked for is always
cut out, all beyond three times that stays, and whoever finds the circle knows no more
of the end than a disc of the radius asked for. The way is the same for all traces of a
subject: were it drawn anew, the mean of many circles would give the end away again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trajanon.extract.geodesy import WGS84
from trajanon.extract.marks import mixed
from trajanon.extract.points import Points
from trajanon.extract.split import hide

_SURE = 1.01
"""The plane about each centre is right to some thousandths: rather cut more."""


def trim(
    points: Points,
    metres: float,
    max_pause: float,
    subject: NDArray[np.uint64],
    key: int,
) -> Points:
    """Cut out what lies about the ends of each trace.

    Parameters
    ----------
    points
        Points of some traces, split.
    metres
        What lies so near an end is always cut out.
    max_pause
        Seconds after which a trace was split at a stop; other splits are no ends.
    subject
        A hash of whoever made each trace of the batch, shape (traces,).
    key
        Secret 64-bit number from which the random ways are drawn.
    """
    if len(points) == 0:
        return points
    begins = ~points.follows
    begins[1:] &= (np.diff(points.trace) != 0) | (np.diff(points.time) > max_pause)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(points)) - 1
    azimuth, off = _ways(subject[points.trace[first]], key)
    part = np.cumsum(begins) - 1
    circles = [
        _Circles.around(points, ends, azimuth, metres * off) for ends in (first, last)
    ]
    return hide(points, _Ends(part, circles, 2.0 * metres * _SURE))


def _ways(
    subject: NDArray[np.uint64], key: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Azimuth in degrees and length, in the unit disc, of each subject's way."""
    one = mixed(subject ^ np.uint64(key))
    azimuth, share = one / 2.0**64, mixed(one) / 2.0**64
    return 360.0 * azimuth, np.sqrt(share)


@dataclass(frozen=True, slots=True, eq=False)
class _Circles:
    """Centres in degrees, and metres to a degree there, each of shape (parts,)."""

    lat: NDArray[np.float64]
    lon: NDArray[np.float64]
    north: NDArray[np.float64]
    east: NDArray[np.float64]

    @classmethod
    def around(
        cls,
        points: Points,
        ends: NDArray[np.int64],
        azimuth: NDArray[np.float64],
        metres: NDArray[np.float64],
    ) -> "_Circles":
        """Put a centre off each end."""
        lon, lat, _ = WGS84.fwd(points.lon[ends], points.lat[ends], azimuth, metres)
        # Radii of curvature of the ellipsoid, of the meridian and of the parallel.
        flat = 1.0 - WGS84.es * np.sin(np.radians(lat)) ** 2
        north = np.radians(WGS84.a * (1.0 - WGS84.es) / flat**1.5)
        east = np.radians(WGS84.a * np.cos(np.radians(lat)) / np.sqrt(flat))
        return cls(lat, lon, north, east)

    def plane(
        self,
        lat: NDArray[np.float64],
        lon: NDArray[np.float64],
        part: NDArray[np.int64],
    ) -> NDArray[np.complex128]:
        """Places in metres east and, imaginary, north of the centres of their parts."""
        away = np.mod(lon - self.lon[part] + 180.0, 360.0) - 180.0
        east, north = away * self.east[part], (lat - self.lat[part]) * self.north[part]
        return east + 1j * north


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """A zone for the very points it was made of: for each the circles of its part."""

    part: NDArray[np.int64]
    circles: Sequence[_Circles]
    radius: float

    def contains(
        self, lat: NDArray[np.float64], lon: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Tell which points lie in a circle of their part."""
        inside = np.zeros(len(lat), dtype=np.bool_)
        for circles in self.circles:
            inside |= np.abs(circles.plane(lat, lon, self.part)) <= self.radius
        return inside

    def meets(
        self,
        lat: NDArray[np.float64],
        lon: NDArray[np.float64],
        start: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Tell which ways, each from a point to the next, come into a circle."""
        part = self.part[start]
        near = np.zeros(len(start), dtype=np.bool_)
        for circles in self.circles:
            here = circles.plane(lat[start], lon[start], part)
            there = circles.plane(lat[start + 1], lon[start + 1], part)
            way = there - here
            # How far along the way its place next to the centre is, from 0 to 1.
            with np.errstate(divide="ignore", invalid="ignore"):
                along = -(here * way.conj()).real / np.abs(way) ** 2
            next_to = here + np.clip(np.nan_to_num(along), 0.0, 1.0) * way
            near |= np.abs(next_to) <= self.radius
        return near
