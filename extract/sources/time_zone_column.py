"""Time zones in a column: names, offsets or numbers, and how far local times are ahead of UTC."""

import re
from contextlib import suppress
from datetime import timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats
from trajanon.extract.sources.coordinates import numbers

Zone = ZoneInfo | timedelta  # a name with its history, or an offset that is always the same

_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([-+])(\d\d|\d(?!\d)):?(\d\d)?(?::00)?", re.IGNORECASE)
_LARGEST_OFFSET = timedelta(hours=14)
_CALENDAR = 6e10  # seconds, 1,900 years; times farther from 1970 are beyond what zones know
_QUARTER = 900.0  # seconds; zones lie quarters of an hour apart
_SECONDS_IN_UNITS = (3_600.0, 60.0, 1.0, 1e-3)  # hours, minutes, seconds and milliseconds
_VALUES_JUDGED = 100  # the first ones, which show whether a column holds zones


def seconds_east(local: Floats, zones: pd.Series) -> Floats:
    """Compute how far local times are ahead of UTC; NaN where the zone, or the hour, is uncertain.

    An hour is uncertain where clocks are put back, as it comes twice.
    """
    zone_numbers, texts = pd.factorize(zones)
    east = np.full(len(local), np.nan)
    for number, zone in enumerate(_zones_of(pd.Series(texts))):
        rows = zone_numbers == number
        if isinstance(zone, ZoneInfo):
            rows &= np.abs(local) < _CALENDAR
            times = pd.DatetimeIndex(pd.to_datetime(local[rows], unit="s"))
            localized = times.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
            in_utc = localized.tz_convert("UTC").tz_localize(None)
            east[rows] = ((times - in_utc) / pd.Timedelta("1s")).to_numpy(np.float64)
        elif zone is not None:
            east[rows] = zone.total_seconds()
    return east


def are_zones(values: pd.Series, least_share: float = 1.0) -> bool:
    """Return whether a share of the different values of a column are zones.

    They are names, offsets, or numbers of one unit.
    """
    zones = _zones_of(pd.Series(values.dropna().unique()[:_VALUES_JUDGED]))
    return bool(zones) and len(zones) - zones.count(None) >= least_share * len(zones)


def _zones_of(values: pd.Series) -> list[Zone | None]:
    """Read zones: by name, offset, or numbers of the unit in which most of them are offsets."""
    sizes = numbers(values)

    def count_offsets(seconds_in_unit: float) -> int:
        return sum(_is_offset(seconds_in_unit * size) for size in sizes.tolist())

    seconds_in_unit = max(_SECONDS_IN_UNITS, key=count_offsets)
    return [_zone_of(str(value).strip(), seconds_in_unit) for value in values]


def _is_offset(seconds: float) -> bool:
    """Return whether a zone may be so many seconds ahead of UTC."""
    return abs(seconds) <= _LARGEST_OFFSET.total_seconds() and seconds % _QUARTER == 0.0


def _zone_of(text: str, seconds_in_unit: float) -> Zone | None:
    """Read a zone: its name, its offset, or a number of units; None if it is none of these."""
    if text.casefold() in ("z", "utc", "gmt"):
        return timedelta(0)

    # Also signed hours. Quarters of an hour in other units, such as -60 or +1800, do not match, or
    # are over 14 hours: they are read below.
    if match := _OFFSET.fullmatch(text):
        minutes = int(match[3] or 0)
        offset = timedelta(hours=int(match[2]), minutes=minutes)
        if offset <= _LARGEST_OFFSET and minutes % 15 == 0:
            return -offset if match[1] == "-" else offset

    with suppress(ValueError):
        seconds = seconds_in_unit * float(text)
        return timedelta(seconds=seconds) if _is_offset(seconds) else None

    with suppress(ValueError, OSError, KeyError):
        return ZoneInfo(text)
    return None
