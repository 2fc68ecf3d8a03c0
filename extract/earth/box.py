"""Where trajectories may lie: a box of longitudes and latitudes, or any other area."""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput


@runtime_checkable
class Area(Protocol):
    """Where trajectories may lie: a box, or any other part of the Earth."""

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
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem is not None:
            msg = f"the box {self} {problem}"
            raise BadInput(msg)

    def _problem(self) -> str | None:
        west, south, east, north = self.sides
        if not all(map(math.isfinite, self.sides)):
            return "has a side that is not a number"
        if abs(west) > 180 or abs(east) > 180:
            return "needs longitudes in -180..180 (order: W,S,E,N)"
        if abs(south) > 90 or abs(north) > 90:
            return "needs latitudes in -90..90 (order: W,S,E,N)"
        if west > east:
            w, s, e, n = str(self).split(",")
            return (
                "has west > east (order: W,S,E,N); if it crosses the antimeridian, give two: "
                f"`area='{w},{s},180,{n}'` `area='-180,{s},{e},{n}'`"
            )
        if south > north:
            return "has south > north (order: W,S,E,N)"
        if west == east or south == north:
            return "is empty (order: W,S,E,N)"
        return None

    def __str__(self) -> str:
        return ",".join(f"{side:.10g}" for side in self.sides)

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""
        return self.west, self.south, self.east, self.north

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points lie inside or on the border."""
        inside: Bools = (
            (lat >= self.south) & (lat <= self.north) & (lon >= self.west) & (lon <= self.east)
        )
        return inside

    @property
    def bounds(self) -> "Box":
        """The box itself."""
        return self

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """No way between two points of a box leaves it by more than millimetres."""
        return np.zeros(len(start), dtype=np.bool_)
