"""How useful a release is: how far points, lengths, counts from cell to cell and hours are off.

What its traffic counts and speeds are worth is measured in `usefulness_for_tasks`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trajanon.common.arrays import Bools, Floats
from trajanon.evaluation.od_flows import OD_CELLS, flow_similarity, flows
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
from trajanon.trajectories.release_timing import time_errors


@dataclass(frozen=True, slots=True)
class HoursLeft:
    """What a release of trips leaves of when they happened; each error in seconds, summarised."""

    departure_error: Summary
    duration_error: Summary


@dataclass(frozen=True, slots=True)
class Usefulness:
    """What a release leaves of trajectories; distances in metres, summarised."""

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
