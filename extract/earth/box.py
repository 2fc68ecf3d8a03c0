"""Where trajectories may lie: a box of longitudes and latitudes, or any other area."""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

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
        (west, south, east, north), order = self.sides, "(order: W,S,E,N)"
        w, s, e, n = str(self).split(",")
        two = f"`area='{w},{s},180,{n}'` `area='-180,{s},{e},{n}'`"
        crossing = f"if it crosses the antimeridian, give two: {two}"
        for broken, problem in (
            (not all(map(math.isfinite, self.sides)), "has a side that is not a number"),
            (max(abs(west), abs(east)) > 180, f"needs longitudes in -180..180 {order}"),
            (max(abs(south), abs(north)) > 90, f"needs latitudes in -90..90 {order}"),
            (west > east, f"has west > east {order}; {crossing}"),
            (south > north, f"has south > north {order}"),
            (west == east or south == north, f"is empty {order}"),
        ):
            if broken:
                raise BadInput(f"the box {self} {problem}")

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
