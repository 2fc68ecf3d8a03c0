"""The border of an area, and which ways may come to it."""

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from trajanon.arrays import Bools, Floats, Ints

_TOGETHER = 32  # ways that are first looked at as one box: most of them follow one another
_SLACK = 2e-8  # degrees, two millimetres: the accuracy of places on a geodesic
_FAR = 0.1  # radians that a way turns; above, the first approximation of its bend is not enough


def segment_tree(lines: NDArray[np.object_]) -> shapely.STRtree:
    """Put the segments of lines, of one part or several, into a tree."""
    corners, line = shapely.get_coordinates(shapely.get_parts(lines), return_index=True)
    same = line[1:] == line[:-1]
    ends = np.stack([corners[:-1][same], corners[1:][same]], axis=1)
    return shapely.STRtree(shapely.linestrings(ends))


class AreaBorder:
    """The border of polygons, as a tree of its segments."""

    def __init__(self, shape: BaseGeometry) -> None:
        self._segments = segment_tree(shapely.boundary(shape))

    def meets(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways, each from a point at start to the next, may come to the border.

        Both points may lie on either side. Ways across the antimeridian, to a pole, or of many
        hundred kilometres always may.
        """
        corners = np.stack([lon, lat], axis=1)[np.stack([start, start + 1], axis=1)]
        bend, meets = _bend(corners)
        some = np.flatnonzero(~meets)
        some = some[self._near(corners[some], bend[some])]
        if len(some):
            lines = shapely.linestrings(corners[some])
            near, far = self._nearest(lines, bend[some].max())
            meets[some[near]] = far <= bend[some[near]]
        return meets

    def _near(self, corners: Floats, bend: Floats) -> Bools:
        """Rule out most ways, many at once, by their ends in degrees, shape (ways, 2, 2)."""
        first = np.arange(0, len(bend), _TOGETHER)
        near = np.zeros(len(first), dtype=np.bool_)
        if len(first):
            wide = np.maximum.reduceat(bend, first)[:, None]
            low = np.minimum.reduceat(corners.min(axis=1), first) - wide
            high = np.maximum.reduceat(corners.max(axis=1), first) + wide
            near[self._nearest(shapely.box(*low.T, *high.T), _SLACK)[0]] = True
        return np.repeat(near, _TOGETHER)[: len(bend)]

    def _nearest(self, shapes: NDArray[np.object_], within: float) -> tuple[Ints, Floats]:
        """Find the shapes within a distance of the border, and their distances, in degrees.

        Only the nearest segment counts: a long way has thousands around it.
        """
        (shape, _), far = self._segments.query_nearest(
            shapes, max_distance=within, return_distance=True, all_matches=False
        )
        return shape, far


def _bend(corners: Floats) -> tuple[Floats, Bools]:
    """Bound how far geodesics lie off straight lines in degrees; tell which are unknown.

    A geodesic turns by sin a (1 + cos^2 a) tan(lat) / R a metre, 1.09 tan(lat) / R at most, where a
    is its azimuth.
    """
    east, north = (corners[:, 1] - corners[:, 0]).T
    polewards = np.abs(corners[..., 1])
    high = np.radians(np.minimum(polewards.max(axis=1), 89.9))
    low = np.radians(polewards.min(axis=1))
    length = np.hypot(east * np.cos(low), north)
    turn = np.radians(length) * np.tan(high)
    bend = (0.25 * turn * length + _SLACK) / np.cos(high)
    unknown = (turn > _FAR) | (np.abs(east) > 180.0) | (high > np.radians(89.0))
    return bend, unknown
