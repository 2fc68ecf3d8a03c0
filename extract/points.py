"""Points of many traces in common arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import metres_between


@dataclass(frozen=True, eq=False)
class Points:
    """A batch of traces, their points one after another."""

    lat: Floats  # degrees, WGS 84, shape (n,)
    lon: Floats  # degrees, WGS 84, shape (n,)
    time: Floats  # seconds since 1970-01-01 UTC, shape (n,); NaN where unknown
    trace: Ints  # which trace of the batch a point belongs to, shape (n,), rising
    piece: Ints  # number of the unbroken track that a point belongs to, shape (n,), rising
    # By trace: the times, rising, of rows without a position between its points.
    without_fix: Mapping[int, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lat)

    def take(self, marked: Bools | Ints) -> "Points":
        """Keep some of the points, by mask or in a new order."""
        if marked.dtype == np.bool_ and marked.all():
            return self
        columns = ("lat", "lon", "time", "trace", "piece")
        return replace(self, **{name: getattr(self, name)[marked] for name in columns})

    def cut(self, before: Bools) -> "Points":
        """Begin a new piece at each marked point."""
        if not before.any():
            return self
        return replace(self, piece=self.piece + np.cumsum(before))

    @property
    def follows(self) -> Bools:
        """Return whether a point has a predecessor in its own piece, shape (n,)."""
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
    """Return the row of each owner with the greatest keys, the last first; of equals the first."""
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
        without_fix={
            i: np.sort(trace.without_fix) for i, trace in enumerate(traces) if trace.without_fix
        },
    )
