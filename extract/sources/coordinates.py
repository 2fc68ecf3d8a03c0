"""Coordinates of files, read as degrees of latitude and longitude in WGS 84, or refused."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput
from trajanon.extract.sources.reading import Reading

LETTERS = {"lat": "NS", "lon": "EW"}  # of degrees with a positive, and with a negative sign

# Ends of messages: what to do about coordinates that are refused.
WAY_OUT_FOR_GEOMETRIES = "transform it to EPSG:4326, x = longitude and y = latitude"
WAY_OUT_FOR_COLUMNS = (
    "name the right columns (`columns` lat=...,lon=...), or transform them to EPSG:4326"
)


def to_degrees(xy: Floats, system: object, what: str) -> tuple[Floats, Floats]:
    """Turn x and y, shape (n, 2), of a reference system into latitude and longitude, each (n,).

    The system is anything that names one to pyproj. If it is None, x is the longitude and y the
    latitude already. ``what`` names the file in messages.
    """
    from pyproj import CRS, Transformer
    from pyproj.exceptions import CRSError, ProjError

    try:
        crs = None if system is None else CRS.from_user_input(system)

        # OGC:CRS84 is longitude and latitude in WGS 84.
        if crs is None or crs.equals("OGC:CRS84", ignore_axis_order=True):
            return np.ascontiguousarray(xy[:, 1]), np.ascontiguousarray(xy[:, 0])

        # One of heights alone would return x and y as they are.
        if not (crs.is_geographic or crs.is_projected):
            raise CRSError(f"{crs.name} is neither geographic nor projected")
        transformer = Transformer.from_crs(crs, "EPSG:4326", always_xy=True)
    except (CRSError, ProjError) as error:
        reason = " ".join(str(error).split())[:100]
        why = f"cannot be turned into WGS 84 ({reason}); transform it to EPSG:4326 first"
        raise BadInput(f"{what} has a reference system that {why}") from error

    lon, lat = transformer.transform(xy[:, 0], xy[:, 1])

    # A projection returns infinity for places outside its area. Then neither coordinate is known.
    unknown = ~(np.isfinite(lon) & np.isfinite(lat))
    lon[unknown] = np.nan
    lat[unknown] = np.nan
    return lat, lon


def reader_of_longitudes(lon: Floats, reading: Reading) -> Callable[[Floats], Floats]:
    """Return a function that brings longitudes of a file to -180..180, judged by its first rows.

    Some files have longitudes from 0 to 360. If this one does, that is reported. What is beyond 360
    is an error, and stays as it is.
    """
    known = lon[np.isfinite(lon)]
    is_beyond = (known > 180.0) & (known <= 360.0)
    is_negative = (known < 0.0) & (known >= -180.0)

    # A few longitudes beyond 180 may be errors. They count if they are more than 1 % of all, and
    # more than 100 times as many as the negative ones, which a file from 0 to 360 does not have.
    if 100 * is_beyond.sum() <= max(len(known), 100 * 100 * is_negative.sum()):
        return lambda lon: lon

    reading.found("longitudes to 360", example=known[is_beyond][0])
    return lambda lon: np.where((lon > 180.0) & (lon <= 360.0), lon - 360.0, lon)


def check_degrees(lat: Floats, lon: Floats, what: str, way_out: str, *, system_known: bool) -> None:
    """Refuse coordinates, each (n,), if more than half of them are not degrees on Earth.

    If geometries name no reference system (``system_known`` is false), one such point is enough, as
    the numbers may be metres. Else, and in columns of latitude and longitude, a few of them are
    errors of the receiver, which are dropped later. ``what`` names the file in messages, and
    ``way_out`` says what to do.
    """
    is_given = np.isfinite(lat) & np.isfinite(lon)
    lat = lat[is_given]
    lon = lon[is_given]
    from_equator = np.abs(lat)
    from_greenwich = np.abs(lon)

    is_off_earth = (from_equator > 90.0) | (from_greenwich > 180.0)
    is_refused = _most_of(is_off_earth) if system_known else is_off_earth.any()
    if not is_refused:
        return

    cause = ":" if system_known else " names no reference system, and"
    problem = f"{cause} its coordinates are not degrees on Earth"
    # Most latitudes are too large for one, but not for a longitude, beside possible latitudes.
    if _most_of((from_equator > 90.0) & (from_equator <= 180.0) & (from_greenwich <= 90.0)):
        problem = ": latitude and longitude seem swapped"

    ranges = (
        f"{name} from {values.min():,.0f} to {values.max():,.0f}"
        for name, values in (("lat", lat), ("lon", lon))
    )
    raise BadInput(f"{what}{problem}, with {' and '.join(ranges)}; {way_out}")


def _most_of(marked: Bools) -> bool:
    """Return whether more than half are marked."""
    return 2 * int(marked.sum()) > len(marked)


def reader_of_degrees(
    first: pd.DataFrame, reading: Reading
) -> Callable[[pd.DataFrame], tuple[Floats, Floats]]:
    """Return a function that reads latitude and longitude in any rows of a table.

    What the longitudes mean, and whether anything can be read, is found by the ``first`` rows.
    """
    lat = _degrees_of_role(first, "lat")
    lon = _degrees_of_role(first, "lon")
    for role, values in (("lat", lat), ("lon", lon)):
        texts = first[role].dropna()
        if len(texts) and not np.isfinite(values).any():
            raise reading.refusal("no degrees", role=role, example=str(texts.iloc[0])[:40])

    read_lon = reader_of_longitudes(lon, reading)
    check_degrees(lat, read_lon(lon), reading.what, WAY_OUT_FOR_COLUMNS, system_known=True)
    return lambda rows: (_degrees_of_role(rows, "lat"), read_lon(_degrees_of_role(rows, "lon")))


def _degrees_of_role(rows: pd.DataFrame, role: str) -> Floats:
    """Read the degrees in the column of a role, lat or lon; what cannot be read becomes NaN.

    They are numbers, such as 48.2, or have a sign of degrees or a letter, such as 48.2° or 48.2N.
    The letters may also stand in a column of their own, lat_sign or lon_sign.
    """
    letters = LETTERS[role]
    values = numbers(rows[role])
    if not pd.api.types.is_numeric_dtype(rows[role]) and np.isnan(values).any():
        texts = rows[role].astype("string").str.upper().str.replace(",", ".")
        # A letter before the number, as in N48.2, is moved behind it.
        texts = texts.str.replace(rf"^\s*([{letters}])(.*)$", r"\2\1", regex=True)
        parts = texts.str.extract(rf"^\s*([-+]?\d+(?:\.\d+)?)\s*(°)?\s*([{letters}])?\s*$")
        sizes = numbers(parts[0])
        values = np.where(parts[1].notna(), sizes, values)
        values = np.where(parts[2].notna(), _with_signs(sizes, parts[2], letters), values)

    sign_column = f"{role}_sign"
    return _with_signs(values, rows[sign_column], letters) if sign_column in rows else values


def numbers(values: pd.Series) -> Floats:
    """Read values, which may be texts, as numbers; all else, and infinity, becomes NaN."""
    if values.dtype.kind in "mM":  # times, which pandas turns into numbers without a unit
        return np.full(len(values), np.nan)
    if not pd.api.types.is_numeric_dtype(values):
        # Arrow reads texts much faster than pandas, but refuses all of them if one is no number.
        try:
            values = pa.array(values, from_pandas=True).cast(pa.float64()).to_pandas()
        except (pa.ArrowException, TypeError, OverflowError):  # the last beyond 64 bits
            values = pd.to_numeric(values, errors="coerce")
    read = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(read), read, np.nan)


def _with_signs(sizes: Floats, signs: pd.Series, letters: str) -> Floats:
    """Return degrees with the signs of their letters, of which N and E, the first, are positive.

    Degrees become NaN without a letter, and if they are negative with a positive one, as -48.2N.
    """
    # A whole word, such as north, is read by its first letter.
    first_letters = signs.astype("string").str.strip().str[:1].str.upper().astype(object)
    is_positive, is_negative = ((first_letters == letter).to_numpy(bool) for letter in letters)
    is_possible: Bools = is_negative | (is_positive & (sizes >= 0.0))
    return np.where(is_possible, np.where(is_negative, -np.abs(sizes), sizes), np.nan)
