"""Points of many traces in common arrays, and six steps that clean them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.rules import Rules
from trajanon.extract.trace import Trace
from trajanon.geodesy import radii

JITTER = 50.0  # metres; a shorter hop is never too fast: within a second, noise looks like speed


def metres_between(lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats) -> Floats:
    """Measure ways that are straight in degrees: right to a millimetre up to some kilometres."""
    north, east = radii(np.radians((lat + to_lat) / 2))
    up, over = np.radians(to_lat - lat) * north, np.radians(wrapped(to_lon - lon)) * east
    return np.asarray(np.sqrt(up * up + over * over))


def wrapped(degrees: Floats) -> Floats:
    """Longitudes, or differences of them, in -180..180."""
    return np.asarray(degrees - 360 * np.rint(degrees / 360))


@dataclass(frozen=True, eq=False)
class Points:
    """A batch of traces, their points one after another."""

    lat: Floats  # degrees, WGS 84, shape (n,)
    lon: Floats  # degrees, WGS 84, shape (n,)
    time: Floats  # seconds since 1970-01-01 UTC, shape (n,); NaN where unknown
    trace: Ints  # which trace of the batch a point belongs to, shape (n,), rising
    piece: Ints  # number of the unbroken track that a point belongs to, shape (n,), rising

    def __len__(self) -> int:
        return len(self.lat)

    def take(self, which: Bools | Ints) -> "Points":
        """Keep some of the points, by mask or in a new order."""
        if which.dtype == np.bool_ and which.all():
            return self
        return Points(
            self.lat[which], self.lon[which], self.time[which], self.trace[which], self.piece[which]
        )

    def cut(self, before: Bools) -> "Points":
        """Begin a new piece at each marked point."""
        if not before.any():
            return self
        return replace(self, piece=self.piece + np.cumsum(before))

    @property
    def follows(self) -> Bools:
        """Whether a point has a predecessor in its own piece, shape (n,)."""
        follows = np.zeros(len(self), dtype=np.bool_)
        follows[1:] = self.piece[1:] == self.piece[:-1]
        return follows

    @property
    def pieces(self) -> tuple[Ints, Ints]:
        """The first point of each piece, and how many points it has."""
        first = np.flatnonzero(~self.follows)
        return first, np.diff(first, append=len(self))

    @cached_property
    def hops(self) -> Floats:
        """Metres from each point to the next of its piece, in their order."""
        end = np.flatnonzero(self.follows)
        lat, lon = self.lat, self.lon
        return metres_between(lat[end - 1], lon[end - 1], lat[end], lon[end])


def greatest_of(owner: Ints, *keys: Floats | Ints | Bools) -> Ints:
    """Give the row of each owner with the greatest keys, the last first; of equals the first."""
    order = np.lexsort((-np.arange(len(owner)), *keys, owner))
    return np.asarray(order[np.append(np.diff(owner[order]) != 0, True)[: len(order)]])


def batch(traces: Sequence[Trace]) -> Points:
    """Put the points of traces into common arrays."""
    sizes = [len(trace) for trace in traces]
    number = np.repeat(np.arange(len(traces), dtype=np.int64), sizes)
    return Points(
        lat=np.concatenate([trace.lat for trace in traces]),
        lon=np.concatenate([trace.lon for trace in traces]),
        time=np.concatenate([trace.time for trace in traces]),
        trace=number,
        piece=number,
    )


def too_fast(metres: Floats, seconds: Floats, most: float | None) -> Bools:
    """Tell which hops would need more than the highest speed; without times, none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = metres / seconds
    return np.asarray((metres > JITTER) & (speed > (most or np.inf)))


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


def average_equal_times(points: Points) -> Points:
    """Replace points of one time by their mean: their order is chance, and would be a detour."""
    same = points.follows
    same[1:] &= points.time[1:] == points.time[:-1]
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
    """Drop single fixes that are too fast to reach; of several in a row, which are is unknown."""
    if rules.max_speed is None or len(points) < 3:
        return points
    lat, lon, time = points.lat, points.lon, points.time
    fast = points.follows
    fast[fast] = too_fast(points.hops, np.diff(time)[fast[1:]], rules.max_speed)
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
