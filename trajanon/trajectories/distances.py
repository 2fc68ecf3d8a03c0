"""How far points moved, and how lengths of lines change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, Metres
from trajanon.common.inputs import Finite
from trajanon.common.workers import in_parts
from trajanon.trajectories.geodesy import metres_between, metres_of_degrees

_TRIPS_PER_TASK = 2_000

_LEAST = 1e-3
_STEP = 0.002
_BINS = 12_500
"""Bins from a millimetre to some 70,000 km, each 0.2 % wide."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean, median, 95 % and largest of errors."""

    mean: Finite
    median: Finite
    p95: Finite
    max: Finite


def summary(metres: Floats | Metres) -> Summary:
    """Sum up distances, which it reorders: mean, median, 95 %, the farthest."""
    mean = float(metres.mean(dtype=np.float64))
    farthest = float(metres.max())
    flat = metres.reshape(-1)
    median = float(np.median(flat, overwrite_input=True))
    p95 = float(np.percentile(flat, 95, overwrite_input=True))
    return Summary(mean, median, p95, farthest)


class Histogram(NamedTuple):
    """How many of some errors, in metres or seconds, are how large."""

    bins: Ints  # how many are in each
    total: float  # of all errors
    largest: float

    @classmethod
    def of(cls, errors: Floats | Metres) -> "Histogram":
        """Count errors, an array of any shape."""
        with np.errstate(divide="ignore"):
            place = np.ceil(np.log(errors.ravel() / _LEAST) / _STEP).clip(0, _BINS - 1)
        bins = np.bincount(place.astype(np.int64), minlength=_BINS)
        return cls(bins, float(errors.sum(dtype=np.float64)), float(errors.max(initial=0.0)))

    @property
    def summary(self) -> Summary:
        """Sum up the errors as `summary` does; median and 95 % are right to 0.2 %."""
        below = np.cumsum(self.bins)
        total = int(below[-1])
        places = np.searchsorted(below, np.array([0.5, 0.95]) * total).tolist()
        median, p95 = (
            min(_LEAST * float(np.exp(place * _STEP)), self.largest) if place else 0.0
            for place in places  # the first bin is of those under a thousandth
        )
        return Summary(self.total / max(total, 1), median, p95, self.largest)


def joined_histograms(parts: Sequence[Histogram]) -> Histogram:
    """Put histograms together, in their order."""
    bins, total, largest = zip(*parts, strict=True)
    return Histogram(np.sum(bins, axis=0), sum(total), max(largest))


def displacement(original: Floats, released: Floats) -> Floats:
    """Measure how far each point was moved, in metres.

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
    from trajanon._kernels.curve_distance import distances_to_ways  # extraction needs no kernels

    metres = np.empty(points.shape[:2], dtype=np.float32)
    distances_to_ways(points, lines, metres_of_degrees(lines[..., 0].mean(axis=1)), metres)
    return metres


def to_way(points: Floats, lines: Floats) -> Metres:
    """Measure how far the points of lines lie from the nearest place of the way that was gone."""
    return to_line(lines, points)


def moved_to(
    points: Floats,
    lines: Floats,
    labels: Ints,
    measure: Callable[[Floats, Floats], Floats | Metres] = displacement,
) -> Metres:
    """Measure how far trajectories are from the lines of their groups, in batches."""
    metres = np.empty(points.shape[:2], dtype=np.float32)

    def measure_batch(rows: Ints, stop: Event) -> None:
        batch = slice(rows[0], rows[-1] + 1)
        metres[batch] = measure(points[batch], lines[labels[batch]])

    in_parts(measure_batch, np.arange(len(points)), _TRIPS_PER_TASK)
    return metres


def until_rest(points: Floats) -> Bools:
    """Mark the points, (n, m), that come before the last stay of a day, or begin it."""
    rests = (points[:, :-1] == points[:, -1:]).all(axis=2)
    later = np.logical_and.accumulate(rests[:, ::-1], axis=1)[:, ::-1]
    return np.column_stack([np.ones(len(points), dtype=np.bool_), ~later])


def lengths(points: Floats) -> Floats:
    """Measure lines from point to point."""

    def measure(trips: Floats, _: Event) -> Floats:
        return np.asarray(displacement(trips[:, :-1], trips[:, 1:]).sum(axis=1))

    return np.concatenate(in_parts(measure, points, _TRIPS_PER_TASK))


def length_change(original: Floats, released: Floats) -> Floats:
    """Measure by what share of its own length each line got longer."""
    before = lengths(original)
    after = lengths(released)
    still = before == 0.0
    change = (after - before) / np.where(still, 1.0, before)
    return np.where(still, (after > 0.0).astype(np.float64), change)
