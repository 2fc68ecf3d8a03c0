"""Where trajectories may lie, and where they may not: what cutting asks of both.

Of points, whether they lie inside; and of ways, whether they lead out of an area, or into a zone,
though neither end does. A way is the geodesic from a point to the next.
"""

from typing import Protocol, runtime_checkable

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.earth.box import Box


@runtime_checkable
class Area(Protocol):
    """Where trajectories may lie: a box, or any other part of the Earth."""

    @property
    def bounds(self) -> Box:
        """The smallest box that holds it."""

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points (degrees) lie inside or on the border, shape (n,)."""

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways leave the area between two points of it."""


class Zone(Protocol):
    """Where no trajectory may lie: the surroundings of some places.

    `trajanon.extract.Zone` is such a zone for all recordings; the ends of recordings are another,
    each for its own points.
    """

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points (degrees) lie inside, shape (n,)."""

    def meets(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways come into the zone between two points outside.

        Arguments are those of `Area.leaves`, but that all the points are outside; the answer is
        whether the geodesic may have a place inside.
        """
