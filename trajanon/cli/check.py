"""trajanon check."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.options import ANONYMIZED, Json, SubjectsExact
from trajanon.cli.telling import tell


def check(
    released: Annotated[
        Path, typer.Argument(help="A released file, or a folder of parts.")
    ] = ANONYMIZED,
    *,
    k: Annotated[int, typer.Option("-k", help="The group size promised.")],
    trajectories: Annotated[
        Path | None,
        typer.Option(
            help="The originals, to count subjects in each group and to compare the "
            "order; needs the report beside the release."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="An earlier release of the same trajectories, to see whom the two "
            "tell together; needs both reports."
        ),
    ] = None,
    digits: Annotated[
        int,
        typer.Option(
            min=4, max=7, help="Decimals of degrees that the release claims to have."
        ),
    ] = 4,
    subjects_exact: SubjectsExact = False,
    as_json: Json = False,
) -> None:
    """Check a released file by itself: exit code 0 it holds, 1 not, 2 unreadable.

    By itself, a file tells that each trajectory occurs k times. Whether k different
    people stand behind each is counted with --trajectories.
    """
    from dataclasses import asdict

    from trajanon.files.trajectories import read_trajectories
    from trajanon.privacy.checker import check as findings_of
    from trajanon.privacy.holder import nameless
    from trajanon.screen import show_json

    originals = None
    if trajectories is not None:
        originals = read_trajectories(trajectories, subjects_exact=subjects_exact)
    findings = findings_of(
        released, k, trajectories=originals, against=against, digits=digits
    )
    onward = " Next: trajanon map"
    if released.is_dir():  # more than a map shows
        onward = ""
    elif released != ANONYMIZED:
        onward += f" --view public {shlex.quote(str(released))}"
    answered, counted = "rows", ""
    unseen = " How many people stand behind each cannot be seen in a release"
    unseen += "." if released.is_dir() else ": --trajectories counts them."
    if originals is not None:
        answered, unseen = "people", ""
        counted = f"; {k} different subjects in each group"
        if unknown := nameless(originals.provenance):
            counted += (
                f", where {unknown:,} recordings without a name count as one each"
            )
    if against is not None:
        counted += f"; also beside {against} no fewer than {k} stand behind each"
    if as_json:
        show_json({**asdict(findings), "holds": findings.holds, "answered": answered})
    elif findings.holds:
        tell(
            f"{released} holds for {answered}: each of its {findings.groups:,} "
            f"different trajectories occurs at least {k} times "
            f"({findings.trajectories:,} in all), and nothing else is in the file"
            f"{counted}.{unseen}{onward}"
        )
    else:
        tell(f"{released} must not be published:")
        for problem in findings.problems:
            tell(f"- {problem}")
    if not findings.holds:
        raise typer.Exit(1)
