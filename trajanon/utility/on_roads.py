"""Whether points still lie on roads."""

from collections.abc import Callable

from trajanon.arrays import Floats

ToRoad = Callable[[Floats, Floats, float], Floats]
"""Called with latitudes, longitudes and metres; gives the metres to the nearest road,
infinity beyond those."""


def share_on_roads(points: Floats, to_road: ToRoad, metres: float) -> float:
    """Measure which share of points lies within so many metres of a road."""
    lat, lon = points.reshape(-1, 2).T
    return float((to_road(lat, lon, metres) <= metres).mean())
