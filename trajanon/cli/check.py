"""trajanon check."""

import shlex
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trajanon.cli.options import ANONYMIZED, Json, SubjectsExact, names_of
from trajanon.cli.wording import tell, with_flags
from trajanon.errors import BadInput

if TYPE_CHECKING:
    from trajanon.privacy.findings import Findings
    from trajanon.tables import TableFindings
    from trajanon.trajectories import Trajectories


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
            help="An earlier release of the same trajectories, to check what both together reveal; "
            "needs both reports."
        ),
    ] = None,
    digits: Annotated[
        int, typer.Option(min=4, max=7, help="Decimals of degrees that the release claims to have.")
    ] = 4,
    rewrite: Annotated[
        Path | None,
        typer.Option(
            help="Write only the lines into this new file, rounded and shuffled, if each occurs at "
            "least k times; the exit code is for that file."
        ),
    ] = None,
    subjects_exact: SubjectsExact = False,
    columns: Annotated[
        str | None,
        typer.Option(help="Check these columns of a table, .csv or .parquet: a,b,c, or all."),
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
        from trajanon.tables import check_table

        table = check_table(released, k, columns=names_of(columns))
        _answer(
            {**asdict(table), "holds": table.holds, "answered": "rows"},
            f"{released} holds for rows: {_seen_in_table(table)}",
            f"{released} must not be published:",
            [
                f"{table.rare:,} of {table.rows:,} rows of {', '.join(table.columns)} occur fewer "
                f"than {k} times, the rarest {table.smallest}"
            ],
            as_json=as_json,
        )
        return
    if rewrite is not None:
        from trajanon.privacy.clean_copy import rewrite as write_lines

        findings = write_lines(released, rewrite, k, digits=digits)
        holds = f"Wrote {rewrite}. It holds for rows: {_seen(findings)}."
        amiss = f"The lines of {released} by themselves do not hold:"
    else:
        from trajanon.files.trajectories import read_trajectories
        from trajanon.privacy.release_check import check as findings_of

        originals = None
        if trajectories is not None:
            originals = read_trajectories(trajectories, subjects_exact=subjects_exact)
        findings = findings_of(released, k, trajectories=originals, against=against, digits=digits)
        holds = f"{released} holds for {findings.answered}: {_seen(findings)}"
        holds += _counted(released, originals, against, k)
        amiss = f"{released} must not be published:"
    problems = tuple(map(with_flags, findings.problems))
    account = {**asdict(findings), "problems": problems, "holds": findings.holds}
    _answer(account, holds, amiss, problems, as_json=as_json)


def _answer(
    account: dict[str, Any], holds: str, amiss: str, problems: Iterable[str], *, as_json: bool
) -> None:
    """Say what a check found, and give the exit code."""
    from trajanon.cli.screen import show_json

    if as_json:
        show_json(account)
    elif account["holds"]:
        tell(holds)
    else:
        tell(amiss)
        for problem in problems:
            tell(f"- {problem}")
    if not account["holds"]:
        raise typer.Exit(1)


def _seen(findings: "Findings") -> str:
    """Say what was seen in a file that holds."""
    return (
        f"each of its {findings.groups:,} different trajectories occurs at least {findings.k} "
        f"times ({findings.trajectories:,} in all), and {findings.claim}"
    )


def _counted(released: Path, originals: "Trajectories | None", against: Path | None, k: int) -> str:
    """Say what was counted with the originals, what no file shows, and what comes next."""
    from trajanon.subjects import nameless

    counted, unseen, onward = "", "", " Next: trajanon map"
    if originals is None:
        unseen = " How many people stand behind each cannot be seen in a release"
        unseen += "." if released.is_dir() else ": --trajectories counts them."
    else:
        counted = f"; {k} different subjects in each group"
        if unknown := nameless(originals.provenance):
            counted += f", where {unknown:,} recordings without a name count as one each"
    if against is not None:
        counted += f"; also beside {against} no fewer than {k} stand behind each"
    if released.is_dir():  # more than a map shows
        onward = ""
    elif released != ANONYMIZED:
        onward += f" --view public {shlex.quote(str(released))}"
    return f"{counted}.{unseen}{onward}"


def _seen_in_table(found: "TableFindings") -> str:
    others = f" Not looked at: {', '.join(found.others)}." if found.others else ""
    return (
        f"each of its {found.groups:,} different rows of {', '.join(found.columns)} occurs at "
        f"least {found.k} times ({found.rows:,} in all).{others} How many people stand behind "
        "each cannot be seen in a table."
    )
