"""trajanon map."""

from pathlib import Path
from typing import TYPE_CHECKING

import trajanon
from trajanon.cli.messages import tell
from trajanon.cli.options import ANONYMIZED, BOTH, MAP, TRAJECTORIES, check_page, options
from trajanon.common.errors import BadInput

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

    from trajanon.common.arrays import Floats
    from trajanon.extract import Box
    from trajanon.maps import Surroundings
    from trajanon.release.snapping import RoadsToFollow

_VIEWS = ("overlay", "side-by-side", "public")
_TILES = "OpenStreetMap"
_MARGIN = 0.01  # degrees


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
    roads="An .osm.pbf file: its main roads are drawn beneath the lines, without network.",
    out="Page to write.",
)
def draw(
    files: list[Path] | None = None,
    *,
    view: str = "overlay",
    tiles: str | None = None,
    offline: bool = False,
    roads: Path | None = None,
    out: Path = MAP,
) -> None:
    """Draw original and released trajectories on a map."""
    import numpy as np

    from trajanon import maps
    from trajanon.common.atomic_output import replacing
    from trajanon.release.report import read_report, report_path

    if view not in _VIEWS:
        raise BadInput(f"`view` {view!r} is not known; choose from {', '.join(_VIEWS)}")
    read = files or [TRAJECTORIES, ANONYMIZED]
    public = view == "public"
    if len(read) > 2 or (len(read) < 2 and not public):
        raise BadInput(
            "map takes trajectories and their release; or, with --view public, one release"
        )
    release = read[-1]
    check_page(out, "a map")
    if offline and (tiles or "none").lower() != "none":
        raise BadInput(f"an offline map has no tiles: leave out --offline or --tiles {tiles}")

    street_map = None if offline or (tiles or "").lower() == "none" else tiles or _TILES
    inputs = [*read, report_path(release), *([roads] if roads else [])]
    with replacing(out, inputs=inputs, public=[out] * public) as (draft,):
        # Arguments are easily swapped, and originals must not look released.
        cells = _cells(release) if public else None
        if public and cells is None and (problems := trajanon.check(release, k=2).problems):
            raise BadInput(f"{release} is no release: {problems[0]}")

        if cells is not None:
            west, south, east, north = cells.total_bounds.tolist()
            around = _surroundings(np.array([[[south, west], [north, east]]]), roads)
            page = maps.public(cells, tiles=street_map, around=around)
        elif public:
            released = trajanon.read_release(release)
            around = _surroundings(released.points, roads)
            page = maps.public(released, tiles=street_map, around=around)
        else:
            released = trajanon.read_release(release)
            page = maps.compare(
                trajanon.read_trajectories(read[0]),
                released,
                read_report(release),
                view=view,
                tiles=street_map,
                around=_surroundings(released.points, roads),
            )
        draft.write_text(maps.html(page), encoding="utf-8")
    tell(f"Open {out.resolve()} in a browser.")


def _cells(path: Path) -> "GeoDataFrame | None":
    """Read trips by cell, as streets --cells writes them; None if it is another file."""
    import pyarrow
    from pyarrow import parquet

    try:
        columns = {*parquet.read_schema(path).names} if path.is_file() else set()
    except (OSError, pyarrow.ArrowException):
        return None
    if not {"cell", "trips", "geometry"} <= columns:
        return None

    import geopandas

    return geopandas.read_parquet(path)


def _surroundings(points: "Floats", roads: Path | None) -> "Surroundings":
    """Name the place of released points, and read the main roads of a file there."""
    from trajanon.extract.earth.places import place_of
    from trajanon.maps import Surroundings

    box = box_around(points)
    if roads is None:
        return Surroundings(place_of(box))

    from trajanon.extract.earth.roads import main_roads

    return Surroundings(place_of(box), main_roads(roads, box))


def roads_around(points: "Floats", roads: Path, mode: str) -> "RoadsToFollow":
    """Read the roads around points."""
    from trajanon.extract import roads_to_follow

    return roads_to_follow(roads, mode, bbox=box_around(points))


def box_around(points: "Floats") -> "Box":
    """Return the box of points, wider by a kilometre: no road farther off counts."""
    from trajanon.extract import Box

    south, west = points.min(axis=(0, 1)).tolist()
    north, east = points.max(axis=(0, 1)).tolist()
    return Box(
        max(west - _MARGIN, -180.0),
        max(south - _MARGIN, -90.0),
        min(east + _MARGIN, 180.0),
        min(north + _MARGIN, 90.0),
    )
