"""What of a trace lies in an area, or in any other region; a way that leaves it is cut."""

from collections.abc import Callable

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.earth.area import Area
from trajanon.extract.points import Points

Breaks = Callable[[Floats, Floats, Ints], Bools]
"""Of latitudes, longitudes and rows: which ways, from these rows to the next ones, must be cut."""


def clip(points: Points, area: Area | None) -> tuple[Points, Ints]:
    """Keep what lies inside the area, if there is one; a piece that leaves it ends there.

    Also returned is the row that each point had before.
    """
    if area is None:
        return points, np.arange(len(points))
    inside = area.contains(points.lat, points.lon)
    return keep(points, inside, area.leaves), np.flatnonzero(inside)


def keep(points: Points, inside: Bools, breaks: Breaks) -> Points:
    """Drop points outside.

    A new piece begins after dropped points, and where the way between two kept points must be cut.
    """
    way_is_inside = points.follows & inside
    way_is_inside[1:] &= inside[:-1]
    start = np.flatnonzero(way_is_inside) - 1

    begins = inside & ~way_is_inside
    begins[start[breaks(points.lat, points.lon, start)] + 1] = True
    return points.cut(begins).take(inside)
