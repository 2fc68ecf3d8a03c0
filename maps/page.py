"""The page: a folium map, what it draws, and the scripts that draw it."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from typing import Any

import folium
import numpy as np
from branca.element import Element, Figure

from trajanon.errors import BadInput
from trajanon.maps.background import Background
from trajanon.maps.colours import PALETTE
from trajanon.maps.drawing import Drawing
from trajanon.outputs import replacing
from trajanon.trajectories import OSM_ATTRIBUTION

# What a browser may load for a page that needs nothing: nothing.
_CLOSED = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


class _Verbatim(Element):
    """Text that stands in the page as it is: branca would read it as a template."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def render(self, **_: Any) -> str:
        return self.text


class _Page(Figure):
    """A page that holds all it needs, and whose first line says who may see it."""

    def __init__(
        self, title: str, notice: str | None, data: Mapping[str, str], closed: bool
    ) -> None:
        super().__init__(title=escape(title))
        self.notice = notice
        if closed:  # before anything that a browser might load
            policy = f'<meta http-equiv="Content-Security-Policy" content="{_CLOSED}">'
            self.header.add_child(_Verbatim(policy))
        for style in (_leaflet("css"), _ours("page.css")):
            self.header.add_child(_Verbatim(f"<style>{style}</style>"))
        ours = map(_ours, ("canvas.js", "layers.js", "panel.js", "page.js"))
        for script in (_leaflet("js"), *ours):
            self.header.add_child(_Verbatim(f"<script>{script}</script>"))
        for name, text in data.items():
            opening = f'<script type="application/json" id="trajanon-{name}">'
            self.html.add_child(_Verbatim(f"{opening}{text}</script>"))

    def hold(self, drawn: folium.Map) -> None:
        """Put a map on the page; our script takes over once folium has made it."""
        self.add_child(drawn)
        begin = f"() => trajanonPage({drawn.get_name()})"
        call = f'addEventListener("DOMContentLoaded", {begin});'
        self.script.add_child(_Verbatim(call))

    def render(self, **kwargs: Any) -> str:
        rendered = str(super().render(**kwargs))
        rendered = rendered.replace("<html>", '<html lang="en">', 1)
        if self.notice is None:
            return rendered
        # A comment ends at the first "--" and ">", its line at the first break.
        notice = " ".join(escape(self.notice).replace("--", "–").split())
        return f"<!-- {notice} -->\n{rendered}"


def _ours(name: str) -> str:
    return files("trajanon.maps").joinpath(name).read_text(encoding="utf-8")


def _leaflet(suffix: str) -> str:
    place = f"xstatic/pkg/leaflet/data/leaflet.{suffix}"
    path = Path(str(distribution("XStatic-Leaflet").locate_file(place)))
    text = path.read_text(encoding="utf-8")
    return text.replace("//# sourceMappingURL=leaflet.js.map", "")


def _json(value: Any) -> str:
    """Write a value so that nothing in it ends the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _shared(drawings: Sequence[Drawing]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Write layers, those that releases have in common once: by place; and places."""
    place_of: dict[str, str] = {}
    places = [
        {
            name: place_of.setdefault(_json(layer), f"{number}-{name}")
            for name, layer in drawing.layers.items()
        }
        for number, drawing in enumerate(drawings)
    ]
    return {place: text for text, place in place_of.items()}, places


def page(
    drawings: Sequence[Drawing],
    *,
    view: str,
    title: str,
    notice: str | None,
    attribution: str | None,
    tiles: str | None,
    background: Background | None,
) -> folium.Map:
    """Put drawings of one or several releases on a page."""
    drawn = folium.Map(
        tiles=None,
        font_size="12px",
        zoom_snap=0.25,  # so that the data fill the page
        zoom_animation=view != "side-by-side",  # or one side would run ahead
        attribution_control=False,  # ours tells what is drawn, too
    )
    drawn.default_js = []
    drawn.default_css = []
    bounds = np.array([drawing.bounds for drawing in drawings])
    layers, places = _shared(drawings)
    behind = None if background is None else OSM_ATTRIBUTION
    credited = dict.fromkeys(line for line in (attribution, behind) if line)
    data: dict[str, Any] = {
        "page": {
            "view": view,
            "title": title,
            "notice": notice,
            "attribution": " · ".join(credited),
            "bounds": [bounds[:, 0].min(axis=0).tolist(), bounds[:, 1].max(axis=0).tolist()],
            "palette": PALETTE,
            "releases": [
                drawing.about | {"layers": names}
                for drawing, names in zip(drawings, places, strict=True)
            ],
        }
    }
    if background is not None:
        data["background"] = background.lines
    texts = {name: _json(value) for name, value in data.items()} | layers
    _Page(title, notice, texts, closed=tiles is None).hold(drawn)
    if tiles is not None:
        _street_map(tiles).add_to(drawn)
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
        Where to; what is there is replaced. Only a public map can be read by others than its owner.
    """
    public = getattr(drawn.get_root(), "notice", "") is None
    with replacing(path, public=[path] if public else []) as (draft,):
        draft.write_text(html(drawn), encoding="utf-8")
