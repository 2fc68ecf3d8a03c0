"""Findings of a verdict and their remedies: records, and the sentences that are made of them."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Literal, NamedTuple

from msgspec import Struct

from trajanon.common.command_lines import Option, Options, command_line
from trajanon.common.json_toml_and_regular_files import Json, read_toml, typed
from trajanon.common.number_text import enumerated, number_of, two_digits
from trajanon.release.public_figures import Crowd

_OF_EXTRACTION = {"name_persons", "one_window_each", "trim_ends", "nameless_differ"}
"""Remedies where traces become trajectories; all others are options of anonymize."""


class Share(NamedTuple):
    """A share of people, drives or lines, rounded so that nothing follows of a single one."""

    value: float  # of 1
    cases: int  # of which it is the share


Number = int | str | float | Share
"""A count, a name, or a share: in percent."""

Numbers = dict[str, Number]


class Entered(NamedTuple):
    """The entry of a release in a ledger: while it is there, nothing in it is released again."""

    ledger: str
    number: int


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to change so that a finding goes.

    Attributes
    ----------
    kind
        What it is: a label of ``verdict_sentences.toml``, for the words of a button.
    changes
        New values of options by their names; None where an option is to be left out.
    runs
        Options of both commands as they were typed, by command.
    entered
        Where a ledger has the release. Another one of the same trips is for those alone who did
        not publish this one, and the command forgets it.
    """

    kind: str
    changes: Mapping[str, Option | None]
    runs: Mapping[str, Options]
    entered: Entered | None = None

    @property
    def command(self) -> Literal["extract", "anonymize"]:
        """Return the command whose options change."""
        return "extract" if self.kind in _OF_EXTRACTION else "anonymize"

    @property
    def command_line(self) -> str:
        """Write the whole command: that of the release, changed; or both, if extraction changes."""
        # Options keep the order in which they were typed, and changed ones come last.
        typed = {**self.runs[self.command]}
        for name, value in self.changes.items():
            before = typed.pop(name, "")
            if name == "columns":
                typed[name] = _with_role(str(before), str(value))
            elif value is not None:
                typed[name] = value

        runs = {**self.runs, self.command: typed}
        lines = [command_line("anonymize", runs["anonymize"])]
        # While the ledger has this release, none of its trips would be released again.
        if self.entered is not None:
            lines.insert(0, shlex.join(["trajanon", "ledger", "forget", *map(str, self.entered)]))
        if self.command == "extract":  # first: if it fails, nothing is forgotten
            lines.insert(0, command_line("extract", typed))
        return " && ".join(lines)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that speaks against publishing, or has to be weighed.

    Attributes
    ----------
    kind
        What was found: a table of ``verdict_sentences.toml``.
    numbers
        The numbers and names of its sentence.
    remedy
        The one thing that helps; None where nothing does.
    """

    kind: str
    numbers: Mapping[str, Number]
    remedy: Remedy | None = None


def _with_role(columns: str, change: str) -> str:
    """Add role=column to those that were named, in place of one of the same role."""
    role, _, _ = change.partition("=")
    stay = [column for column in columns.split(",") if column.partition("=")[0].strip() != role]
    return ",".join([*filter(None, stay), change])


# Their words, each written once, in verdict_sentences.toml.


class _Words(Struct):
    """A finding, a sentence without its end; and the condition after *Ready to publish, if*."""

    sentence: str
    condition: str = ""


_TABLE = read_toml(Path(__file__).with_suffix(".toml"), "the words of verdicts")
_HEADLINES = typed(_TABLE["headline"], dict[str, str])
HEADLINES_IN_A_TABLE = typed(_TABLE["headline_in_a_table"], dict[str, str])
"""The words of a verdict by its colour, where releases stand side by side."""

WORDS = typed(_TABLE["finding"], dict[str, _Words])
LABELS = typed(_TABLE["label"], dict[str, str])
"""The words of a button, or before a command."""


class _Sentences(Formatter):
    """Sentences with numbers: ``{k:person|people}`` is a number with its noun, one and several."""

    def format_field(self, value: object, format_spec: str) -> str:
        """Write a share in percent, a number with its noun, or a name."""
        if isinstance(value, Share):
            return Crowd(value.cases, shares=True).text(value.value, two_digits)
        if isinstance(value, float):
            return two_digits(value)
        if isinstance(value, int):
            return number_of(value, *format_spec.split("|")) if format_spec else f"{value:,}"
        return str(value)


def headline_of(findings: Sequence[Finding], *, may_be_published: bool) -> str:
    """Write whether a release may be published, and under which conditions."""
    if not may_be_published:
        return f"{_HEADLINES['red']}."

    conditions = dict.fromkeys(
        _Sentences().format(WORDS[finding.kind].condition, **finding.numbers)
        for finding in findings
    )
    if not conditions:
        return f"{_HEADLINES['green']}."
    return f"{_HEADLINES['amber'].format(conditions=enumerated([*conditions]))}."


def clause_of(finding: Finding) -> str:
    """Write a finding as a part of a longer message: without capital and full stop."""
    return _Sentences().format(WORDS[finding.kind].sentence, **finding.numbers)


def sentence_of(finding: Finding) -> str:
    """Write a finding as a sentence; what the checker found may begin without a capital."""
    clause = clause_of(finding)
    return f"{clause[:1].upper()}{clause[1:]}."


def label_of(finding: Finding) -> str:
    """Write what helps, for a button or before a command; nothing where nothing does."""
    if (remedy := finding.remedy) is None:
        return ""
    label = _Sentences().format(LABELS[remedy.kind], **finding.numbers)
    if remedy.entered is None:
        return label
    return f"{label}, but only if nobody has release {remedy.entered.number} yet"


def account_of(finding: Finding) -> dict[str, Json]:
    """Return a finding and what helps, ready for JSON."""
    remedy = finding.remedy
    return {
        "kind": finding.kind,
        "sentence": sentence_of(finding),
        "numbers": {
            name: number.value if isinstance(number, Share) else number
            for name, number in finding.numbers.items()
        },
        "remedy": None
        if remedy is None
        else {
            "kind": remedy.kind,
            "label": label_of(finding),
            "command": remedy.command,
            "changes": dict(remedy.changes),
            "command_line": remedy.command_line,
        },
    }
