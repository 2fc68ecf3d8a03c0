"""Numbers of the Earth, and metres for degrees."""

import numpy as np

from trajanon.common.arrays import Floats, Ints

EQUATOR = 6_378_137.0  # metres, the equatorial radius of WGS 84
ECCENTRICITY_SQUARED = 1 - (1 - 1 / 298.257223563) ** 2  # as PROJ computes it, to the last bit

EARTH_RADIUS = 6_371_000.0  # metres, the mean radius
METRES_PER_DEGREE = 111_195.0  # on a sphere of the mean radius
SHORT_DEGREE = 110_000.0  # metres; a degree of latitude on WGS 84 has 110,574 or more

_COLUMNS = 2**31  # more than there are cells of a metre round half of the equator


def radii(latitude: Floats) -> tuple[Floats, Floats]:
    """Compute metres of a radian to the north and the east on WGS 84, at a latitude in radians."""
    curvature = 1.0 - ECCENTRICITY_SQUARED * np.sin(latitude) ** 2
    meridian = EQUATOR * (1.0 - ECCENTRICITY_SQUARED) / curvature**1.5
    return meridian, EQUATOR * np.cos(latitude) / np.sqrt(curvature)


def metres_between(lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats) -> Floats:
    """Measure ways on the plane that touches the Earth half way: right up to some tens of km.

    All are in degrees, of arrays of one shape.
    """
    metres_north, metres_east = radii(np.radians((lat + to_lat) / 2))  # of a radian
    north = np.radians(to_lat - lat) * metres_north
    east = np.radians(wrapped(to_lon - lon)) * metres_east
    return np.asarray(np.hypot(north, east))


def wrapped(degrees: Floats, meridian: float = 0.0) -> Floats:
    """Return longitudes, or differences of them, within 180 degrees of a meridian.

    >>> wrapped(np.array([-179.0, 181.0])).tolist()
    [-179.0, -179.0]
    >>> wrapped(np.array([-179.0, 1.0]), 170.0).tolist()
    [181.0, 1.0]
    """
    return np.asarray(degrees + 360 * np.rint((meridian - degrees) / 360))


def metres_of_degrees(latitude: Floats) -> Floats:
    """Compute metres of a degree of latitude and of one of longitude, (..., 2).

    >>> metres_of_degrees(np.array(60.0)).round().tolist()
    [111412.0, 55800.0]
    """
    return np.radians(np.stack(radii(np.radians(latitude)), axis=-1))


def in_space(points: Floats, radius: float = EARTH_RADIUS) -> Floats:
    """Turn latitude and longitude, shape (n, 2), to metres from the middle of a round Earth."""
    latitude, longitude = np.radians(points).T
    off_axis = np.cos(latitude)
    return radius * np.column_stack(
        [off_axis * np.cos(longitude), off_axis * np.sin(longitude), np.sin(latitude)]
    )


def cells(points: Floats, metres: float) -> Ints:
    """Number the cell of each point: so many metres wide and high at every latitude.

    Cells are in rows round the Earth, and columns to both sides of Greenwich.
    """
    row = np.floor(points[..., 0] * (METRES_PER_DEGREE / metres)).astype(np.int64)
    _, width = _latitude_and_width(row, metres)
    column = np.floor(points[..., 1] / width).astype(np.int64)
    return np.asarray(row * _COLUMNS + column)


def places_in_cells(numbers: Ints, metres: float, share: float = 0.5) -> Floats:
    """Return latitude and longitude of the middles of `cells`, (n, 2).

    With another ``share`` of the way from the south-western corner to the opposite one, the place
    there.
    """
    # Columns lie from -_COLUMNS / 2 on, negative ones to the west.
    row = (numbers + _COLUMNS // 2) // _COLUMNS
    column = numbers - row * _COLUMNS
    latitude, width = _latitude_and_width(row, metres)
    height = metres / METRES_PER_DEGREE
    return np.stack([latitude + (share - 0.5) * height, (column + share) * width], axis=-1)


def _latitude_and_width(row: Ints, metres: float) -> tuple[Floats, Floats]:
    """Return the latitude of the middle of rows of cells, and how wide a cell is there, in degrees.

    At the poles a cell would be infinitely wide.
    """
    latitude = np.asarray((row + 0.5) * (metres / METRES_PER_DEGREE), dtype=np.float64)
    # The middle of the last row may lie beyond the pole.
    off_axis = np.cos(np.clip(np.radians(latitude), -np.pi / 2, np.pi / 2))
    return latitude, np.asarray(metres / (METRES_PER_DEGREE * off_axis + 1e-9))
