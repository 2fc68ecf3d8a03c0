"""Flows: trips counted from the cell where they begin to the one where they end."""

from collections.abc import Mapping

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.evaluation.intervals import Estimate, estimated
from trajanon.trajectories.geodesy import cells

OD_CELLS = {"0.5 km": 500.0, "1 km": 1_000.0, "2 km": 2_000.0, "3 km": 3_000.0}
"""Metres of cells of origins and destinations, by name: from a neighbourhood to a district."""

SMALLEST, *_, LARGEST = OD_CELLS  # their names

_SHARE_OF_COUNTS = 0.75  # of an OD table that shall stay: three of four


def cell_for_od(similarity: Mapping[str, float]) -> str | None:
    """Name the smallest cells with which enough counts of an OD table stay; None if none do.

    >>> cell_for_od({"0.5 km": 0.4, "1 km": 0.7, "2 km": 0.75, "3 km": 0.9})
    '2 km'
    """
    return next((cell for cell, share in similarity.items() if share >= _SHARE_OF_COUNTS), None)


def flows(points: Floats, cell: float) -> Ints:
    """Number the cells where trips begin and end, (n, 2)."""
    return cells(points[:, [0, -1]], cell)


def flow_counts(before: Ints, after: Ints) -> tuple[Ints, Ints, Ints]:
    """Count each flow of two sets of trips, (n, 2) and (m, 2).

    Returned are both cells of each flow, (f, 2), rising; its trips before; and those after, (f,).
    """
    trips = np.concatenate([before, after])
    flow, flow_of_trip = np.unique(trips, axis=0, return_inverse=True)
    trips_before, trips_after = (
        np.bincount(number, minlength=len(flow))
        for number in np.split(flow_of_trip.reshape(-1), [len(before)])
    )
    return flow, trips_before, trips_after


def flow_similarity(before: Ints, after: Ints) -> float:
    """Compare flows, (n, 2): their common part (Lenormand et al., PLOS ONE 7, 2012)."""
    _, trips_before, trips_after = flow_counts(before, after)
    common = np.minimum(trips_before, trips_after).sum()  # 0 without any trip
    return float(2 * common / max(len(before) + len(after), 1))


def flow_error(before: Ints, after: Ints) -> Estimate:
    """Compute the share of counts that is not common to two sets of trips, each (trips, 2).

    Counted are trips with the same pair of numbers. For the interval, places of origin are drawn.
    """
    flow, trips_before, trips_after = flow_counts(before, after)
    origin = renumbered(flow[:, 0])
    different = np.bincount(origin, np.abs(trips_before - trips_after)).astype(np.float64)
    trips = np.bincount(origin, trips_before + trips_after).astype(np.float64)

    def share_of_trips(different: Floats, trips: Floats) -> Floats:
        return np.asarray(different.sum(axis=-1) / trips.sum(axis=-1))

    return estimated(share_of_trips, different, trips)
