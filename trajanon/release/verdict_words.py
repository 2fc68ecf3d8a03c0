"""The words of a verdict: its headline, its findings and what helps, each written once."""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import NamedTuple

from trajanon.common.inputs import Json
from trajanon.common.number_text import enumerated, number_of, two_digits
from trajanon.release.findings import Finding, FindingKind, RemedyKind, Share
from trajanon.release.public_figures import Crowd
from trajanon.trajectories.trajectories import FOR_COMPARISON

MADE_AS_PUBLISHED = f"it holds plain means, made as published, {FOR_COMPARISON}"

_FOLLOWED = (
    "Windows of one drive lie end to end: for {share} of the drives, anyone who follows a drive "
    "from line to line is left with fewer than {k} people"
)


class _Words(NamedTuple):
    """A finding, a sentence without its end; and the condition after *Ready to publish, if*."""

    sentence: str
    condition: str = ""


_WORDS: Mapping[FindingKind, _Words] = {
    "plain_means": _Words("{problem}"),
    "file_problem": _Words("{problem}"),
    "groups_below_k_trajectories": _Words(
        "{trajectories} of {groups:group} hold fewer than {k} {units}"
    ),
    "groups_below_k_people": _Words(
        "{people} of {groups:group} hold fewer than {k} different people"
    ),
    "people_below_k_behind_records": _Words(
        "{k} records stand behind each line, but not {k} people: {people} of {groups:group} hold "
        "fewer than {k} different people"
    ),
    "people_not_named": _Words("The report promises different people, and these {units} name none"),
    "shows_nothing": _Words(
        "The release shows nothing useful: points lie {share} of a {unit}'s length from where "
        "people went"
    ),
    "drives_betrayed": _Words(_FOLLOWED),
    "people_unknown": _Words(
        "The source names nobody: at least {k:recording} stand behind each line, and several may "
        "be of one person",
        "no person made several {units}",
    ),
    "people_below_k": _Words(
        "For {share} of the people on several lines, anyone who knows all their {units} is left "
        "with fewer than {k} people",
        "nobody knows several {units} of one person",
    ),
    "people_not_checked": _Words(
        "With several shards, the lines of a person are not checked together: fewer than {k} "
        "people may be on all of them",
        "nobody knows several {units} of one person",
    ),
    "drives_below_k": _Words(_FOLLOWED, "nobody follows a drive from line to line"),
    "drives_not_checked": _Words(
        "With several shards, the lines of a drive are not checked together: fewer than {k} people "
        "may be on all of them",
        "nobody follows a drive from line to line",
    ),
    "hours_alone": _Words(
        "In {alone} of the {hours:hour} with departures, only one line departs: anyone known to "
        "have set out then is on it",
        "nobody knows when a person set out",
    ),
    "ends_in_one_place": _Words(
        "For {share} of the lines, all {units} begin, or all end, within the same 200 m",
        "places where lines begin and end may be known",
    ),
    "ends_in_few_places": _Words(
        "The {units} of {share} of the lines begin or end in fewer than {places:place}, 200 m "
        "apart",
        "places where lines begin and end may be known",
    ),
    "nameless_differ": _Words(
        "{recordings} recordings have no name: each was counted as a different person",
        "each recording without a name is of another person",
    ),
    "pairs_of_windows": _Words(
        "With k = 2, each step of a line is the mean of two steps of known length, so both can "
        "sometimes be computed",
        "both windows behind a line may be computed",
    ),
    "far_from_streets": _Words(
        "Lines lie far from the streets people used: by {share} of a {unit}'s length. Several "
        "times as many {more} would bring that down to {enough}",
        "lines may lie far from the streets people used",
    ),
    "unlike_members": _Words(
        "{share} of the lines stand for {units} that are farther apart than they are long",
        "a line may stand for unlike {units}",
    ),
    "days_left_out": _Words(
        "{share} of the days are left out: they have more than {most:trip}, or fewer than {k} "
        "people had similar days",
        "many days may be missing",
    ),
}

_LABELS: Mapping[RemedyKind, str] = {
    "one_line_each": "One {unit} per person",
    "name_persons": "Name the column with the people",
    "one_window_each": "One window per recording",
    "hours_alone_of_day": "Hours of the day only",
    "departures_may_differ": "Let departures of a line differ more",
    "trim_ends": "Cut 200 m off both ends of each recording",
    "larger_k": "A larger k",
    "smaller_k": "A smaller k",
    "nameless_differ": "Count each recording without a name as a different person, if that is true",
    "trips_not_days": "Release trips, not days",
    "not_as_published": "Leave out --as-published",
    "again": "Anonymize again",
}
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
        _Numbers().format(_WORDS[finding.kind].condition, **finding.numbers) for finding in findings
    )
    if not conditions:
        return "Ready to publish."
    return f"Ready to publish, if {enumerated([*conditions])}."


def clause_of(finding: Finding) -> str:
    """Write a finding as a part of a longer message."""
    return _Numbers().format(_WORDS[finding.kind].sentence, **finding.numbers)


def sentence_of(finding: Finding) -> str:
    """Write a finding; what the checker found begins with a capital."""
    clause = clause_of(finding)
    return f"{clause[:1].upper()}{clause[1:]}."


def label_of(finding: Finding) -> str:
    """Write what helps, for a button or before a command; nothing where nothing does."""
    if (remedy := finding.remedy) is None:
        return ""
    label = _Numbers().format(_LABELS[remedy.kind], **finding.numbers)
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
