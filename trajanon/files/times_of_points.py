"""Times of a release as dates in files: for formats in which a time always has a date."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Floats
from trajanon.trajectories.clock_and_time_zones import Clock

_UTC_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def instants(times: Floats, clock: Clock | None) -> NDArray[np.datetime64]:
    """Convert times to dates in microseconds; times without a clock count from 1970.

    >>> instants(np.array([1.5]), None)
    array(['1970-01-01T00:00:01.500000'], dtype='datetime64[us]')
    """
    if clock is not None:
        times = np.round(spread_evenly(times, clock.step), 3)
    return _date_of_zero(clock) + np.round(times * 1e6).astype("timedelta64[us]")


def spread_evenly(times: Floats, step: float) -> Floats:
    """Spread times that are rounded to a step, so that they grow from point to point.

    Neighbouring points with the same time get times at equal distances within half a step of it, so
    that they can be rounded to it again. The first time stays as it is, and the last if it differs.

    >>> spread_evenly(np.array([0.0, 0.0, 60.0, 60.0]), 60.0).tolist()
    [0.0, 20.0, 40.0, 60.0]
    """
    # For each point, the numbers of the first and the last neighbour with the same time.
    point = np.arange(times.shape[-1])
    changes = np.diff(times, axis=-1) != 0.0
    at_the_edge = np.ones_like(times[..., :1], dtype=np.bool_)
    is_first = np.concatenate([at_the_edge, changes], axis=-1)
    is_last = np.concatenate([changes, at_the_edge], axis=-1)
    first = np.maximum.accumulate(np.where(is_first, point, 0), axis=-1)
    last = np.where(is_last, point, len(point))[..., ::-1]
    last = np.minimum.accumulate(last, axis=-1)[..., ::-1]

    # Half way between two points of different times one step ends, and another begins.
    with_departure = first == 0
    with_arrival = ~with_departure & (last == len(point) - 1)
    begin = np.where(with_departure, 0.0, first - 0.5)
    end = np.where(with_arrival, last, last + 0.5)

    # From half a step before the time to half a step after it, but for departure and arrival.
    low = np.where(with_departure, 0.0, -0.5)
    high = np.where(with_arrival, 0.0, 0.5)
    return np.asarray(times + step * (low + (high - low) * (point - begin) / (end - begin)))


def seconds_in(rows: Sequence[object], clock_sentence: str | None) -> list[Floats | None]:
    """Read rows of texts such as 2001-01-01T08:05:00Z; None for a row of anything else."""
    clock = Clock.parsed(clock_sentence)
    return [_seconds_of_row(row, clock) if isinstance(row, list) else None for row in rows]


def _seconds_of_row(texts: list[object], clock: Clock | None) -> Floats | None:
    """Read the seconds of the clock, or since 1970; None if any text is no date."""
    without_z = [text[:-1] for text in texts if isinstance(text, str) and _UTC_DATE.fullmatch(text)]
    if len(without_z) < len(texts):
        return None
    try:
        dates = np.array(without_z, dtype="datetime64[us]")
    except ValueError:  # a month 13
        return None

    seconds: Floats = (dates - _date_of_zero(clock)) / np.timedelta64(1, "s")
    if clock is None:
        return seconds

    # The dates of a release are rounded times that were spread: if so, return these.
    times = clock.rounded(seconds)
    return times if np.array_equal(instants(times, clock), dates) else seconds


def _date_of_zero(clock: Clock | None) -> np.datetime64:
    """Return the date that time 0 is written as."""
    # A Monday for seconds of a day or of a week: kepler.gl takes no time of fewer than nine digits.
    counts_days = clock is not None and clock.times != "date"
    return np.datetime64("2001-01-01" if counts_days else "1970-01-01", "us")
