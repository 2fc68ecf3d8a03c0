"""trajanon evaluate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajanon.cli.options import ANONYMIZED, TRAJECTORIES, Json, SubjectsExact, check_page
from trajanon.cli.wording import announce_compilation, tell
from trajanon.errors import BadInput

if TYPE_CHECKING:
    from trajanon.trajectories import Trajectories
    from trajanon.utility.usefulness import ToRoad

EVALUATION = Path("evaluation.html")


def evaluate(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Trajectories and release.", show_default=f"{TRAJECTORIES} {ANONYMIZED}"
        ),
    ] = None,
    pbf: Annotated[
        Path | None,
        typer.Option(help="An .osm.pbf file, to measure whether points still lie on roads."),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="Page to write, with a .json beside it. The datasheet stands beside "
            "the release, as RELEASE.datasheet.md."
        ),
    ] = EVALUATION,
    subjects_exact: SubjectsExact = False,
    as_json: Json = False,
) -> None:
    """Say what a release protects and what it costs: a page for the holder.

    Exit code 0 where the promise holds, 1 where it does not, 2 where nothing could be evaluated.
    """
    from trajanon.cli.screen import bars, show_json
    from trajanon.evaluation.evaluation import evaluate as evidence_of
    from trajanon.files.release import read_release
    from trajanon.files.report import (
        datasheet_path,
        digits_in,
        promise_in,
        read_report,
        report_path,
    )
    from trajanon.files.trajectories import read_trajectories
    from trajanon.outputs import json_report, replacing
    from trajanon.privacy.release_check import check as findings_of

    given = files or [TRAJECTORIES, ANONYMIZED]
    if len(given) != 2:
        msg = "evaluate takes two files: trajectories and release"
        raise BadInput(msg)
    check_page(out, "an evaluation")
    originals, released = given
    outputs = (out, out.with_suffix(".json"), datasheet_path(released))
    read = [*given, report_path(released), *([] if pbf is None else [pbf])]
    replaced = replacing(*outputs, inputs=read, public=outputs[-1:])
    with replaced as (page, account, sheet), bars() as progress:
        announce_compilation()
        report = read_report(released)
        k, _ = promise_in(report)
        trajectories = read_trajectories(originals, subjects_exact=subjects_exact)
        release = read_release(released)
        evaluation = evidence_of(
            trajectories,
            release,
            report,
            file=released.name,
            findings=findings_of(released, k, digits=digits_in(report)),
            to_road=None if pbf is None else _to_road(pbf, trajectories),
            progress=progress,
        )
        page.write_text(evaluation.html, encoding="utf-8")
        account.write_text(json_report(evaluation.account), encoding="utf-8")
        sheet.write_text(evaluation.datasheet, encoding="utf-8")
    if as_json:
        show_json(evaluation.account)
    else:
        for kind, sentence in evaluation.verdict:
            tell({"good": "+ ", "caution": "! ", "bad": "X "}[kind] + sentence)
        sheet_is = "to be published with the release"
        if not evaluation.holds:
            sheet_is = "which says why there is none to publish"
        tell(f"Wrote {outputs[0]} and {outputs[1]}, for you alone, and {outputs[2]}, {sheet_is}.")
    if not evaluation.holds:
        raise typer.Exit(1)


def _to_road(pbf: Path, trajectories: "Trajectories") -> "ToRoad":
    """Measure the way to the roads of a file, which are read around the trajectories."""
    from trajanon.cli.area import box_around
    from trajanon.extract import roads

    margin = 0.01  # degrees: a kilometre, beyond which no road counts
    return roads(pbf, box_around(trajectories, margin)).distance
