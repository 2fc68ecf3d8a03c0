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
        if not all(math.isfinite(side) for side in self.sides):
            msg = f"the box {self} has a side that is not a number"
            raise BadInput(msg)
        if abs(self.west) > 180 or abs(self.east) > 180:
            msg = f"the box {self} needs longitudes in -180..180 (order: W,S,E,N)"
            raise BadInput(msg)
        if abs(self.south) > 90 or abs(self.north) > 90:
            msg = f"the box {self} needs latitudes in -90..90 (order: W,S,E,N)"
            raise BadInput(msg)
        if self.west > self.east:
            west, south, east, north = str(self).split(",")
            msg = (
                f"the box {self} has west > east (order: W,S,E,N); if it crosses the "
                f"antimeridian, give two: `area='{west},{south},180,{north}'` "
                f"`area='-180,{south},{east},{north}'`"
            )
            raise BadInput(msg)
        if self.south > self.north:
            msg = f"the box {self} has south > north (order: W,S,E,N)"
            raise BadInput(msg)
        if self.west == self.east or self.south == self.north:
            msg = f"the box {self} is empty (order: W,S,E,N)"
            raise BadInput(msg)

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
        """No way between two points of a box leaves it, but by millimetres."""
        return np.zeros(len(start), dtype=np.bool_)
