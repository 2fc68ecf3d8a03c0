"""Seven steps that clean the points of traces, and what is too fast."""

from dataclasses import replace

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.trajectories.geodesy import metres_between

_MINUTE, _HOUR = 60.0, 3_600.0  # seconds
_FEW = 0.1  # share of points that may have the minute of others by accident: some rows come twice
JITTER = 50.0  # metres; a shorter hop is never too fast: within a second, noise looks like speed


def too_fast(metres: Floats, seconds: Floats, max_speed: float | None) -> Bools:
    """Mark which hops would need more than the highest speed; without times, none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = metres / seconds
    return np.asarray((metres > JITTER) & (speed > (max_speed or np.inf)))


def drop_impossible(points: Points) -> Points:
    """Drop what is no number, not on Earth, or exactly at 0, 0, as without a fix."""
    possible = (np.abs(points.lat) <= 90.0) & (np.abs(points.lon) <= 180.0)
    nowhere = (points.lat == 0.0) & (points.lon == 0.0)
    return points.take(possible & ~nowhere)


def settle_times(points: Points) -> Points:
    """Drop the untimed points of a piece if at least half have a time; else ignore the times."""
    untimed = np.isnan(points.time)
    if not untimed.any():
        return points
    first, size = points.pieces
    share = np.repeat(np.add.reduceat(untimed.astype(np.float64), first) / size, size)
    settled = replace(points, time=np.where(share > 0.5, np.nan, points.time))
    return settled.take(~untimed | (share > 0.5))


def sort_by_time(points: Points) -> Points:
    """Sort each piece by time; the sort is stable, so untimed pieces keep their order."""
    falls = points.follows
    falls[1:] &= points.time[1:] < points.time[:-1]
    if not falls.any():
        return points
    return points.take(np.lexsort((points.time, points.piece)))


def spread_minutes(points: Points) -> tuple[Points, int]:
    """Spread points that share a minute evenly over it, in their order; count those points.

    This applies to pieces with whole minutes only, often shared. A point that repeats one of its
    minute is dropped. Times to five minutes are spread over five. A piece with a single time, or
    with times to the hour, is too coarse to spread.
    """
    shares = _shares_time(points)
    if not shares.any():
        return points, 0

    # Coarse are pieces of whole minutes less than an hour apart.
    first, size = points.pieces
    goes_on = points.follows & ~shares
    away = np.full(len(points), np.inf)  # seconds from the time before
    away[goes_on] = np.diff(points.time, prepend=np.nan)[goes_on]
    step = np.minimum.reduceat(away, first)
    coarse = np.logical_and.reduceat(points.time % _MINUTE == 0.0, first) & (step < _HOUR)

    # Points that repeat one of their minute are no others, where many share a minute.
    of_coarse = np.flatnonzero(np.repeat(coarse, size))
    columns = {name: getattr(points, name)[of_coarse] for name in ("piece", "time", "lat", "lon")}
    repeats = np.zeros(len(points), dtype=np.bool_)
    repeats[of_coarse] = pd.DataFrame(columns).duplicated()
    different = np.add.reduceat(~repeats, first, dtype=np.int64)
    shared = different - np.add.reduceat(~shares, first, dtype=np.int64)
    spread = np.repeat(coarse & (shared > _FEW * different), size)
    kept = ~(repeats & spread)
    points = points.take(kept)
    spread = spread[kept]
    step = np.repeat(step, size)[kept]

    begin = np.flatnonzero(~_shares_time(points))
    size = np.diff(begin, append=len(points))
    count = np.repeat(size, size)
    share = (np.arange(len(points)) - np.repeat(begin, size)) / count
    time = np.where(spread, points.time + share * np.where(spread, step, 0.0), points.time)
    return replace(points, time=time), int((spread & (count > 1)).sum())


def _shares_time(points: Points) -> Bools:
    """Mark the points that have the time of the point before them."""
    shares = points.follows
    shares[1:] &= points.time[1:] == points.time[:-1]
    return shares


def average_equal_times(points: Points) -> Points:
    """Replace points of one time by their mean: their order is chance, and would be a detour."""
    shares = _shares_time(points)
    if not shares.any():
        return points
    first = np.flatnonzero(~shares)
    size = np.diff(first, append=len(points))

    def mean(values: Floats) -> Floats:
        # Relative to the first value of each group, so that no digits are lost.
        away = np.add.reduceat(values - np.repeat(values[first], size), first)
        return values[first] + away / size

    return replace(points.take(first), lat=mean(points.lat), lon=mean(points.lon))


def drop_strays(points: Points, rules: Rules) -> Points:
    """Drop single fixes that are too fast to reach; of several in a row, which are is unknown."""
    if rules.max_speed is None or len(points) < 3:
        return points
    lat, lon, time = points.lat, points.lon, points.time

    fast = points.follows
    fast[fast] = too_fast(points.hops, np.diff(time)[fast[1:]], rules.max_speed)

    # Too fast from the fix before and to the one after, which are near enough to each other.
    middle = np.flatnonzero(fast[:-1] & fast[1:])
    before, after = middle - 1, middle + 1
    past = metres_between(lat[before], lon[before], lat[after], lon[after])
    stray = np.zeros(len(points) + 1, dtype=np.bool_)  # one more at the end
    stray[middle] = ~too_fast(past, time[after] - time[before], rules.max_speed)
    alone = stray[:-1] & ~np.roll(stray, 1)[:-1] & ~stray[1:]
    return points.take(~alone)


def drop_zero_hops(points: Points) -> Points:
    """Drop points at exactly the place of the point before them."""
    stays = points.follows
    stays[1:] &= (points.lat[1:] == points.lat[:-1]) & (points.lon[1:] == points.lon[:-1])
    return points.take(~stays)
