"""Draw what trim cuts: python docs/trim_picture.py writes docs/trim.png; it needs matplotlib."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from PIL import Image

from trajanon.common.arrays import Floats
from trajanon.extract.home_zones import RADIUS
from trajanon.extract.points import Points, batch
from trajanon.extract.trimmed_tracks import cut_places

_DOCS = Path(__file__).parent
_TRACKS = 20
_AROUND = 1_500.0  # metres from the home
_KEY = bytes(32)  # no holder's


def draw(axes: Axes, points: Points, metres: Floats, title: str) -> None:
    """Draw the tracks of one person around the home, which is marked, in metres from it, (n, 2)."""
    first, size = points.pieces
    for begin, count in zip(first, size, strict=True):
        axes.plot(*metres[begin : begin + count].T, color="#0072B2", linewidth=1, alpha=0.5)

    axes.set_xlim(-_AROUND, _AROUND)
    axes.set_ylim(-_AROUND, _AROUND)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title)
    axes.plot(0, 0, "*", color="#D55E00", markersize=14)


def main() -> None:
    """Draw a made-up commuter's tracks before and after."""
    sys.path.append(str(_DOCS.parent / "benchmarks"))
    import homes

    _, home, tracks = next(homes.people(1))
    points, left, _ = cut_places(batch(tracks[:_TRACKS]), RADIUS, np.empty((0, 2)), _KEY)

    figure, (before, after) = plt.subplots(1, 2, figsize=(8, 4.4), layout="constrained")
    titles = (f"{_TRACKS} tracks of one person, and home", "trimmed")
    for axes, tracks_drawn, title in zip((before, after), (points, left), titles, strict=True):
        metres = homes.metres_of(tracks_drawn.lat, tracks_drawn.lon) - home
        draw(axes, tracks_drawn, metres, title)
    before.plot([-1_400, -900], [-1_400, -1_400], color="black", linewidth=2)
    before.text(-1_150, -1_370, "500 m", ha="center")

    picture = _DOCS / "trim.png"
    figure.savefig(picture, dpi=80)
    Image.open(picture).quantize(32).save(picture, optimize=True)


if __name__ == "__main__":
    main()
