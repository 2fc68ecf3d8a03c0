"""Counts on streets, of the originals and of a release: how well the release keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.streets import count_on_streets
from trajanon.trajectories.trajectories import Trajectories

BUSIEST_STREETS = 1_000
"""Streets whose volumes have an error of their own, at most."""
FEWEST = 4
"""Trips of the originals on a street that is compared."""
FEWEST_FOR_SPEED = 20
"""Trips on a street of which the speed is compared."""
_VOLUME_CLASSES = (FEWEST, 20, 50, 100, 200)  # trips at which each begins


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
    one_trip_each = np.ones(len(originals), np.int64)
    as_lines = ReleasedLines(originals.points, one_trip_each, originals.times)
    before, after = (
        count_on_streets(lines, roads.network).table.set_index("state")[["trips", "speed"]]
        for lines in (as_lines, release)
    )
    streets = before.join(after.add_suffix("_released"), how="outer")
    streets["metres"] = roads.network.street_length[streets.index // 2]
    return street_usefulness(streets.fillna({"trips": 0, "trips_released": 0}))


def street_usefulness(streets: pd.DataFrame) -> StreetUsefulness:
    """Compare originals and release on each street in a direction.

    Columns are ``trips``, ``trips_released``, ``speed`` and ``speed_released``, which are NaN where
    there are no times, and ``metres``, the length of the street.
    """
    from scipy.stats import spearmanr

    before = streets["trips"]
    after = streets["trips_released"]
    volume_error = (after - before).abs() / before.clip(lower=1)
    busiest = before[before > 0].nlargest(BUSIEST_STREETS).index
    names = [f"{low} to {high - 1}" for low, high in pairwise(_VOLUME_CLASSES)]
    names.append(f"{_VOLUME_CLASSES[-1]} or more")
    volume_class = pd.cut(before, [*_VOLUME_CLASSES, np.inf], right=False, labels=names)

    has_speed = (before >= FEWEST_FOR_SPEED) & (after >= FEWEST_FOR_SPEED)
    speed_error = (streets["speed_released"] / streets["speed"] - 1.0)[has_speed].abs()

    is_compared = before >= FEWEST
    compared_before = before[is_compared]
    compared_after = after[is_compared]
    # Where all volumes are equal, they have no order.
    have_order = min(compared_before.nunique(), compared_after.nunique()) > 1
    metres_in_place = float((np.minimum(before, after) * streets["metres"]).sum())
    return StreetUsefulness(
        streets=len(compared_before),
        order=float(spearmanr(compared_before, compared_after).statistic) if have_order else None,
        busiest_error=float(volume_error[busiest].median()) if len(busiest) else 0.0,
        error=volume_error.groupby(volume_class, observed=True).median().to_dict(),
        on_right_street=metres_in_place / max(float((before * streets["metres"]).sum()), 1.0),
        speed_error=float(speed_error.median()) if speed_error.notna().any() else None,
    )
