"""Zones: the surroundings of places, where no trajectory may lie."""

import hashlib
from functools import partial

import numpy as np
import shapely
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.earth.border import AreaBorder
from trajanon.geodesy import SHORT_DEGREE, radii

_QUARTER = 16
"""Corners of a quarter of a circle."""

_ROUND = 1.0 / np.cos(1.5 * np.pi / (4 * _QUARTER))
"""A polygon whose radius is larger by this factor, 0.3 %, holds the circle.

GEOS rounds the number of corners of an arc: two may be half as far again apart.
"""

_MARGIN = 0.01
"""Metres by which everything is wider, against rounding."""

_POLE = 90.0 - 1e-6
"""Degrees; about a pole all longitudes are near one another."""


class Zone:
    """The surroundings of some places, united.

    Parameters
    ----------
    surroundings
        Polygons, as `around` draws them, shape (places,).

    Attributes
    ----------
    places
        Their number.
    """

    def __init__(self, surroundings: NDArray[np.object_]) -> None:
        self.places = len(surroundings)
        self._shape = shapely.union_all(surroundings)
        self._parts = shapely.get_parts(self._shape)
        self._tree = shapely.STRtree(self._parts)
        self._border = AreaBorder(self._shape)

    def __str__(self) -> str:
        shape = hashlib.blake2b(self._shape.wkb, digest_size=8).hexdigest()
        return f"the surroundings of {self.places} places (shape {shape})"

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points (degrees) lie inside, shape (n,)."""
        shapely.prepare(self._parts)
        point, part = self._tree.query(shapely.points(lon, lat))
        met = shapely.intersects_xy(self._parts[part], lon[point], lat[point])
        inside = np.zeros(len(lat), dtype=np.bool_)
        inside[point[met]] = True
        return inside

    def meets(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways, from a point at start to the next, may come into the zone."""
        return self._border.meets(lat, lon, start)


def around(places: NDArray[np.object_], radius: float) -> NDArray[np.object_]:
    """Draw a polygon around each place that holds everything within a radius in metres.

    Each is drawn on a plane of its own, on which no way is longer than on Earth, because a degree
    has as many metres as where it is shortest. So the polygon leaves out nothing nearer.
    """
    scale = _metres_a_degree(shapely.bounds(places), radius)
    flat = _stretched(places, np.multiply, scale)
    wide = shapely.buffer(flat, _ROUND * radius + _MARGIN, quad_segs=_QUARTER)
    return _on_earth(_stretched(wide, np.divide, scale))


def _stretched(shapes: NDArray[np.object_], times: np.ufunc, scale: Floats) -> NDArray[np.object_]:
    """Multiply or divide the longitudes and latitudes of each shape."""
    corners, which = shapely.get_coordinates(shapes, return_index=True)
    moved: NDArray[np.object_] = shapely.set_coordinates(
        shapes.copy(), times(corners, scale[which])
    )
    return moved


def _metres_a_degree(bounds: Floats, radius: float) -> Floats:
    """Metres of a degree of longitude and of latitude, each where it is shortest."""
    south, north = bounds[:, 1], bounds[:, 3]
    wider = radius / SHORT_DEGREE
    high = np.maximum(np.abs(south), np.abs(north)) + wider
    low = np.where(south * north < 0, 0.0, np.minimum(np.abs(south), np.abs(north)))
    high = np.radians(np.minimum(high, _POLE))
    low = np.radians(np.maximum(low - wider, 0.0))
    return np.radians(np.stack([radii(high)[1], radii(low)[0]], axis=1))


def _on_earth(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Add, on the other side, the parts that reach over the antimeridian."""
    west, _, east, _ = shapely.bounds(shapes).T
    for over, turn in ((west < -180, 360.0), (east > 180, -360.0)):
        moved = shapely.transform(shapes[over], partial(np.add, [turn, 0.0]))
        shapes[over] = shapely.union(shapes[over], moved)
    return shapes
