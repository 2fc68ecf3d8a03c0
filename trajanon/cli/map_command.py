"""trajanon map."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import trajanon
from trajanon.cli.messages import tell
from trajanon.cli.options import ANONYMIZED, MAP, PUBLIC_MAP, TRAJECTORIES, check_page, options
from trajanon.common.errors import BadInput

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

    from trajanon.common.arrays import Floats
    from trajanon.extract import Box
    from trajanon.maps import Surroundings
    from trajanon.release.matched_to_roads import RoadsToFollow

_TILES = "OpenStreetMap"  # as maps.colours_and_tiles, which loads folium
_MARGIN = 0.01  # degrees: a kilometre to north and south, less to east and west


@options(tiles=_TILES)
def draw(
    files: list[Path] | None = None,
    *,
    view: Literal["overlay", "side-by-side", "public"] = "overlay",
    tiles: str | None = None,
    offline: bool = False,
    roads: Path | None = None,
    out: Path | None = None,
) -> None:
    """Draw originals and release on a map."""
    from trajanon import maps
    from trajanon.common.atomic_output import replacing
    from trajanon.release.report_files import read_report, report_path

    paths = files or [TRAJECTORIES, ANONYMIZED]
    is_public = view == "public"
    if len(paths) > 2 or (len(paths) < 2 and not is_public):
        raise BadInput(
            "map takes trajectories and their release; or, with --view public, one release"
        )
    release = paths[-1]
    if out is None:
        out = PUBLIC_MAP if is_public else MAP
    check_page(out, "a map")
    if tiles is None:
        tiles = "none" if offline else _TILES
    street_map = None if tiles.lower() == "none" else tiles
    if offline and street_map is not None:
        raise BadInput(f"an offline map has no tiles: leave out --offline or --tiles {tiles}")

    inputs = [*paths, report_path(release), *([roads] if roads else [])]
    with replacing(out, inputs=inputs, public=[out] if is_public else []) as (draft,):
        if is_public:
            shown = _cells_or_release(release)
            page = maps.public(shown, tiles=street_map, around=_surroundings(shown, roads))
        else:
            released = trajanon.read_release(release)
            page = maps.compare(
                trajanon.read_trajectories(paths[0]),
                released,
                read_report(release),
                view=view,
                tiles=street_map,
                around=_surroundings(released, roads),
            )
        draft.write_text(maps.html(page), encoding="utf-8")
    shows = "for publication" if is_public else "keep it private: it shows the originals"
    tell(f"Open {out.resolve()} in a browser ({shows}).")


def _cells_or_release(path: Path) -> "GeoDataFrame | trajanon.ReleasedTrajectories":
    """Read trips by cell, as streets --cells writes them, or else a release."""
    import geopandas
    import pyarrow
    from pyarrow import parquet

    from trajanon.release.originals import matching_report
    from trajanon.release.verdict import verdict

    try:
        if path.is_file() and {"cell", "trips", "geometry"} <= {*parquet.read_schema(path).names}:
            return geopandas.read_parquet(path)
    except (OSError, ValueError, pyarrow.ArrowException):
        pass  # of another format, or without places on Earth

    # Arguments are easily swapped, and originals must not look released.
    if problems := trajanon.check(path, k=2).problems:
        raise BadInput(f"{path} is not a release: {problems[0]}")
    # Only the holder's report says what nobody sees in the file.
    report = matching_report(path)
    if report is not None and not (judged := verdict(report)):
        raise BadInput(f"{path} must not be published: {judged.sentences[0].rstrip('.')}")
    return trajanon.read_release(path)


def _surroundings(
    shown: "GeoDataFrame | trajanon.ReleasedTrajectories", roads: Path | None
) -> "Surroundings":
    """Name the place of what is drawn, and read the main roads of a file there."""
    from trajanon.extract.earth.area import place_of
    from trajanon.extract.earth.osm_file_roads import main_roads
    from trajanon.maps import Surroundings

    if isinstance(shown, trajanon.ReleasedTrajectories):
        box = box_around(shown.points)
    else:
        box = box_around(shown.total_bounds.reshape(1, 2, 2)[:, :, ::-1])
    return Surroundings(place_of(box), [] if roads is None else main_roads(roads, box))


def roads_around(points: "Floats", roads: Path, mode: str) -> "RoadsToFollow":
    """Read the roads around points."""
    from trajanon.extract import roads_to_follow

    return roads_to_follow(roads, mode, bbox=box_around(points))


def box_around(points: "Floats") -> "Box":
    """Return the box of points, (..., 2), with a margin: no road beyond it counts."""
    import numpy as np

    from trajanon.extract import Box

    south_west = points.min(axis=(0, 1)) - _MARGIN
    north_east = points.max(axis=(0, 1)) + _MARGIN
    south, west = np.maximum(south_west, (-90.0, -180.0)).tolist()
    north, east = np.minimum(north_east, (90.0, 180.0)).tolist()
    return Box(west, south, east, north)
