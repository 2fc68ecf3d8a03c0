"""All measures of the usefulness of a release, for its places and its hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.trajectories.distances import (
    Summary,
    length_change,
    lengths,
    moved_to,
    summary,
    to_line,
    to_way,
    until_rest,
)
from trajanon.trajectories.geodesy import cells
from trajanon.trajectories.times import Clock, durations, time_errors

FLOW_CELL = 500.0  # metres: trips begin and end in a neighbourhood
OD_CELLS = {"0.5 km": FLOW_CELL, "1 km": 1_000.0, "2 km": 2_000.0, "3 km": 3_000.0}  # a district
SMALLEST, *_, LARGEST = OD_CELLS
OD_KEPT = 0.75  # share of the counts of an OD table that shall stay: three of four
LENGTH_CLASS = 500.0  # metres: a class of trips by length
DURATION_CLASS = 300.0  # seconds: the usual step of released times
CLASSES = 40  # of lengths and of durations that are counted one by one; the last holds the rest
HOURS = 24

Both = Sequence[Sequence[int]]
"""Counts by class: of the originals, and as published."""


class Seconds(NamedTuple):
    """When trips are at their points, before and after, as seconds of one clock, (n, m)."""

    original: Floats
    released: Floats
    clock: Clock


@dataclass(frozen=True, slots=True)
class HoursLeft:
    """What a release of trips leaves of when they happened; errors in seconds, summed up."""

    departure_error: Summary
    duration_error: Summary
    flow_similarity: float  # share of trips that keep origin, destination and hour of departure
    by_hour: Both  # departures in each hour of the day
    by_duration: Both  # trips in each class of durations


@dataclass(frozen=True, slots=True)
class Usefulness:
    """What a release leaves of trajectories; distances in metres, summed up."""

    displacement: Summary  # how far points were moved
    to_line: Summary  # from original points to the nearest place of the line
    to_way: Summary  # from released points to the nearest place of the way
    length: float  # mean length of the originals, metres
    length_change: float  # mean share by which lines got longer; negative where they got shorter
    by_length: Both  # lines in each class of 500 m
    flow_similarity: Mapping[str, float]  # of trips counted from cell to cell, by the size of these
    # cells: the share of the counts that stay
    times: HoursLeft | None = None  # what is left of the hours; None where no times are published


def usefulness(
    original: Floats,
    released: Floats,
    *,
    true_ends: Bools | None = None,
    seconds: Seconds | None = None,
) -> Usefulness:
    """Measure the usefulness of trajectories as released; flows of those with true ends."""
    rows = np.arange(len(original))
    moving = until_rest(original)
    has_ends = np.ones(len(original), np.bool_) if true_ends is None else true_ends.all(axis=1)

    return Usefulness(
        displacement=summary(moved_to(original, released, rows)[moving]),
        to_line=summary(moved_to(original, released, rows, to_line)[moving]),
        to_way=summary(moved_to(original, released, rows, to_way)[moving]),
        length=float(lengths(original).mean()),
        length_change=float(length_change(original, released).mean()),
        by_length=[
            up_to_last((lengths(points) // LENGTH_CLASS).astype(np.int64))
            for points in (original, released)
        ],
        flow_similarity={
            name: flow_similarity(flows(original[has_ends], cell), flows(released[has_ends], cell))
            for name, cell in OD_CELLS.items()
        },
        times=None if seconds is None else hours_left(original, released, seconds),
    )


def cell_for_od(similarity: Mapping[str, float]) -> str | None:
    """Name the smallest cells with which enough counts of an OD table stay; None if none do.

    >>> cell_for_od({"0.5 km": 0.4, "1 km": 0.7, "2 km": 0.75, "3 km": 0.9})
    '2 km'
    """
    return next((cell for cell, share in similarity.items() if share >= OD_KEPT), None)


def hours_left(original: Floats, released: Floats, seconds: Seconds) -> HoursLeft:
    """Measure how well the hours of trips are kept, of points (n, m, 2) and their seconds."""
    times = seconds.original, seconds.released
    hours = [seconds.clock.hour(trips[:, 0]) for trips in times]
    hourly_flows = [
        np.column_stack([flows(points, FLOW_CELL), hour])
        for points, hour in zip((original, released), hours, strict=True)
    ]
    departure_error, duration_error = time_errors(*times)
    return HoursLeft(
        departure_error=summary(departure_error),
        duration_error=summary(duration_error),
        flow_similarity=flow_similarity(*hourly_flows),
        by_hour=[np.bincount(hour, minlength=HOURS).tolist() for hour in hours],
        by_duration=[up_to_last(duration_classes(trips)) for trips in times],
    )


def duration_classes(seconds: Floats) -> Ints:
    """Put trips into classes of durations, centred on whole steps."""
    return np.rint(durations(seconds) / DURATION_CLASS).astype(np.int64)


def up_to_last(classes: Ints) -> list[int]:
    """Count classes, with all beyond the last of them in it."""
    counts: list[int] = np.bincount(np.minimum(classes, CLASSES - 1), minlength=CLASSES).tolist()
    return counts


def flows(points: Floats, cell: float) -> Ints:
    """Number the cells where trips begin and end, (n, 2)."""
    return cells(points[:, [0, -1]], cell)


def flow_similarity(before: Ints, after: Ints) -> float:
    """Compare flows, perhaps with hours: their common part (Lenormand et al., PLOS ONE 7, 2012)."""
    _, flow = np.unique(np.concatenate([before, after]), axis=0, return_inverse=True)
    flow = flow.reshape(-1)
    number_of_flows = flow.max(initial=-1) + 1

    counts_before = np.bincount(flow[: len(before)], minlength=number_of_flows)
    counts_after = np.bincount(flow[len(before) :], minlength=number_of_flows)
    common = np.minimum(counts_before, counts_after).sum()
    return float(2 * common / max(counts_before.sum() + counts_after.sum(), 1))
