"""One group in detail: its members, and the centroid released for them."""

import numpy as np
from matplotlib.lines import Line2D

from trajanon.errors import BadInput
from trajanon.maps.colours import PALETTE
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.style import ONE_COLUMN, few_ticks, legend_below, panels
from trajanon.maps.lines import Unrolled
from trajanon.maps.matching import Match
from trajanon.utility import displacement
from trajanon.utility.displacements import on_plane

_HEIGHT = 3.4  # inches
_MEMBER, _CENTROID = PALETTE[0], PALETTE[1]


def group(matched: Match, number: int | None) -> Picture:
    """Draw the members of a group and their centroid, in metres."""
    labels = matched.labels
    unrolled = Unrolled(matched.trajectories.points)
    points, lines = unrolled(matched.trajectories.points), unrolled(matched.lines)
    count = len(lines)
    if number is None:
        far = displacement(points, lines[labels]).mean(axis=1)
        moved = np.bincount(labels, weights=far) / np.bincount(labels)
        number = int(np.argsort(moved, kind="stable")[(count - 1) // 2])
        chosen = ", that of median displacement"
    elif 0 <= number < count:
        chosen = ""
    else:
        msg = f"there is no group {number}: choose one from 0 to {count - 1}"
        raise BadInput(msg)
    members = points[labels == number]
    far = displacement(members, lines[number])
    # One plane for all: the members one after the other, as if they were one line.
    on_ground, centroid = on_plane(members.reshape(1, -1, 2), lines[[number]])
    figure, (ax,) = panels(1, 1, ONE_COLUMN, _HEIGHT)
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
    slid = " as slid" if matched.aligned else ""
    legend_below(
        figure,
        [
            Line2D([], [], color=_MEMBER, lw=0.7, label=f"{len(members)} members{slid}"),
            Line2D([], [], color=_CENTROID, lw=3, label="released centroid"),
            Line2D([], [], color="black", lw=0, marker="o", label="start"),
        ],
        columns=3,
    )
    caption = (
        "For the holder of the data, not for publication: it shows originals. Group "
        f"{number} of {count:,}{chosen}: its {len(members)} members{slid}, and the "
        "centroid that is released once for each of them; mean displacement "
        f"{far.mean():,.0f} m."
    )
    return Picture("group", figure, caption, private=True)
