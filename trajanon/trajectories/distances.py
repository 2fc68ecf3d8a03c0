"""How far points moved, and how lengths of lines change."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, Metres
from trajanon.common.json_toml_and_regular_files import Finite
from trajanon.common.threads_and_dask import in_parts
from trajanon.trajectories.geodesy import metres_between, metres_of_degrees

_TRIPS_PER_TASK = 2_000

# Bins of histograms, each 0.2 % wide: of metres, from a millimetre to some 70,000 km.
_LEAST_ERROR = 1e-3  # metre or second
_WIDTH_OF_BIN = 0.002  # in natural logarithms
_BINS = 12_500


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean, median, 95 % and largest of errors, in metres or seconds."""

    mean: Finite
    median: Finite
    p95: Finite  # 95 % are at most as large
    max: Finite


def summary(errors: Floats | Metres) -> Summary:
    """Sum up errors, an array of any shape, which is in another order afterwards."""
    mean = float(errors.mean(dtype=np.float64))
    largest = float(errors.max())
    flat = errors.reshape(-1)
    median = float(np.median(flat, overwrite_input=True))
    p95 = float(np.percentile(flat, 95, overwrite_input=True))
    return Summary(mean, median, p95, largest)


class Histogram(NamedTuple):
    """How many errors, in metres or seconds, are how large: histograms of parts add up."""

    counts: Ints  # errors in each bin, (_BINS,)
    total: float  # sum of all errors
    largest: float

    @classmethod
    def of(cls, errors: Floats | Metres) -> "Histogram":
        """Count errors, an array of any shape."""
        with np.errstate(divide="ignore"):  # an error may be 0
            logarithms = np.log(errors.ravel() / _LEAST_ERROR)
        bins = np.ceil(logarithms / _WIDTH_OF_BIN).clip(0, _BINS - 1).astype(np.int64)
        counts = np.bincount(bins, minlength=_BINS)
        return cls(counts, float(errors.sum(dtype=np.float64)), float(errors.max(initial=0.0)))

    @property
    def summary(self) -> Summary:
        """Sum up the errors as `summary` does; median and 95 % are right to 0.2 %."""
        not_above = np.cumsum(self.counts)  # errors in a bin and those before it
        errors = int(not_above[-1])

        def quantile(share: float) -> float:
            """Return the upper end of the bin that this share of errors does not exceed."""
            bin = int(np.searchsorted(not_above, share * errors))
            # The first bin is of errors under a thousandth.
            upper_end = _LEAST_ERROR * float(np.exp(bin * _WIDTH_OF_BIN)) if bin else 0.0
            return min(upper_end, self.largest)

        mean = self.total / max(errors, 1)  # 0 of no errors
        return Summary(mean, quantile(0.5), quantile(0.95), self.largest)

    def plus(self, other: "Histogram") -> "Histogram":
        """Return the histogram of the errors of both."""
        return Histogram(
            self.counts + other.counts, self.total + other.total, max(self.largest, other.largest)
        )


def displacement(original: Floats, released: Floats) -> Floats:
    """Measure how far each point was moved, (n, m), in metres; both are (n, m, 2), in degrees.

    Examples
    --------
    >>> north = displacement(np.array([[[0.0, 0.0]]]), np.array([[[0.001, 0.0]]]))
    >>> round(float(north[0, 0]), 1)
    110.6
    """
    return metres_between(*np.moveaxis(original, -1, 0), *np.moveaxis(released, -1, 0))


def to_line(points: Floats, lines: Floats) -> Metres:
    """Measure how far points lie from the nearest place of their line, (n, m).

    Both are (n, m, 2), latitude and longitude in degrees, on a plane of their own for each line.

    Examples
    --------
    A point halfway, 221 m to the south of a line to the east:

    >>> line = np.array([[[0.0, 0.0], [0.0, 0.01]]])
    >>> beside = np.array([[[-0.002, 0.005], [0.0, 0.01]]])
    >>> to_line(beside, line).round().tolist()
    [[221.0, 0.0]]
    """
    from trajanon._kernels.distances_to_ways import distances_to_ways  # extraction needs no kernels

    metres = np.empty(points.shape[:2], dtype=np.float32)
    distances_to_ways(points, lines, metres_of_degrees(lines[..., 0].mean(axis=1)), metres)
    return metres


def to_way(points: Floats, lines: Floats) -> Metres:
    """Measure how far the points of lines lie from the nearest place of the way that was gone.

    ``points`` are those of the way: the order is that of `to_line`, so that either is a measure.
    """
    return to_line(lines, points)


def distances_to_lines(
    points: Floats,
    lines: Floats,
    labels: Ints,
    measure: Callable[[Floats, Floats], Floats | Metres] = displacement,
) -> Metres:
    """Measure how far trajectories, (n, m, 2), are from their lines, (g, m, 2): (n, m), in metres.

    ``labels`` is the line of each trajectory, (n,). They are measured in batches, to save memory.
    """
    metres = np.empty(points.shape[:2], dtype=np.float32)

    def measure_batch(rows: Ints, stop: Event) -> None:
        """Measure trajectories with successive numbers, and write their rows of `metres`."""
        batch = slice(rows[0], rows[-1] + 1)
        metres[batch] = measure(points[batch], lines[labels[batch]])

    in_parts(measure_batch, np.arange(len(points)), _TRIPS_PER_TASK)
    return metres


def until_rest(points: Floats) -> Bools:
    """Mark the points, (n, m, 2), that come before the stay at the end or begin it: (n, m).

    A day stays behind its last trip; of a trajectory that goes nowhere, the first point is marked.
    """
    is_last_place = (points[:, :-1] == points[:, -1:]).all(axis=2)
    # A point rests if it and all after it are at the last place.
    rests = np.logical_and.accumulate(is_last_place[:, ::-1], axis=1)[:, ::-1]
    return np.column_stack([np.ones(len(points), dtype=np.bool_), ~rests])


def lengths(points: Floats) -> Floats:
    """Measure trajectories, (n, m, 2), from point to point: (n,), in metres."""

    def measure(trips: Floats, _: Event) -> Floats:
        """Measure the trips of a task."""
        return np.asarray(displacement(trips[:, :-1], trips[:, 1:]).sum(axis=1))

    return np.concatenate(in_parts(measure, points, _TRIPS_PER_TASK))


def length_change(original: Floats, released: Floats) -> Floats:
    """Measure by what share of its own length each trajectory got longer, (n,)."""
    before = lengths(original)
    after = lengths(released)
    # Of a trajectory without length, any length counts as a change of 1.
    had_none = before == 0.0
    change = (after - before) / np.where(had_none, 1.0, before)
    return np.where(had_none, (after > 0.0).astype(np.float64), change)
