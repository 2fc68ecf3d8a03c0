"""The page: a folium map, what it draws, and the scripts that draw it."""

import json
import os
from collections.abc import Iterable, Sequence
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import folium
import numpy as np
from branca.element import Figure
from jinja2 import Environment, PackageLoader

from trajanon.arrays import Floats
from trajanon.atomic_output import replacing
from trajanon.errors import BadInput
from trajanon.maps.drawing import Drawing
from trajanon.maps.layers import PALETTE, bends
from trajanon.trajectories import OSM_ATTRIBUTION


class Background(NamedTuple):
    """Roads and water, drawn below everything else; for maps without tiles.

    Attributes
    ----------
    roads, water
        Lines, and the borders of waters: latitude and longitude in degrees, each of shape (m, 2).

    Examples
    --------
    A street below the released lines. No server is asked for it:

    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> street = np.array([[40.1, 1.9], [40.1, 3.1]])
    >>> background = maps.Background(roads=[street])
    >>> released = trajanon.Trajectories(np.array([[[40.1, 2.0], [40.1, 3.0]]]))
    >>> drawn = maps.public(released, tiles=None, background=background)
    >>> '"roads":[[' in maps.html(drawn)
    True
    """

    roads: Iterable[Floats] = ()
    water: Iterable[Floats] = ()


def _ours(name: str) -> str:
    return files("trajanon.maps").joinpath(name).read_text(encoding="utf-8")


def _leaflet(suffix: str) -> str:
    place = f"xstatic/pkg/leaflet/data/leaflet.{suffix}"
    path = Path(str(distribution("XStatic-Leaflet").locate_file(place)))
    text = path.read_text(encoding="utf-8")
    return text.replace("//# sourceMappingURL=leaflet.js.map", "")


_ENVIRONMENT = Environment(
    loader=PackageLoader("trajanon.maps", ""), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.globals |= {"ours": _ours, "leaflet": _leaflet}


class _Page(Figure):
    """A folium figure that renders `page.html`, whose first line says who may see it."""

    _template = _ENVIRONMENT.get_template("page.html")

    map: folium.Map
    notice: str | None
    data: dict[str, str]  # what the page draws, as JSON, by the id of its element
    closed: bool  # may load nothing


def _json(value: Any) -> str:
    """Write a value so that nothing in it ends the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def map_page(
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
        attribution_control=False,  # ours also says what is drawn
    )
    drawn.default_js = []
    drawn.default_css = []
    bounds = np.array([drawing.bounds for drawing in drawings])
    # Each different layer is written once: by its text, the name it has on the page.
    key_of: dict[str, str] = {}
    releases = []
    for number, drawing in enumerate(drawings):
        keys = {
            name: key_of.setdefault(_json(layer), f"{number}-{name}")
            for name, layer in drawing.layers.items()
        }
        releases.append(drawing.about | {"layers": keys})
    behind = None if background is None else OSM_ATTRIBUTION
    credited = dict.fromkeys(line for line in (attribution, behind) if line)
    about = {
        "view": view,
        "title": title,
        "notice": notice,
        "attribution": " · ".join(credited),
        "bounds": [bounds[:, 0].min(axis=0).tolist(), bounds[:, 1].max(axis=0).tolist()],
        "palette": PALETTE,
        "releases": releases,
    }
    page = _Page(title=title)
    page.header._children.clear()  # the character set, which the template names first
    page.map, page.notice, page.closed = drawn, notice, tiles is None
    page.data = {"page": _json(about)} | {key: text for text, key in key_of.items()}
    if background is not None:
        lines = {"roads": bends(background.roads), "water": bends(background.water)}
        page.data["background"] = _json(lines)
    page.add_child(drawn)
    if tiles is not None:
        try:
            layer = folium.TileLayer(tiles, name="Street map", overlay=True, opacity=0.6)
        except ValueError as error:
            raise BadInput(
                f"no street map is called {tiles!r}; try OpenStreetMap, or none"
            ) from error
        layer.add_to(drawn)
    return drawn


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

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> released = trajanon.Trajectories(np.array([[[40.1, 2.0], [40.1, 3.0]]]))
    >>> page = maps.html(maps.public(released, tiles=None))
    >>> "<title>trajanon: release</title>" in page
    True
    """
    return str(drawn.get_root().render())


def save(drawn: folium.Map, path: str | os.PathLike[str]) -> None:
    """Write a map as a page of HTML.

    Parameters
    ----------
    drawn
        A map of this package.
    path
        The file to write or replace. Only a public map can be read by others than its owner.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> released = trajanon.Trajectories(np.array([[[40.1, 2.0], [40.1, 3.0]]]))
    >>> maps.save(maps.public(released, tiles=None), "public.html")
    >>> Path("public.html").exists()
    True
    """
    public = getattr(drawn.get_root(), "notice", "") is None
    out = Path(path)
    with replacing(out, public=[out] if public else []) as (draft,):
        draft.write_text(html(drawn), encoding="utf-8")
