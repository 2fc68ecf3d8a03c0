"""Traces -> unbroken pieces of track where trajectories may lie."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.earth.box import Area
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules

if TYPE_CHECKING:
    from trajanon.extract.earth.places import Zone

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
    fast = ~pause & ~far & rules.too_fast(metres, seconds)
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


def hide(points: Points, zone: "Zone") -> Points:
    """Drop what lies inside the zone; a piece that comes into it ends there."""
    return keep(points, ~zone.contains(points.lat, points.lon), zone.meets)


def keep(points: Points, kept: Bools, breaks: Breaks) -> Points:
    """Drop points; cut where some were dropped, and where the way between two breaks."""
    begins = np.zeros(len(points), dtype=np.bool_)
    begins[1:] = kept[1:] & ~kept[:-1]
    both = points.follows & kept
    both[1:] &= kept[:-1]
    start = np.flatnonzero(both) - 1
    begins[start[breaks(points.lat, points.lon, start)] + 1] = True
    return points.cut(begins).take(kept)
