"""The antimeridian, where longitudes jump from 180 to -180: no mean is taken across it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.number_text import number_of
from trajanon.tracks import TICKS
from trajanon.trajectories import Trajectories

_HALF = 180.0  # degrees; what spans more is nearer the other way round


def refuse_crossing(trajectories: Trajectories, *, tracks: bool) -> None:
    """Refuse trajectories that cross it, or whose tracks do if they may slide on these."""
    longitude = trajectories.points[..., 1]
    crossing = int((np.ptp(longitude, axis=1) > _HALF).sum())
    if tracks and trajectories.tracks is not None:
        runs = trajectories.tracks
        along, first = runs.points.ticks[:, 1].astype(np.int64), runs.first[:-1]
        crosses = np.maximum.reduceat(along, first) - np.minimum.reduceat(along, first)
        crossing = max(crossing, int((crosses > _HALF * TICKS)[runs.run].sum()))
    if crossing:
        what = number_of(crossing, "trajectory crosses", "trajectories cross")
        raise BadInput(
            f"{what} the antimeridian, where longitudes jump from 180 to -180: extract each side "
            "of it with an `area` of its own"
        )


def refuse_groups_across(points: Floats, labels: Ints) -> None:
    """Refuse groups that span more than half of the Earth, whose mean lies beside all of them."""
    longitude: NDArray[Any] = points[..., 1]
    most = np.full((2, int(labels.max(initial=-1)) + 1), -np.inf)
    np.maximum.at(most[0], labels, longitude.max(axis=1))
    np.maximum.at(most[1], labels, -longitude.min(axis=1))
    if across := int((most.sum(axis=0) > _HALF).sum()):
        what = number_of(across, "group holds", "groups hold")
        raise BadInput(
            f"{what} trajectories that lie more than 180 degrees of longitude apart, as on both "
            "sides of the antimeridian, and have no mean: anonymise each side on its own, or "
            "lower `k`"
        )
