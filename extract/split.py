"""Traces cut where they were interrupted, or leave an area; and the limits found from the data.

A receiver that records a fix each minute needs other limits than one that records each second. Of
each recording the median hop is taken, in metres and in seconds, and of these numbers the median.
The longest hop is 5 times that in metres, but at least 2,000 m; the longest pause 5 times that in
seconds, but at least 300 s, and at most half an hour: where somebody was for longer is unknown.
Both hold for cabs with a fix each minute as for phones with one each second: shorter limits leave
out trips through tunnels, and longer ones draw straight lines.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.earth.area import Area
from trajanon.extract.points import Points, too_fast
from trajanon.extract.rules import LEAST_GAP, LEAST_PAUSE, Rules
from trajanon.extract.trace import Trace
from trajanon.number_text import metres, number_of, span

if TYPE_CHECKING:
    pass


Breaks = Callable[[Floats, Floats, Ints], Bools]
"""Given points (lat, lon) and starts: which ways, from a start to the next point, break."""


class Gaps(NamedTuple):
    """Which hops interrupt a recording, each hop from a point to the next of its piece."""

    end: Ints  # the point that each hop leads to, shape (hops,)
    pause: Bools
    far: Bools  # and no pause
    fast: Bools  # and neither

    def begins(self, hops: Bools, n: int) -> Bools:
        """Mark, of n points, those that some of the hops lead to."""
        marked = np.zeros(n, dtype=np.bool_)
        marked[self.end] = hops
        return marked


def after_pauses(points: Points, rules: Rules) -> Bools:
    """Mark the points before which a piece pauses."""
    after = points.follows
    after[1:] &= np.diff(points.time) > rules.longest_pause
    return after


def gaps_of(points: Points, rules: Rules) -> Gaps:
    """Find where the recording was interrupted."""
    end = np.flatnonzero(points.follows)
    seconds = points.time[end] - points.time[end - 1]
    metres = points.ways.length
    pause = after_pauses(points, rules)[end]
    far = ~pause & (metres > rules.longest_hop)
    fast = ~pause & ~far & too_fast(metres, seconds, rules.max_speed)
    return Gaps(end, pause, far, fast)


def split_at_gaps(points: Points, rules: Rules, counts: Counter[str]) -> Points:
    """Cut where the recording was interrupted."""
    gaps = gaps_of(points, rules)
    counts["cuts at pauses"] += int(gaps.pause.sum())
    counts["cuts at long hops"] += int(gaps.far.sum())
    counts["cuts at impossible speeds"] += int(gaps.fast.sum())
    return points.cut(gaps.begins(gaps.pause | gaps.far | gaps.fast, len(points)))


def clip(points: Points, area: Area) -> Points:
    """Keep what lies inside the area; a piece that leaves it ends there."""
    return keep(points, area.contains(points.lat, points.lon), area.leaves)


def keep(points: Points, kept: Bools, breaks: Breaks) -> Points:
    """Drop points; cut where some were dropped, and where the way between two breaks."""
    begins = np.zeros(len(points), dtype=np.bool_)
    begins[1:] = kept[1:] & ~kept[:-1]
    both = points.follows & kept
    both[1:] &= kept[:-1]
    start = np.flatnonzero(both) - 1
    begins[start[breaks(points.lat, points.lon, start)] + 1] = True
    return points.cut(begins).take(kept)


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
    hops = pd.DataFrame({"metres": points.ways.length, "seconds": seconds})
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
    account = {"limits": list(found), "recordings": len(each), **median}
    return replace(rules, **found), account


def limits_sentence(provenance: Mapping[str, Any]) -> str:
    """Say in one sentence which limits were found, and from what; nothing if none was."""
    found = provenance.get("found")
    if not found:
        return ""
    limits = [
        f"{name} of {written(provenance[limit])}"
        for limit, name, written in (
            ("max_gap", "a longest hop", metres),
            ("max_pause", "a longest pause", span),
        )
        if limit in found["limits"]
    ]
    known = [(found["metres"], metres), (found["seconds"], span)]
    median = " and ".join(written(value) for value, written in known if value is not None)
    recordings = number_of(found["recordings"], "recording")
    why = f"half of the hops of {recordings} are below {median}" if median else "no hop is known"
    options = " and ".join(f"`{limit}`" for limit in found["limits"])
    return f"Found from the data: {' and '.join(limits)}, as {why}. Set others with {options}."
