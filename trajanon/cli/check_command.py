"""trajanon check."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer

import trajanon
from trajanon.cli.messages import show_json, tell, with_flags
from trajanon.cli.options import ANONYMIZED, names_of, options
from trajanon.errors import BadInput
from trajanon.number_text import number_of


@options(
    released="A released file, or a folder of parts.",
    k="The group size promised.",
    trajectories="The originals, to count subjects in each group; needs the report beside the "
    "release.",
    against="An earlier release of the same trajectories, to check what both together reveal; "
    "needs --trajectories and both reports. Repeat it for several.",
    columns="Check these columns of a table, .csv or .parquet: a,b,c, or all.",
    certificate="The .certificate.json of the release: also repeat what it says of the file.",
)
def check(
    released: Path = ANONYMIZED,
    *,
    k: int,
    trajectories: Path | None = None,
    against: list[Path] | None = None,
    subjects_exact: bool = False,
    columns: str | None = None,
    certificate: Path | None = None,
    as_json: bool = False,
) -> None:
    """Check a released file by itself: exit code 0 it holds, 1 not, 2 unreadable.

    By itself, a file tells that each trajectory occurs k times. The report beside it, if it is
    there, has a say, too. Whether k different people stand behind each is counted with
    --trajectories.
    """
    asked = {
        "--columns": columns,
        "--trajectories": trajectories,
        "--against": against or None,
        "--certificate": certificate,
    }
    given = [name for name, value in asked.items() if value is not None]
    if columns is not None and len(given) > 1:
        raise BadInput(f"{given[0]} and {given[1]} are different checks: run one after the other")
    if columns is not None:
        answer = _of_table(released, k, names_of(columns))
    else:
        beside = trajectories, against or [], certificate
        answer = _of_release(released, k, *beside, exact=subjects_exact)
    account, headline, sentences = answer
    if as_json:
        show_json(account)
    else:
        for line in [*headline.split("\n"), *(f"- {one}" for one in sentences)]:
            tell(line)
    if not account["holds"]:
        raise typer.Exit(1)


_Answer = tuple[Mapping[str, Any], str, Sequence[str]]  # for scripts; for people


def _of_table(file: Path, k: int, columns: Sequence[str]) -> _Answer:
    table = trajanon.check_table(file, k, columns=columns)
    account = {**asdict(table), "holds": table.holds, "answered": "rows"}
    names = ", ".join(table.columns)
    if not table.holds:
        rare = (
            f"{table.rare:,} of {number_of(table.rows, 'row')} of {names} occur fewer than {k} "
            f"times, the rarest {table.smallest}"
        )
        return account, _amiss(file), [rare]
    holds = f"{file} holds for rows: {_each(table, table.rows, f'rows of {names}')}."
    others = f" Not looked at: {', '.join(table.others)}." * bool(table.others)
    people = "How many people stand behind each cannot be seen in a table."
    return account, f"{holds}{others} {people}", []


def _of_release(
    released: Path,
    k: int,
    originals: Path | None,
    against: Sequence[Path],
    certificate: Path | None,
    *,
    exact: bool,
) -> _Answer:
    from trajanon.evaluation.release_certificate import read_certificate, repeated
    from trajanon.files.report import report_beside
    from trajanon.verdict import verdict

    units, unknown = "trajectories", None
    if originals is None:
        found = trajanon.check(released, k, against=against)
    else:
        found, units, unknown = _beside(originals, released, k, against, subjects_exact=exact)
    if certificate is not None:
        differs = repeated(read_certificate(certificate), released, found)
        found = replace(found, problems=[*found.problems, *differs])
    sentences = list(map(with_flags, found.problems))
    account = {**asdict(found), "problems": sentences, "holds": found.holds}
    holds = f"{released} holds for {found.answered}: "
    holds += f"{_each(found, found.trajectories, units)}, and {found.claim}"
    holds += _counted(released, unknown, against, k)
    if certificate is not None:
        holds += f"\n{certificate} is of this file: bytes, rows, groups and k are those it says."
    if (beside := report_beside(released)) is not None:
        judged = verdict(beside, sentences)
        account |= {"holds": bool(judged), "verdict": judged.account}
        if judged and judged.sentences:
            holds += "\nSay beside it:"
        sentences = list(judged.sentences)
        account["problems"] = [] if judged else sentences
    return account, holds if account["holds"] else _amiss(released), sentences


def _amiss(file: Path) -> str:
    return f"{file} must not be published:"


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
    """Check a release beside its originals; give their unit and how many have no subject."""
    from trajanon.files.report import read_report, unit_in
    from trajanon.number_text import UNITS
    from trajanon.subjects import nameless

    read = trajanon.read_trajectories(originals, subjects_exact=subjects_exact)
    found = trajanon.check(released, k, trajectories=read, against=against)
    return found, UNITS[unit_in(read_report(released))], nameless(read.provenance)


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
