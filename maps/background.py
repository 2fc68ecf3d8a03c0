"""What lies behind the lines where no tiles are asked for: roads and water."""

from collections.abc import Iterable
from dataclasses import dataclass

from trajanon.arrays import Floats
from trajanon.maps.lines import bends


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Roads and water, drawn below everything else.

    Parameters
    ----------
    roads, water
        Lines, and the borders of waters: latitude and longitude in degrees, each of shape (m, 2).
    """

    roads: Iterable[Floats] = ()
    water: Iterable[Floats] = ()

    @property
    def lines(self) -> dict[str, list[list[int]]]:
        """Ready for JSON, as of `trajanon.maps.lines.steps`."""
        return {"roads": bends(self.roads), "water": bends(self.water)}
