"""The figures of a release, for the holder of the data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.files.report import NOT_TOGETHER, Report, clock_in, rows_in, unit_in
from trajanon.maps.counted import by_hour, hours_of, in_words, told
from trajanon.maps.drawing import match
from trajanon.maps.figures.pictures import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Picture,
    few_ticks,
    legend_below,
    panels,
    styled,
)
from trajanon.maps.layers import PALETTE, turning_point, unrolled
from trajanon.maps.panel import by_size, counted, lost_in_stages, stages_with_loss
from trajanon.number_text import UNITS, number_of, percent, span
from trajanon.privacy.originals import Matched
from trajanon.release import Release, with_report
from trajanon.times import WEEKDAYS
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement
from trajanon.utility.displacements import on_plane

_MEMBER, _CENTROID, _PALE = PALETTE[0], PALETTE[1], "#BBBBBB"
_PRIVATE = "shows originals: for the holder of the data"
_DAY = 24  # hours
_ONCE = {
    "subjects": "once for each of their subjects",
    "trajectories": "once for each of them",
    "lines": "once, with their count",
}


def _units(report: Report) -> str:
    return UNITS[unit_in(report)]


def of_release(
    trajectories: Trajectories,
    release: Release | Trajectories,
    report: Mapping[str, Any] | None = None,
    *,
    group: int | None = None,
) -> list[Picture]:
    """Draw information loss by stage, group sizes, departures by hour, and one group in detail.

    Parameters
    ----------
    trajectories, release, report
        As for `trajanon.maps.compare`.
    group
        The group to draw in detail, by its number in the report's labels; None takes the one whose
        mean displacement is the median of all groups.

    Returns
    -------
    list of Picture
        The last one, and departures, are of originals, and say so. There are no departures where
        the release has no times.

    Raises
    ------
    BadInput
        If there is nothing to draw, the three do not belong together, or there is no such group.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon.maps.figures import of_release
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points)
    >>> release = trajanon.anonymize(trajectories, k=2)
    >>> pictures = of_release(trajectories, release)
    >>> [picture.name for picture in pictures]
    ['stages', 'sizes', 'group']
    """
    found, typed = match(trajectories, *with_report(release, report))
    if not stages_with_loss(typed):
        raise BadInput(NOT_TOGETHER)
    with styled():
        return [
            _stages(typed),
            _sizes(typed, found.labels),
            *_departures(typed, found),
            _group(typed, found, group),
        ]


def _stages(report: Report) -> Picture:
    """Draw a bar for each stage after which there were groups."""
    names, losses = zip(*stages_with_loss(report), strict=True)
    figure, (ax,) = panels(1, 1, ONE_COLUMN, 0.55 + 0.24 * len(names))
    bars = ax.barh(range(len(names)), losses, height=0.65, color=PALETTE[0])
    ax.bar_label(bars, [percent(loss / 100.0) for loss in losses], padding=2)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.margins(x=0.2)  # room for the numbers
    ax.yaxis.grid(visible=False)
    lost = lost_in_stages(report)
    ax.set_xlabel(f"{lost.lower()}{'' if report.get('times') else ', IL'} (%)")
    caption = (
        f"{lost} after each stage: {report['n']:,} {_units(report)}, at least "
        f"{report['k']} {counted(report)} in each group."
    )
    if report.get("alignment") is not None:
        caption += " After alignment the originals are other pieces of the same tracks."
    return Picture("stages", figure, caption)


def _sizes(report: Report, labels: Ints) -> Picture:
    members = np.bincount(labels)
    sizes, counts = zip(*by_size(members), strict=True)
    figure, (ax,) = panels(1, 1, ONE_COLUMN, 2.1)
    bars = ax.bar(range(len(sizes)), counts, width=0.7, color=PALETTE[0])
    ax.bar_label(bars, [f"{count:,}" for count in counts], padding=1)
    ax.set_xticks(range(len(sizes)), sizes)
    ax.margins(y=0.12)  # room for the numbers
    ax.xaxis.grid(visible=False)
    ax.set_xlabel(f"{_units(report)} in a group")
    ax.set_ylabel("groups")
    caption = (
        f"Sizes of the {number_of(len(members), 'group')} of {len(labels):,} {_units(report)}, "
        f"with at least {report['k']} {counted(report)} in each."
    )
    return Picture("sizes", figure, caption)


def _departures(report: Report, found: Matched) -> list[Picture]:
    """Draw how many depart in each hour, original and released; nothing without times."""
    clock, times, account = clock_in(report), found.slid.times, report.get("times")
    if clock is None or account is None or times is None or found.times is None:
        return []
    originals = by_hour(clock, hours_of(clock, clock.of(times)))
    released = by_hour(clock, hours_of(clock, found.times), np.bincount(found.labels))
    hours = len(originals)
    weekly = hours > _DAY
    figure, (ax,) = panels(1, 1, TWO_COLUMNS if weekly else ONE_COLUMN, 2.3)
    ax.stairs(originals, fill=True, color=_PALE, label="originals")
    ax.stairs(released, color=PALETTE[0], lw=1.2, baseline=None, label="released")
    every = _DAY if weekly else 3
    ax.set_xticks(range(0, hours + 1, every))
    if weekly:
        ax.set_xticks(range(_DAY // 2, hours, _DAY), WEEKDAYS, minor=True)
        ax.tick_params("x", which="major", labelbottom=False)
        ax.tick_params("x", which="minor", length=0)
    ax.set_xlim(0, hours)
    ax.set_xlabel(f"departure, local time ({clock.timezone})")
    ax.set_ylabel(f"{_units(report)} an hour")
    ax.set_title(_PRIVATE, fontsize=7)
    legend_below(figure, 2, others=ax.get_legend_handles_labels()[0])
    error = account["departure_error"]
    caption = (
        f"For the holder of the data, not for publication: it counts originals. {in_words(clock)} "
        f"Departures of {len(found.labels):,} {_units(report)} and of their released lines; they "
        f"are off by {span(error['mean'])} on average, {span(error['median'])} in the median."
    )
    return [Picture("departures", figure, caption, private=True)]


def _group(report: Report, found: Matched, number: int | None) -> Picture:
    labels, chosen, when = found.labels, "", ""
    windows = found.slid.points
    middle = turning_point(windows)
    points, lines = unrolled(windows, middle), unrolled(found.lines, middle)
    count = len(lines)
    far = displacement(points, lines[labels]).mean(axis=1)
    if number is None:
        moved = np.bincount(labels, weights=far) / np.bincount(labels)
        number = int(np.argsort(moved, kind="stable")[(count - 1) // 2])
        chosen = ", that of median displacement"
    elif not 0 <= number < count:
        raise BadInput(f"there is no group {number}: choose one from 0 to {count - 1}")
    members = points[labels == number]
    # One plane for all: the members one after the other, as if they were one line.
    on_ground, centroid = on_plane(members.reshape(1, -1, 2), lines[[number]])
    figure, (ax,) = panels(1, 1, ONE_COLUMN, 3.4)
    for north, east in np.moveaxis(on_ground.reshape(members.shape), -1, 1):
        ax.plot(east, north, "o-", markevery=[0], ms=2.5, lw=0.7, color=_MEMBER)
    # Below the members, which it would hide where all go the same way.
    north, east = centroid[0].T
    ax.plot(east, north, "o-", markevery=[0], ms=6, lw=3, color=_CENTROID, zorder=1.5)
    ax.set_aspect("equal", adjustable="datalim")
    few_ticks(ax.xaxis, 6)
    ax.set_xlabel("metres to the east")
    ax.set_ylabel("metres to the north")
    ax.set_title(_PRIVATE, fontsize=7)
    named = f"{len(members)} members"
    clock = clock_in(report)
    if clock is not None and found.times is not None:
        when = f" with its times ({told(clock, found.times[[number]])[0]})"
    entries = [
        Line2D([], [], color=_MEMBER, lw=0.7, label=named),
        Line2D([], [], color=_CENTROID, lw=3, label="released centroid"),
        Line2D([], [], color="black", lw=0, marker="o", label="start"),
    ]
    legend_below(figure, 3, others=entries)
    caption = (
        f"For the holder of the data, not for publication: it shows originals. Group {number} of "
        f"{count:,}{chosen}: its {named}, and the centroid that is released{when} "
        f"{_ONCE[rows_in(report)]}; mean displacement {far[labels == number].mean():,.0f} m."
    )
    return Picture("group", figure, caption, private=True)
