"""trajanon map."""

from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.options import ANONYMIZED, MAP, TRAJECTORIES
from trajanon.errors import BadInput


def draw(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Trajectories and release; with --public the release alone.",
            show_default=f"{TRAJECTORIES} {ANONYMIZED}",
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Show the release only.")
    ] = False,
    tiles: Annotated[
        str,
        typer.Option(
            help="Street map behind the lines, or none. Whoever opens the map asks its "
            "server for tiles, which tells that server where the data are."
        ),
    ] = "OpenStreetMap",
    out: Annotated[Path, typer.Option(help="Page to write.")] = MAP,
) -> None:
    """Draw original and released trajectories on a map."""
    from trajanon import maps
    from trajanon.anonymization import read_report, report_path
    from trajanon.files.release import read_release
    from trajanon.files.trajectories import read_trajectories
    from trajanon.outputs import replacing
    from trajanon.privacy.checker import check as findings_of

    given = files or [TRAJECTORIES, ANONYMIZED]
    if len(given) != 2 and not (public and len(given) == 1):
        msg = "map takes two files, trajectories and release; or, with --public, one"
        raise BadInput(msg)
    if out.suffix.lower() not in (".html", ".htm"):
        msg = f"a map is a page: {out} must end in .html"
        raise BadInput(msg)
    street_map = None if tiles.lower() == "none" else tiles
    with replacing(out, inputs=[*given, report_path(given[-1])]) as (draft,):
        release = read_release(given[-1])
        if public:
            # Arguments are easily swapped, and originals must not look released.
            problems = findings_of(given[-1], k=2).problems
            if problems:
                msg = f"{given[-1]} is no release: {problems[0]}"
                raise BadInput(msg)
            drawn = maps.public(release, tiles=street_map)
        else:
            drawn = maps.compare(
                read_trajectories(given[0]),
                release,
                read_report(given[-1]),
                tiles=street_map,
            )
        maps.save(drawn, draft)
    typer.echo(f"Open {out.resolve()} in a browser.")
