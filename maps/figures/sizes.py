"""How many groups have how many trajectories."""

import numpy as np

from trajanon.arrays import Ints
from trajanon.files.report import Report
from trajanon.maps.colours import PALETTE
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.style import ONE_COLUMN, panels
from trajanon.maps.telling import by_size, counted

_HEIGHT = 2.1  # inches


def sizes(report: Report, labels: Ints) -> Picture:
    """Draw a bar for each size of groups."""
    members = np.bincount(labels)
    rows = by_size(members)
    figure, (ax,) = panels(1, 1, ONE_COLUMN, _HEIGHT)
    bars = ax.bar(range(len(rows)), [count for _, count in rows], width=0.7, color=PALETTE[0])
    ax.bar_label(bars, [f"{count:,}" for _, count in rows], padding=1)
    ax.set_xticks(range(len(rows)), [size for size, _ in rows])
    ax.margins(y=0.12)  # room for the numbers
    ax.xaxis.grid(visible=False)
    ax.set_xlabel("trajectories in a group")
    ax.set_ylabel("groups")
    caption = (
        f"Sizes of the {len(members):,} groups of {len(labels):,} trajectories, with "
        f"at least {report['k']} {counted(report)} in each."
    )
    return Picture("sizes", figure, caption)
