"""What a map says of all trajectories, also where it draws a sample; departures by hour."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.maps.layers import Honeycomb, corners, turning_point, unrolled
from trajanon.number_text import span
from trajanon.privacy.originals import InParts, Matched
from trajanon.times import DAY, Clock
from trajanon.utility import displacement

_HOURS = 24
_OUTLIERS = 0.01, 1_000  # share of the originals, and how many at most
_AT_ONCE = 20_000  # originals that are counted


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
    middle: float | None  # longitude that tells that side

    def on_side(self, points: Floats) -> Floats:
        """Move points to the same side."""
        return unrolled(points, self.middle)


def counted(found: Matched, clock: Clock | None) -> Counted:
    """Count what is in memory."""
    windows, times = found.slid.points, found.slid.times
    starts = range(0, len(windows), _AT_ONCE)
    batches = (
        (some, windows[some], None if times is None else times[some])
        for some in (slice(start, start + _AT_ONCE) for start in starts)
    )
    return _counted(found.lines, found.times, found.labels, batches, windows, clock)


def counted_in_parts(whole: InParts, clock: Clock | None) -> Counted:
    """Count what is read some at a time; the map is as wide as the lines."""
    lines = whole.lines.points
    batches = ((rows, slid.points, slid.times) for rows, slid in whole.batches())
    return _counted(lines, whole.lines.times, whole.line, batches, lines, clock)


def _counted(
    lines: Floats,
    times: Floats | None,
    labels: Ints,
    batches: Iterable[tuple[slice, Floats, Floats | None]],
    shown: Floats,
    clock: Clock | None,
) -> Counted:
    middle = turning_point(shown)
    lines, bounds = unrolled(lines, middle), corners(unrolled(shown, middle))
    cells = Honeycomb(bounds)
    share, most = _OUTLIERS
    outlying = min(most, max(1, round(share * len(labels))))
    moved, sizes = np.zeros(len(lines)), np.bincount(labels, minlength=len(lines))
    farthest, how_far = np.empty((0, *lines.shape[1:])), np.empty(0)
    hours, departures = np.empty(0, np.int64), Counter[int]()
    for rows, windows, departing in batches:
        points, mine = unrolled(windows, middle), labels[rows]
        far = displacement(points, lines[mine]).mean(axis=1)
        moved += np.bincount(mine, far, len(lines))
        cells.add(points)
        how_far = np.append(how_far, far)
        order = np.argsort(-how_far, kind="stable")[:outlying]
        how_far, farthest = how_far[order], np.concatenate([farthest, points])[order]
        if clock is not None and departing is not None:
            departed = hours_of(clock, clock.of(departing))
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
        middle=middle,
    )


def hours_of(clock: Clock, times: Floats) -> Ints:
    """Number the hour in which each departs: that of the day, or from Monday on of the week."""
    departure = times[:, 0]
    hour = clock.hour(departure)
    if clock.times == "of-week":
        hour += _HOURS * (departure // DAY % 7).astype(np.int64)
    return hour


def by_hour(clock: Clock, hours: Ints, sizes: Ints | None = None) -> list[int]:
    """Count departures in each hour; a line counts for all originals, or rows, of its group."""
    slots = _HOURS * (7 if clock.times == "of-week" else 1)
    counts: list[int] = np.bincount(hours, sizes, slots).astype(np.int64).tolist()
    return counts


def told(clock: Clock, times: Floats) -> list[str]:
    """Say of each when it departs, and how long it takes."""
    ends = times[:, [0, -1]].tolist()
    return [f"{clock.text(departure)}, {span(arrival - departure)}" for departure, arrival in ends]


def in_words(clock: Clock) -> str:
    """Say what the hours are, and what the times in the release."""
    hours = {
        "of-day": "Hours of the day",
        "of-week": "Hours of the week",
        "date": "Hours of the day, of all dates",
    }[clock.times]
    means = f"Released times are means of groups, rounded to {span(clock.step)}."
    return f"{hours}, local time ({clock.timezone}). {means}"
