"""trajanon check: whether a released file keeps its promise."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import trajanon
from trajanon.cli.errors_and_exit_codes import RELEASE_AT_FAULT
from trajanon.cli.messages import show_json, tell, with_flags
from trajanon.cli.options import ANONYMIZED, names_of, options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of

if TYPE_CHECKING:
    from trajanon.release.release_check import Findings
    from trajanon.tables.disclosure_risk import Diversity, SpecialUniques
    from trajanon.trajectories.subjects import Nameless

_SENSITIVE = "sensitive="  # before a column in --columns


@options()
def check(
    released: Path = ANONYMIZED,
    *,
    k: int,
    trajectories: Path | None = None,
    against: list[Path] | None = None,
    subjects_exact: bool = False,
    columns: str | None = None,
    subject: str | None = None,
    certificate: Path | None = None,
    as_json: bool = False,
) -> None:
    """Check that a released file keeps its promise.

    Exit code 0: it does; 1: it does not; 2: it cannot be read. Counts how often each line occurs,
    and reads the report beside the file, if there is one. Add --trajectories to count the different
    people behind each line.
    """
    others = {"trajectories": trajectories, "against": against, "certificate": certificate}
    if columns is not None:
        for name in filter(others.get, others):
            raise BadInput(f"--columns and --{name} are different checks: run one after the other")
        account, lines = _of_table(released, k, names_of(columns), subject, exact=subjects_exact)
    elif subject is not None:
        raise BadInput("`subject` is a column of a table: name those to check in `columns`, too")
    else:
        beside = trajectories, against or [], certificate
        account, lines = _of_release(released, k, *beside, exact=subjects_exact)
    problems = account["problems"] = list(map(with_flags, account["problems"]))
    if as_json:
        show_json(account)
    elif account["holds"]:
        for line in lines:
            tell(line)
    else:
        tell(f"{released} must not be published:")
        for problem in problems:
            tell(f"- {problem}")
    if not account["holds"]:
        raise typer.Exit(RELEASE_AT_FAULT)


def _of_table(
    file: Path, k: int, columns: Sequence[str], subject: str | None, *, exact: bool
) -> tuple[dict[str, Any], list[str]]:
    """Check columns of a table; return the findings, and lines for the screen."""
    sensitive = [name.removeprefix(_SENSITIVE) for name in columns if name.startswith(_SENSITIVE)]
    chosen = [name for name in columns if not name.startswith(_SENSITIVE)]
    table = trajanon.check_table(
        file, k, columns=chosen, sensitive=sensitive, subject=subject, subjects_exact=exact
    )
    account = {**asdict(table), "holds": table.holds, "answered": table.counted, "problems": []}

    names = ", ".join(table.columns)
    times = "times" if subject is None else f"different {subject}"
    diversity = [_diversity_sentence(name, found) for name, found in table.diversity.items()]
    if not table.holds:
        account["problems"] = [
            f"{table.rare:,} of {number_of(table.rows, 'row')} of {names} occur "
            + (f"fewer than {k} times" if subject is None else f"for fewer than {k} {times}")
            + f", the rarest {'' if subject is None else 'for '}{table.smallest}",
            *_risky_rows(table.uniques),
            *diversity,
        ]

    occurs = f"occurs at least {k} times" if subject is None else f"is of at least {k} {times}"
    others = f" Not checked: {', '.join(table.others)}." * bool(table.others)
    gaps = ""
    if table.incomplete:
        rows = number_of(table.incomplete, "row")
        gaps = f" Values are missing in {rows}: each value that is there counts by itself."
    people = " A table does not show how many people stand behind each." * (subject is None)
    sentence = (
        f"{file} holds for {table.counted}: each of its {table.groups:,} different rows of {names} "
        f"{occurs} ({table.rows:,} in all).{gaps}{others}{people}"
    )
    return account, [sentence, *diversity]


def _risky_rows(uniques: "SpecialUniques") -> list[str]:
    """Name the rows that the fewest columns single out."""
    return [
        f"row {risky.row:,} is unique in {' and in '.join(' + '.join(c) for c in risky.columns)} "
        f"(SUDA score {risky.score:,})"
        for risky in uniques.riskiest
    ]


def _diversity_sentence(name: str, found: "Diversity") -> str:
    sentence = (
        f"{name}: at least {number_of(found.distinct, 'value')} in each group (distinct l = "
        f"{found.distinct}, entropy l = {found.entropy:.2f})"
    )
    if found.disclosed:
        groups = number_of(found.disclosed, "group has", "groups have")
        sentence += f"; {groups} one value alone, which k rows do not hide"
    return sentence


def _of_release(
    released: Path,
    k: int,
    originals: Path | None,
    against: Sequence[Path],
    certificate: Path | None,
    *,
    exact: bool,
) -> tuple[dict[str, Any], list[str]]:
    from trajanon.release.originals import matching_report
    from trajanon.release.report import report_beside
    from trajanon.release.verdict import verdict

    counted = ""
    if originals is None:
        found = trajanon.check(released, k, against=against)
    else:
        found, nameless = _with_originals(released, k, originals, against, exact=exact)
        counted = f"; {k} different subjects in each group"
        if nameless.recordings:
            without = number_of(nameless.recordings, "recording")
            counted += f", where {without} without a name count as {nameless.subjects:,}"
    is_folder = released.is_dir()
    if certificate is not None:
        from trajanon.evaluation.release_certificate import differences, read_certificate

        differing = differences(read_certificate(certificate), released, found)
        sentences = [difference.sentence for difference in differing]
        found = replace(found, problems=[*found.problems, *sentences])
    said = (
        f"{released} holds for {found.answered}: each of its {found.groups:,} different "
        f"trajectories occurs at least {found.k} times ({found.trajectories:,} in all), and "
        f"{found.claim}{counted}"
    )
    if against:
        beside = " and ".join(map(str, against))
        said += f"; also beside {beside} no fewer than {k} stand behind each"
    said += (
        f". Not checked: names, dates, owners and other attributes of the file{'s' * is_folder}."
    )
    if originals is None:
        said += " A release does not show how many people stand behind each"
        said += "." if is_folder else ": --trajectories counts them."
    if released == ANONYMIZED:
        said += " Next: trajanon evaluate, then trajanon map"
    elif not is_folder:
        said += f" Next: trajanon map --view public {shlex.quote(str(released))}"
    lines = [said]
    if certificate is not None:
        lines.append(
            f"{certificate} matches this file: its bytes, rows, groups and k are as certified."
        )
    account = {**asdict(found), "holds": found.holds}
    report = matching_report(released) if found.holds else report_beside(released)
    if report is not None:
        judged = verdict(report, list(map(with_flags, found.problems)))
        account |= {"holds": bool(judged), "verdict": judged.account}
        account["problems"] = [] if judged else list(judged.sentences)
        if judged.kind == "conditional":
            lines += [judged.headline, *(f"- {sentence}" for sentence in judged.sentences)]
    return account, lines


def _with_originals(
    released: Path, k: int, originals: Path, against: Sequence[Path], *, exact: bool
) -> tuple["Findings", "Nameless"]:
    """Count the people behind each line: part by part, where nothing else needs all rows."""
    from trajanon.release.originals import can_be_read_by_part
    from trajanon.release.release_check import check_folders
    from trajanon.release.report import read_report

    if released.is_dir() and originals.is_dir() and not against:
        report = read_report(released)
        if can_be_read_by_part(report):
            return check_folders(released, k, originals, report, subjects_exact=exact)

    trajectories = trajanon.read_trajectories(originals, subjects_exact=exact)
    found = trajanon.check(released, k, trajectories=trajectories, against=against)
    return found, trajectories.origin.source.unnamed
