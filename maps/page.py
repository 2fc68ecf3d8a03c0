"""The page: a folium map with its layers and its panel."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import folium
import numpy as np
from branca.element import Figure
from numpy.typing import NDArray

from trajanon.errors import BadInput
from trajanon.maps.panel import Panel


class _Page(Figure):
    """A page whose first line says who may see it."""

    def __init__(self, title: str, notice: str | None) -> None:
        super().__init__(title=title)
        self.notice = notice

    def render(self, **kwargs: Any) -> str:
        rendered = str(super().render(**kwargs))
        if self.notice is None:
            return rendered
        # A comment ends at the first "--" and ">", its line at the first break.
        notice = " ".join(escape(self.notice).replace("--", "–").split())
        return f"<!-- {notice} -->\n{rendered}"


def page(
    layers: Sequence[folium.GeoJson],
    sizes: NDArray[np.int64],
    points: NDArray[np.float64],
    *,
    title: str,
    headline: str,
    facts: Mapping[str, str],
    notice: str | None,
    attribution: str | None,
    tiles: str | None,
) -> folium.Map:
    """Put layers and a panel on a map.

    Parameters
    ----------
    points
        All that is shown, latitude and longitude in degrees, shape (n, m, 2).
    title
        Of the browser's window.
    tiles
        Name of a street map that folium knows; None for none.
    layers, sizes, headline, facts, notice, attribution
        As for `Panel`.

    Returns
    -------
    folium.Map
        Ready to be saved; it begins with the notice, if there is one.

    Raises
    ------
    BadInput
        If no street map has this name.
    """
    drawn = folium.Map(
        tiles=None,
        prefer_canvas=True,
        control_scale=True,
        font_size="12px",
        zoom_snap=0.25,  # so that the data fill the page
    )
    _Page(title, notice).add_child(drawn)
    if tiles is not None:
        _street_map(tiles).add_to(drawn)
    for layer in layers:
        layer.add_to(drawn)
    drawn.keep_in_front(layers[-1])
    folium.LayerControl(collapsed=False).add_to(drawn)
    Panel(
        layers,
        sizes,
        headline=headline,
        facts=facts,
        notice=notice,
        attribution=attribution,
        bounds=[points.min(axis=(0, 1)).tolist(), points.max(axis=(0, 1)).tolist()],
    ).add_to(drawn)
    return drawn


def _street_map(tiles: str) -> folium.TileLayer:
    try:
        return folium.TileLayer(tiles, name="Street map", overlay=True, opacity=0.6)
    except ValueError as error:
        msg = f"no street map is called {tiles!r}; try OpenStreetMap, or none"
        raise BadInput(msg) from error


def html(drawn: folium.Map) -> str:
    """Render a map as the page that ``drawn.save`` would write.

    Parameters
    ----------
    drawn
        A map of this package.

    Returns
    -------
    str
        HTML.
    """
    return str(drawn.get_root().render())


def save(drawn: folium.Map, path: Path) -> None:
    """Write a map as a page of HTML.

    Parameters
    ----------
    drawn
        A map of this package.
    path
        Where to; what is there is replaced.
    """
    path.write_text(html(drawn), encoding="utf-8")
