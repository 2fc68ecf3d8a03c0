"""trajanon check: whether a released file keeps its promise."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

import trajanon
from trajanon.cli.errors_and_exit_codes import RELEASE_AT_FAULT
from trajanon.cli.messages import show_json, tell, with_flags
from trajanon.cli.options import ANONYMIZED, names_of, options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of

if TYPE_CHECKING:
    from trajanon.release.release_check import Findings
    from trajanon.tables.l_diversity_and_suda import Diversity, SpecialUniques
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
    if subjects_exact and trajectories is None and subject is None:
        raise BadInput("--subjects-exact is for --trajectories, or for the --subject of a table")
    for_releases = {"trajectories": trajectories, "against": against, "certificate": certificate}
    if columns is not None:
        for name in filter(for_releases.get, for_releases):
            raise BadInput(f"--columns and --{name} are different checks: run one after the other")
        checked = _check_table(released, k, names_of(columns), subject, exact=subjects_exact)
    elif subject is not None:
        raise BadInput("`subject` is a column of a table: name those to check in `columns`, too")
    else:
        checked = _check_release(
            released, k, trajectories, against or [], certificate, exact=subjects_exact
        )

    problems = [with_flags(problem) for problem in checked.problems]
    holds = not problems
    if as_json:
        show_json({**checked.in_json, "holds": holds, "problems": problems})
    elif holds:
        for line in checked.lines:
            tell(line)
    else:
        tell(f"{released} must not be published:")
        for problem in problems:
            tell(f"- {problem}")
    if not holds:
        raise typer.Exit(RELEASE_AT_FAULT)


class _Checked(NamedTuple):
    """What a check found, for the screen and as JSON."""

    problems: Sequence[str]  # empty if it holds
    lines: Sequence[str]  # what is printed where it holds
    in_json: Mapping[str, object]  # beside whether it holds, and the problems


def _check_table(
    file: Path, k: int, columns: Sequence[str], subject: str | None, *, exact: bool
) -> _Checked:
    """Check columns of a table."""
    sensitive = [name.removeprefix(_SENSITIVE) for name in columns if name.startswith(_SENSITIVE)]
    chosen = [name for name in columns if not name.startswith(_SENSITIVE)]
    table = trajanon.check_table(
        file, k, columns=chosen, sensitive=sensitive, subject=subject, subjects_exact=exact
    )

    names = ", ".join(table.columns)
    times = "times" if subject is None else f"different {subject}"
    diversity = [_diversity_sentence(name, values) for name, values in table.diversity.items()]
    problems = []
    if not table.holds:
        is_for = "" if subject is None else "for "
        rows = number_of(table.rows, "row")
        problems = [
            f"{table.rare:,} of {rows} of {names} occur {is_for}fewer than {k} {times}, the rarest "
            f"{is_for}{table.smallest}",
            *_risky_rows(table.uniques),
            *diversity,
        ]

    occurs = f"occurs at least {k} times" if subject is None else f"is of at least {k} {times}"
    sentence = (
        f"{file} holds for {table.counted}: each of its {table.groups:,} different rows of {names} "
        f"{occurs} ({table.rows:,} in all)."
    )
    if table.incomplete:
        rows = number_of(table.incomplete, "row")
        sentence += f" Values are missing in {rows}: each value that is there counts by itself."
    if table.others:
        sentence += f" Not checked: {', '.join(table.others)}."
    if subject is None:
        sentence += " A table does not show how many people stand behind each."
    in_json = {**asdict(table), "answered": table.counted}
    return _Checked(problems, [sentence, *diversity], in_json)


def _risky_rows(uniques: "SpecialUniques") -> list[str]:
    """Name the rows that the fewest columns single out."""
    sentences = []
    for risky in uniques.riskiest:
        combinations = " and in ".join(map(" + ".join, risky.columns))
        sentences.append(
            f"row {risky.row:,} is unique in {combinations} (SUDA score {risky.score:,})"
        )
    return sentences


def _diversity_sentence(name: str, values: "Diversity") -> str:
    """Write how many different values of a sensitive column each group has."""
    sentence = (
        f"{name}: at least {number_of(values.distinct, 'value')} in each group (distinct l = "
        f"{values.distinct}, entropy l = {values.entropy:.2f})"
    )
    if values.disclosed:
        groups = number_of(values.disclosed, "group has", "groups have")
        sentence += f"; {groups} one value alone, which k rows do not hide"
    return sentence


def _check_release(
    released: Path,
    k: int,
    originals: Path | None,
    against: Sequence[Path],
    certificate: Path | None,
    *,
    exact: bool,
) -> _Checked:
    """Check a release, by its file and by what stands beside it."""
    from trajanon.release.originals import matching_report
    from trajanon.release.report_files import report_beside
    from trajanon.release.verdict import verdict

    nameless = None
    if originals is None:
        findings = trajanon.check(released, k, against=against)
    else:
        findings, nameless = _check_with_people(released, k, originals, against, exact=exact)

    lines = []
    if certificate is not None:
        from trajanon.evaluation.release_certificate import differences, read_certificate

        differing = differences(read_certificate(certificate), released, findings)
        sentences = [difference.sentence for difference in differing]
        findings = replace(findings, problems=[*findings.problems, *sentences])
        lines.append(
            f"{certificate} matches this file: its bytes, rows, groups and k are as certified."
        )
    lines.insert(0, _promise_sentence(released, findings, nameless, against))

    in_json = asdict(findings)
    report = matching_report(released) if findings.holds else report_beside(released)
    if report is None:
        return _Checked(findings.problems, lines, in_json)

    # What the release fails in stands in the verdict, too, beside what its report says.
    judged = verdict(report, list(map(with_flags, findings.problems)))
    if judged.kind == "conditional":
        lines += [judged.headline, *(f"- {sentence}" for sentence in judged.sentences)]
    problems = [] if judged else judged.sentences
    return _Checked(problems, lines, {**in_json, "verdict": judged.account})


def _promise_sentence(
    released: Path, findings: "Findings", nameless: "Nameless | None", against: Sequence[Path]
) -> str:
    """Write what holds of a release, what is not checked, and which command comes next.

    ``nameless`` is None where people were not counted.
    """
    is_folder = released.is_dir()
    k = findings.k
    sentence = (
        f"{released} holds for {findings.answered}: each of its {findings.groups:,} different "
        f"trajectories occurs at least {k} times ({findings.trajectories:,} in all), and "
        f"{findings.claim}"
    )
    if nameless is not None:
        sentence += f"; at least {k} different {findings.answered} in each group"
        if nameless.recordings:
            recordings = number_of(nameless.recordings, "recording")
            sentence += f", where {recordings} without a name count as {nameless.subjects:,}"
    if against:
        beside = " and ".join(map(str, against))
        sentence += f"; also beside {beside} no fewer than {k} stand behind each"

    files = "files" if is_folder else "file"
    sentence += f". Not checked: names, dates, owners and other attributes of the {files}."
    if nameless is None:
        sentence += " A release does not show how many people stand behind each"
        sentence += "." if is_folder else ": --trajectories counts them."

    if released == ANONYMIZED:
        sentence += " Next: trajanon evaluate, then trajanon map"
    elif not is_folder:
        sentence += f" Next: trajanon map --view public {shlex.quote(str(released))}"
    return sentence


def _check_with_people(
    released: Path, k: int, originals: Path, against: Sequence[Path], *, exact: bool
) -> tuple["Findings", "Nameless"]:
    """Check a release and count the people behind each line, by the originals.

    Folders are read part by part, where nothing else needs all rows.
    """
    from trajanon.release.originals import can_be_read_by_part
    from trajanon.release.release_check import check_folders
    from trajanon.release.report_files import read_report

    if released.is_dir() and originals.is_dir() and not against:
        report = read_report(released)
        if can_be_read_by_part(report):
            return check_folders(released, k, originals, report, subjects_exact=exact)

    trajectories = trajanon.read_trajectories(originals, subjects_exact=exact)
    findings = trajanon.check(released, k, trajectories=trajectories, against=against)
    return findings, trajectories.origin.source.unnamed
