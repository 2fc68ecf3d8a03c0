"""Coordinates that cannot be degrees of latitude and longitude, noticed early."""

import numpy as np

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput


def check_on_earth(lat: Floats, lon: Floats, what: str) -> None:
    """Refuse coordinates of which most are swapped, or no degrees at all.

    Single points that are not on Earth are left to the cleaning.
    """
    there = np.isfinite(lat) & np.isfinite(lon)
    north, east = np.abs(lat[there]), np.abs(lon[there])
    if _most((north > 90.0) & (north <= 180.0) & (east <= 90.0)):
        msg = (
            f"{what}: latitude and longitude seem swapped, with "
            f"{_ranges(lat[there], lon[there])}; say --columns lat=...,lon=... with "
            "the two columns the other way round"
        )
        raise BadInput(msg)
    if _most((north > 180.0) & (east > 180.0)):
        msg = (
            f"{what} is not in degrees, with {_ranges(lat[there], lon[there])}; "
            "transform it to EPSG:4326, or give it as a GeoPackage or GeoParquet that "
            "names its reference system"
        )
        raise BadInput(msg)


def _most(which: Bools) -> bool:
    return 2 * int(which.sum()) > len(which)


def _ranges(lat: Floats, lon: Floats) -> str:
    return " and ".join(
        f"{name} from {_rounded(values.min())} to {_rounded(values.max())}"
        for name, values in (("lat", lat), ("lon", lon))
    )


def _rounded(value: float) -> str:
    """Write four digits of a number: enough to see what kind of number it is."""
    return f"{float(f'{value:.4g}'):,.10g}"
