"""trajanon map."""

from pathlib import Path
from typing import TYPE_CHECKING

import trajanon
from trajanon.cli.options import ANONYMIZED, BOTH, MAP, TRAJECTORIES, check_page, options
from trajanon.cli.wording import tell
from trajanon.errors import BadInput

if TYPE_CHECKING:
    from trajanon.maps import Background

_VIEWS = ("overlay", "side-by-side", "public")
_TILES = "OpenStreetMap"
_MARGIN = 0.002  # degrees of background around what is shown


@options(
    files=(
        "Trajectories and release; with --view public the release alone; with --compare several "
        "releases.",
        BOTH,
    ),
    view="overlay: both on one map; side-by-side: on two maps that move together; public: the "
    "release only.",
    compare="All files are releases, with a switch between them.",
    originals=(
        "With --compare: the trajectories that the releases were made from.",
        str(TRAJECTORIES),
    ),
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
    compare: bool = False,
    originals: Path | None = None,
    tiles: str | None = None,
    offline: bool = False,
    background: Path | None = None,
    out: Path = MAP,
) -> None:
    """Draw original and released trajectories on a map."""
    from trajanon import maps
    from trajanon.files.report import read_report, report_path
    from trajanon.outputs import replacing

    if view not in _VIEWS:
        msg = f"view {view!r} is not known; choose from {', '.join(_VIEWS)}"
        raise BadInput(msg)
    trajectories, releases = _inputs(files, view, compare, originals)
    check_page(out, "a map")
    if offline and (tiles or "none").lower() != "none":
        msg = f"an offline map has no tiles: leave out --offline or --tiles {tiles}"
        raise BadInput(msg)
    street_map = None if offline or (tiles or "").lower() == "none" else tiles or _TILES
    read = [*releases, *map(report_path, releases)]
    read += [path for path in (trajectories, background) if path is not None]
    public = [out] if trajectories is None else []
    with replacing(out, inputs=read, public=public) as (draft,):
        if trajectories is None:
            shown = _published(releases[0])
            page = maps.public(shown, tiles=street_map, background=_behind(shown, background))
        else:
            # The files' names, or where two are alike the whole paths.
            short = len({release.stem for release in releases}) == len(releases)
            named = {
                path.stem if short else str(path): (trajanon.read_release(path), read_report(path))
                for path in releases
            }
            shown = trajanon.read_trajectories(trajectories)
            behind = _behind(shown, background)
            page = maps.compare_releases(
                shown, named, view=view, tiles=street_map, background=behind
            )
        draft.write_text(maps.html(page), encoding="utf-8")
    tell(f"Open {out.resolve()} in a browser.")


def _inputs(
    files: list[Path] | None, view: str, compare: bool, originals: Path | None
) -> tuple[Path | None, list[Path]]:
    """Tell trajectories, None where they are not to be seen, from releases."""
    if compare:
        if view == "public" or len(files or ()) < 2:
            msg = (
                "map --compare takes two or more releases, and the view overlay or "
                "side-by-side; their trajectories are named by --originals"
            )
            raise BadInput(msg)
        return originals or TRAJECTORIES, files or []
    if originals is not None:
        msg = (
            f"--originals {originals} goes with --compare; otherwise name trajectories "
            "and release one after the other"
        )
        raise BadInput(msg)
    given = files or [TRAJECTORIES, ANONYMIZED]
    if view == "public" and len(given) <= 2:
        return None, given[-1:]
    if len(given) != 2:
        msg = "map takes two files, trajectories and release; or, with --view public, one"
        raise BadInput(msg)
    return given[0], given[1:]


def _published(path: Path) -> "trajanon.Trajectories":
    """Read a release: arguments are easily swapped, and originals must not look released."""
    release = trajanon.read_release(path)
    if problems := trajanon.check(path, k=2).problems:
        msg = f"{path} is no release: {problems[0]}"
        raise BadInput(msg)
    return release


def _behind(shown: "trajanon.Trajectories", pbf: Path | None) -> "Background | None":
    """Roads and water around what is shown."""
    if pbf is None or len(shown) == 0:
        return None
    from trajanon import maps
    from trajanon.cli.area import box_around
    from trajanon.extract.earth.roads import roads_and_water

    return maps.Background(*roads_and_water(pbf, box_around(shown, _MARGIN, share=0.05)))
