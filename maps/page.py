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
from branca.element import Element, Figure, MacroElement
from jinja2 import Template

from trajanon.errors import BadInput
from trajanon.maps.background import Background
from trajanon.maps.colours import PALETTE
from trajanon.maps.drawing import Drawing

# What a browser may load for a page that needs nothing: nothing.
_CLOSED = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:"
)


class _Verbatim(Element):
    """Text that stands in the page as it is: branca would read it as a template."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def render(self, **_: Any) -> str:
        return self.text


class _Page(Figure):
    """A page whose first line says who may see it."""

    def __init__(self, title: str, notice: str | None, closed: bool) -> None:
        super().__init__(title=escape(title))
        self.notice = notice
        if closed:  # before anything that a browser might load
            policy = f'<meta http-equiv="Content-Security-Policy" content="{_CLOSED}">'
            self.header.add_child(_Verbatim(policy), name="policy")

    def render(self, **kwargs: Any) -> str:
        rendered = str(super().render(**kwargs))
        if self.notice is None:
            return rendered
        # A comment ends at the first "--" and ">", its line at the first break.
        notice = " ".join(escape(self.notice).replace("--", "–").split())
        return f"<!-- {notice} -->\n{rendered}"


class _Scripts(MacroElement):
    """Leaflet, our scripts and the data, all within the page."""

    _template = Template(
        "{% macro script(this, kwargs) %}"
        "trajanonPage({{ this._parent.get_name() }});"
        "{% endmacro %}"
    )

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__()
        self._name = "Scripts"
        self.data = data

    def render(self, **kwargs: Any) -> None:
        super().render(**kwargs)
        figure = self.get_root()
        ours = {
            name: files("trajanon.maps").joinpath(name).read_text(encoding="utf-8")
            for name in ("page.css", "layers.js", "panel.js", "page.js")
        }
        for name, text in {"leaflet.css": _leaflet("css"), **ours}.items():
            if name.endswith(".css"):
                figure.header.add_child(_Verbatim(f"<style>{text}</style>"), name=name)
        for name, text in {"leaflet.js": _leaflet("js"), **ours}.items():
            if name.endswith(".js"):
                element = _Verbatim(f"<script>{text}</script>")
                figure.header.add_child(element, name=name)
        for name, value in self.data.items():
            figure.html.add_child(_Verbatim(_data(name, value)), name=f"data {name}")


def _leaflet(suffix: str) -> str:
    place = f"xstatic/pkg/leaflet/data/leaflet.{suffix}"
    path = Path(str(distribution("XStatic-Leaflet").locate_file(place)))
    text = path.read_text(encoding="utf-8")
    return text.replace("//# sourceMappingURL=leaflet.js.map", "")


def _data(name: str, value: Any) -> str:
    """Write a value where scripts can read it, and nothing in it ends the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="trajanon-{name}">{text}</script>'


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
    """Put drawings of one or several releases on a page.

    Parameters
    ----------
    drawings
        Of releases of the same originals.
    view
        ``overlay``, ``side-by-side`` or ``public``.
    title
        Of the browser's window.
    notice
        Who may see the page; None if everybody may.
    attribution
        The line that must be shown with the data, if there is one.
    tiles
        Name of a street map that folium knows; None for none.
    background
        Roads and water, drawn below everything else.

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
        zoom_snap=0.25,  # so that the data fill the page
        zoom_animation=view != "side-by-side",  # or one side would run ahead
        attribution_control=False,  # ours tells what is drawn, too
    )
    drawn.default_js = []
    drawn.default_css = []
    _Page(title, notice, closed=tiles is None).add_child(drawn)
    if tiles is not None:
        _street_map(tiles).add_to(drawn)
    bounds = np.array([drawing.bounds for drawing in drawings])
    data: dict[str, Any] = {
        "page": {
            "view": view,
            "title": title,
            "notice": notice,
            "attribution": attribution,
            "bounds": [bounds[:, 0].min(axis=0).tolist(), bounds[:, 1].max(axis=0).tolist()],
            "palette": PALETTE,
            "releases": [drawing.about for drawing in drawings],
        }
    }
    if background is not None:
        data["background"] = background.lines
    for number, drawing in enumerate(drawings):
        for name, layer in drawing.layers.items():
            data[f"{number}-{name}"] = layer
    _Scripts(data).add_to(drawn)
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
