"""trajanon check."""

import shlex
from dataclasses import asdict
from pathlib import Path

import typer

import trajanon
from trajanon.cli.options import ANONYMIZED, names_of, options
from trajanon.cli.wording import show_json, tell, with_flags
from trajanon.errors import BadInput


@options(
    released="A released file, or a folder of parts.",
    k="The group size promised.",
    trajectories="The originals, to count subjects in each group and to compare the order; needs "
    "the report beside the release.",
    against="An earlier release of the same trajectories, to check what both together reveal; "
    "needs both reports.",
    digits="Decimals of degrees that the release claims to have, 4 to 7.",
    rewrite="Write only the lines into this new file, rounded and shuffled, if each occurs at "
    "least k times; the exit code is for that file.",
    columns="Check these columns of a table, .csv or .parquet: a,b,c, or all.",
)
def check(
    released: Path = ANONYMIZED,
    *,
    k: int,
    trajectories: Path | None = None,
    against: Path | None = None,
    digits: int = 4,
    rewrite: Path | None = None,
    subjects_exact: bool = False,
    columns: str | None = None,
    as_json: bool = False,
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
    amiss = f"{released} must not be published:"
    if columns is not None:
        table = trajanon.check_table(released, k, columns=names_of(columns))
        account = {**asdict(table), "holds": table.holds, "answered": "rows"}
        holds = f"{released} holds for rows: {_seen_in_table(table)}"
        problems = [
            f"{table.rare:,} of {table.rows:,} rows of {', '.join(table.columns)} occur fewer "
            f"than {k} times, the rarest {table.smallest}"
        ]
    else:
        if rewrite is not None:
            findings = trajanon.rewrite(released, rewrite, k, digits=digits)
            holds = f"Wrote {rewrite}. It holds for rows: {_seen(findings)}."
            amiss = f"The lines of {released} by themselves do not hold:"
        else:
            originals = None
            if trajectories is not None:
                originals = trajanon.read_trajectories(trajectories, subjects_exact=subjects_exact)
            findings = trajanon.check(
                released, k, trajectories=originals, against=against, digits=digits
            )
            holds = f"{released} holds for {findings.answered}: {_seen(findings)}"
            holds += _counted(released, originals, against, k)
        problems = list(map(with_flags, findings.problems))
        account = {**asdict(findings), "problems": problems, "holds": findings.holds}
    if as_json:
        show_json(account)
    else:
        for line in [holds] if account["holds"] else [amiss, *(f"- {one}" for one in problems)]:
            tell(line)
    if not account["holds"]:
        raise typer.Exit(1)


def _seen(findings: "trajanon.Findings") -> str:
    """Say what was seen in a file that holds."""
    return (
        f"each of its {findings.groups:,} different trajectories occurs at least {findings.k} "
        f"times ({findings.trajectories:,} in all), and {findings.claim}"
    )


def _counted(
    released: Path, originals: "trajanon.Trajectories | None", against: Path | None, k: int
) -> str:
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


def _seen_in_table(found: "trajanon.TableFindings") -> str:
    others = f" Not looked at: {', '.join(found.others)}." if found.others else ""
    return (
        f"each of its {found.groups:,} different rows of {', '.join(found.columns)} occurs at "
        f"least {found.k} times ({found.rows:,} in all).{others} How many people stand behind "
        "each cannot be seen in a table."
    )
