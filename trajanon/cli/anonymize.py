"""trajanon anonymize."""

from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.options import (
    ANONYMIZED,
    TRAJECTORIES,
    Compression,
    Effort,
    Expansion,
    Gamma,
    Heuristic,
    Json,
    MaxEvents,
    Method,
    Refine,
    Seed,
    ShuffleProbability,
    Subsets,
)
from trajanon.cli.telling import announce_compilation, say_written


def anonymize(
    trajectories: Annotated[
        Path, typer.Argument(help="What extract wrote.")
    ] = TRAJECTORIES,
    *,
    k: Annotated[
        int, typer.Option("-k", help="Least number of different subjects in a group.")
    ],
    count: Annotated[
        str,
        typer.Option(help="What k counts: subjects, or records whoever made them."),
    ] = "subjects",
    method: Method = "hm2",
    heuristic: Heuristic = "or-opt",
    compression: Compression = 1,
    expansion: Expansion = "distance",
    gamma: Gamma = None,
    subsets: Subsets = None,
    refine: Refine = "anneal",
    shuffle_probability: ShuffleProbability = 0.001,
    max_events: MaxEvents = 10,
    effort: Effort = "balanced",
    align: Annotated[
        bool,
        typer.Option(
            "--align/--no-align",
            help="Let trajectories slide on their tracks towards their groups.",
        ),
    ] = True,
    seed: Seed = 0,
    out: Annotated[
        Path, typer.Option(help="Ends in .parquet, .gpkg, .geojson, .csv or .gpx.")
    ] = ANONYMIZED,
    as_json: Json = False,
) -> None:
    """Replace each trajectory by the centroid of a group of at least k."""
    from trajanon.anonymization import anonymize as make_release
    from trajanon.anonymization import report_path
    from trajanon.files.release import check_format
    from trajanon.files.trajectories import read_trajectories
    from trajanon.outputs import replacing
    from trajanon.screen import (
        STOPPED,
        Bars,
        show_json,
        show_release,
        without_lists,
    )

    check_format(out)
    announce_compilation()
    report = report_path(out)
    with replacing(out, report, inputs=[trajectories]) as drafts, Bars() as bars:
        release = make_release(
            read_trajectories(trajectories),
            k,
            count=count,
            align=align,
            method=method,
            heuristic=heuristic,
            compression=compression,
            expansion=expansion,
            gamma=gamma,
            subsets=subsets,
            refine=refine,
            shuffle_probability=shuffle_probability,
            max_events=max_events,
            effort=effort,
            seed=seed,
            progress=bars,
        )
        release.write_drafts(*drafts)
    if as_json:
        show_json(without_lists(release.report))
        return
    show_release(release.report)
    if release.report["stopped"]:
        typer.echo(STOPPED)
    typer.echo(f"{report}: {release.report['notice']}")
    what = f"{len(release.trajectories):,} trajectories"
    say_written(what, out, ANONYMIZED, "check", k)
