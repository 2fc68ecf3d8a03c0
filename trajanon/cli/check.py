"""trajanon check."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajanon.cli.options import ANONYMIZED, Json, SubjectsExact
from trajanon.cli.wording import tell
from trajanon.errors import BadInput

if TYPE_CHECKING:
    from trajanon.privacy.findings import Findings


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
        int, typer.Option(min=4, max=7, help="Decimals of degrees that the release claims to have.")
    ] = 4,
    rewrite: Annotated[
        Path | None,
        typer.Option(
            help="Write the lines alone into this new file, rounded and shuffled, and "
            "answer for it; nothing is written if a line occurs fewer than k times."
        ),
    ] = None,
    subjects_exact: SubjectsExact = False,
    columns: Annotated[
        str | None,
        typer.Option(
            help="The file is a table, .csv or .parquet: look at these columns of it, "
            "a,b,c, or all."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a released file by itself: exit code 0 it holds, 1 not, 2 unreadable.

    By itself, a file tells that each trajectory occurs k times. Whether k different people stand
    behind each is counted with --trajectories.
    """
    asked = {
        "--columns": columns,
        "--rewrite": rewrite,
        "--trajectories": trajectories,
        "--against": against,
    }
    given = [name for name, value in asked.items() if value is not None]
    if len(given) > 1 and given[0] in ("--columns", "--rewrite"):
        msg = f"{given[0]} and {given[1]} are different checks: run one after the other"
        raise BadInput(msg)
    if columns is not None:
        _check_table(released, k, columns, as_json=as_json)
        return
    if rewrite is not None:
        _rewrite(released, rewrite, k, digits, as_json=as_json)
        return
    from dataclasses import asdict

    from trajanon.cli.screen import show_json
    from trajanon.files.trajectories import read_trajectories
    from trajanon.privacy.release_check import check as findings_of
    from trajanon.subjects import nameless

    originals = None
    if trajectories is not None:
        originals = read_trajectories(trajectories, subjects_exact=subjects_exact)
    findings = findings_of(released, k, trajectories=originals, against=against, digits=digits)
    onward = " Next: trajanon map"
    if released.is_dir():  # more than a map shows
        onward = ""
    elif released != ANONYMIZED:
        onward += f" --view public {shlex.quote(str(released))}"
    counted = ""
    unseen = " How many people stand behind each cannot be seen in a release"
    unseen += "." if released.is_dir() else ": --trajectories counts them."
    if originals is not None:
        unseen = ""
        counted = f"; {k} different subjects in each group"
        if unknown := nameless(originals.provenance):
            counted += f", where {unknown:,} recordings without a name count as one each"
    if against is not None:
        counted += f"; also beside {against} no fewer than {k} stand behind each"
    if as_json:
        show_json({**asdict(findings), "holds": findings.holds})
    elif findings.holds:
        tell(
            f"{released} holds for {findings.answered}: {_seen(findings, k)}"
            f"{counted}.{unseen}{onward}"
        )
    else:
        tell(f"{released} must not be published:")
        for problem in findings.problems:
            tell(f"- {problem}")
    if not findings.holds:
        raise typer.Exit(1)


def _seen(findings: "Findings", k: int) -> str:
    """Say what was seen in a file that holds."""
    return (
        f"each of its {findings.groups:,} different trajectories occurs at least {k} "
        f"times ({findings.trajectories:,} in all), and {findings.claim}"
    )


def _rewrite(released: Path, clean: Path, k: int, digits: int, *, as_json: bool) -> None:
    """Write the lines of a file alone into another, if they hold by themselves."""
    from dataclasses import asdict

    from trajanon.cli.screen import show_json
    from trajanon.privacy.clean_copy import rewrite

    findings = rewrite(released, clean, k, digits=digits)
    if as_json:
        show_json({**asdict(findings), "holds": findings.holds})
    elif findings.holds:
        tell(f"Wrote {clean}. It holds for rows: {_seen(findings, k)}.")
    else:
        tell(f"The lines of {released} by themselves do not hold:")
        for problem in findings.problems:
            tell(f"- {problem}")
    if not findings.holds:
        raise typer.Exit(1)


def _check_table(table: Path, k: int, columns: str, *, as_json: bool) -> None:
    """Check columns of a table, with the words and exit codes of a release."""
    from dataclasses import asdict

    from trajanon.cli.options import names_of
    from trajanon.cli.screen import show_json
    from trajanon.tables import check_table

    found = check_table(table, k, columns=names_of(columns))
    names = ", ".join(found.columns)
    if as_json:
        show_json({**asdict(found), "holds": found.holds, "answered": "rows"})
    elif found.holds:
        others = f" Not looked at: {', '.join(found.others)}." if found.others else ""
        tell(
            f"{table} holds for rows: each of its {found.groups:,} different rows of "
            f"{names} occurs at least {k} times ({found.rows:,} in all).{others} How "
            "many people stand behind each cannot be seen in a table."
        )
    else:
        tell(f"{table} must not be published:")
        tell(
            f"- {found.rare:,} of {found.rows:,} rows of {names} occur fewer than {k} "
            f"times, the rarest {found.smallest}"
        )
    if not found.holds:
        raise typer.Exit(1)
