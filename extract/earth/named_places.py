"""Places that somebody names to hide them, two degrees or a file of shapes; and names of places."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract.earth.area import CITIES, Box, Region, around, read_geometries
from trajanon.trajectories.geodesy import metres_between

Shapes = NDArray[np.object_]


def is_place(text: str) -> bool:
    """Return whether a text names a place, and no tags: two numbers, or a file."""
    return _degrees(text) is not None or Path(text).is_file()


def named_places(text: str) -> Shapes:
    """Read places as shapes in degrees, x the longitude.

    >>> print(named_places("41.38,2.17")[0])
    POINT (2.17 41.38)

    Raises
    ------
    BadInput, FileProblem
        If the text is no latitude and longitude, nor a file with places on Earth.
    """
    degrees = _degrees(text)
    if degrees is None and not Path(text).is_file():
        raise BadInput(
            f"{text!r} is not a place: write a latitude and a longitude such as 41.38,2.17, or "
            "name a file of points"
        )

    shapes = np.array([shapely.Point(degrees[::-1])]) if degrees else read_geometries(Path(text))
    off_earth = np.abs(shapely.bounds(shapes)) > (180.0, 90.0, 180.0, 90.0)
    if not len(shapes) or off_earth.any():
        raise BadInput(
            f"{text} holds no places on Earth: write latitude, then longitude, in degrees (WGS 84)"
        )
    return shapes


def zone_around(text: str, radius: float) -> Region:
    """Return all within a radius in metres of places that somebody names."""
    return Region(shapely.union_all(around(named_places(text), radius)), "the places named")


def middles(texts: Sequence[str], width: float) -> Floats:
    """Return latitude and longitude of the middles of places, shape (n, 2).

    Raises
    ------
    BadInput
        If a place is wider than ``width`` metres: a circle around its middle would not hide it.
    """
    rows = [np.empty((0, 2))]
    for text in texts:
        shapes = named_places(text)
        west, south, east, north = shapely.bounds(shapes).T
        widest = metres_between(south, west, north, east).max()
        if widest > width:
            raise BadInput(
                f"a place in {text} is {widest:,.0f} m wide, and places to hide are at most "
                f"{width:,.0f} m: name several points in it"
            )
        rows.append(np.column_stack([south + north, west + east]) / 2.0)
    return np.concatenate(rows)


def _degrees(text: str) -> tuple[float, float] | None:
    """Read a latitude and a longitude; None if the text is something else."""
    try:
        lat, lon = map(float, text.split(","))
    except ValueError:
        return None
    return lat, lon


def place_of(box: Box) -> str:
    """Name the bundled city that a box lies in; elsewhere, give degrees.

    >>> place_of(Box(-3.72, 40.40, -3.68, 40.44))
    'Madrid'
    >>> place_of(Box(-30.02, -10.01, -29.98, -9.99))
    '10.00° S, 30.00° W'
    """
    lat = (box.south + box.north) / 2.0
    lon = (box.west + box.east) / 2.0
    for name, (city, _) in CITIES.items():
        if city.contains(np.array([lat]), np.array([lon])).all():
            return name.replace("-", " ").title()
    return f"{abs(lat):.2f}° {'NS'[lat < 0]}, {abs(lon):.2f}° {'EW'[lon < 0]}"
