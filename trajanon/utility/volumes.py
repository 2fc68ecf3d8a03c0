"""What a release leaves of the volumes and speeds on streets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints

BUSIEST_STREETS = 1_000
FEWEST = 4
"""People on a street that is compared."""
MANY = 20
"""People by whom a speed is compared."""
_CLASSES = (FEWEST, 20, 50, 100, 200)
_NEAR = 0.15  # of a speed


@dataclass(frozen=True, slots=True)
class StreetUsefulness:
    """Streets in one direction, of the originals and of a release; errors as shares."""

    streets: int  # that at least `FEWEST` of the originals take
    order: float | None  # Spearman's rank correlation of their volumes
    busiest_order: float | None  # Kendall's tau of the busiest ones
    busiest_error: float  # of the volumes of these, in the median
    error: Mapping[str, float]  # the same by class of volume
    on_right_street: float  # share of the originals' kilometres that stay on their street
    kilometres: Mapping[str, float]  # by kind of road: released for each of the originals
    speed_error: float | None  # in the median, where `MANY` people went; None without times
    speeds_near: float | None  # share of these speeds that are off by 15 % at most


def street_usefulness(
    before: Ints,
    after: Ints,
    length: Floats,
    kind: NDArray[np.object_],
    speeds: tuple[Floats, Floats] | None = None,
) -> StreetUsefulness:
    """Compare people on streets, (n,), of the originals and of a release.

    ``length`` is that of each street in metres, ``kind`` the kind of its road.
    """
    from scipy.stats import kendalltau, spearmanr

    used = np.flatnonzero(before >= FEWEST)
    busiest = np.argsort(-before, kind="stable")[:BUSIEST_STREETS]
    busiest = busiest[before[busiest] > 0]
    off = np.abs(after - before) / np.maximum(before, 1)
    names = [f"{low} to {high - 1}" for low, high in pairwise(_CLASSES)]
    of_class = np.digitize(before, _CLASSES) - 1
    errors = {
        name: float(np.median(off[of_class == number]))
        for number, name in enumerate([*names, f"{_CLASSES[-1]} or more"])
        if (of_class == number).any()
    }
    all_before = float((before * length).sum())
    speed_error = near = None
    if speeds is not None:
        at = (before >= MANY) & (after >= MANY) & np.isfinite(speeds[0]) & np.isfinite(speeds[1])
        if at.any():
            wrong = np.abs(speeds[1][at] / speeds[0][at] - 1.0)
            speed_error, near = float(np.median(wrong)), float((wrong <= _NEAR).mean())
    return StreetUsefulness(
        streets=len(used),
        order=_correlation(spearmanr, before[used], after[used]),
        busiest_order=_correlation(kendalltau, before[busiest], after[busiest]),
        busiest_error=float(np.median(off[busiest])) if len(busiest) else 0.0,
        error=errors,
        on_right_street=float((np.minimum(before, after) * length).sum()) / max(all_before, 1.0),
        kilometres={
            str(one): float((after * length)[kind == one].sum() / total)
            for one in np.unique(kind.astype(str))
            if (total := float((before * length)[kind == one].sum())) > 0.0
        },
        speed_error=speed_error,
        speeds_near=near,
    )


def _correlation(measure: Callable[..., Any], before: Ints, after: Ints) -> float | None:
    """Compare two orders; None where all are alike."""
    if min(len(np.unique(before)), len(np.unique(after))) < 2:
        return None
    return float(measure(before, after).statistic)
