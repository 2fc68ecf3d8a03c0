"""The words of a verdict: its headline, its findings and what helps, each written once."""

from collections.abc import Sequence
from pathlib import Path
from string import Formatter

from msgspec import Struct

from trajanon.common.inputs import Json, read_toml, typed
from trajanon.common.number_text import enumerated, number_of, two_digits
from trajanon.release.findings import Finding, FindingKind, RemedyKind, Share
from trajanon.release.public_figures import Crowd


class _Words(Struct):
    """A finding, a sentence without its end; and the condition after *Ready to publish, if*."""

    sentence: str
    condition: str = ""


_TABLE = read_toml(Path(__file__).with_name("verdict_words.toml"), "the words of verdicts")
WORDS = typed(_TABLE["finding"], dict[FindingKind, _Words])
LABELS = typed(_TABLE["label"], dict[RemedyKind, str])
"""The words of a button, or before a command."""


class _Numbers(Formatter):
    """Texts with numbers: a format such as ``{k:person|people}`` is a noun, one and several."""

    def format_field(self, value: object, format_spec: str) -> str:
        """Write a share in percent, a number with its noun, or a name."""
        if isinstance(value, Share):
            return Crowd(value.cases, shares=True).text(value.value, two_digits)
        if isinstance(value, float):
            return two_digits(value)
        if isinstance(value, int):
            return number_of(value, *format_spec.split("|")) if format_spec else f"{value:,}"
        return str(value)


def headline_of(kind: str, findings: Sequence[Finding]) -> str:
    """Write whether a release may be published, and under which conditions."""
    if kind == "stop":
        return "Do not publish."

    conditions = dict.fromkeys(
        _Numbers().format(WORDS[finding.kind].condition, **finding.numbers) for finding in findings
    )
    if not conditions:
        return "Ready to publish."
    return f"Ready to publish, if {enumerated([*conditions])}."


def clause_of(finding: Finding) -> str:
    """Write a finding as a part of a longer message."""
    return _Numbers().format(WORDS[finding.kind].sentence, **finding.numbers)


def sentence_of(finding: Finding) -> str:
    """Write a finding; what the checker found begins with a capital."""
    clause = clause_of(finding)
    return f"{clause[:1].upper()}{clause[1:]}."


def label_of(finding: Finding) -> str:
    """Write what helps, for a button or before a command; nothing where nothing does."""
    if (remedy := finding.remedy) is None:
        return ""
    label = _Numbers().format(LABELS[remedy.kind], **finding.numbers)
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
