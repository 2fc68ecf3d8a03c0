"""Coordinates of tables, as they are written -> degrees, WGS 84.

Beside plain degrees these are read: letters for the signs, glued on (49.07N) or in columns of their
own; degrees, minutes and seconds; degrees and minutes in one number, as NMEA has them (4812.34);
longitudes from 0 to 360.
"""

import logging
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa

from trajanon.arrays import Bools, Floats
from trajanon.extract.sources.degrees import check_columns, from_0_to_360, to_the_west
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.columns import Rows, Values, numbers

logger = logging.getLogger(__name__)

LETTERS = {"lat": "NS", "lon": "EW"}
"""The letters for a positive and a negative sign."""

SIGNS = {"lat_sign": ("n", "s", "north", "south"), "lon_sign": ("e", "w", "east", "west")}
"""By role: how signs are written, in lower case."""

_PLAIN = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|\.\d+)([eE][-+]?\d+)?\s*")
_WRITTEN = re.compile(
    r"\s*(?P<before>[NSEW])?\s*(?P<degrees>[-+]?\d+(?:[.,]\d+)?)\s*[°º:]?"
    r"\s*(?:(?P<minutes>\d+(?:[.,]\d+)?)\s*['′’:]?\s*(?:(?P<seconds>\d+(?:[.,]\d+)?)\s*"
    r"(?:[\"″”]|'')?)?)?\s*(?P<after>[NSEW])?\s*",
    re.IGNORECASE,
)


class Coordinates:
    """Reads the latitudes and longitudes of one table, part by part; its first rows tell how."""

    def __init__(self, first: Rows, what: str, how: Reading) -> None:
        self._are_minutes = False  # whether degrees and minutes are in one number
        lat, lon = self._read(first)
        has_signs = "lat_sign" in first or not _are_numbers(first["lat"])
        self._are_minutes = has_signs and _are_degrees_and_minutes(lat, lon)
        if self._are_minutes:
            msg = f"{what} has degrees and minutes in one number, such as {lat[0]:g}: read as such"
            how.warn(logger, "degrees and minutes", msg)
            lat, lon = self._read(first)
        self._turns = from_0_to_360(lon, what, how)
        check_columns(lat, self._turned(lon), what)

    def degrees(self, rows: Rows) -> tuple[Floats, Floats]:
        """Give latitude and longitude; NaN where there is no number."""
        lat, lon = self._read(rows)
        return lat, self._turned(lon)

    def _turned(self, lon: Floats) -> Floats:
        return to_the_west(lon) if self._turns else lon

    def _read(self, rows: Rows) -> tuple[Floats, Floats]:
        lat, lon = (self._of(rows, role) for role in ("lat", "lon"))
        return lat, lon

    def _of(self, rows: Rows, role: str) -> Floats:
        found = written(rows[role], LETTERS[role])
        if self._are_minutes:
            degrees = np.trunc(found / 100.0)
            found = degrees + (found - 100.0 * degrees) / 60.0
        sign = f"{role}_sign"
        return signed(found, rows[sign], LETTERS[role]) if sign in rows else found


def written(values: Values, letters: str) -> Floats:
    """Read coordinates as they are written; other values than these become NaN."""
    found = numbers(values)
    if not _are_numbers(values):
        texts = values.to_pandas() if isinstance(values, pa.ChunkedArray) else values
        unread = np.flatnonzero(np.isnan(found) & texts.notna().to_numpy())
        found = found.copy()
        found[unread] = [_degrees(str(texts.iloc[place]), letters) for place in unread]
    return found


def _are_numbers(values: Values) -> bool:
    if isinstance(values, pa.ChunkedArray):
        return bool(pa.types.is_floating(values.type) or pa.types.is_integer(values.type))
    return bool(pd.api.types.is_numeric_dtype(values))


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


def signed(sizes: Floats, signs: Values, letters: str) -> Floats:
    """Give coordinates the signs of their letters; NaN where these cannot hold."""
    texts = signs.to_pandas() if isinstance(signs, pa.ChunkedArray) else signs
    first = texts.astype("string").str.strip().str[:1].str.upper().astype(object)
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
    known: dict[str, list[str]] = {}
    for role, words in SIGNS.items():
        known[role] = [name for name in free if _are_among(begin[name], words)]
        if known[role]:
            values = sample()
            known[role] = [name for name in known[role] if _are_among(values[name], words)]
    both = all(known.values())
    for role, names in known.items():
        if role in wanted:
            found[role] = wanted[role]
        elif named := [name for name in names if both or name == column_of.get(role)]:
            found[role] = named[0]
    return found


def _are_among(values: Sequence[str], words: Container[str]) -> bool:
    given = {value.strip().lower() for value in values if value.strip()}
    return bool(given) and all(value in words for value in given)


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
    return 2 * beyond.sum() > len(lat) and bool(possible.all())
