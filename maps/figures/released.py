"""The figure of a group of a release, for the holder of the data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from trajanon.errors import BadInput
from trajanon.files.report import clock_in, rows_in
from trajanon.maps.drawing import match, when_it_departs
from trajanon.maps.figures.pictures import (
    ONE_COLUMN,
    Picture,
    few_ticks,
    legend_below,
    panels,
    styled,
)
from trajanon.maps.layers import PALETTE
from trajanon.release import Release, with_report
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement
from trajanon.utility.displacements import on_plane

_MEMBER, _CENTROID = PALETTE[0], PALETTE[1]
_ONCE = {
    "subjects": "once for each of their subjects",
    "trajectories": "once for each of them",
    "lines": "once, with their count",
}


def of_release(
    trajectories: Trajectories,
    release: Release | Trajectories,
    report: Mapping[str, Any] | None = None,
    *,
    group: int | None = None,
) -> list[Picture]:
    """Draw one group in detail: its members, and the centroid that is released.

    Parameters
    ----------
    trajectories, release, report
        As for `trajanon.maps.compare`.
    group
        Its number in the report's labels; None takes the group with the median mean displacement
        of all.

    Returns
    -------
    list of Picture
        A single one. It shows originals, and says so.

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
    >>> (picture,) = of_release(trajectories, trajanon.anonymize(trajectories, k=2), group=1)
    >>> picture.name, picture.private
    ('group', True)
    """
    found, typed = match(trajectories, *with_report(release, report))
    labels, points, chosen, when = found.labels, found.slid.points, "", ""
    count = len(found.lines)
    far = displacement(points, found.lines[labels]).mean(axis=1)
    if group is None:
        moved = np.bincount(labels, weights=far) / np.bincount(labels)
        group = int(np.argsort(moved, kind="stable")[(count - 1) // 2])
        chosen = ", that of median displacement"
    elif not 0 <= group < count:
        raise BadInput(f"there is no group {group}: choose one from 0 to {count - 1}")
    members = points[labels == group]
    # One plane for all: the members one after the other, as if they were one line.
    on_ground, centroid = on_plane(members.reshape(1, -1, 2), found.lines[[group]])
    with styled():
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
        ax.set_title("shows originals: for the holder of the data", fontsize=7)
        named = f"{len(members)} members"
        entries = [
            Line2D([], [], color=_MEMBER, lw=0.7, label=named),
            Line2D([], [], color=_CENTROID, lw=3, label="released centroid"),
            Line2D([], [], color="black", lw=0, marker="o", label="start"),
        ]
        legend_below(figure, 3, others=entries)
    clock = clock_in(typed)
    if clock is not None and found.times is not None:
        when = f" with its times ({when_it_departs(clock, found.times[group])})"
    caption = (
        f"For the holder of the data, not for publication: it shows originals. Group {group} of "
        f"{count:,}{chosen}: its {named}, and the centroid that is released{when} "
        f"{_ONCE[rows_in(typed)]}; mean displacement {far[labels == group].mean():,.0f} m."
    )
    return [Picture("group", figure, caption, private=True)]
