"""Where traces are interrupted, stop or leave an area; and the limits found from the data.

A limit is 5 times the median, over recordings, of their median hop, in metres or seconds; a hop is
at least 2,000 m, a pause from 300 s to half an hour: for longer, it is unknown where somebody was.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.earth.area import Area
from trajanon.extract.points import Points, too_fast
from trajanon.extract.rules import LEAST_GAP, LEAST_PAUSE, Rules
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import metres_between

Breaks = Callable[[Floats, Floats, Ints], Bools]  # lat, lon, start: which ways are cut


def gaps_of(points: Points, rules: Rules) -> tuple[Bools, Bools, Bools]:
    """Mark the points after a pause, else after a long hop, else after one that is too fast."""
    end = np.flatnonzero(points.follows)
    seconds = points.time[end] - points.time[end - 1]
    pause, far, fast = np.zeros((3, len(points)), dtype=np.bool_)
    pause[end] = seconds > rules.longest_pause
    far[end] = points.hops > rules.longest_hop
    far &= ~pause
    fast[end] = too_fast(points.hops, seconds, rules.max_speed)
    fast &= ~(pause | far)
    return pause, far, fast


def split_at_gaps(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """Cut where the recording was interrupted."""
    pause, far, fast = gaps_of(points, rules)
    counts["cuts at pauses"] += int(pause.sum())
    counts["cuts at long hops"] += int(far.sum())
    counts["cuts at impossible speeds"] += int(fast.sum())
    return points.cut(pause | far | fast)


_STAY = 300.0  # seconds near one place that make a stop, even if longer pauses are allowed


def longest_stop(rules: Rules) -> float:
    """Seconds of a stop that ends no trip, at most."""
    return min(_STAY, rules.longest_pause)


def stays_of(points: Points, rules: Rules, near: float) -> Bools:
    """Mark stays: halfway and after `longest_stop`, within `near` metres of where they began."""
    seconds, size = longest_stop(rules), points.pieces[1]
    piece = np.repeat(np.arange(len(size)), size)
    timed = np.isfinite(points.time)
    marks = np.zeros(len(points) + 1, dtype=np.int64)
    if not timed.any():
        return marks[1:] > 0
    # One clock for all pieces: each begins long after the one before has ended.
    time = np.where(timed, points.time - np.min(points.time[timed]), 0.0)
    clock = time + piece * (time.max() + 2.0 * seconds)
    start = np.flatnonzero(timed)
    stays = np.ones(len(start), dtype=np.bool_)
    for share in (0.5, 1.0):
        after = np.searchsorted(clock, clock[start] + share * seconds)
        there = np.minimum(after, len(points) - 1)
        stays &= (after == there) & (piece[there] == piece[start])
        lat, lon = points.lat, points.lon
        stays &= metres_between(lat[start], lon[start], lat[there], lon[there]) <= near
    np.add.at(marks, start[stays], 1)
    np.add.at(marks, there[stays] + 1, -1)
    return np.cumsum(marks)[:-1] > 0


def clip(points: Points, area: Area) -> Points:
    """Keep what lies inside the area; a piece that leaves it ends there."""
    return keep(points, area.contains(points.lat, points.lon), area.leaves)


def keep(points: Points, kept: Bools, breaks: Breaks) -> Points:
    """Drop points; cut where some were dropped, and where the way between two breaks."""
    begins = broken(points, kept, breaks)
    begins[1:] |= kept[1:] & ~kept[:-1]
    return points.cut(begins).take(kept)


def broken(points: Points, kept: Bools, breaks: Breaks) -> Bools:
    """Mark each kept point if the way from the kept point before it must be cut."""
    begins, both = np.zeros(len(points), dtype=np.bool_), points.follows & kept
    both[1:] &= kept[:-1]
    start = np.flatnonzero(both) - 1
    begins[start[breaks(points.lat, points.lon, start)] + 1] = True
    return begins


_TIMES = 5.0  # the median hop
_LONGEST_PAUSE = 1_800.0  # seconds
_RECORDINGS, _POINTS = 1_000, 200_000  # that are looked at


def head(traces: Iterator[Trace]) -> tuple[list[Trace], Iterator[Trace]]:
    """Take the first recordings, which do not depend on batches, and give all of them."""
    some: list[Trace] = []
    size = 0
    for trace in traces:
        some.append(trace)
        size += len(trace)
        if len(some) >= _RECORDINGS or size >= _POINTS:
            break
    return some, chain(some, traces)


def with_limits(rules: Rules, points: Points) -> tuple[Rules, dict[str, Any]]:
    """Replace the limits to be found from cleaned points by numbers; say from which points."""
    end = np.flatnonzero(points.follows)
    seconds = points.time[end] - points.time[end - 1]
    hops = pd.DataFrame({"metres": points.hops, "seconds": seconds})
    each = hops.groupby(points.piece[end]).median()
    median = {name: None if np.isnan(one) else float(one) for name, one in each.median().items()}
    found: dict[str, Any] = {}
    for name, of, least, most in (
        ("max_gap", "metres", LEAST_GAP, np.inf),
        ("max_pause", "seconds", LEAST_PAUSE, _LONGEST_PAUSE),
    ):
        if getattr(rules, name) == "auto":
            limit = float(round(_TIMES * (median[of] or 0.0)))
            found[name] = min(max(least, limit), most)
    return replace(rules, **found), {"limits": list(found), "recordings": len(each), **median}
