"""Coordinates, as they are written -> degrees of latitude and longitude, WGS 84; or a refusal.

Beside plain degrees: letters for the signs, glued on (49.07N) or in columns of their own; degrees,
minutes and seconds, or degrees and minutes in one number (4812.34); longitudes from 0 to 360.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput
from trajanon.extract.sources.columns import Rows, Values, are_numbers, numbers
from trajanon.extract.sources.streams import Reading

LETTERS = {"lat": "NS", "lon": "EW"}
"""The letters for a positive and a negative sign."""

SIGNS = {"lat_sign": ("n", "s", "north", "south"), "lon_sign": ("e", "w", "east", "west")}
"""By role: how signs are written, in lower case."""

OF_GEOMETRIES = "transform it to EPSG:4326, x = longitude and y = latitude"
OF_COLUMNS = (
    "say `columns` lat=...,lon=... with the right two, transform them to EPSG:4326, or give it as "
    "a GeoPackage or GeoParquet that names its reference system"
)
"""Ways out of places that are not on Earth."""

_PLAIN = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|\.\d+)([eE][-+]?\d+)?\s*")
_WRITTEN = re.compile(
    r"\s*(?P<before>[NSEW])?\s*(?P<degrees>[-+]?\d+(?:[.,]\d+)?)\s*[°º:]?"
    r"\s*(?:(?P<minutes>\d+(?:[.,]\d+)?)\s*['′’:]?\s*(?:(?P<seconds>\d+(?:[.,]\d+)?)\s*"
    r"(?:[\"″”]|'')?)?)?\s*(?P<after>[NSEW])?\s*",
    re.IGNORECASE,
)


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

    try:
        known = None if system is None else CRS.from_user_input(system)
        if known is None or known.equals("OGC:CRS84", ignore_axis_order=True):
            return as_they_are
        transformer = Transformer.from_crs(known, "EPSG:4326", always_xy=True)
    except (CRSError, ProjError) as error:
        reason = " ".join(str(error).split())[:100]
        raise BadInput(
            f"{what} has a reference system that cannot be turned into WGS 84 "
            f"({reason}); transform it to EPSG:4326 first"
        ) from error
    return transformed


def from_0_to_360(lon: Floats, what: str, how: Reading) -> bool:
    """Say whether longitudes go from 0 to 360, and not from -180 to 180; warn of it."""
    known = lon[np.isfinite(lon)]
    beyond = (known > 180.0) & (known <= 360.0)
    west = (known < 0.0) & (known >= -180.0)
    turns = bool(100 * beyond.sum() > max(len(known), 100 * 100 * west.sum()))
    if turns:
        msg = f"{what} has longitudes from 0 to 360, such as {known[beyond][0]:g}: read as such"
        how.warn("longitudes to 360", msg)
    return turns


def to_the_west(lon: Floats) -> Floats:
    """Give longitudes beyond 180 as those from -180 to 0 that they are."""
    return np.where(lon > 180.0, lon - 360.0, lon)


def check_degrees(
    lat: Floats, lon: Floats, what: str, way_out: str = OF_GEOMETRIES, *, known: bool = True
) -> None:
    """Refuse what is not on Earth: most points, or any in an unknown system; others are cleaned."""
    both = np.isfinite(lat) & np.isfinite(lon)
    lat, lon = lat[both], lon[both]
    north, east = np.abs(lat), np.abs(lon)
    off = (north > 90.0) | (east > 180.0)
    if not (_most(off) if known else off.any()):
        return
    problem = ": its coordinates are not degrees on Earth"
    if not known:
        problem = " names no reference system, and its coordinates are not degrees"
    if _most((north > 90.0) & (north <= 180.0) & (east <= 90.0)):
        problem = ": latitude and longitude seem swapped"
    ranges = (
        f"{name} from {_rounded(values.min())} to {_rounded(values.max())}"
        for name, values in (("lat", lat), ("lon", lon))
    )
    raise BadInput(f"{what}{problem}, with {' and '.join(ranges)}; {way_out}")


def _rounded(value: float) -> str:
    """Write four digits, which show what kind of number it is."""
    return f"{float(f'{value:.4g}'):,.10g}"


def _most(which: Bools) -> bool:
    return 2 * int(which.sum()) > len(which)


class Coordinates:
    """Reads the latitudes and longitudes of one table, part by part; its first rows tell how."""

    def __init__(self, first: Rows, what: str, how: Reading) -> None:
        self._are_minutes = False  # whether degrees and minutes are in one number
        self._turns = False
        lat, lon = self.degrees(first)
        has_signs = "lat_sign" in first or not are_numbers(first["lat"])
        self._are_minutes = has_signs and _are_degrees_and_minutes(lat, lon)
        if self._are_minutes:
            msg = f"{what} has degrees and minutes in one number, such as {lat[0]:g}: read as such"
            how.warn("degrees and minutes", msg)
            lat, lon = self.degrees(first)
        self._turns = from_0_to_360(lon, what, how)
        check_degrees(lat, to_the_west(lon) if self._turns else lon, what, OF_COLUMNS)

    def degrees(self, rows: Rows) -> tuple[Floats, Floats]:
        """Give latitude and longitude; NaN where there is no number."""
        lat, lon = (self._of(rows, role) for role in ("lat", "lon"))
        return lat, to_the_west(lon) if self._turns else lon

    def _of(self, rows: Rows, role: str) -> Floats:
        found = _written(rows[role], LETTERS[role])
        if self._are_minutes:
            degrees = np.trunc(found / 100.0)
            found = degrees + (found - 100.0 * degrees) / 60.0
        sign = f"{role}_sign"
        return _signed(found, rows[sign], LETTERS[role]) if sign in rows else found


def _written(values: Values, letters: str) -> Floats:
    """Read coordinates as they are written; other values than these become NaN."""
    found = numbers(values)
    if not are_numbers(values):
        texts = _series(values)
        unread = np.flatnonzero(np.isnan(found) & texts.notna().to_numpy())
        found = found.copy()
        found[unread] = [_degrees(str(texts.iloc[place]), letters) for place in unread]
    return found


def _series(values: Values) -> pd.Series:
    return values.to_pandas() if isinstance(values, pa.ChunkedArray) else values


def _degrees(text: str, letters: str) -> float:
    """Read 49.07N, N 49° 4' 12'' or 49:04:12."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return np.nan
    letter = ((found["before"] or "") + (found["after"] or "")).upper()
    parts = [
        part and part.replace(",", ".") for part in found.group("degrees", "minutes", "seconds")
    ]
    whole = all("." not in str(part) for part, below in pairwise(parts) if below)
    degrees, minutes, seconds = (float(part or 0.0) for part in parts)
    if letter not in ("", *letters) or not whole or minutes >= 60.0 or seconds >= 60.0:
        return np.nan
    size = abs(degrees) + minutes / 60.0 + seconds / 3600.0
    is_negative = str(parts[0]).startswith("-")
    if letter == letters[0] and is_negative:
        return np.nan
    return -size if is_negative or letter == letters[1] else size


