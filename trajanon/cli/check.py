"""trajanon check."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import typer

import trajanon
from trajanon.cli.options import ANONYMIZED, names_of, options
from trajanon.cli.wording import show_json, tell, with_flags
from trajanon.errors import BadInput
from trajanon.words import number_of


@options(
    released="A released file, or a folder of parts.",
    k="The group size promised.",
    trajectories="The originals, to count subjects in each group; needs the report beside the "
    "release.",
    against="An earlier release of the same trajectories, to check what both together reveal; "
    "needs both reports. Repeat it for several.",
    rewrite="Write only the lines, and their times if the file says what they count from, into "
    "this new file, rounded and sorted, if each occurs at least k times; the exit code is for "
    "that file.",
    columns="Check these columns of a table, .csv or .parquet: a,b,c, or all.",
)
def check(
    released: Path = ANONYMIZED,
    *,
    k: int,
    trajectories: Path | None = None,
    against: list[Path] | None = None,
    rewrite: Path | None = None,
    subjects_exact: bool = False,
    columns: str | None = None,
    as_json: bool = False,
) -> None:
    """Check a released file by itself: exit code 0 it holds, 1 not, 2 unreadable.

    By itself, a file tells that each trajectory occurs k times. The report beside it, if it is
    there, has a say, too. Whether k different people stand behind each is counted with
    --trajectories.
    """
    from trajanon.files.report import report_beside
    from trajanon.verdict import verdict

    asked = {
        "--columns": columns,
        "--rewrite": rewrite,
        "--trajectories": trajectories,
        "--against": against or None,
    }
    given = [name for name, value in asked.items() if value is not None]
    if len(given) > 1 and given[0] in ("--columns", "--rewrite"):
        raise BadInput(f"{given[0]} and {given[1]} are different checks: run one after the other")
    earlier = against or []
    amiss = f"{released} must not be published:"
    if columns is not None:
        table = trajanon.check_table(released, k, columns=names_of(columns))
        names = ", ".join(table.columns)
        account = {**asdict(table), "holds": table.holds, "answered": "rows"}
        holds = f"{released} holds for rows: {_each(table, table.rows, f'rows of {names}')}."
        if table.others:
            holds += f" Not looked at: {', '.join(table.others)}."
        holds += " How many people stand behind each cannot be seen in a table."
        occur = "occurs" if table.rare == 1 else "occur"
        rare = (
            f"{table.rare:,} of {number_of(table.rows, 'row')} of {names} {occur} fewer "
            f"than {k} times, the rarest {table.smallest}"
        )
        problems = [] if table.holds else [rare]
    else:
        units, unknown = "trajectories", None
        if rewrite is not None:
            found = trajanon.rewrite(released, rewrite, k)
            amiss = f"The lines of {released} by themselves do not hold:"
            holds = f"Wrote {rewrite}. It holds for rows: "
        else:
            if trajectories is None:
                found = trajanon.check(released, k, against=earlier)
            else:
                found, units, unknown = _beside(
                    trajectories, released, k, earlier, subjects_exact=subjects_exact
                )
            holds = f"{released} holds for {found.answered}: "
        holds += f"{_each(found, found.trajectories, units)}, and {found.claim}"
        holds += "." if rewrite is not None else _counted(released, unknown, earlier, k)
        problems = list(map(with_flags, found.problems))
        account = {**asdict(found), "problems": problems, "holds": found.holds}
        beside = None if rewrite is not None else report_beside(released)
        if beside is not None:
            judged = verdict(beside, problems)
            account |= {"holds": bool(judged), "verdict": judged.account}
            if judged and judged.sentences:
                holds += "\nSay beside it:"
            problems = list(judged.sentences)
            account["problems"] = [] if judged else problems
    if as_json:
        show_json(account)
    else:
        for line in [
            *(holds if account["holds"] else amiss).split("\n"),
            *(f"- {one}" for one in problems),
        ]:
            tell(line)
    if not account["holds"]:
        raise typer.Exit(1)


def _each(found: "trajanon.Findings | trajanon.TableFindings", n: int, what: str) -> str:
    times = f"occurs at least {found.k} times"
    if getattr(found, "counted", False):
        times = f"has at least {found.k} in its column people"
    if found.groups == 1:
        return f"its {n:,} {what} are one, which {times}"
    return f"each of its {found.groups:,} different {what} {times} ({n:,} in all)"


def _beside(
    originals: Path, released: Path, k: int, against: Sequence[Path], *, subjects_exact: bool
) -> "tuple[trajanon.Findings, str, int]":
    """Check a release beside its originals; say what these are, and how many name nobody."""
    from trajanon.files.report import read_report, unit_in
    from trajanon.privacy.originals import in_parts, is_large
    from trajanon.subjects import nameless
    from trajanon.words import UNITS

    if not against and released.is_dir() and is_large(report := read_report(released)):
        whole = in_parts(originals, released, report, subjects_exact=subjects_exact)
        found = trajanon.check(released, k)
        problems = [*whole.problems(k), *found.problems]
        found = replace(found, problems=problems, answered="people")
        return found, UNITS[unit_in(report)], whole.nameless
    read = trajanon.read_trajectories(originals, subjects_exact=subjects_exact)
    found = trajanon.check(released, k, trajectories=read, against=against)
    return found, read.units, nameless(read.provenance)


def _counted(released: Path, unknown: int | None, against: Sequence[Path], k: int) -> str:
    """Say what was counted with the originals, what no file shows, and what comes next.

    ``unknown`` are the recordings without a name; None if the originals were not given.
    """
    said = "."
    if unknown is not None:
        said = f"; {k} different subjects in each group"
        if unknown:
            names, name = "recordings without a name count", "recording without a name counts"
            said += f", where {number_of(unknown, name, names)} as one each"
        said += "."
    if against:
        beside = " and ".join(map(str, against))
        said = f"{said[:-1]}; also beside {beside} no fewer than {k} stand behind each."
    if unknown is None:
        said += " How many people stand behind each cannot be seen in a release"
        said += "." if released.is_dir() else ": --trajectories counts them."
    if released.is_dir():  # more than a map shows
        return said
    if released == ANONYMIZED:
        return f"{said} Next: trajanon evaluate, then trajanon map"
    return f"{said} Next: trajanon map --view public {shlex.quote(str(released))}"
