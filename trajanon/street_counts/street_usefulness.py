"""Counts on streets, of the originals and of a release: how well the release keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats, Ints
from trajanon.release.snapping import RoadsToFollow
from trajanon.street_counts.released_lines import ReleasedLines
from trajanon.street_counts.streets import count_on_streets
from trajanon.trajectories.trajectories import Trajectories

BUSIEST_STREETS = 1_000
FEWEST = 4
"""Trips on a street that is compared."""
FEWEST_FOR_SPEED = 20
_VOLUME_CLASSES = (FEWEST, 20, 50, 100, 200)


@dataclass(frozen=True, slots=True)
class StreetUsefulness:
    """Streets in one direction, of the originals and of a release; errors as shares."""

    streets: int  # that at least `FEWEST` of the originals take
    order: float | None  # Spearman's rank correlation of their volumes
    busiest_error: float  # of the volumes of the busiest ones, in the median
    error: Mapping[str, float]  # the same by class of volume
    on_right_street: float  # share of the originals' kilometres that stay on their street
    speed_error: float | None  # in the median, of `FEWEST_FOR_SPEED` trips; None without times


def compared_streets(
    originals: Trajectories, release: ReleasedLines, roads: RoadsToFollow
) -> StreetUsefulness:
    """Compare the streets of a release with those of its originals, matched alike."""
    one_each = np.ones(len(originals), np.int64)
    counted = ReleasedLines(originals.points, one_each, originals.times)
    every_state = np.arange(2 * len(roads.network.whole))
    before, after = (
        count_on_streets(lines, roads.network)
        .table.set_index("state")
        .reindex(every_state, fill_value=0)
        for lines in (counted, release)
    )
    return street_usefulness(
        before["trips"].to_numpy(),
        after["trips"].to_numpy(),
        np.repeat(roads.network.whole, 2),
        (before["speed"].to_numpy(), after["speed"].to_numpy()),
    )


def street_usefulness(
    before: Ints, after: Ints, length: Floats, speeds: tuple[Floats, Floats]
) -> StreetUsefulness:
    """Compare trips on streets, (n,), of a length in metres, of the originals and of a release.

    Speeds are NaN where there are no times.
    """
    from scipy.stats import spearmanr

    used = np.flatnonzero(before >= FEWEST)
    busiest = np.argsort(-before, kind="stable")[:BUSIEST_STREETS]
    busiest = busiest[before[busiest] > 0]

    error = pd.Series(np.abs(after - before) / np.maximum(before, 1))
    names = [f"{low} to {high - 1}" for low, high in pairwise(_VOLUME_CLASSES)]
    names.append(f"{_VOLUME_CLASSES[-1]} or more")
    volume_class = pd.cut(before, [*_VOLUME_CLASSES, np.inf], right=False, labels=names)
    errors = error.groupby(volume_class, observed=True).median().to_dict()

    enough = (before >= FEWEST_FOR_SPEED) & (after >= FEWEST_FOR_SPEED)
    change = speeds[1][enough] / speeds[0][enough] - 1.0
    speed_error = float(np.nanmedian(np.abs(change))) if np.isfinite(change).any() else None

    order = None
    if min(len(np.unique(before[used])), len(np.unique(after[used]))) > 1:
        order = float(spearmanr(before[used], after[used]).statistic)
    in_place = float((np.minimum(before, after) * length).sum())
    return StreetUsefulness(
        streets=len(used),
        order=order,
        busiest_error=float(np.median(error[busiest])) if len(busiest) else 0.0,
        error=errors,
        on_right_street=in_place / max(float((before * length).sum()), 1.0),
        speed_error=speed_error,
    )
