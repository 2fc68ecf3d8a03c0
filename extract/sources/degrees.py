"""Coordinates as degrees of latitude and longitude, WGS 84; others are refused."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.streams import Reading

logger = logging.getLogger(__name__)


def to_degrees(system: Any, what: str) -> Callable[[Floats], tuple[Floats, Floats]]:
    """Find how x and y, shape (n, 2), of a reference system become latitude and longitude."""
    from pyproj import CRS, Transformer
    from pyproj.exceptions import CRSError, ProjError

    def as_they_are(xy: Floats) -> tuple[Floats, Floats]:
        return np.ascontiguousarray(xy[:, 1]), np.ascontiguousarray(xy[:, 0])

    def transformed(xy: Floats) -> tuple[Floats, Floats]:
        lon, lat = transformer.transform(xy[:, 0], xy[:, 1])
        impossible = ~(np.isfinite(lon) & np.isfinite(lat))
        lon[impossible] = lat[impossible] = np.nan
        return lat, lon

    if system is None:
        return as_they_are
    try:
        known = CRS.from_user_input(system)
        if known.equals("OGC:CRS84", ignore_axis_order=True):
            return as_they_are
        transformer = Transformer.from_crs(known, "EPSG:4326", always_xy=True)
    except (CRSError, ProjError) as error:
        reason = " ".join(str(error).split())[:100]
        raise BadInput(
            f"{what} has a reference system that cannot be turned into WGS 84 "
            f"({reason}); transform it to EPSG:4326 first"
        ) from error
    return transformed


def check_columns(lat: Floats, lon: Floats, what: str) -> None:
    """Refuse columns of which most values are swapped, or are no degrees.

    Single points that are not on Earth are left to the cleaning.
    """
    lat, lon, swapped = _looked_at(lat, lon)
    if swapped:
        raise BadInput(
            f"{what}: latitude and longitude seem swapped, with {_ranges(lat=lat, lon=lon)}; "
            "say `columns` lat=...,lon=... with the two columns the other way round"
        )
    if _most((np.abs(lat) > 90.0) | (np.abs(lon) > 180.0)):
        raise BadInput(
            f"{what} is not in degrees, with {_ranges(lat=lat, lon=lon)}; transform it to "
            "EPSG:4326, or give it as a GeoPackage or GeoParquet that names its reference system"
        )


def from_0_to_360(lon: Floats, what: str, how: Reading) -> bool:
    """Say whether longitudes go from 0 to 360, and not from -180 to 180; warn of it."""
    known = lon[np.isfinite(lon)]
    beyond = (known > 180.0) & (known <= 360.0)
    west = (known < 0.0) & (known >= -180.0)
    turns = bool(100 * beyond.sum() > max(len(known), 100 * 100 * west.sum()))
    if turns:
        msg = f"{what} has longitudes from 0 to 360, such as {known[beyond][0]:g}: read as such"
        how.warn(logger, "longitudes to 360", msg)
    return turns


def to_the_west(lon: Floats) -> Floats:
    """Give longitudes beyond 180 as those from -180 to 0 that they are."""
    return np.where(lon > 180.0, lon - 360.0, lon)


def check_geometries(lat: Floats, lon: Floats, what: str, *, known: bool) -> None:
    """Refuse geometries that cannot be degrees: most of them, or any in an unknown system."""
    lat, lon, swapped = _looked_at(lat, lon)
    off = (np.abs(lat) > 90.0) | (np.abs(lon) > 180.0)
    if not (_most(off) if known else off.any()):
        return
    problem = " names no reference system, and its coordinates are not degrees"
    if known:
        problem = " has coordinates that are not on Earth in the reference system it names"
    way_out = "give it the right one, or transform it to EPSG:4326"
    if swapped:
        problem = ": latitude and longitude seem swapped"
        way_out = "write its geometries with x = longitude and y = latitude"
    raise BadInput(f"{what}{problem}, with {_ranges(x=lon, y=lat)}; {way_out}")


def _looked_at(lat: Floats, lon: Floats) -> tuple[Floats, Floats, bool]:
    """Give the values that are numbers, and whether most of them are swapped."""
    both = np.isfinite(lat) & np.isfinite(lon)
    lat, lon = lat[both], lon[both]
    north, east = np.abs(lat), np.abs(lon)
    return lat, lon, _most((north > 90.0) & (north <= 180.0) & (east <= 90.0))


def _most(which: Bools) -> bool:
    return 2 * int(which.sum()) > len(which)


def _ranges(**values: Floats) -> str:
    """Tell ranges with four digits: enough to see what kind of number it is."""

    def rounded(value: float) -> str:
        return f"{float(f'{value:.4g}'):,.10g}"

    return " and ".join(
        f"{name} from {rounded(numbers.min())} to {rounded(numbers.max())}"
        for name, numbers in values.items()
    )
