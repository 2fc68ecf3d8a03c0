"""Points of many traces in common arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import metres_between

_FARTHEST_TIME = 1e11  # seconds from 1970, some 3,000 years: what is farther, or infinite, is none


@dataclass(frozen=True, eq=False)
class Points:
    """A batch of traces, their points one after another."""

    lat: Floats  # degrees, WGS 84, shape (n,)
    lon: Floats  # degrees, WGS 84, shape (n,)
    time: Floats  # seconds since 1970-01-01 UTC, shape (n,); NaN where unknown
    # Which trace of the batch a point belongs to, or which trip once these are found; (n,), rising.
    trace: Ints
    piece: Ints  # number of the unbroken track that a point belongs to, shape (n,), rising
    # By trace: the times, rising, of rows without a position between its points.
    without_fix: Mapping[int, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lat)

    def take(self, which: Bools | Ints) -> "Points":
        """Keep points, by mask or by their rows, in the order of these."""
        if which.dtype == np.bool_ and which.all():
            return self
        columns = ("lat", "lon", "time", "trace", "piece")
        return replace(self, **{name: getattr(self, name)[which] for name in columns})

    def cut(self, begins: Bools) -> "Points":
        """Begin a new piece at each marked point."""
        if not begins.any():
            return self
        return replace(self, piece=self.piece + np.cumsum(begins))

    @property
    def follows(self) -> Bools:
        """Return whether the point before is of the same piece, shape (n,)."""
        follows = np.zeros(len(self), dtype=np.bool_)
        follows[1:] = self.piece[1:] == self.piece[:-1]
        return follows

    @property
    def pieces(self) -> tuple[Ints, Ints]:
        """The row of the first point of each piece, and how many points it has, (pieces,) each."""
        first = np.flatnonzero(~self.follows)
        return first, np.diff(first, append=len(self))

    @cached_property
    def hop_ends(self) -> Ints:
        """The rows of the points where hops end, each from the point before; shape (hops,)."""
        return np.flatnonzero(self.follows)

    @cached_property
    def hop_metres(self) -> Floats:
        """Metres of each hop, shape (hops,)."""
        lat, lon = self.lat, self.lon
        end = self.hop_ends
        return metres_between(lat[end - 1], lon[end - 1], lat[end], lon[end])

    @property
    def hop_seconds(self) -> Floats:
        """Seconds of each hop, shape (hops,); NaN without times."""
        return self.time[self.hop_ends] - self.time[self.hop_ends - 1]


def greatest_of(owner: Ints, *keys: Floats | Ints | Bools) -> Ints:
    """Return the row with the greatest keys among those of each owner, shape (owners,).

    ``owner``, the number of each row's owner, and each key are of shape (rows,). The last key
    counts first, as in `numpy.lexsort`; of equal rows the first is taken.
    """
    order = np.lexsort((-np.arange(len(owner)), *keys, owner))
    # Cut to their number, as there may be no rows.
    is_last_of_owner = np.append(np.diff(owner[order]) != 0, True)[: len(order)]
    return np.asarray(order[is_last_of_owner])


def batch(traces: Sequence[Trace]) -> Points:
    """Put the points of traces into common arrays."""
    sizes = np.array([len(trace) for trace in traces], np.int64)
    trace_of_point = np.repeat(np.arange(len(traces), dtype=np.int64), sizes)
    nothing = np.empty(0)  # there may be no traces
    time = np.concatenate([nothing, *(trace.time for trace in traces)])
    return Points(
        lat=np.concatenate([nothing, *(trace.lat for trace in traces)]),
        lon=np.concatenate([nothing, *(trace.lon for trace in traces)]),
        time=np.where(np.abs(time) < _FARTHEST_TIME, time, np.nan),
        trace=trace_of_point,
        piece=trace_of_point,
        without_fix={
            i: np.sort(trace.without_fix) for i, trace in enumerate(traces) if trace.without_fix
        },
    )
