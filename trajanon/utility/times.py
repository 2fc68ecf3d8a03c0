"""When trips happen: how far departures and durations are off, and what is left of the hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.times import Clock
from trajanon.utility.displacements import summary
from trajanon.utility.grid import (
    busiest_order,
    class_distance,
    flow_similarity,
    flows,
    query_errors,
)

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
    departures: float  # Jensen-Shannon distance of the departures by hour of the day: 0 to 1
    durations: float  # the same of durations, in classes of 5 min
    flow_similarity: float  # share of trips that keep origin, destination and hour of departure
    busiest: float | None  # Kendall's tau of the busiest cells and hours of departure
    query_error: float  # mean relative error of the trips in random boxes in an hour
    by_hour: Sequence[int]  # departures in each hour of the day as published
    by_duration: Sequence[int]  # trips in each class of durations as published


def hours_left(
    original: Floats,
    released: Floats,
    seconds: Seconds,
    *,
    cell: float,
    queries: int,
    sides: tuple[float, float],
    seed: int,
) -> HoursLeft:
    """Measure what is left of the hours of trips, of points (n, m, 2) and their seconds."""
    pairs = (original, seconds.original), (released, seconds.released)
    hours = seconds.clock.hour(seconds.original), seconds.clock.hour(seconds.released)
    classes = duration_classes(seconds.original), duration_classes(seconds.released)
    timed = [
        np.column_stack([flows(points, cell), hour[:, 0]])
        for (points, _), hour in zip(pairs, hours, strict=True)
    ]
    errors = query_errors(original, released, queries=queries, sides=sides, seed=seed, hours=hours)
    departed, took = time_errors(seconds.original, seconds.released)
    return HoursLeft(
        departure_error=summary(departed),
        duration_error=summary(took),
        departures=class_distance(hours[0][:, 0], hours[1][:, 0]),
        durations=class_distance(*classes),
        flow_similarity=flow_similarity(*timed),
        busiest=busiest_order(*(rows[:, [0, 2]] for rows in timed)),
        query_error=float(errors.mean()),
        by_hour=np.bincount(hours[1][:, 0], minlength=HOURS).tolist(),
        by_duration=up_to_last(classes[1]),
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
    """Put trips into classes of durations, whose middles are whole steps."""
    return np.rint(durations(seconds) / DURATION_CLASS).astype(np.int64)


def up_to_last(classes: Ints) -> list[int]:
    """Count classes, with all beyond the last of them in it."""
    counts: list[int] = np.bincount(np.minimum(classes, CLASSES - 1), minlength=CLASSES).tolist()
    return counts
