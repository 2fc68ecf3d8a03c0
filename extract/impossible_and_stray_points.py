"""Points of traces that are dropped, merged or spread over their minute; hops too fast."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.trajectories.geodesy import metres_between, wrapped

_MINUTE, _HOUR = 60.0, 3_600.0  # seconds
_BY_ACCIDENT = 0.1  # share of a piece's different points that may share a minute by accident
JITTER = 50.0  # metres; a shorter hop is never too fast: within a second, noise looks like speed


def cleaned(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """Clean the points of recordings, sort them by time, and count what each step drops."""
    possible = drop_impossible(points)
    settled = settle_times(possible)
    apart, spread = spread_minutes(sort_by_time(settled))
    averaged = average_equal_times(apart)
    clean = drop_strays(averaged, rules)

    counts["points impossible"] += len(points) - len(possible)
    counts["points without time in a timed recording"] += len(possible) - len(settled)
    counts["points spread over their minute"] += spread
    counts["points merged (equal times)"] += len(settled) - len(averaged)
    counts["stray points"] += len(averaged) - len(clean)
    return clean


def too_fast(metres: Floats, seconds: Floats, max_speed: float | None) -> Bools:
    """Mark the hops that need more than the highest speed, in metres a second; untimed ones never.

    None stands for no limit.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = metres / seconds
    return np.asarray((metres > JITTER) & (speed > (max_speed or np.inf)))


def drop_impossible(points: Points) -> Points:
    """Drop points that are no numbers, not on Earth, or at 0, 0: so receivers write no fix."""
    on_earth = (np.abs(points.lat) <= 90.0) & (np.abs(points.lon) <= 180.0)
    without_fix = (points.lat == 0.0) & (points.lon == 0.0)
    return points.take(on_earth & ~without_fix)


def settle_times(points: Points, most_untimed: float = 0.5) -> Points:
    """Drop the untimed points of a piece, or ignore its times if too great a share is untimed.

    A piece without any time keeps its points.
    """
    untimed = np.isnan(points.time)
    if not untimed.any():
        return points
    first, size = points.pieces
    untimed_of_piece = np.add.reduceat(untimed.astype(np.int64), first)
    is_ignored = (untimed_of_piece > most_untimed * size) | (untimed_of_piece == size)
    ignored = np.repeat(is_ignored, size)
    settled = replace(points, time=np.where(ignored, np.nan, points.time))
    return settled.take(~untimed | ignored)


def sort_by_time(points: Points) -> Points:
    """Sort each piece by time; the sort is stable, so untimed pieces keep their order."""
    falls = points.follows
    falls[1:] &= points.time[1:] < points.time[:-1]
    if not falls.any():
        return points
    return points.take(np.lexsort((points.time, points.piece)))


def spread_minutes(points: Points) -> tuple[Points, int]:
    """Spread points that share a minute evenly over it, in their order; count those points.

    This applies to pieces whose times are all whole minutes, and often shared by several points.
    There, a point that repeats another one of its minute is dropped. Times to five minutes are
    spread over five. A piece of a single time, or of times to the hour, is too coarse to spread.
    """
    shares_time = _shares_time(points)
    if not shares_time.any():
        return points, 0

    # Pieces of whole minutes, less than an hour apart.
    first, size = points.pieces
    is_new_time = points.follows & ~shares_time
    seconds_since = np.full(len(points), np.inf)  # from the time before
    seconds_since[is_new_time] = np.diff(points.time, prepend=np.nan)[is_new_time]
    step = np.minimum.reduceat(seconds_since, first)  # the least of each piece
    has_minutes = np.logical_and.reduceat(points.time % _MINUTE == 0.0, first) & (step < _HOUR)

    # A point that repeats another one of its minute does not count as a point of its own.
    in_minutes = np.flatnonzero(np.repeat(has_minutes, size))
    columns = {name: getattr(points, name)[in_minutes] for name in ("piece", "time", "lat", "lon")}
    repeats = np.zeros(len(points), dtype=np.bool_)
    repeats[in_minutes] = pd.DataFrame(columns).duplicated()
    different_points = np.add.reduceat(~repeats, first, dtype=np.int64)
    different_times = np.add.reduceat(~shares_time, first, dtype=np.int64)
    sharing = different_points - different_times  # all but one of each time
    is_spread = has_minutes & (sharing > _BY_ACCIDENT * different_points)

    kept = ~(repeats & np.repeat(is_spread, size))
    step_of_point = np.repeat(np.where(is_spread, step, 0.0), size)[kept]
    points = points.take(kept)

    # Points of one time follow one another; the first of them keeps it.
    begin = np.flatnonzero(~_shares_time(points))
    point_count = np.diff(begin, append=len(points))  # of each time
    of_one_time = np.repeat(point_count, point_count)
    share = (np.arange(len(points)) - np.repeat(begin, point_count)) / of_one_time
    in_spread_time = (step_of_point > 0.0) & (of_one_time > 1)
    return replace(points, time=points.time + share * step_of_point), int(in_spread_time.sum())


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
    first = np.flatnonzero(~shares)  # of the points of each time
    size = np.diff(first, append=len(points))

    def mean(degrees: Floats) -> Floats:
        # Of differences from the first value of each time, so that no digits are lost. At the
        # antimeridian longitudes jump by 360; latitudes never differ by more than 180.
        differences = wrapped(degrees - np.repeat(degrees[first], size))
        return wrapped(degrees[first] + np.add.reduceat(differences, first) / size)

    return replace(points.take(first), lat=mean(points.lat), lon=mean(points.lon))


def drop_strays(points: Points, rules: Rules) -> Points:
    """Drop single fixes between two others that are too fast to reach from both.

    Several in a row are kept: which of them is wrong is not known.
    """
    if rules.max_speed is None or len(points) < 3:
        return points
    lat, lon, time = points.lat, points.lon, points.time

    fast = np.zeros(len(points), dtype=np.bool_)  # of the hop that ends at each point
    fast[points.hop_ends] = too_fast(points.hop_metres, points.hop_seconds, rules.max_speed)

    # Too fast from the fix before and to the one after, which are near enough to each other.
    middle = np.flatnonzero(fast[:-1] & fast[1:])
    before = middle - 1
    after = middle + 1
    metres_without_it = metres_between(lat[before], lon[before], lat[after], lon[after])
    is_stray = ~too_fast(metres_without_it, time[after] - time[before], rules.max_speed)

    strays = middle[is_stray]
    in_a_row = np.isin(strays - 1, strays) | np.isin(strays + 1, strays)
    dropped = np.zeros(len(points), dtype=np.bool_)
    dropped[strays[~in_a_row]] = True
    return points.take(~dropped)


def drop_zero_hops(points: Points) -> Points:
    """Drop points at exactly the place of the point before them."""
    repeats_place = points.follows
    repeats_place[1:] &= (points.lat[1:] == points.lat[:-1]) & (points.lon[1:] == points.lon[:-1])
    return points.take(~repeats_place)
