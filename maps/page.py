"""Results as pages: originals and releases, for the holder; a release alone, to publish."""

import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import folium
from branca.element import Figure
from jinja2 import Environment, PackageLoader

from trajanon.common.arrays import Floats
from trajanon.common.atomic_output import replacing
from trajanon.common.errors import BadInput
from trajanon.maps.colours_and_tiles import PALETTE, RAMP, STREET_MAP, add_street_map
from trajanon.maps.drawing import Drawing, bends, cells_alone, release_and_originals, released_alone
from trajanon.release.originals import matched
from trajanon.release.release import Release, with_report
from trajanon.release.report import Report
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, ReleasedTrajectories, Trajectories

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

VIEWS = ("overlay", "side-by-side")


class Surroundings(NamedTuple):
    """What a map without a street map shows of the place where it is.

    Attributes
    ----------
    place
        The place in words.
    roads
        Main roads of OpenStreetMap: latitude and longitude of the points of each, (points, 2).

    Examples
    --------
    >>> from trajanon.maps import Surroundings
    >>> Surroundings("Madrid").place
    'Madrid'
    """

    place: str = ""
    roads: Sequence[Floats] = ()


NOWHERE = Surroundings()
"""Neither a name nor roads."""


def _file_beside(name: str) -> str:
    """Read a file of this folder."""
    return files("trajanon.maps").joinpath(name).read_text(encoding="utf-8")


def _leaflet(suffix: str) -> str:
    """Read Leaflet's script or style sheet, without what makes browsers look for another file."""
    place = f"xstatic/pkg/leaflet/data/leaflet.{suffix}"
    path = Path(str(distribution("XStatic-Leaflet").locate_file(place)))
    text = path.read_text(encoding="utf-8")
    return text.replace("//# sourceMappingURL=leaflet.js.map", "")


_ENVIRONMENT = Environment(
    loader=PackageLoader("trajanon.maps", ""), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.globals |= {"file_beside": _file_beside, "leaflet": _leaflet}


class _Page(Figure):
    """A folium figure that renders `page.html`; its first line says who may see it."""

    _template = _ENVIRONMENT.get_template("page.html")

    map: folium.Map
    notice: str | None
    data: dict[str, str]  # what the page draws, as JSON, by the id of its element
    closed: bool  # may load nothing


def _json(value: Any) -> str:
    """Write a value so that nothing in it ends the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _page_of(
    drawing: Drawing,
    attribution: str | None,
    tiles: str | None,
    around: Surroundings,
    view: str = "public",
    notice: str | None = None,
) -> folium.Map:
    """Put the drawing of a release on a page."""
    title = drawing.about["title"]
    drawn = folium.Map(
        tiles=None,
        font_size="12px",
        zoom_snap=0.25,  # so that the data fill the page
        zoom_animation=view != "side-by-side",  # or one side would run ahead
        attribution_control=False,  # ours also says what is drawn
    )
    drawn.default_js = []
    drawn.default_css = []

    page = _Page(title=title)
    page.header._children.clear()  # the character set, which the template names first
    page.map = drawn
    page.notice = notice
    page.closed = tiles is None

    credits = [attribution, OSM_ATTRIBUTION if around.roads else None]
    about = {
        "view": view,
        "notice": notice,
        "attribution": " · ".join(dict.fromkeys(filter(None, credits))),
        "place": around.place,
        "bounds": drawing.bounds,
        "palette": RAMP if "ramp" in drawing.about else PALETTE,
        "sentences": [],
        "worst": [],
        **drawing.about,
        "layers": list(drawing.layers),
    }
    data = {"page": about, "roads": bends(around.roads), **drawing.layers}
    page.data = {name: _json(value) for name, value in data.items()}
    page.add_child(drawn)

    if tiles is not None:
        add_street_map(drawn, tiles)
    return drawn


def compare(
    trajectories: Trajectories,
    release: Release | ReleasedTrajectories,
    report: Report | Mapping[str, Any] | None = None,
    *,
    view: str = "overlay",
    tiles: str | None = STREET_MAP,
    around: Surroundings = NOWHERE,
) -> folium.Map:
    """Draw original and released trajectories, one colour a group.

    The page is for the holder of the data: it shows the originals, and says so in its first line.
    When it is opened, the browser asks a server for the tiles of the street map, so that server
    learns where the data are; without tiles the page loads nothing.

    Parameters
    ----------
    trajectories
        The originals. Windows that slid on their tracks are drawn where they were averaged.
    release
        The result of `trajanon.anonymize`; or the released trajectories, in any order.
    report
        The holder's report, if the release comes without.
    view
        ``overlay``, both on one map; or ``side-by-side``, on two that move together.
    tiles
        Name of a street map that folium knows; None to ask no server.
    around
        The name of the place, and roads to draw beneath the lines.

    Returns
    -------
    folium.Map
        Ready to be saved; in a notebook it shows itself.

    Raises
    ------
    BadInput
        If there is nothing to draw, if trajectories, release and report do not belong together, or
        if the view or the street map is not known.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> drawn = maps.compare(trajectories, trajanon.anonymize(trajectories, k=2), tiles=None)
    >>> print(maps.html(drawn).splitlines()[0])
    <!-- For the holder of the data, not for publication. -->
    """
    lines, reported = with_report(release, report)
    groups = matched(reported.released_of(trajectories), lines, reported)
    if view not in VIEWS:
        raise BadInput(f"`view` {view!r} is not known; choose from {', '.join(VIEWS)}")
    drawing = release_and_originals(groups, reported)
    attribution = reported.attribution or trajectories.attribution
    return _page_of(drawing, attribution, tiles, around, view, reported.notice)


def public(
    release: Union[Release, ReleasedTrajectories, "GeoDataFrame"],
    *,
    tiles: str | None = STREET_MAP,
    around: Surroundings = NOWHERE,
) -> folium.Map:
    """Draw a release and nothing else; equal trajectories are one group.

    Parameters
    ----------
    release
        The released trajectories; or the result of `trajanon.anonymize`, without its report; or
        trips by cell, as `trajanon.cell_counts` counts them.
    tiles, around
        As for `compare`.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> points = np.array([[[40.0, 2.0], [40.0, 3.0]], [[40.2, 2.0], [40.2, 3.0]]])
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> page = maps.html(maps.public(release, tiles=None))
    >>> "For the holder of the data" in page
    False
    """
    if isinstance(release, Release):
        release = release.trajectories
    if isinstance(release, Trajectories):
        raise BadInput("a public map draws a release, and these are trajectories: anonymize them")
    if isinstance(release, ReleasedTrajectories):
        if len(release) == 0:
            raise BadInput(
                "no released trajectories are here to draw: run trajanon anonymize again"
            )
        return _page_of(released_alone(release), release.attribution, tiles, around)
    return _page_of(cells_alone(release), release.attrs.get("attribution"), tiles, around)


def html(drawn: folium.Map) -> str:
    """Render a map as the page that ``drawn.save`` would write.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> points = np.array([[[40.0, 2.0], [40.0, 3.0]], [[40.2, 2.0], [40.2, 3.0]]])
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> page = maps.html(maps.public(release, tiles=None))
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
    >>> points = np.array([[[40.0, 2.0], [40.0, 3.0]], [[40.2, 2.0], [40.2, 3.0]]])
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> maps.save(maps.public(release, tiles=None), "public.html")
    >>> Path("public.html").exists()
    True
    """
    public = getattr(drawn.get_root(), "notice", "") is None
    out = Path(path)
    with replacing(out, public=[out] if public else []) as (draft,):
        draft.write_text(html(drawn), encoding="utf-8")
