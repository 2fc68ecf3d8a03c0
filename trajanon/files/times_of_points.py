"""Times of points <-> dates: as files have them, which know no hours of any day."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Floats
from trajanon.trajectories.times import Clock

_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def instants(times: Floats, clock: Clock | None) -> NDArray[np.datetime64]:
    """Convert times to dates of microseconds; without a clock they count from 1970.

    >>> instants(np.array([1.5]), None)
    array(['1970-01-01T00:00:01.500000'], dtype='datetime64[us]')
    """
    if clock is not None:
        times = np.round(going_on(times, clock.step), 3)
    return _begin(clock) + np.round(times * 1e6).astype("timedelta64[us]")


def going_on(times: Floats, step: float) -> Floats:
    """Spread times that are rounded to a step, so that they go on along the last axis.

    Points of one time get times evenly about it: rounded, they are what they were.

    >>> going_on(np.array([0.0, 0.0, 60.0, 60.0]), 60.0).tolist()
    [0.0, 20.0, 40.0, 60.0]
    """
    place = np.arange(times.shape[-1])
    leaps = np.diff(times, axis=-1) != 0.0
    edge = np.ones_like(times[..., :1], dtype=np.bool_)
    begins = np.concatenate([edge, leaps], axis=-1)
    ends = np.concatenate([leaps, edge], axis=-1)
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    last = np.where(ends, place, len(place))[..., ::-1]
    last = np.minimum.accumulate(last, axis=-1)[..., ::-1]

    departs = first == 0
    arrives = ~departs & (last == len(place) - 1)
    # Half way between two points of different times one step ends, and another begins.
    begin = np.where(departs, 0.0, first - 0.5)
    end = np.where(arrives, last, last + 0.5)
    low = np.where(departs, 0.0, -0.5)
    high = np.where(arrives, 0.0, 0.5)
    return np.asarray(times + step * (low + (high - low) * (place - begin) / (end - begin)))


def seconds_in(rows: Sequence[object], sentence: str | None) -> list[Floats | None]:
    """Read rows of texts such as 2001-01-01T08:05:00Z; None for a row of anything else."""
    clock = Clock.parsed(sentence)
    return [_since(clock, row) if isinstance(row, list) else None for row in rows]


def _since(clock: Clock | None, texts: list[object]) -> Floats | None:
    dated = [text[:-1] for text in texts if isinstance(text, str) and _WRITTEN.fullmatch(text)]
    if len(dated) < len(texts):
        return None
    try:
        dates = np.array(dated, dtype="datetime64[us]")
    except ValueError:  # a month 13
        return None

    seconds: Floats = (dates - _begin(clock)) / np.timedelta64(1, "s")
    if clock is None:
        return seconds
    times = clock.rounded(seconds)
    return times if np.array_equal(instants(times, clock), dates) else seconds


def _begin(clock: Clock | None) -> np.datetime64:
    # A Monday for seconds of a day or of a week: kepler.gl takes no time of fewer than nine digits.
    counts_days = clock is not None and clock.times != "date"
    return np.datetime64("2001-01-01" if counts_days else "1970-01-01", "us")
