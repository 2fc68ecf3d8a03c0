"""Points of many traces in common arrays, and the geodesics from each to the next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from pyproj import Geod

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.trace import Trace
from trajanon.geodesy import ECCENTRICITY_SQUARED, EQUATOR

WGS84 = Geod(ellps="WGS84")

_SHORT = 3e12
"""Cubic metres; a way is short, and its series right to half a millimetre, up to this.

The series leaves out 0.0067 L^3 (1 + 3 t^2) / R^2 at most, with L the length of the way, t the
tangent of its latitude and R the radius of the Earth. So ways are short up to 14 km on the equator,
6.7 km at 60 degrees, 670 m at 89.
"""

JITTER = 50.0  # metres; a shorter hop is never too fast: within a second, noise looks like speed

_STEEP = 1e3
"""Tangent of 89.94 degrees: nearer to a pole, the series is not used."""


class Geodesics:
    """The shortest ways between pairs of places, measured by Gauss's mid-latitude series.

    After a share u of a short way, the latitude is ``lat + u (dlat + (1 - u) bend_lat)``, and the
    longitude likewise: exact at both ends, and less than a millimetre off between them. Each way's
    numbers, in arrays of shape (ways,), depend on its ends alone, to the bit.
    """

    def __init__(self, lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats) -> None:
        dlat, dlon = to_lat - lat, _wrapped(to_lon - lon)
        up, over = np.radians(dlat), np.radians(dlon)
        middle = np.radians((lat + to_lat) / 2)
        sin, cos = np.sin(middle), np.cos(middle)
        tan, sin2, cos2 = sin / cos, sin * sin, cos * cos
        # Radii of curvature, across the meridian and along it.
        bulge = 1 - ECCENTRICITY_SQUARED * sin2
        across = EQUATOR / np.sqrt(bulge)
        along = across * (1 - ECCENTRICITY_SQUARED) / bulge
        second = ECCENTRICITY_SQUARED / (1 - ECCENTRICITY_SQUARED)
        eta2, ratio = second * cos2, 1 + second * cos2
        east = up * up * (1 + eta2 - 9 * second * sin2) / (24 * ratio * ratio)
        east += 1 - over * over * sin2 / 24
        east *= over * across * cos
        north = up * up * second * (cos2 - sin2) / (8 * ratio * ratio)
        north += 1 - over * over * (2 + sin2 + 2 * eta2 * cos2) / 24
        north *= up * along
        length = np.sqrt(east * east + north * north)
        long = length**3 * (1 + 3 * tan * tan) > _SHORT
        long |= np.abs(tan) > _STEEP
        azimuth = np.zeros(len(length))
        azimuth[long], _, length[long] = WGS84.inv(lon[long], lat[long], to_lon[long], to_lat[long])
        # Half of the geodesic's second derivatives at its middle, in radians.
        bend_lat = tan * east * east / (across * along)
        bend_lat += 3 * ECCENTRICITY_SQUARED * sin * cos * north * north / (bulge * along * along)
        bend_lon = -2 * tan * east * north / (across * across * cos)
        self.lat, self.lon = lat, lon  # degrees, where the ways begin
        self.dlat, self.dlon = dlat, dlon  # degrees from begin to end, by the shorter way round
        # Degrees; four times the distance of the middle from a straight line.
        self.bend_lat, self.bend_lon = np.degrees(bend_lat / 2), np.degrees(bend_lon / 2)
        self.length: Floats = length  # metres
        self.long: Bools = long  # whether a way is too long for the series
        self.azimuth: Floats = azimuth  # degrees, where a long way begins; 0 for a short one

    def at(self, way: Ints, metres: Floats) -> tuple[Floats, Floats]:
        """Find the place at a distance, in metres, along each of some ways."""
        share = metres / np.maximum(self.length[way], 1e-9)  # a way may have no length
        rest = 1 - share
        lat = self.lat[way] + share * (self.dlat[way] + rest * self.bend_lat[way])
        lon = self.lon[way] + share * (self.dlon[way] + rest * self.bend_lon[way])
        if self.long.any():
            far = np.flatnonzero(self.long[way])
            on = way[far]
            lon[far], lat[far], _ = WGS84.fwd(
                self.lon[on], self.lat[on], self.azimuth[on], metres[far], return_back_azimuth=False
            )
        return lat, _wrapped(lon)


def _wrapped(degrees: Floats) -> Floats:
    """Longitudes, or differences of them, in -180..180."""
    return np.asarray(degrees - 360 * np.rint(degrees / 360))


@dataclass(frozen=True, eq=False)
class Points:
    """A batch of traces, their points one after another."""

    lat: Floats  # degrees, WGS 84, shape (n,)
    lon: Floats  # degrees, WGS 84, shape (n,)
    time: Floats  # seconds since 1970-01-01 UTC, shape (n,); NaN where unknown
    trace: Ints  # which trace of the batch a point belongs to, shape (n,), rising
    piece: Ints  # number of the unbroken track that a point belongs to, shape (n,), rising

    def __len__(self) -> int:
        return len(self.lat)

    def take(self, which: Bools | Ints) -> "Points":
        """Keep some of the points, by mask or in a new order."""
        if which.dtype == np.bool_ and which.all():
            return self
        return Points(
            self.lat[which], self.lon[which], self.time[which], self.trace[which], self.piece[which]
        )

    def cut(self, before: Bools) -> "Points":
        """Begin a new piece at each marked point."""
        if not before.any():
            return self
        return replace(self, piece=self.piece + np.cumsum(before))

    @property
    def follows(self) -> Bools:
        """Whether a point has a predecessor in its own piece, shape (n,)."""
        follows = np.zeros(len(self), dtype=np.bool_)
        follows[1:] = self.piece[1:] == self.piece[:-1]
        return follows

    @property
    def pieces(self) -> tuple[Ints, Ints]:
        """The first point of each piece, and how many points it has."""
        first = np.flatnonzero(~self.follows)
        return first, np.diff(first, append=len(self))

    @cached_property
    def ways(self) -> Geodesics:
        """The ways from each point to the next of its piece, in their order."""
        end = np.flatnonzero(self.follows)
        lat, lon = self.lat, self.lon
        return Geodesics(lat[end - 1], lon[end - 1], lat[end], lon[end])


def batch(traces: Sequence[Trace]) -> Points:
    """Put the points of traces into common arrays."""
    sizes = [len(trace) for trace in traces]
    number = np.repeat(np.arange(len(traces), dtype=np.int64), sizes)
    return Points(
        lat=np.concatenate([trace.lat for trace in traces]),
        lon=np.concatenate([trace.lon for trace in traces]),
        time=np.concatenate([trace.time for trace in traces]),
        trace=number,
        piece=number,
    )


def too_fast(metres: Floats, seconds: Floats, most: float | None) -> Bools:
    """Tell which hops would need more than the highest speed; without times, none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = metres / seconds
    return np.asarray((metres > JITTER) & (speed > (most or np.inf)))
