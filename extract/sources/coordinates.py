"""Coordinates, as they are written -> degrees of latitude and longitude, WGS 84; or a refusal."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput
from trajanon.extract.sources.streams import Reading

LETTERS = {"lat": "NS", "lon": "EW"}  # the letters for a positive and a negative sign

OF_GEOMETRIES = "transform it to EPSG:4326, x = longitude and y = latitude"  # a way out
OF_COLUMNS = "say `columns` lat=...,lon=... with the right two, or transform them to EPSG:4326"


def to_degrees(xy: Floats, system: object, what: str) -> tuple[Floats, Floats]:
    """Turn x and y, shape (n, 2), of a reference system into latitude and longitude."""
    from pyproj import CRS, Transformer
    from pyproj.exceptions import CRSError, ProjError

    try:
        known = None if system is None else CRS.from_user_input(system)
        if known is None or known.equals("OGC:CRS84", ignore_axis_order=True):
            return np.ascontiguousarray(xy[:, 1]), np.ascontiguousarray(xy[:, 0])
        transformer = Transformer.from_crs(known, "EPSG:4326", always_xy=True)
    except (CRSError, ProjError) as error:
        reason = " ".join(str(error).split())[:100]
        why = f"cannot be turned into WGS 84 ({reason}); transform it to EPSG:4326 first"
        raise BadInput(f"{what} has a reference system that {why}") from error

    lon, lat = transformer.transform(xy[:, 0], xy[:, 1])
    impossible = ~(np.isfinite(lon) & np.isfinite(lat))
    lon[impossible] = lat[impossible] = np.nan
    return lat, lon


def from_0_to_360(lon: Floats, reading: Reading) -> bool:
    """Return whether longitudes go from 0 to 360, and not from -180 to 180; warn of it."""
    known = lon[np.isfinite(lon)]
    beyond = (known > 180.0) & (known <= 360.0)
    west = (known < 0.0) & (known >= -180.0)
    turns = bool(100 * beyond.sum() > max(len(known), 100 * 100 * west.sum()))
    if turns:
        found = f"has longitudes from 0 to 360, such as {known[beyond][0]:g}: read as such"
        reading.warn_of_file("longitudes to 360", found, once=True)
    return turns


def to_the_west(lon: Floats) -> Floats:
    """Return longitudes beyond 180 as those from -180 to 0 that they are."""
    return np.where(lon > 180.0, lon - 360.0, lon)


def check_degrees(
    lat: Floats, lon: Floats, what: str, way_out: str = OF_GEOMETRIES, *, known: bool = True
) -> None:
    """Refuse what is not on Earth: most points, or any in an unknown system; others are cleaned."""
    are_known = np.isfinite(lat) & np.isfinite(lon)
    lat = lat[are_known]
    lon = lon[are_known]
    north, east = np.abs(lat), np.abs(lon)
    off = (north > 90.0) | (east > 180.0)
    if not (_most(off) if known else off.any()):
        return

    system = "" if known else " names no reference system, and"
    problem = f"{system or ':'} its coordinates are not degrees on Earth"
    if _most((north > 90.0) & (north <= 180.0) & (east <= 90.0)):
        problem = ": latitude and longitude seem swapped"

    ranges = (
        f"{name} from {values.min():,.0f} to {values.max():,.0f}"
        for name, values in (("lat", lat), ("lon", lon))
    )
    raise BadInput(f"{what}{problem}, with {' and '.join(ranges)}; {way_out}")


def _most(marked: Bools) -> bool:
    return 2 * int(marked.sum()) > len(marked)


def reader_of_degrees(
    first: pd.DataFrame, reading: Reading
) -> Callable[[pd.DataFrame], tuple[Floats, Floats]]:
    """Find by the first rows of a table how latitude and longitude are read of any of its rows."""
    turns = False  # whether longitudes go to 360

    def read(rows: pd.DataFrame) -> tuple[Floats, Floats]:
        lat, lon = _of_role(rows, "lat"), _of_role(rows, "lon")
        return lat, to_the_west(lon) if turns else lon

    lat, lon = read(first)

    for role, values in (("lat", lat), ("lon", lon)):
        texts = first[role].dropna()
        if len(texts) and not np.isfinite(values).any():
            example = f"such as {str(texts.iloc[0])[:40]!r}: write it as 48.2 or 48.2N"
            raise BadInput(f"{reading.what} has no {role} that can be read, {example}")

    turns = from_0_to_360(lon, reading)
    check_degrees(lat, to_the_west(lon) if turns else lon, reading.what, OF_COLUMNS)
    return read


def _of_role(rows: pd.DataFrame, role: str) -> Floats:
    """Read degrees, their signs as letters glued on or in a column beside; others become NaN."""
    values = numbers(rows[role])
    letters = LETTERS[role]
    if not pd.api.types.is_numeric_dtype(rows[role]) and np.isnan(values).any():
        texts = rows[role].astype("string").str.upper().str.replace(",", ".")
        letter = f"[{letters}]"
        parts = texts.str.extract(
            rf"^\s*(?P<before>{letter})?\s*(?P<size>\d+(?:\.\d+)?)\s*°?\s*(?P<after>{letter})?\s*$"
        )
        sign_of = parts["before"].fillna(parts["after"])
        values = np.where(
            sign_of.notna(), _signed(numbers(parts["size"]), sign_of, letters), values
        )

    sign = f"{role}_sign"
    return _signed(values, rows[sign], letters) if sign in rows else values


def numbers(values: pd.Series) -> Floats:
    """Read numbers; other values become NaN."""
    if not pd.api.types.is_numeric_dtype(values):
        try:
            read = pa.array(values, from_pandas=True).cast(pa.float64())
            return np.asarray(read.to_numpy(zero_copy_only=False), np.float64)
        except (pa.ArrowException, TypeError):
            values = pd.to_numeric(values, errors="coerce")
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def _signed(sizes: Floats, signs: pd.Series, letters: str) -> Floats:
    """Return coordinates the signs of their letters; NaN where these cannot hold."""
    first = signs.astype("string").str.strip().str[:1].str.upper().astype(object)
    positive, negative = ((first == letter).to_numpy(bool) for letter in letters)
    holds: Bools = negative | (positive & (sizes >= 0.0))
    return np.where(holds, np.where(negative, -np.abs(sizes), sizes), np.nan)
