"""Times of a release as dates, for formats that want dates, and back.

Seconds of a day or of a week count from a documented Monday, and local time stands there as if it
were UTC; seconds since 1970 are what they are.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.clock import DOCUMENTED_DAY, Clock

Dates = NDArray[np.datetime64]

_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def instants(times: Floats, clock: Clock | None) -> Dates:
    """Turn times into dates of microseconds; without a clock they count from 1970.

    >>> instants(np.array([1.5]), None)
    array(['1970-01-01T00:00:01.500000'], dtype='datetime64[us]')
    """
    return _begin(clock) + np.round(times * 1e6).astype("timedelta64[us]")


def apart(dates: Dates) -> Dates:
    """Let dates along the last axis rise, by a microsecond where they would be the same.

    >>> apart(np.array(["1970-01-01"] * 2, "datetime64[us]"))[1]
    np.datetime64('1970-01-01T00:00:00.000001')
    """
    places = np.arange(dates.shape[-1])
    rising = np.maximum.accumulate(dates.astype(np.int64) - places, axis=-1) + places
    return rising.astype("datetime64[us]")


def seconds_in(rows: Sequence[Any], sentence: str | None) -> list[Floats | None]:
    """Read rows of texts such as 1970-01-05T08:05:00Z; None for a row of anything else."""
    begin = _begin(Clock.told(sentence))
    return [_since(begin, row) if isinstance(row, list) else None for row in rows]


def _since(begin: np.datetime64, texts: list[Any]) -> Floats | None:
    if not all(isinstance(text, str) and _WRITTEN.fullmatch(text) for text in texts):
        return None
    try:
        dates = np.array([text[:-1] for text in texts], dtype="datetime64[us]")
    except ValueError:  # a month 13
        return None
    # Fractions of a second that number points of one time are no time.
    whole = dates.astype("datetime64[s]")
    if np.array_equal(apart(whole.astype("datetime64[us]")), dates):
        dates = whole.astype("datetime64[us]")
    return (dates - begin) / np.timedelta64(1, "s")


def _begin(clock: Clock | None) -> np.datetime64:
    counts_days = clock is not None and clock.times != "date"
    return np.datetime64(DOCUMENTED_DAY if counts_days else "1970-01-01", "us")