def _signed(sizes: Floats, signs: Values, letters: str) -> Floats:
    """Give coordinates the signs of their letters; NaN where these cannot hold."""
    first = _series(signs).astype("string").str.strip().str[:1].str.upper().astype(object)
    positive, negative = ((first == letter).to_numpy(bool) for letter in letters)
    holds: Bools = negative | (positive & (sizes >= 0.0))
    return np.where(holds, np.where(negative, -np.abs(sizes), sizes), np.nan)


def with_signs(
    column_of: Mapping[str, str],
    wanted: Mapping[str, str],
    begin: Mapping[str, Sequence[str]],
    sample: Callable[[], Mapping[str, Sequence[str]]],
) -> dict[str, str]:
    """Find the columns of letters for the signs of coordinates, if there are such.

    A column of any name is one if there is another for the other coordinate: headings hold N and S
    and E and W, too. Its values ``begin`` with letters, and those of the ``sample`` are letters.
    """
    found = {role: name for role, name in column_of.items() if role not in SIGNS}
    free = [name for name in begin if name not in found.values()]
    known = {role: [n for n in free if _are_among(begin[n], role)] for role in SIGNS}
    if any(known.values()):
        values = sample()
        known = {r: [n for n in names if _are_among(values[n], r)] for r, names in known.items()}
    both = all(known.values())
    for role, names in known.items():
        if role in wanted:
            found[role] = wanted[role]
        elif named := [name for name in names if both or name == column_of.get(role)]:
            found[role] = named[0]
    return found


def _are_among(values: Sequence[str], role: str) -> bool:
    given = {value.strip().lower() for value in values} - {""}
    return bool(given) and given <= set(SIGNS[role])


def are_in_letters(values: Iterable[str], role: str) -> bool:
    """Say whether coordinates are written with letters, or as degrees and minutes."""
    others = (value for value in values if not _PLAIN.fullmatch(value))
    return any(np.isfinite(_degrees(value, LETTERS[role])) for value in others)


def _are_degrees_and_minutes(lat: Floats, lon: Floats) -> bool:
    """Say whether coordinates that have signs in letters can only be degrees and minutes."""
    known = np.isfinite(lat) & np.isfinite(lon)
    lat, lon = np.abs(lat[known]), np.abs(lon[known])
    beyond = (lat > 90.0) | (lon > 180.0)
    possible = (lat % 100.0 < 60.0) & (lon % 100.0 < 60.0) & (lat <= 9000.0) & (lon <= 18000.0)
    return _most(beyond) and bool(possible.all())
