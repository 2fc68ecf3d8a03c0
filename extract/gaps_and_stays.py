"""Where traces are interrupted, stop or leave an area; and the limits found from the data.

A limit is 5 times the median, over recordings, of their median hop, in metres or seconds; a hop is
at least 2,000 m, a pause from 300 s to half an hour: for longer, it is unknown where somebody was.
A hop over rows that the source marks as without a position counts as several.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.clean import too_fast
from trajanon.extract.earth.area import Area
from trajanon.extract.points import Points
from trajanon.extract.rules import LEAST_GAP, LEAST_PAUSE, Rules
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import metres_between

Breaks = Callable[[Floats, Floats, Ints], Bools]  # lat, lon, start: which ways are cut


def gaps_of(points: Points, rules: Rules) -> tuple[Bools, Bools, Bools]:
    """Mark the points after a pause, else after a long hop, else after one that is too fast."""
    end = np.flatnonzero(points.follows)
    seconds = points.time[end] - points.time[end - 1]

    # Rows without a position show that the recorder went on: a hop over two may be three long.
    longest_hop = rules.longest_hop * (1 + _rows_without_fix(points, end))

    pause, far, fast = np.zeros((3, len(points)), dtype=np.bool_)
    pause[end] = seconds > rules.longest_pause
    far[end] = points.hops > longest_hop
    fast[end] = too_fast(points.hops, seconds, rules.max_speed)

    far &= ~pause
    fast &= ~(pause | far)
    return pause, far, fast


def _rows_without_fix(points: Points, end: Ints) -> Ints:
    """Count the rows without a position in each hop, which is given by its end."""
    rows = np.zeros(len(end), np.int64)
    for trace, times in points.without_fix.items():
        hops = slice(*np.searchsorted(points.trace[end], [trace, trace + 1]))
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
    """Mark stays: halfway and after `longest_stop`, within `near` metres of where they began."""
    seconds = longest_stop(rules)
    _, size = points.pieces
    piece = np.repeat(np.arange(len(size)), size)
    timed = np.isfinite(points.time)
    if not timed.any():
        return np.zeros(len(points), np.bool_)

    # One clock for all pieces: each begins long after the one before has ended.
    time = np.where(timed, points.time - np.min(points.time[timed]), 0.0)
    clock = time + piece * (time.max() + 2.0 * seconds)

    start = np.flatnonzero(timed)
    stays = np.ones(len(start), dtype=np.bool_)
    for share in (0.5, 1.0):
        after = np.searchsorted(clock, clock[start] + share * seconds)
        there = np.minimum(after, len(points) - 1)
        metres = metres_between(
            points.lat[start], points.lon[start], points.lat[there], points.lon[there]
        )
        stays &= (after == there) & (piece[there] == piece[start])
        stays &= metres <= near

    # Between the first and the last point of any stay, more of them have begun than ended.
    begun = np.zeros(len(points) + 1, dtype=np.int64)
    np.add.at(begun, start[stays], 1)
    np.add.at(begun, there[stays] + 1, -1)
    return np.cumsum(begun)[:-1] > 0


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
    both_inside = points.follows & inside
    both_inside[1:] &= inside[:-1]
    start = np.flatnonzero(both_inside) - 1

    begins = np.zeros(len(points), dtype=np.bool_)
    begins[start[breaks(points.lat, points.lon, start)] + 1] = True
    return begins


_TIMES = 5.0  # the median hop
_LONGEST_PAUSE = 1_800.0  # seconds
_RECORDINGS = 1_000  # that are looked at, at most
_POINTS = 200_000  # after which no more recordings are looked at


def head(traces: Iterator[Trace]) -> tuple[list[Trace], Iterator[Trace]]:
    """Read the first recordings, which do not depend on batches; return these, and all of them."""
    first: list[Trace] = []
    size = 0
    for trace in traces:
        first.append(trace)
        size += len(trace)
        if len(first) >= _RECORDINGS or size >= _POINTS:
            break
    return first, chain(first, traces)


def with_limits(rules: Rules, points: Points) -> tuple[Rules, dict[str, Any]]:
    """Replace the limits to be found from cleaned points by numbers; describe how they came."""
    end = np.flatnonzero(points.follows)
    seconds = points.time[end] - points.time[end - 1]
    hops = pd.DataFrame({"metres": points.hops, "seconds": seconds})
    of_recordings = hops.groupby(points.piece[end]).median()

    median = {
        unit: None if np.isnan(value) else float(value)
        for unit, value in of_recordings.median().items()
    }
    limits: dict[str, Any] = {}
    for name, unit, lowest, highest in (
        ("max_gap", "metres", LEAST_GAP, np.inf),
        ("max_pause", "seconds", LEAST_PAUSE, _LONGEST_PAUSE),
    ):
        if getattr(rules, name) == "auto":
            limit = float(round(_TIMES * (median[unit] or 0.0)))
            limits[name] = min(max(lowest, limit), highest)

    account = {"limits": list(limits), "recordings": len(of_recordings), **median}
    return replace(rules, **limits), account
