"""What a map tells of all trajectories, also where it draws a sample of them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.clock import Clock
from trajanon.maps.departures import by_hour, hours_of
from trajanon.maps.layers import Honeycomb, corners, unrolled
from trajanon.privacy.in_parts import InParts
from trajanon.privacy.originals import Matched
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

_OUTLIERS = 0.01, 1_000  # share of the originals, and how many at most


class Counted(NamedTuple):
    """All trajectories of a release, which may come some at a time."""

    lines: Floats  # of each group, (g, m, 2), all on one side of the antimeridian
    times: Floats | None  # of each group, (g, m)
    sizes: Ints  # originals of each group, (g,)
    moved: Floats  # their mean displacement, (g,)
    bounds: list[list[float]]
    density: dict[str, Any]  # of the originals, as a layer
    outliers: Floats  # the originals that moved farthest, (o, m, 2)
    outliers_hours: list[int]  # when these depart; empty without times
    by_hour: list[int]  # departures of all originals; empty without times
    among: Floats  # what tells that side

    def on_side(self, points: Floats) -> Floats:
        """Move points to the same side."""
        return unrolled(points, self.among)


def counted(found: Matched, clock: Clock | None) -> Counted:
    """Count what is in memory."""
    windows = found.slid.points
    bounds = corners(unrolled(windows, windows))
    batches = [(slice(None), found.slid)]
    return _counted(found.lines, found.times, found.labels, batches, windows, bounds, clock)


def counted_in_parts(whole: InParts, clock: Clock | None) -> Counted:
    """Count what is read some at a time; the map is as wide as the lines."""
    lines = whole.lines.points
    batches = ((rows, slid) for rows, _, slid in whole.batches())
    bounds = corners(unrolled(lines, lines))
    return _counted(lines, whole.lines.times, whole.line, batches, lines, bounds, clock)


def _counted(
    lines: Floats,
    times: Floats | None,
    labels: Ints,
    batches: Iterable[tuple[slice, Trajectories]],
    among: Floats,
    bounds: list[list[float]],
    clock: Clock | None,
) -> Counted:
    lines, cells = unrolled(lines, among), Honeycomb(bounds)
    share, most = _OUTLIERS
    outlying = min(most, max(1, round(share * len(labels))))
    moved, sizes = np.zeros(len(lines)), np.bincount(labels, minlength=len(lines))
    farthest, how_far = np.empty((0, *lines.shape[1:])), np.empty(0)
    hours, departures = np.empty(0, np.int64), Counter[int]()
    for rows, windows in batches:
        points, mine = unrolled(windows.points, among), labels[rows]
        far = displacement(points, lines[mine]).mean(axis=1)
        moved += np.bincount(mine, far, len(lines))
        cells.add(points)
        how_far = np.append(how_far, far)
        order = np.argsort(-how_far, kind="stable")[:outlying]
        how_far, farthest = how_far[order], np.concatenate([farthest, points])[order]
        if clock is not None and windows.times is not None:
            departed = hours_of(clock, clock.of(windows.times))
            departures.update(dict(enumerate(by_hour(clock, departed))))
            hours = np.append(hours, departed)[order]
    return Counted(
        lines=lines,
        times=times,
        sizes=sizes,
        moved=moved / sizes,
        bounds=bounds,
        density=cells.layer,
        outliers=farthest,
        outliers_hours=hours.tolist(),
        by_hour=[*departures.values()],
        among=among,
    )
