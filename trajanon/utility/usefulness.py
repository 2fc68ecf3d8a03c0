"""All measures of the usefulness of a release, for its places and its hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput
from trajanon.times import Clock
from trajanon.tracks import Tracks
from trajanon.utility.displacements import (
    displacement,
    from_runs,
    length_change,
    lengths,
    summary,
    until_rest,
)
from trajanon.utility.grid import density_divergence, flow_similarity, flows, query_errors

FLOW_CELL = 500.0  # metres: trips begin and end in a neighbourhood
OD_CELLS = {"0.5 km": FLOW_CELL, "1 km": 1_000.0, "2 km": 2_000.0, "3 km": 3_000.0}  # a district
SMALLEST, *_, LARGEST = OD_CELLS
OD_KEPT = 0.75  # share of the counts of an OD table that shall stay: three of four
LENGTH_CLASS = 500.0  # metres: a class of trips by length
DENSITY_CELL = 200.0  # metres: a street or two
QUERIES = 1_000  # random boxes
SIDES = (200.0, 2_000.0)  # metres: from a square to a district
DURATION_CLASS = 300.0  # seconds: the usual step of released times
CLASSES = 40  # of lengths and of durations that are counted one by one; the last holds the rest
HOURS = 24


class Seconds(NamedTuple):
    """When trips are at their points, before and after, as seconds of one clock, (n, m)."""

    original: Floats
    released: Floats
    clock: Clock


@dataclass(frozen=True, slots=True)
class HoursLeft:
    """What one way to publish trips leaves of when they happened; errors in seconds, summed up."""

    departure_error: Mapping[str, float]
    duration_error: Mapping[str, float]
    flow_similarity: float  # share of trips that keep origin, destination and hour of departure
    by_hour: Sequence[int]  # departures in each hour of the day as published
    by_duration: Sequence[int]  # trips in each class of durations as published


@dataclass(frozen=True, slots=True)
class Usefulness:
    """What one way to publish trajectories leaves of them; distances in metres, summed up."""

    displacement: Mapping[str, float]  # how far points were moved
    from_runs: Mapping[str, float] | None  # from a point to the nearest of the window's run
    length: float  # mean length of the originals, metres
    length_change: float  # mean share by which lines got longer; negative where they got shorter
    by_length: Sequence[int]  # lines in each class of 500 m as published
    flow_similarity: Mapping[str, float]  # of trips counted from cell to cell, by the size of these
    # cells: the share of the counts that stay
    trips_with_true_ends: int  # that are counted so: others are cut at the border of the area
    density_divergence: float  # Jensen-Shannon divergence of the density maps, bits: 0 to 1
    query_error: float  # mean relative error of the number of trajectories in random boxes
    times: HoursLeft | None = None  # what is left of the hours; None where no times are published


def usefulness(
    original: Floats,
    released: Floats,
    *,
    tracks: Tracks | None = None,
    true_ends: Bools | None = None,
    seconds: Seconds | None = None,
    seed: int = 0,
) -> Usefulness:
    """Measure the usefulness of trajectories as released.

    Of ends that are not true, (n, 2), the flows from cell to cell are not counted.
    """
    if original.shape != released.shape or original.ndim != 3 or not len(original):
        raise BadInput(
            "originals and released lines must have one shape (trajectories, points, "
            f"2); got {original.shape} and {released.shape}"
        )
    errors = query_errors(original, released, queries=QUERIES, sides=SIDES, seed=seed)
    whole = np.ones(len(original), np.bool_) if true_ends is None else true_ends.all(axis=1)
    trips = {
        name: [flows(points[whole], cell) for points in (original, released)]
        for name, cell in OD_CELLS.items()
    }
    runs = None
    if tracks is not None:
        runs = summary(from_runs(tracks, released, np.arange(len(released))))
    return Usefulness(
        displacement=summary(displacement(original, released)[until_rest(original)]),
        from_runs=runs,
        length=float(lengths(original).mean()),
        length_change=float(length_change(original, released).mean()),
        by_length=up_to_last((lengths(released) // LENGTH_CLASS).astype(np.int64)),
        flow_similarity={name: flow_similarity(*both) for name, both in trips.items()},
        trips_with_true_ends=int(whole.sum()),
        density_divergence=density_divergence(original, released, DENSITY_CELL),
        query_error=float(errors.mean()),
        times=None if seconds is None else hours_left(original, released, seconds),
    )


def cell_for_od(kept: Mapping[str, float]) -> str | None:
    """Name the smallest cells with which enough counts of an OD table stay; None if none do.

    >>> cell_for_od({"0.5 km": 0.4, "1 km": 0.7, "2 km": 0.75, "3 km": 0.9})
    '2 km'
    """
    return next((cell for cell, share in kept.items() if share >= OD_KEPT), None)


def hours_left(original: Floats, released: Floats, seconds: Seconds) -> HoursLeft:
    """Measure what is left of the hours of trips, of points (n, m, 2) and their seconds."""
    ways = (original, seconds.original), (released, seconds.released)
    hours = [seconds.clock.hour(when[:, 0]) for _, when in ways]
    timed = [
        np.column_stack([flows(points, FLOW_CELL), hour])
        for (points, _), hour in zip(ways, hours, strict=True)
    ]
    departed, took = time_errors(seconds.original, seconds.released)
    return HoursLeft(
        departure_error=summary(departed),
        duration_error=summary(took),
        flow_similarity=flow_similarity(*timed),
        by_hour=np.bincount(hours[1], minlength=HOURS).tolist(),
        by_duration=up_to_last(duration_classes(seconds.released)),
    )


def time_errors(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Measure how far departures are off, and durations, in seconds, (n,).

    By a clock that does not go round: of a day that begins at 03:00, 02:59 is its last minute.
    """
    departed: Floats = np.abs(released[:, 0] - original[:, 0])
    return departed, np.abs(durations(released) - durations(original))


def durations(seconds: Floats) -> Floats:
    """Measure how long trips take, (n,)."""
    return seconds[:, -1] - seconds[:, 0]


def duration_classes(seconds: Floats) -> Ints:
    """Put trips into classes of durations, centred on whole steps."""
    return np.rint(durations(seconds) / DURATION_CLASS).astype(np.int64)


def up_to_last(classes: Ints) -> list[int]:
    """Count classes, with all beyond the last of them in it."""
    counts: list[int] = np.bincount(np.minimum(classes, CLASSES - 1), minlength=CLASSES).tolist()
    return counts
