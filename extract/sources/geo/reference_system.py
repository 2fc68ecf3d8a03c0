"""Coordinates of a geometry in any reference system -> degrees, WGS 84."""

from collections.abc import Callable
from typing import Any

import numpy as np

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput


def to_degrees(system: Any, what: str) -> Callable[[Floats], tuple[Floats, Floats]]:
    """Find how coordinates become degrees."""
    from pyproj import CRS, Transformer
    from pyproj.exceptions import CRSError, ProjError

    if system is None:
        return _as_they_are
    try:
        known = CRS.from_user_input(system)
        if known.equals("OGC:CRS84", ignore_axis_order=True):
            return _as_they_are
        transformer = Transformer.from_crs(known, "EPSG:4326", always_xy=True)
    except (CRSError, ProjError) as error:
        reason = " ".join(str(error).split())[:100]
        msg = (
            f"{what} has a reference system that cannot be turned into WGS 84 "
            f"({reason}); transform it to EPSG:4326 first"
        )
        raise BadInput(msg) from error

    def transformed(xy: Floats) -> tuple[Floats, Floats]:
        lon, lat = transformer.transform(xy[:, 0], xy[:, 1])
        impossible = ~(np.isfinite(lon) & np.isfinite(lat))
        lon[impossible] = lat[impossible] = np.nan
        return lat, lon

    return transformed


def _as_they_are(xy: Floats) -> tuple[Floats, Floats]:
    return np.ascontiguousarray(xy[:, 1]), np.ascontiguousarray(xy[:, 0])


def check_degrees(lat: Floats, lon: Floats, what: str, *, known: bool) -> None:
    """Refuse coordinates that cannot be degrees of longitude and latitude."""
    there = np.isfinite(lat) & np.isfinite(lon)
    lat, lon = lat[there], lon[there]
    off = (np.abs(lat) > 90.0) | (np.abs(lon) > 180.0)
    if not (_most(off) if known else off.any()):
        return
    seen = (
        f"x from {_rounded(lon.min())} to {_rounded(lon.max())} and "
        f"y from {_rounded(lat.min())} to {_rounded(lat.max())}"
    )
    if _most(off & (np.abs(lat) <= 180.0) & (np.abs(lon) <= 90.0)):
        msg = (
            f"{what}: latitude and longitude seem swapped, with {seen}; write its "
            "geometries with x = longitude and y = latitude"
        )
    elif known:
        msg = (
            f"{what} has coordinates that are not on Earth in the reference system it "
            f"names, with {seen}; give it the right one, or transform it to EPSG:4326"
        )
    else:
        msg = (
            f"{what} names no reference system, and its coordinates are not degrees, "
            f"with {seen}; give it the right one, or transform it to EPSG:4326"
        )
    raise BadInput(msg)


def _rounded(value: float) -> str:
    """Write four digits of a number: enough to see what kind of number it is."""
    return f"{float(f'{value:.4g}'):,.10g}"


def _most(which: Bools) -> bool:
    return 2 * int(which.sum()) > len(which)
