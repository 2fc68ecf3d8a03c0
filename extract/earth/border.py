"""The border of an area, and which ways may come to it."""

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from trajanon.arrays import Bools, Floats, Ints

_TOGETHER = 32
"""Ways that are first looked at as one box: most of them follow one another."""

_SLACK = 2e-8
"""Degrees, two millimetres: the accuracy of places on a geodesic."""

_FAR = 0.1
"""Radians that a way turns; above it, the first approximation of its bend is not enough."""


class AreaBorder:
    """The border of polygons, as a tree of its segments."""

    def __init__(self, shape: BaseGeometry) -> None:
        rings = shapely.get_parts(shapely.boundary(shape))
        corners, ring = shapely.get_coordinates(rings, return_index=True)
        same = ring[1:] == ring[:-1]
        ends = np.stack([corners[:-1][same], corners[1:][same]], axis=1)
        self._segments = shapely.STRtree(shapely.linestrings(ends))

    def meets(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways, each from a point at start to the next, may come to the border.

        Both points may lie on either side. Ways across the antimeridian, to a pole, or of many
        hundred kilometres always may.
        """
        ends = np.stack([start, start + 1])
        bend, unknown = _bend(lat[ends], lon[ends])
        meets = unknown.copy()
        some = np.flatnonzero(~unknown)
        some = some[self._not_far(lat[ends[:, some]], lon[ends[:, some]], bend[some])]
        if len(some):
            corners = np.stack([lon[ends[:, some]], lat[ends[:, some]]], axis=-1)
            lines = shapely.linestrings(corners.swapaxes(0, 1))
            near, far = self._nearest(lines, bend[some].max())
            meets[some[near]] = far <= bend[some[near]]
        return meets

    def _not_far(self, lat: Floats, lon: Floats, bend: Floats) -> Bools:
        """Rule out most ways, many at once, by their ends in degrees, shape (2, ways)."""
        first = np.arange(0, len(bend), _TOGETHER)
        if len(first) == 0:
            return np.zeros(0, dtype=np.bool_)
        wide = np.maximum.reduceat(bend, first)
        boxes = shapely.box(
            np.minimum.reduceat(lon.min(axis=0), first) - wide,
            np.minimum.reduceat(lat.min(axis=0), first) - wide,
            np.maximum.reduceat(lon.max(axis=0), first) + wide,
            np.maximum.reduceat(lat.max(axis=0), first) + wide,
        )
        near = np.zeros(len(first), dtype=np.bool_)
        near[self._nearest(boxes, _SLACK)[0]] = True
        return np.repeat(near, _TOGETHER)[: len(bend)]

    def _nearest(self, shapes: NDArray[np.object_], within: float) -> tuple[Ints, Floats]:
        """Find the shapes within a distance of the border, and their distances, in degrees.

        Only the nearest segment counts: a long way has thousands around it.
        """
        (shape, _), far = self._segments.query_nearest(
            shapes, max_distance=within, return_distance=True, all_matches=False
        )
        return shape, far


def _bend(lat: Floats, lon: Floats) -> tuple[Floats, Bools]:
    """Bound how far geodesics lie off the straight lines in longitude and latitude.

    A geodesic turns by sin a (1 + cos^2 a) tan(lat) / R a metre, 1.09 tan(lat) / R at most, where a
    is its azimuth.
    """
    high = np.radians(np.minimum(np.abs(lat).max(axis=0), 89.9))
    low = np.radians(np.abs(lat).min(axis=0))
    east = lon[1] - lon[0]
    length = np.hypot(east * np.cos(low), lat[1] - lat[0])
    turn = np.radians(length) * np.tan(high)
    bend = (0.25 * turn * length + _SLACK) / np.cos(high)
    unknown = (turn > _FAR) | (np.abs(east) > 180.0) | (high > np.radians(89.0))
    return bend, unknown
