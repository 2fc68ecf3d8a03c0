"""Times of a release as dates, for formats that want dates, and back.

Seconds of a day or of a week count from a documented Monday, and local time stands there as if it
were UTC; seconds since 1970 are what they are.

Rounded times stand still at many points, and then leap: whoever divided a distance by them would
find cars faster than planes. Dates go on from point to point, and say no more than the times.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.clock import DOCUMENTED_DAY, Clock

Dates = NDArray[np.datetime64]

_SECOND = np.timedelta64(1, "s")

_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


_EARLIER_DAY = np.datetime64("1970-01-05", "us")
"""The Monday from which files of earlier versions count."""


def instants(times: Floats, clock: Clock | None) -> Dates:
    """Turn times into dates of microseconds; without a clock they count from 1970.

    >>> instants(np.array([1.5]), None)
    array(['1970-01-01T00:00:01.500000'], dtype='datetime64[us]')
    """
    if clock is not None:
        times = np.round(going_on(times, clock.step), 3)
    return _begin(clock) + np.round(times * 1e6).astype("timedelta64[us]")


def going_on(times: Floats, step: float) -> Floats:
    """Let times that are rounded to a step go on from point to point, along the last axis.

    Points of one time get times evenly about it, less than half a step off: rounded, they are what
    they were. The first point keeps its time, and so does the last, if it has a later one; if all
    have one time, the last comes nearly half a step later.

    >>> going_on(np.array([0.0, 0.0, 60.0, 60.0]), 60.0).tolist()
    [0.0, 20.0, 40.0, 60.0]
    """
    place = np.arange(times.shape[-1])
    leaps = np.diff(times, axis=-1) != 0.0
    edge = np.ones_like(times[..., :1], dtype=np.bool_)
    begins, ends = (np.concatenate(each, axis=-1) for each in ((edge, leaps), (leaps, edge)))
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    last = np.where(ends, place, len(place))[..., ::-1]
    last = np.minimum.accumulate(last, axis=-1)[..., ::-1]
    departs = first == 0
    arrives = ~departs & (last == len(place) - 1)
    # Half way between two points of different times one step ends, and another begins.
    begin, end = np.where(departs, 0.0, first - 0.5), np.where(arrives, last, last + 0.5)
    low, high = np.where(departs, 0.0, -0.5), np.where(arrives, 0.0, 0.5)
    return np.asarray(times + step * (low + (high - low) * (place - begin) / (end - begin)))


def apart(dates: Dates) -> Dates:
    """Let dates along the last axis rise, by a microsecond where they would be the same.

    >>> apart(np.array(["1970-01-01"] * 2, "datetime64[us]"))[1]
    np.datetime64('1970-01-01T00:00:00.000001')
    """
    places = np.arange(dates.shape[-1])
    rising = np.maximum.accumulate(dates.astype(np.int64) - places, axis=-1) + places
    return rising.astype("datetime64[us]")


def seconds_in(rows: Sequence[Any], sentence: str | None) -> list[Floats | None]:
    """Read rows of texts such as 2001-01-01T08:05:00Z; None for a row of anything else."""
    clock = Clock.told(sentence)
    return [_since(clock, row) if isinstance(row, list) else None for row in rows]


def _since(clock: Clock | None, texts: list[Any]) -> Floats | None:
    if not all(isinstance(text, str) and _WRITTEN.fullmatch(text) for text in texts):
        return None
    try:
        dates = np.array([text[:-1] for text in texts], dtype="datetime64[us]")
    except ValueError:  # a month 13
        return None
    begin = _begin(clock)
    if clock is not None:
        times = clock.rounded((dates - begin) / _SECOND)
        if np.array_equal(instants(times, clock), dates):
            return times
        if clock.times != "date" and (dates < begin).any():
            begin = _EARLIER_DAY
    # In earlier files fractions of a second number points of one time, and are no time.
    whole = dates.astype("datetime64[s]")
    if np.array_equal(apart(whole.astype("datetime64[us]")), dates):
        dates = whole.astype("datetime64[us]")
    return (dates - begin) / _SECOND


def _begin(clock: Clock | None) -> np.datetime64:
    counts_days = clock is not None and clock.times != "date"
    return np.datetime64(DOCUMENTED_DAY if counts_days else "1970-01-01", "us")
