"""Gaps and stays: where traces are interrupted, and where they stop.

A hop over rows that the source marks as without a position may be as long as several. The limits
are in ``options_and_defaults``; those that are found from the data, in ``limits_from_data``.
"""

from collections import Counter

import numpy as np

from trajanon.common.arrays import Bools, Ints
from trajanon.extract.impossible_and_stray_points import too_fast
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.trajectories.geodesy import metres_between

_ARRIVED = 100.0  # metres around one place; a stay of some minutes there is an arrival
_STAY = 300.0  # seconds near one place that make a stop, even if longer pauses are allowed


def gaps_of(points: Points, rules: Rules) -> tuple[Bools, Bools, Bools]:
    """Mark the points after a pause, else after a long hop, else after one that is too fast."""
    # Rows without a position show that the recorder went on: a hop over two may be three long.
    longest_hop = rules.longest_hop * (1 + _rows_without_fix(points))

    end = points.hop_ends
    pause, far, fast = np.zeros((3, len(points)), dtype=np.bool_)
    pause[end] = points.hop_seconds > rules.longest_pause
    far[end] = points.hop_metres > longest_hop
    fast[end] = too_fast(points.hop_metres, points.hop_seconds, rules.max_speed)

    far &= ~pause
    fast &= ~(pause | far)
    return pause, far, fast


def _rows_without_fix(points: Points) -> Ints:
    """Count the rows without a position in each hop, shape (hops,)."""
    end = points.hop_ends
    rows = np.zeros(len(end), np.int64)
    for trace, times in points.without_fix.items():
        of_trace = slice(*np.searchsorted(points.trace[end], [trace, trace + 1]))
        before_start = np.searchsorted(times, points.time[end[of_trace] - 1])
        before_end = np.searchsorted(times, points.time[end[of_trace]])
        rows[of_trace] = before_end - before_start
    return rows


def split_at_gaps(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """Cut where the recording was interrupted, and count the cuts."""
    pause, far, fast = gaps_of(points, rules)

    counts["cuts at pauses"] += int(pause.sum())
    counts["cuts at long hops"] += int(far.sum())
    counts["cuts at impossible speeds"] += int(fast.sum())

    return points.cut(pause | far | fast)


def cut_at_stops(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """Cut traces into trips, which end at a pause or where a stay begins; count both.

    The next trip begins after the pause, or where the stay ends.
    """
    after_pause, _, _ = gaps_of(points, rules)
    points = points.cut(after_pause)
    is_in_stay = stays_of(points, rules, _ARRIVED)

    # Of a stay its first point remains, as the end of a trip, and its last, as the begin of one.
    continues_stay = is_in_stay & points.follows
    continues_stay[1:] &= is_in_stay[:-1]
    stay_goes_on = np.append(continues_stay[1:], False)[: len(points)]  # as there may be no points
    is_last_of_stay = continues_stay & ~stay_goes_on
    is_between = continues_stay & stay_goes_on
    points = points.cut(is_last_of_stay).take(~is_between)

    _, size = points.pieces
    counts["pauses"] += int(after_pause.sum())
    counts["stays"] += int((is_in_stay & ~continues_stay).sum())
    counts["points of stays"] += int(is_between.sum())
    counts["points alone between pauses and stays"] += int((size == 1).sum())
    return points.take(np.repeat(size > 1, size))


def longest_stop(rules: Rules) -> float:
    """Return the seconds of a stop that ends no trip, at most."""
    return min(_STAY, rules.longest_pause)


def stays_of(points: Points, rules: Rules, radius: float) -> Bools:
    """Mark the points of stays: of all stops that are longer than `longest_stop`.

    A stay begins at a point if the recording is within ``radius`` metres of it half this time
    later, and again all of it later.
    """
    seconds = longest_stop(rules)
    piece = np.cumsum(~points.follows) - 1  # of each point: 0, 1, ... in this batch

    # One clock for all pieces: each begins long after the one before has ended.
    timed = np.isfinite(points.time)
    first_time = np.min(points.time[timed], initial=np.inf)
    time = np.where(timed, points.time - first_time, 0.0)
    clock = time + piece * (time.max(initial=0.0) + 2.0 * seconds)

    # Does a stay begin at each timed point? It ends at the first point after the whole time, which
    # the second round finds. Without such a point in its piece, nobody is known to stay.
    lat, lon = points.lat, points.lon
    start = np.flatnonzero(timed)
    stays_from = np.ones(len(start), dtype=np.bool_)
    for share in (0.5, 1.0):
        later = np.searchsorted(clock, clock[start] + share * seconds)
        end = np.minimum(later, len(points) - 1)
        metres = metres_between(lat[start], lon[start], lat[end], lon[end])
        stays_from &= (later == end) & (piece[end] == piece[start])
        stays_from &= metres <= radius

    # Between the first and the last point of any stay, more of them have begun than ended.
    change = np.zeros(len(points) + 1, dtype=np.int64)
    np.add.at(change, start[stays_from], 1)
    np.add.at(change, end[stays_from] + 1, -1)
    return np.cumsum(change)[:-1] > 0
