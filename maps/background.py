"""What lies behind the lines where no tiles are asked for: roads and water."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trajanon.maps.lines import bends


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Roads and water, drawn below everything else.

    Parameters
    ----------
    roads, water
        Lines, and the borders of waters: latitude and longitude in degrees, each of
        shape (m, 2).
    """

    roads: Iterable[NDArray[np.float64]] = ()
    water: Iterable[NDArray[np.float64]] = ()

    @property
    def lines(self) -> dict[str, list[list[int]]]:
        """Ready for JSON, as of `trajanon.maps.lines.steps`."""
        return {"roads": bends(self.roads), "water": bends(self.water)}
