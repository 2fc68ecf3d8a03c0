"""Numbers of the Earth, and metres for degrees."""

import numpy as np

from trajanon.arrays import Floats

EQUATOR = 6_378_137.0  # metres, the equatorial radius of WGS 84
ECCENTRICITY_SQUARED = 1 - (1 - 1 / 298.257223563) ** 2  # as PROJ computes it, to the last bit

EARTH = 6_371_000.0  # metres, the mean radius
DEGREE = 111_195.0  # metres of a degree on a sphere of the mean radius
SHORT_DEGREE = 110_000.0  # metres; a degree of latitude on WGS 84 has 110,574 or more


def radii(latitude: Floats) -> tuple[Floats, Floats]:
    """Metres of a radian to the north and to the east on WGS 84, at a latitude in radians."""
    curvature = 1.0 - ECCENTRICITY_SQUARED * np.sin(latitude) ** 2
    meridian = EQUATOR * (1.0 - ECCENTRICITY_SQUARED) / curvature**1.5
    return meridian, EQUATOR * np.cos(latitude) / np.sqrt(curvature)


def metres_between(lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats) -> Floats:
    """Measure ways on the plane that touches the Earth half way: right up to some tens of km."""
    north, east = radii(np.radians((lat + to_lat) / 2))
    up, over = np.radians(to_lat - lat) * north, np.radians(wrapped(to_lon - lon)) * east
    return np.asarray(np.hypot(up, over))


def wrapped(degrees: Floats) -> Floats:
    """Longitudes, or differences of them, in -180..180."""
    return np.asarray(degrees - 360 * np.rint(degrees / 360))


def metres_of_degrees(latitude: Floats) -> Floats:
    """Measure a degree of latitude and one of longitude.

    >>> metres_of_degrees(np.array(60.0)).round().tolist()
    [111412.0, 55800.0]
    """
    return np.radians(np.stack(radii(np.radians(latitude)), axis=-1))


def in_space(points: Floats, radius: float = EARTH) -> Floats:
    """Turn latitude and longitude, shape (n, 2), to metres from the middle of a round Earth."""
    latitude, longitude = np.radians(points).T
    ring = np.cos(latitude)
    return radius * np.column_stack(
        [ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude)]
    )
