"""Where trajectories may lie: a box of longitudes and latitudes, or polygons of any shape."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput


@runtime_checkable
class Area(Protocol):
    """Where trajectories may lie: a box, or any other part of the Earth.

    Examples
    --------
    Anything with ``bounds``, ``contains`` and ``leaves`` is an area, such as a box. No straight way
    leaves a box:

    >>> import numpy as np
    >>> from trajanon.extract import Area, Box
    >>> area = Box(2.0, 41.0, 2.1, 41.1)
    >>> isinstance(area, Area), str(area.bounds)
    (True, '2,41,2.1,41.1')
    >>> lat, lon = np.array([41.02, 41.08]), np.array([2.02, 2.08])
    >>> area.contains(lat, lon).tolist(), area.leaves(lat, lon, start=np.array([0])).tolist()
    ([True, True], [False])
    """

    @property
    def bounds(self) -> "Box":
        """The smallest box that holds it."""

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points (degrees) lie inside or on the border, shape (n,)."""

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which geodesics, from a point at start to the next, both inside, leave the area."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box of longitudes and latitudes, its border included.

    Attributes
    ----------
    west, south, east, north
        Degrees, WGS 84.

    Raises
    ------
    BadInput
        If the box is not on Earth, is empty, or crosses the antimeridian.

    Examples
    --------
    >>> import numpy as np
    >>> from trajanon.extract import Box
    >>> box = Box(west=2.0, south=41.0, east=2.1, north=41.1)
    >>> box.contains(lat=np.array([41.05, 42.0]), lon=np.array([2.05, 2.05])).tolist()
    [True, False]
    >>> print(box)
    2,41,2.1,41.1
    >>> box.sides
    (2.0, 41.0, 2.1, 41.1)
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        west, south, east, north = self.sides
        if not (-180.0 <= west < east <= 180.0 and -90.0 <= south < north <= 90.0):
            w, s, e, n = str(self).split(",")
            crossing = (
                "; if it crosses the antimeridian, give two: "
                f"`area='{w},{s},180,{n}'` `area='-180,{s},{e},{n}'`"
            )
            raise BadInput(
                f"the box {self} must have longitudes in -180..180, latitudes in -90..90, west < "
                f"east and south < north (order: W,S,E,N){crossing if west > east else ''}"
            )

    def __str__(self) -> str:
        return ",".join(f"{side:.10g}" for side in self.sides)

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""
        return self.west, self.south, self.east, self.north

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points lie inside or on the border."""
        return (lat >= self.south) & (lat <= self.north) & (lon >= self.west) & (lon <= self.east)

    @property
    def bounds(self) -> "Box":
        """The box itself."""
        return self

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """No way between two points of a box leaves it by more than millimetres."""
        return np.zeros(len(start), dtype=np.bool_)


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
        if len(some):
            # Only the nearest segment counts: a long way has thousands around it.
            (near, _), far = self._segments.query_nearest(
                shapely.linestrings(corners[some]),
                max_distance=bend[some].max(),
                return_distance=True,
                all_matches=False,
            )
            meets[some[near]] = far <= bend[some[near]]
        return meets


def _bend(corners: Floats) -> tuple[Floats, Bools]:
    """Bound how far geodesics lie off straight lines in degrees; mark those without a bound.

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


@dataclass(frozen=True, eq=False)
class Region:
    """One or more polygons, their borders included.

    Attributes
    ----------
    shape
        A polygon or several, with or without holes; longitude and latitude in degrees, WGS 84. A
        line between two corners is straight in degrees.
    name
        Its name in messages and provenance.

    Raises
    ------
    BadInput
        If the shape is no valid polygon, has no area, or is not on Earth.

    Examples
    --------
    Two squares. The way from one to the other leaves the region:

    >>> import numpy as np
    >>> import shapely
    >>> from trajanon.extract import Region
    >>> squares = shapely.box([2.0, 2.2], [41.0, 41.0], [2.1, 2.3], [41.1, 41.1])
    >>> region = Region(shapely.union_all(squares), "two squares")
    >>> print(region.bounds)
    2,41,2.3,41.1
    >>> lat, lon = np.array([41.05, 41.05, 41.05]), np.array([2.05, 2.25, 2.15])
    >>> region.contains(lat, lon).tolist(), region.leaves(lat, lon, start=np.array([0])).tolist()
    ([True, True, False], [True])
    """

    shape: BaseGeometry
    name: str

    def __post_init__(self) -> None:
        reason = shapely.is_valid_reason(self.shape)
        if self.shape.geom_type not in ("Polygon", "MultiPolygon"):
            reason = f"a {self.shape.geom_type}"
        elif self.shape.area == 0.0:
            reason = "it holds nothing"
        if reason != "Valid Geometry":
            raise BadInput(f"{self.name} is no valid polygon ({reason}): mend it and try again")
        _ = self.bounds  # a box off the Earth is refused

    def __str__(self) -> str:
        return self.name

    @cached_property
    def bounds(self) -> Box:
        """The smallest box that holds it."""
        return Box(*self.shape.bounds)

    @cached_property
    def _border(self) -> AreaBorder:
        return AreaBorder(self.shape)

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points lie inside or on the border."""
        shapely.prepare(self.shape)  # quick if done before; another process loses it
        return np.asarray(shapely.intersects_xy(self.shape, lon, lat))

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways between two points inside may lead outside.

        So may all that come within millimetres of the border, or cross the antimeridian.
        """
        return self._border.meets(lat, lon, start)
