"""Points of many traces in common arrays, so that each step is one array operation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.geodesics import Geodesics
from trajanon.extract.trace import Trace


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
        if which.dtype == np.bool_:
            if which.all():
                return self
            both = np.logical_and(which, np.roll(which, 1))  # a point and the one before it
            return self._hand_ways(self.take(np.flatnonzero(which)), both)
        return Points(
            self.lat[which], self.lon[which], self.time[which], self.trace[which], self.piece[which]
        )

    def cut(self, before: Bools) -> "Points":
        """Begin a new piece at each marked point."""
        if not before.any():
            return self
        return self._hand_ways(replace(self, piece=self.piece + np.cumsum(before)), ~before)

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
    def ways(self) -> Geodesics:
        """The ways from each point to the next of its piece, in their order."""
        end = np.flatnonzero(self.follows)
        lat, lon = self.lat, self.lon
        return Geodesics(lat[end - 1], lon[end - 1], lat[end], lon[end])

    def _hand_ways(self, to: "Points", kept: Bools) -> "Points":
        """Give points made of these the ways to the marked ones, if they were measured.

        Where a way leads past a dropped point, all are measured anew.
        """
        if "ways" in vars(self):
            kept = kept[self.follows]
            if kept.sum() == to.follows.sum():
                vars(to)["ways"] = self.ways.take(kept)
        return to


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
