"""Where: a city of the papers, or a box in degrees."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput


class Area(Protocol):
    """Where trajectories may lie: a box, or any other part of the Earth."""

    @property
    def bounds(self) -> "Box":
        """The smallest box that holds it."""

    def contains(
        self, lat: NDArray[np.float64], lon: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Tell which points (degrees) lie inside or on the border, shape (n,)."""

    def leaves(
        self,
        lat: NDArray[np.float64],
        lon: NDArray[np.float64],
        start: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Tell which ways leave the area between two points of it.

        Parameters
        ----------
        lat, lon
            Points, in degrees, shape (n,).
        start
            The ways begin at these points and end at the next ones, all inside, shape
            (ways,).

        Returns
        -------
        NDArray[np.bool_]
            Whether the geodesic may have a place outside, shape (ways,).
        """


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
            msg = (
                f"the box {self} has west > east; if it crosses the antimeridian, "
                f"give two boxes: one up to 180, one from -180 (order: W,S,E,N)"
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

    def contains(
        self, lat: NDArray[np.float64], lon: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Tell which points lie inside or on the border."""
        inside: NDArray[np.bool_] = (
            (lat >= self.south)
            & (lat <= self.north)
            & (lon >= self.west)
            & (lon <= self.east)
        )
        return inside

    @property
    def bounds(self) -> "Box":
        """The box itself."""
        return self

    def leaves(
        self,
        lat: NDArray[np.float64],
        lon: NDArray[np.float64],
        start: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """No way between two points of a box leaves it, but by millimetres."""
        return np.zeros(len(start), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class City:
    """A box of the papers and its spacing.

    Attributes
    ----------
    box
        The corners printed in thesis section 2.3.
    spacing
        Metres between the points of a trajectory.
    """

    box: Box
    spacing: float


CITIES = {
    "barcelona": City(Box(2.1268845, 41.3726866, 2.1903992, 41.4078446), 100.0),
    "madrid": City(Box(-3.7398145, 40.387613, -3.653985, 40.483515), 150.0),
    "tarraco": City(Box(1.226008, 41.0967083, 1.2946691, 41.141174), 5.0),
}
"""The three areas of Maya-López, "Contributions to Statistical Disclosure Control"
(thesis, URV 2023), section 2.3."""


def area(text: str) -> tuple[Box, float | None]:
    """Read what a user gave as an area.

    Parameters
    ----------
    text
        A city of `CITIES`, in any case, or ``W,S,E,N`` in degrees.

    Returns
    -------
    tuple[Box, float | None]
        The box, and the city's spacing in metres; None for a box in degrees.

    Raises
    ------
    BadInput
        If the text is neither.

    Examples
    --------
    >>> area("Tarraco")[1]
    5.0
    >>> str(area("-3.75,40.38,-3.65,40.48")[0])
    '-3.75,40.38,-3.65,40.48'
    """
    city = CITIES.get(text.strip().lower())
    if city is not None:
        return city.box, city.spacing
    try:
        west, south, east, north = (float(side) for side in text.split(","))
    except ValueError:
        msg = (
            f"{text!r} is not an area: name {', '.join(CITIES)}, or four degrees "
            "W,S,E,N such as --bbox=-3.75,40.38,-3.65,40.48"
        )
        raise BadInput(msg) from None
    return Box(west, south, east, north), None
