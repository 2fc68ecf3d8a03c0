"""The colours of lines and cells on maps and in figures, and the street map beneath them."""

import folium

from trajanon.common.errors import BadInput

STREET_MAP = "OpenStreetMap"
"""The tiles under a map, unless others are named."""

# Different with any colour vision, and dark enough on a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")

RAMP = ("#fed976", "#feb24c", "#fd8d3c", "#fc4e2a", "#e31a1c", "#bd0026", "#800026")
"""From few to many: Brewer's YlOrRd."""


def add_street_map(drawn: folium.Map, tiles: str) -> None:
    """Put tiles under a map: a name that folium knows, or the address of a server."""
    try:
        street_map = folium.TileLayer(tiles, name="Street map", overlay=True, opacity=0.6)
    except ValueError as error:
        raise BadInput(f"no street map is called {tiles!r}; try {STREET_MAP}, or none") from error
    street_map.add_to(drawn)
