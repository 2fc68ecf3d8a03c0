"""Names of places, for maps without network: the nearest of the bundled cities."""

import numpy as np

from trajanon.extract.earth.area import CITIES, Box
from trajanon.trajectories.geodesy import DEGREE

NEAR = 100_000.0
"""Metres from a city's centre beyond which its name says little."""

_WINDS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")


def place_of(box: Box) -> str:
    """Name the bundled city that a box lies in or near; far from all of them, give degrees.

    >>> place_of(Box(-3.72, 40.40, -3.68, 40.44))
    'Madrid'
    >>> place_of(Box(-3.40, 40.40, -3.36, 40.44))
    '27 km east of Madrid'
    >>> place_of(Box(-30.02, -10.01, -29.98, -9.99))
    '10.00° S, 30.00° W'
    """
    lat = (box.south + box.north) / 2.0
    lon = (box.west + box.east) / 2.0
    squeeze = float(np.cos(np.radians(lat)))

    metres = np.inf
    for name, (city, _) in CITIES.items():
        title = name.replace("-", " ").title()
        if city.contains(np.array([lat]), np.array([lon])).all():
            return title
        north = DEGREE * (lat - (city.south + city.north) / 2.0)
        east = DEGREE * (lon - (city.west + city.east) / 2.0) * squeeze
        if (distance := float(np.hypot(north, east))) < metres:
            wind = round(float(np.degrees(np.arctan2(east, north))) / 45.0) % 8
            metres, nearest = distance, f"{_WINDS[wind]} of {title}"

    if metres < NEAR:
        return f"{metres / 1_000.0:.0f} km {nearest}"
    return f"{abs(lat):.2f}° {'NS'[lat < 0]}, {abs(lon):.2f}° {'EW'[lon < 0]}"
