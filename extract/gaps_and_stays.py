"""Where traces are interrupted, stop or leave an area; and the limits found from the data.

A limit is 5 times the median, over recordings, of their median hop, in metres or seconds; a hop is
at least 2,000 m, a pause from 300 s to half an hour: for longer, it is unknown where somebody was.
A hop over rows that the source marks as without a position counts as several.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.clean import too_fast
from trajanon.extract.earth.area import Area
from trajanon.extract.options_and_defaults import LEAST_GAP, LEAST_PAUSE, Limit, Rules
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import metres_between

Breaks = Callable[[Floats, Floats, Ints], Bools]
"""Of latitudes, longitudes and rows: which ways, from these rows to the next ones, must be cut."""


def gaps_of(points: Points, rules: Rules) -> tuple[Bools, Bools, Bools]:
    """Mark the points after a pause, else after a long hop, else after one that is too fast."""
    # Rows without a position show that the recorder went on: a hop over two may be three long.
    longest_hop = rules.longest_hop * (1 + _rows_without_fix(points))

    end = points.hop_ends
    pause, far, fast = np.zeros((3, len(points)), dtype=np.bool_)
    pause[end] = points.hop_seconds > rules.longest_pause
    far[end] = points.hops > longest_hop
    fast[end] = too_fast(points.hops, points.hop_seconds, rules.max_speed)

    far &= ~pause
    fast &= ~(pause | far)
    return pause, far, fast


def _rows_without_fix(points: Points) -> Ints:
    """Count the rows without a position in each hop, shape (hops,)."""
    end = points.hop_ends
    rows = np.zeros(len(end), np.int64)
    for trace, times in points.without_fix.items():
        hops = slice(*np.searchsorted(points.trace[end], [trace, trace + 1]))  # of this trace
        before_start = np.searchsorted(times, points.time[end[hops] - 1])
        before_end = np.searchsorted(times, points.time[end[hops]])
        rows[hops] = before_end - before_start
    return rows


def split_at_gaps(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """Cut where the recording was interrupted, and count the cuts."""
    pause, far, fast = gaps_of(points, rules)

    counts["cuts at pauses"] += int(pause.sum())
    counts["cuts at long hops"] += int(far.sum())
    counts["cuts at impossible speeds"] += int(fast.sum())

    return points.cut(pause | far | fast)


_STAY = 300.0  # seconds near one place that make a stop, even if longer pauses are allowed


def longest_stop(rules: Rules) -> float:
    """Return the seconds of a stop that ends no trip, at most."""
    return min(_STAY, rules.longest_pause)


def stays_of(points: Points, rules: Rules, near: float) -> Bools:
    """Mark the points of stays, each `longest_stop` long at least.

    Somebody stays who is within `near` metres of a point after half this time, and after all of it.
    """
    seconds = longest_stop(rules)
    piece = np.cumsum(~points.follows) - 1  # its number in this batch
    timed = np.isfinite(points.time)
    if not timed.any():
        return np.zeros(len(points), np.bool_)

    # One clock for all pieces: each begins long after the one before has ended.
    time = np.where(timed, points.time - np.min(points.time[timed]), 0.0)
    clock = time + piece * (time.max() + 2.0 * seconds)

    # From each timed point on, is there a stay? It ends at the first point after the whole time,
    # which the second round finds. Without such a point in its piece, nobody is known to stay.
    lat, lon = points.lat, points.lon
    start = np.flatnonzero(timed)
    stays_from = np.ones(len(start), dtype=np.bool_)
    for share in (0.5, 1.0):
        later = np.searchsorted(clock, clock[start] + share * seconds)
        end = np.minimum(later, len(points) - 1)
        metres = metres_between(lat[start], lon[start], lat[end], lon[end])
        stays_from &= (later == end) & (piece[end] == piece[start])
        stays_from &= metres <= near

    # Between the first and the last point of any stay, more of them have begun than ended.
    change = np.zeros(len(points) + 1, dtype=np.int64)
    np.add.at(change, start[stays_from], 1)
    np.add.at(change, end[stays_from] + 1, -1)
    return np.cumsum(change)[:-1] > 0


def clip(points: Points, area: Area) -> Points:
    """Keep what lies inside the area; a piece that leaves it ends there."""
    return keep(points, area.contains(points.lat, points.lon), area.leaves)


def keep(points: Points, inside: Bools, breaks: Breaks) -> Points:
    """Drop points outside; cut where some were dropped, and where the way between two breaks."""
    begins = broken(points, inside, breaks)
    begins[1:] |= inside[1:] & ~inside[:-1]
    return points.cut(begins).take(inside)


def broken(points: Points, inside: Bools, breaks: Breaks) -> Bools:
    """Mark each point inside if the way from the point before, inside too, must be cut."""
    way_is_inside = points.follows & inside
    way_is_inside[1:] &= inside[:-1]
    start = np.flatnonzero(way_is_inside) - 1

    begins = np.zeros(len(points), dtype=np.bool_)
    begins[start[breaks(points.lat, points.lon, start)] + 1] = True
    return begins


_OF_MEDIAN = 5.0  # a limit, as a multiple of the median hop
_LONGEST_PAUSE = 1_800.0  # seconds
_MOST_RECORDINGS = 1_000  # that are looked at
_MOST_POINTS = 200_000  # after which no more recordings are looked at


def head(traces: Iterator[Trace]) -> tuple[list[Trace], Iterator[Trace]]:
    """Read the first recordings, which do not depend on batches; return these, and all of them."""
    first: list[Trace] = []
    size = 0
    for trace in traces:
        first.append(trace)
        size += len(trace)
        if len(first) >= _MOST_RECORDINGS or size >= _MOST_POINTS:
            break
    return first, chain(first, traces)


class LimitsFound(NamedTuple):
    """Which limits were found from the data, and from what."""

    limits: list[str]  # names of rules
    recordings: int
    metres: float | None  # the median of the recordings' median hops
    seconds: float | None


def with_limits(rules: Rules, points: Points) -> tuple[Rules, LimitsFound]:
    """Replace the limits that are "auto" by numbers, found from cleaned points."""
    # Each recording is one piece still.
    hops = pd.DataFrame({"metres": points.hops, "seconds": points.hop_seconds})
    of_recordings = hops.groupby(points.piece[points.hop_ends]).median()
    metres, seconds = (
        None if np.isnan(median) else float(median) for median in of_recordings.median()
    )

    limits = [name for name in ("max_gap", "max_pause") if getattr(rules, name) == "auto"]
    found = LimitsFound(limits, len(of_recordings), metres, seconds)
    max_gap = _limit(rules.max_gap, metres, LEAST_GAP, np.inf)
    max_pause = _limit(rules.max_pause, seconds, LEAST_PAUSE, _LONGEST_PAUSE)
    return replace(rules, max_gap=max_gap, max_pause=max_pause), found


def _limit(limit: Limit, median: float | None, lowest: float, highest: float) -> Limit:
    """Return a limit; one that is "auto" follows from the median hop, within bounds."""
    if limit != "auto":
        return limit
    return min(max(lowest, float(round(_OF_MEDIAN * (median or 0.0)))), highest)
