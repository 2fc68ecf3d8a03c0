"""Cleaning recorded points, in seven steps, in this order."""

from dataclasses import replace

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Floats
from trajanon.extract.points import Geodesics, Points, too_fast
from trajanon.extract.rules import Rules

_MINUTE, _HOUR = 60.0, 3_600.0  # seconds
_FEW = 0.1  # share of points that may have the minute of others by accident: some rows come twice


def drop_impossible(points: Points) -> Points:
    """Drop points that are not numbers, not on Earth, or exactly at 0, 0.

    Receivers without a fix report 0, 0; no street is there.
    """
    possible = (np.abs(points.lat) <= 90.0) & (np.abs(points.lon) <= 180.0)
    nowhere = (points.lat == 0.0) & (points.lon == 0.0)
    return points.take(possible & ~nowhere)


def settle_times(points: Points) -> Points:
    """Make each piece timed or untimed, by the majority of its points.

    If at least half have a time, those without are dropped, because their order is unknown.
    Otherwise the few times are ignored.
    """
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
    first, size = points.pieces
    mixed = np.flatnonzero(np.repeat(np.logical_or.reduceat(falls, first), size))
    order = np.arange(len(points))
    order[mixed] = mixed[np.lexsort((points.time[mixed], points.piece[mixed]))]
    return points.take(order)


def spread_minutes(points: Points) -> tuple[Points, int]:
    """Spread points that share a minute evenly over it, in their order; count those points.

    This applies to pieces with whole minutes only, often shared. A point that repeats one of its
    minute is dropped. Times to five minutes are spread over five. A piece with a single time, or
    with times to the hour, is too coarse to spread.
    """
    same = _shares_time(points)
    if not same.any():
        return points, 0
    first, size = points.pieces
    goes_on = points.follows & ~same
    away = np.full(len(points), np.inf)  # seconds from the time before
    away[goes_on] = np.diff(points.time, prepend=np.nan)[goes_on]
    step = np.minimum.reduceat(away, first)
    coarse = np.logical_and.reduceat(points.time % _MINUTE == 0.0, first) & (step < _HOUR)
    some = np.flatnonzero(np.repeat(coarse, size))
    columns = {name: getattr(points, name)[some] for name in ("piece", "time", "lat", "lon")}
    repeats = np.zeros(len(points), dtype=np.bool_)
    repeats[some] = pd.DataFrame(columns).duplicated()
    different = np.add.reduceat(~repeats, first, dtype=np.int64)
    shared = different - np.add.reduceat(~same, first, dtype=np.int64)
    spread = np.repeat(coarse & (shared > _FEW * different), size)
    kept = ~(repeats & spread)
    points, spread, step = points.take(kept), spread[kept], np.repeat(step, size)[kept]
    begin = np.flatnonzero(~_shares_time(points))
    size = np.diff(begin, append=len(points))
    count = np.repeat(size, size)
    share = (np.arange(len(points)) - np.repeat(begin, size)) / count
    time = np.where(spread, points.time + share * np.where(spread, step, 0.0), points.time)
    return replace(points, time=time), int((spread & (count > 1)).sum())


def _shares_time(points: Points) -> Bools:
    """Mark the points that have the time of the point before them."""
    same = points.follows
    same[1:] &= points.time[1:] == points.time[:-1]
    return same


def average_equal_times(points: Points) -> Points:
    """Replace consecutive points of a piece with the same time by their mean.

    If a recorder writes ten positions a second with times in whole seconds, the order within a
    second is chance; followed point by point, such a track becomes twice as long as it was.
    """
    same = _shares_time(points)
    if not same.any():
        return points
    first = np.flatnonzero(~same)
    size = np.diff(first, append=len(points))

    def mean(values: Floats) -> Floats:
        # Relative to the first value of each group, so that no digits are lost.
        away = np.add.reduceat(values - np.repeat(values[first], size), first)
        return values[first] + away / size

    return replace(points.take(first), lat=mean(points.lat), lon=mean(points.lon))


def drop_strays(points: Points, rules: Rules) -> Points:
    """Drop single fixes to and from which somebody would have gone too fast, but not past them.

    Where several in a row may be wrong, they all stay: which ones are is unknown.
    """
    if rules.max_speed is None or len(points) < 3:
        return points
    lat, lon, time = points.lat, points.lon, points.time
    fast = points.follows
    fast[fast] = too_fast(points.ways.length, np.diff(time)[fast[1:]], rules.max_speed)
    middle = np.flatnonzero(fast[:-1] & fast[1:])
    before, after = middle - 1, middle + 1
    past = Geodesics(lat[before], lon[before], lat[after], lon[after])
    stray = np.zeros(len(points) + 1, dtype=np.bool_)  # one more at the end
    stray[middle] = ~too_fast(past.length, time[after] - time[before], rules.max_speed)
    alone = stray[:-1] & ~np.roll(stray, 1)[:-1] & ~stray[1:]
    return points.take(~alone)


def drop_zero_hops(points: Points) -> Points:
    """Drop points at exactly the place of the point before them."""
    stays = points.follows
    stays[1:] &= (points.lat[1:] == points.lat[:-1]) & (points.lon[1:] == points.lon[:-1])
    return points.take(~stays)
