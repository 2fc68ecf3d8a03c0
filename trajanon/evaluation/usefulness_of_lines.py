"""How useful a release is: how far points, lengths, counts from cell to cell and hours are off.

What its traffic counts and speeds are worth is measured by the errors in `tasks`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.trajectories.distances import (
    Summary,
    distances_to_lines,
    length_change,
    lengths,
    summary,
    to_line,
    to_way,
    until_rest,
)
from trajanon.trajectories.geodesy import cells
from trajanon.trajectories.release_timing import time_errors

OD_CELLS = {"0.5 km": 500.0, "1 km": 1_000.0, "2 km": 2_000.0, "3 km": 3_000.0}
"""Metres of cells of origins and destinations, by name: from a neighbourhood to a district."""

SMALLEST, *_, LARGEST = OD_CELLS  # their names

_SHARE_OF_COUNTS = 0.75  # of an OD table that shall stay: three of four


@dataclass(frozen=True, slots=True)
class HoursLeft:
    """What a release of trips leaves of when they happened; errors in seconds, summed up."""

    departure_error: Summary
    duration_error: Summary


@dataclass(frozen=True, slots=True)
class Usefulness:
    """What a release leaves of trajectories; distances in metres, summed up."""

    displacement: Summary  # how far points were moved
    to_line: Summary  # from original points to the nearest place of the line
    to_way: Summary  # from released points to the nearest place of the way
    length: float  # mean length of the originals, metres
    length_change: float  # mean share by which lines got longer; negative where they got shorter
    # Of trips counted from cell to cell, by the names of OD_CELLS: the share of counts that stays.
    flow_similarity: Mapping[str, float]
    flows_of: int  # trips, those with both ends
    times: HoursLeft | None = None  # what is left of the hours; None where no times are published


def usefulness(
    original: Floats,
    released: Floats,
    *,
    true_ends: Bools | None = None,
    seconds: Floats | None = None,
    released_seconds: Floats | None = None,
) -> Usefulness:
    """Measure the usefulness of trajectories, (n, m, 2), beside the released line of each.

    ``true_ends`` says of both ends whether they are those of a trip, (n, 2); flows are of
    trajectories that have both. Seconds are those of one clock, (n, m).
    """
    rows = np.arange(len(original))
    is_moving = until_rest(original)  # points before a trip's rest, (n, m)
    has_ends = np.ones(len(original), np.bool_) if true_ends is None else true_ends.all(axis=1)
    times = None
    if seconds is not None and released_seconds is not None:
        departure_error, duration_error = time_errors(seconds, released_seconds)
        times = HoursLeft(summary(departure_error), summary(duration_error))

    return Usefulness(
        displacement=summary(distances_to_lines(original, released, rows)[is_moving]),
        to_line=summary(distances_to_lines(original, released, rows, to_line)[is_moving]),
        to_way=summary(distances_to_lines(original, released, rows, to_way)[is_moving]),
        length=float(lengths(original).mean()),
        length_change=float(length_change(original, released).mean()),
        flow_similarity={
            name: flow_similarity(flows(original[has_ends], cell), flows(released[has_ends], cell))
            for name, cell in OD_CELLS.items()
        },
        flows_of=int(has_ends.sum()),
        times=times,
    )


def cell_for_od(similarity: Mapping[str, float]) -> str | None:
    """Name the smallest cells with which enough counts of an OD table stay; None if none do.

    >>> cell_for_od({"0.5 km": 0.4, "1 km": 0.7, "2 km": 0.75, "3 km": 0.9})
    '2 km'
    """
    return next((cell for cell, share in similarity.items() if share >= _SHARE_OF_COUNTS), None)


def flows(points: Floats, cell: float) -> Ints:
    """Number the cells where trips begin and end, (n, 2)."""
    return cells(points[:, [0, -1]], cell)


class FlowCounts(NamedTuple):
    """How many trips go from one cell to another, before and after."""

    flow: Ints  # the numbers of both cells, (f, 2), rising
    before: Ints  # trips, (f,)
    after: Ints  # trips, (f,)


def flow_counts(before: Ints, after: Ints) -> FlowCounts:
    """Count each flow of two sets of trips, (n, 2) and (m, 2)."""
    trips = np.concatenate([before, after])
    flow, flow_of_trip = np.unique(trips, axis=0, return_inverse=True)
    of_both = np.split(flow_of_trip.reshape(-1), [len(before)])
    return FlowCounts(flow, *(np.bincount(number, minlength=len(flow)) for number in of_both))


def flow_similarity(before: Ints, after: Ints) -> float:
    """Compare flows, (n, 2): their common part (Lenormand et al., PLOS ONE 7, 2012)."""
    counts = flow_counts(before, after)
    common = np.minimum(counts.before, counts.after).sum()  # 0 without any trip
    return float(2 * common / max(len(before) + len(after), 1))
