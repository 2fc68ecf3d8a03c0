"""trajanon map."""

from pathlib import Path
from typing import TYPE_CHECKING

import trajanon
from trajanon.cli.messages import tell
from trajanon.cli.options import ANONYMIZED, BOTH, MAP, TRAJECTORIES, check_page, options
from trajanon.errors import BadInput

if TYPE_CHECKING:
    from folium import Map

    from trajanon.arrays import Floats
    from trajanon.extract import Box

_VIEWS = ("overlay", "side-by-side", "public")
_TILES = "OpenStreetMap"


@options(
    files=(
        "Trajectories and release, files or folders of parts; with --view public the release "
        "alone.",
        BOTH,
    ),
    view="overlay: both on one map; side-by-side: on two maps that move together; public: the "
    "release only.",
    tiles=(
        "Street map behind the lines, or none. The browser asks its server for tiles, so that "
        "server learns where the data are.",
        _TILES,
    ),
    offline="No tiles; the page allows its browser no request at all.",
    out="Page to write.",
)
def draw(
    files: list[Path] | None = None,
    *,
    view: str = "overlay",
    tiles: str | None = None,
    offline: bool = False,
    out: Path = MAP,
) -> None:
    """Draw original and released trajectories on a map."""
    from trajanon import maps
    from trajanon.atomic_output import replacing
    from trajanon.files.report import report_path

    if view not in _VIEWS:
        raise BadInput(f"`view` {view!r} is not known; choose from {', '.join(_VIEWS)}")
    given = files or [TRAJECTORIES, ANONYMIZED]
    public = view == "public"
    if len(given) > 2 or (len(given) < 2 and not public):
        raise BadInput(
            "map takes trajectories and their release; or, with --view public, one release"
        )
    release = given[-1]
    check_page(out, "a map")
    if offline and (tiles or "none").lower() != "none":
        raise BadInput(f"an offline map has no tiles: leave out --offline or --tiles {tiles}")
    street_map = None if offline or (tiles or "").lower() == "none" else tiles or _TILES
    with replacing(out, inputs=[*given, report_path(release)], public=[out] * public) as (draft,):
        if public:
            page = _public(release, street_map)
        else:
            page = _for_the_holder(given[0], release, view, street_map)
        draft.write_text(maps.html(page), encoding="utf-8")
    tell(f"Open {out.resolve()} in a browser.")


def _public(release: Path, tiles: str | None) -> "Map":
    from trajanon import maps

    # Arguments are easily swapped, and originals must not look released.
    if problems := trajanon.check(release, k=2).problems:
        raise BadInput(f"{release} is no release: {problems[0]}")
    return maps.public(trajanon.read_release(release), tiles=tiles)


def _for_the_holder(originals: Path, released: Path, view: str, tiles: str | None) -> "Map":
    from trajanon import maps
    from trajanon.files.report import read_report

    release, report = trajanon.read_release(released), read_report(released)
    shown = trajanon.read_trajectories(originals)
    return maps.compare(shown, release, report, view=view, tiles=tiles)


def box_around(points: "Floats", margin: float) -> "Box":
    """Give the box of points, wider by some degrees."""
    from trajanon.extract import Box

    south, west = points.min(axis=(0, 1)).tolist()
    north, east = points.max(axis=(0, 1)).tolist()
    west, south = max(west - margin, -180.0), max(south - margin, -90.0)
    return Box(west, south, min(east + margin, 180.0), min(north + margin, 90.0))
