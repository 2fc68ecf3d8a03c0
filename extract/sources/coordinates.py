"""Coordinates as files have them -> degrees of latitude and longitude in WGS 84, or a refusal."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput
from trajanon.extract.sources.reading import Reading

LETTERS = {"lat": "NS", "lon": "EW"}  # for a positive and a negative sign

WAY_OUT_FOR_GEOMETRIES = "transform it to EPSG:4326, x = longitude and y = latitude"
WAY_OUT_FOR_COLUMNS = (
    "set `columns` lat=...,lon=... with the right two, or transform them to EPSG:4326"
)


def to_degrees(xy: Floats, system: object, what: str) -> tuple[Floats, Floats]:
    """Turn x and y, shape (n, 2), of a reference system into latitude and longitude.

    Without a system they are longitude and latitude already. ``what`` names the file in messages.
    """
    from pyproj import CRS, Transformer
    from pyproj.exceptions import CRSError, ProjError

    try:
        crs = None if system is None else CRS.from_user_input(system)
        if crs is None or crs.equals("OGC:CRS84", ignore_axis_order=True):
            return np.ascontiguousarray(xy[:, 1]), np.ascontiguousarray(xy[:, 0])
        transformer = Transformer.from_crs(crs, "EPSG:4326", always_xy=True)
    except (CRSError, ProjError) as error:
        reason = " ".join(str(error).split())[:100]
        why = f"cannot be turned into WGS 84 ({reason}); transform it to EPSG:4326 first"
        raise BadInput(f"{what} has a reference system that {why}") from error

    lon, lat = transformer.transform(xy[:, 0], xy[:, 1])

    # Outside its area a projection answers infinity. Neither coordinate is known then.
    unknown = ~(np.isfinite(lon) & np.isfinite(lat))
    lon[unknown] = np.nan
    lat[unknown] = np.nan
    return lat, lon


def reader_of_longitudes(lon: Floats, reading: Reading) -> Callable[[Floats], Floats]:
    """Find whether longitudes go from 0 to 360, not from -180 to 180; warn if they do."""
    known = lon[np.isfinite(lon)]
    is_beyond = (known > 180.0) & (known <= 360.0)
    is_negative = (known < 0.0) & (known >= -180.0)

    # They are more than 1 % of all, and 100 times the negative ones: a few may be errors.
    if 100 * is_beyond.sum() <= max(len(known), 100 * 100 * is_negative.sum()):
        return lambda lon: lon
    reading.found("longitudes to 360", example=known[is_beyond][0])
    return lambda lon: np.where(lon > 180.0, lon - 360.0, lon)


def check_degrees(
    lat: Floats,
    lon: Floats,
    what: str,
    way_out: str = WAY_OUT_FOR_GEOMETRIES,
    *,
    known: bool = True,
) -> None:
    """Refuse coordinates of which most are not degrees on Earth.

    In a reference system that is not ``known``, one such point is enough: the numbers may be
    metres. In a known one, a few are errors of the receiver, which the cleaning drops.
    """
    is_given = np.isfinite(lat) & np.isfinite(lon)
    lat = lat[is_given]
    lon = lon[is_given]
    lat_size = np.abs(lat)
    lon_size = np.abs(lon)

    is_off_earth = (lat_size > 90.0) | (lon_size > 180.0)
    is_refused = _most(is_off_earth) if known else is_off_earth.any()
    if not is_refused:
        return

    cause = ":" if known else " names no reference system, and"
    problem = f"{cause} its coordinates are not degrees on Earth"
    if _most((lat_size > 90.0) & (lat_size <= 180.0) & (lon_size <= 90.0)):
        problem = ": latitude and longitude seem swapped"

    ranges = (
        f"{name} from {values.min():,.0f} to {values.max():,.0f}"
        for name, values in (("lat", lat), ("lon", lon))
    )
    raise BadInput(f"{what}{problem}, with {' and '.join(ranges)}; {way_out}")


def _most(marked: Bools) -> bool:
    """Return whether more than half are marked."""
    return 2 * int(marked.sum()) > len(marked)


def reader_of_degrees(
    first: pd.DataFrame, reading: Reading
) -> Callable[[pd.DataFrame], tuple[Floats, Floats]]:
    """Find by the first rows of a table how latitude and longitude are read in any of its rows."""
    lat = _degrees_of_role(first, "lat")
    lon = _degrees_of_role(first, "lon")
    for role, values in (("lat", lat), ("lon", lon)):
        texts = first[role].dropna()
        if len(texts) and not np.isfinite(values).any():
            example = f"such as {str(texts.iloc[0])[:40]!r}: write it as 48.2 or 48.2N"
            raise BadInput(f"{reading.what} has no {role} that can be read, {example}")

    longitudes = reader_of_longitudes(lon, reading)
    check_degrees(lat, longitudes(lon), reading.what, WAY_OUT_FOR_COLUMNS)
    return lambda rows: (_degrees_of_role(rows, "lat"), longitudes(_degrees_of_role(rows, "lon")))


def _degrees_of_role(rows: pd.DataFrame, role: str) -> Floats:
    """Read degrees as numbers, such as 48.2, or with a letter, such as 48.2N; others become NaN.

    The letter may also stand in a column of its own.
    """
    letters = LETTERS[role]
    values = numbers(rows[role])
    if not pd.api.types.is_numeric_dtype(rows[role]) and np.isnan(values).any():
        texts = rows[role].astype("string").str.upper().str.replace(",", ".")
        letter = f"[{letters}]"
        parts = texts.str.extract(
            rf"^\s*(?P<before>{letter})?\s*(?P<size>\d+(?:\.\d+)?)\s*°?\s*(?P<after>{letter})?\s*$"
        )
        signs = parts["before"].fillna(parts["after"])
        lettered = _with_signs(numbers(parts["size"]), signs, letters)
        values = np.where(signs.notna(), lettered, values)

    sign_column = f"{role}_sign"
    return _with_signs(values, rows[sign_column], letters) if sign_column in rows else values


def numbers(values: pd.Series) -> Floats:
    """Read numbers; other values become NaN."""
    if not pd.api.types.is_numeric_dtype(values):
        try:  # Arrow reads texts much faster than pandas, but refuses all if one is no number.
            read = pa.array(values, from_pandas=True).cast(pa.float64())
            return np.asarray(read.to_numpy(zero_copy_only=False), np.float64)
        except (pa.ArrowException, TypeError):
            values = pd.to_numeric(values, errors="coerce")
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def _with_signs(sizes: Floats, signs: pd.Series, letters: str) -> Floats:
    """Return degrees with the signs of their letters; NaN without a letter, or for -48.2N."""
    first_letters = signs.astype("string").str.strip().str[:1].str.upper().astype(object)
    is_positive, is_negative = ((first_letters == letter).to_numpy(bool) for letter in letters)
    is_possible: Bools = is_negative | (is_positive & (sizes >= 0.0))
    return np.where(is_possible, np.where(is_negative, -np.abs(sizes), sizes), np.nan)
