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
    from trajanon.maps import Background
    from trajanon.trajectories import Trajectories

_VIEWS = ("overlay", "side-by-side", "public")
_TILES = "OpenStreetMap"
_MARGIN = 0.002  # degrees of background around what is shown


@options(
    files=(
        "Trajectories and release, files or folders of parts, or several releases with a switch "
        "between them; with --view public the release alone.",
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
    background="Draw roads and water of this .osm.pbf file behind the lines.",
    out="Page to write.",
)
def draw(
    files: list[Path] | None = None,
    *,
    view: str = "overlay",
    tiles: str | None = None,
    offline: bool = False,
    background: Path | None = None,
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
    if len(given) < 2 - public or (public and len(given) > 2):
        raise BadInput(
            "map takes trajectories and their release, or several releases; or, with --view "
            "public, one release"
        )
    releases = given[-1:] if public else given[1:]
    check_page(out, "a map")
    if offline and (tiles or "none").lower() != "none":
        raise BadInput(f"an offline map has no tiles: leave out --offline or --tiles {tiles}")
    street_map = None if offline or (tiles or "").lower() == "none" else tiles or _TILES
    read = [*given, *map(report_path, releases), *filter(None, [background])]
    with replacing(out, inputs=read, public=[out] * public) as (draft,):
        if public:
            page = _public(releases[0], street_map, background)
        else:
            page = _for_the_holder(given[0], releases, view, street_map, background)
        draft.write_text(maps.html(page), encoding="utf-8")
    tell(f"Open {out.resolve()} in a browser.")


def _public(release: Path, tiles: str | None, background: Path | None) -> "Map":
    from trajanon import maps

    # Arguments are easily swapped, and originals must not look released.
    if problems := trajanon.check(release, k=2).problems:
        raise BadInput(f"{release} is no release: {problems[0]}")
    shown = trajanon.read_release(release)
    return maps.public(shown, tiles=tiles, background=_behind(shown, background))


def _for_the_holder(
    originals: Path, releases: list[Path], view: str, tiles: str | None, background: Path | None
) -> "Map":
    from trajanon import maps
    from trajanon.files.report import read_report

    # The files' names, or where two are alike the whole paths.
    names = [path.stem for path in releases]
    if len(set(names)) < len(names):
        names = list(map(str, releases))
    pairs = [(trajanon.read_release(path), read_report(path)) for path in releases]
    shown = trajanon.read_trajectories(originals)
    named, behind = dict(zip(names, pairs, strict=True)), _behind(shown, background)
    return maps.compare_releases(shown, named, view=view, tiles=tiles, background=behind)


def _behind(shown: "Trajectories", pbf: Path | None) -> "Background | None":
    if pbf is None or len(shown) == 0:
        return None
    from trajanon import maps
    from trajanon.extract.earth.roads import roads_and_water

    return maps.Background(*roads_and_water(pbf, box_around(shown.points, _MARGIN, share=0.05)))


def box_around(points: "Floats", margin: float, share: float = 0.0) -> "Box":
    """Give the box of points, wider by degrees and by a share of its sides."""
    from trajanon.extract import Box

    south, west = points.min(axis=(0, 1)).tolist()
    north, east = points.max(axis=(0, 1)).tolist()
    wider = margin + share * ((north - south) + (east - west))
    return Box(
        max(west - wider, -180.0),
        max(south - wider, -90.0),
        min(east + wider, 180.0),
        min(north + wider, 90.0),
    )
