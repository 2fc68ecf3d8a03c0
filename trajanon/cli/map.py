"""trajanon map."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajanon.cli.options import ANONYMIZED, MAP, TRAJECTORIES, check_page
from trajanon.cli.wording import tell
from trajanon.errors import BadInput

if TYPE_CHECKING:
    import folium

    from trajanon import maps
    from trajanon.trajectories import Trajectories

_VIEWS = ("overlay", "side-by-side", "public")
_TILES = "OpenStreetMap"
_MARGIN = 0.002  # degrees of background around what is shown


def draw(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Trajectories and release; with --view public the release alone; "
            "with --compare several releases.",
            show_default=f"{TRAJECTORIES} {ANONYMIZED}",
        ),
    ] = None,
    view: Annotated[
        str,
        typer.Option(
            help="overlay: both on one map; side-by-side: on two maps that move together; public: "
            "the release only."
        ),
    ] = "overlay",
    compare: Annotated[
        bool, typer.Option("--compare", help="All files are releases, with a switch between them.")
    ] = False,
    originals: Annotated[
        Path | None,
        typer.Option(
            help="With --compare: the trajectories that the releases were made from.",
            show_default=str(TRAJECTORIES),
        ),
    ] = None,
    tiles: Annotated[
        str | None,
        typer.Option(
            help="Street map behind the lines, or none. The browser asks its server for tiles, so "
            "that server learns where the data are.",
            show_default=_TILES,
        ),
    ] = None,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="No tiles; the page allows its browser no request at all."),
    ] = False,
    background: Annotated[
        Path | None,
        typer.Option(metavar="OSM.PBF", help="Draw roads and water of this file behind the lines."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Page to write.")] = MAP,
) -> None:
    """Draw original and released trajectories on a map."""
    from trajanon import maps
    from trajanon.files.report import report_path
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
            drawn = _public(releases[0], street_map, background)
        else:
            drawn = _compared(trajectories, releases, view, street_map, background)
        draft.write_text(maps.html(drawn), encoding="utf-8")
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


def _public(path: Path, tiles: str | None, background: Path | None) -> "folium.Map":
    from trajanon import maps
    from trajanon.files.release import read_release
    from trajanon.privacy.release_check import check as findings_of

    release = read_release(path)
    # Arguments are easily swapped, and originals must not look released.
    if problems := findings_of(path, k=2).problems:
        msg = f"{path} is no release: {problems[0]}"
        raise BadInput(msg)
    return maps.public(release, tiles=tiles, background=_behind(release, background))


def _compared(
    path: Path, releases: list[Path], view: str, tiles: str | None, background: Path | None
) -> "folium.Map":
    from trajanon import maps
    from trajanon.files.release import read_release
    from trajanon.files.report import read_report
    from trajanon.files.trajectories import read_trajectories

    # The files' names, or where two are alike the whole paths.
    short = len({release.stem for release in releases}) == len(releases)
    named = {
        release.stem if short else str(release): (read_release(release), read_report(release))
        for release in releases
    }
    shown = read_trajectories(path)
    behind = _behind(shown, background)
    return maps.compare_releases(shown, named, view=view, tiles=tiles, background=behind)


def _behind(shown: "Trajectories", pbf: Path | None) -> "maps.Background | None":
    """Roads and water around what is shown."""
    if pbf is None or len(shown) == 0:
        return None
    from trajanon import maps
    from trajanon.cli.area import box_around
    from trajanon.extract.earth.roads import roads_and_water

    return maps.Background(*roads_and_water(pbf, box_around(shown, _MARGIN, share=0.05)))
