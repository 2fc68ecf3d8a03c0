"""trajanon check."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.options import ANONYMIZED, Json


def check(
    released: Annotated[Path, typer.Argument(help="A released file.")] = ANONYMIZED,
    *,
    k: Annotated[int, typer.Option("-k", help="The group size promised.")],
    as_json: Json = False,
) -> None:
    """Check a released file by itself: exit code 0 it holds, 1 not, 2 unreadable."""
    from dataclasses import asdict

    from trajanon.privacy.checker import check as findings_of
    from trajanon.screen import show_json

    findings = findings_of(released, k)
    onward = "" if released == ANONYMIZED else f" --public {shlex.quote(str(released))}"
    if as_json:
        show_json({**asdict(findings), "holds": findings.holds})
    elif findings.holds:
        typer.echo(
            f"{released} holds: each of its {findings.groups:,} different "
            f"trajectories occurs at least {k} times ({findings.trajectories:,} in "
            f"all), and nothing else is in the file. Next: trajanon map{onward}"
        )
    else:
        typer.echo(f"{released} must not be published:")
        for problem in findings.problems:
            typer.echo(f"- {problem}")
    if not findings.holds:
        raise typer.Exit(1)
