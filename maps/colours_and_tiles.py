"""The colours of lines and cells on maps and in figures, and the street map beneath them."""

import folium
import numpy as np

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput

STREET_MAP = "OpenStreetMap"
"""The tiles under a map, unless others are named."""

# Different with any colour vision, and dark enough on a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")

RAMP = ("#fed976", "#feb24c", "#fd8d3c", "#fc4e2a", "#e31a1c", "#bd0026", "#800026")
"""From few to many: Brewer's YlOrRd."""


def add_street_map(drawn: folium.Map, tiles: str) -> None:
    """Put tiles under a map, by a name that folium knows."""
    try:
        street_map = folium.TileLayer(tiles, name="Street map", overlay=True, opacity=0.6)
    except ValueError as error:
        raise BadInput(f"no street map is called {tiles!r}; try {STREET_MAP}, or none") from error
    street_map.add_to(drawn)


def colours_of_lines(lines: Floats) -> list[int]:
    """Return the number in `PALETTE` of the colour of each line; lines are (g, m, 2).

    It differs from that of each line among the nearest that has a colour already. Looked at are as
    many near lines as there are other colours, so that one is always free.
    """
    from scipy.spatial import cKDTree

    ends_and_middle = lines[:, [0, lines.shape[1] // 2, -1]].reshape(len(lines), -1)
    neighbour_count = min(len(PALETTE), len(lines))
    _, near = cKDTree(ends_and_middle).query(ends_and_middle, neighbour_count)
    near = near.reshape(len(lines), -1)  # of one line alone, too: scipy then returns (1,)

    colours = np.full(len(lines), -1)  # -1: none yet
    all_colours = np.arange(len(PALETTE))
    for line in range(len(lines)):
        colours_near = colours[near[line]]
        times_used = np.bincount(colours_near[colours_near >= 0], minlength=len(PALETTE))
        # Of the colours least used nearby, a line takes the first from its own number on: thus all
        # colours are used.
        colours[line] = np.lexsort(((all_colours - line) % len(PALETTE), times_used))[0]
    return colours.tolist()
