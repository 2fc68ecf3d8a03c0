"""Draw a heat map: python docs/cells_picture.py RELEASE; it needs matplotlib."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap, LogNorm
from PIL import Image

from trajanon import cell_counts
from trajanon.maps.background import RAMP

_PICTURE = Path(__file__).with_name("cells.png")
_METRES = 200.0
_FROM, _TO = 4, 4_000  # trips in a cell
_KILOMETRE = 1 / 111.195  # degrees of latitude


def main() -> None:
    """Draw the cells of a release, the darker the more trips pass."""
    cells = cell_counts(sys.argv[1], _METRES)
    west, south, east, _ = cells.total_bounds
    stretch = 1 / np.cos(np.radians(south))

    figure, axes = plt.subplots(figsize=(7, 6.5), layout="constrained")
    colours = plt.cm.ScalarMappable(LogNorm(_FROM, _TO), ListedColormap(RAMP))
    cells.plot(ax=axes, color=colours.to_rgba(cells["trips"]), aspect=stretch)
    axes.set_axis_off()

    bar = figure.colorbar(colours, ax=axes, location="bottom", shrink=0.6, pad=0.02)
    bar.set_label("trips that pass a cell of 200 m, k = 4 release")
    bar.set_ticks([4, 40, 400, 4_000], labels=["4", "40", "400", "4,000"])

    begin = east - 5 * _KILOMETRE * stretch
    axes.plot([begin, east], [south, south], color="black", linewidth=2)
    axes.text((begin + east) / 2, south + 0.001, "5 km", ha="center")
    axes.annotate(
        "N", (west, south + 0.015), (west, south), arrowprops={"arrowstyle": "->"}, ha="center"
    )
    figure.savefig(_PICTURE, dpi=80)
    Image.open(_PICTURE).quantize(32).save(_PICTURE, optimize=True)


if __name__ == "__main__":
    main()
