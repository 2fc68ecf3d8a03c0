"""What commands gave, read from their JSON as records that the page shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from trajanon.cli.run_commands import Table
from trajanon.common.columns_read import columns_read
from trajanon.common.number_text import number_of, span
from trajanon.studio.fields import BY_NAME, FILE, FOLDER, NOBODY, WITHOUT_COLUMN, Choice
from trajanon.trajectories.provenance import Provenance

Account = Mapping[str, Any]
"""The JSON of a command."""

_NOT_IN_NAMES = set(",=;")  # what no name in the option `columns` may hold


@dataclass(frozen=True)
class Columns:
    """The columns of the tables that were read: their roles, and what may name people."""

    roles: Mapping[str, str]  # columns by their roles
    names: Sequence[str]  # of all columns
    persons: Mapping[str, int]  # how many values columns have that may name people

    @classmethod
    def of(cls, extraction: Account) -> "Columns":
        """Read them from what `extract` says."""
        uses = columns_read(extraction)
        roles = {role: name for use in reversed(uses) for role, name in use.roles.items()}
        names = [name for use in uses for name in (*use.roles.values(), *use.unused)]
        possible = extraction.get("possible_persons") or []
        persons = {str(one["column"]): int(one["values"]) for one in possible}
        return cls(roles, list(dict.fromkeys(names)), persons)

    @property
    def unused(self) -> list[str]:
        """The columns that have no role."""
        return [name for name in self.names if name not in self.roles.values()]

    def choices(
        self, role: str, names: Sequence[str], chosen: Choice, *, folders: bool
    ) -> dict[Choice, str]:
        """Return what can be chosen for a role, in words; columns that may name people first."""
        automatic = self.roles.get(role, "")
        words: dict[Choice, str] = {"": "Not said yet" if role == "subject" else "None found"}
        if automatic and automatic != chosen:
            words[""] = f"{automatic} (found)"

        likely = self.persons if role == "subject" else {}
        columns = [*likely, *(name for name in names if name not in likely)]
        for name in columns:
            if name.strip() == name and not set(name) & _NOT_IN_NAMES:
                values = f" ({likely[name]:,} different)" if name in likely else ""
                words[name] = f"{name}{values}"

        if role == "subject":
            words[NOBODY] = WITHOUT_COLUMN[NOBODY]
        if role == "subject" and folders:
            words[FOLDER] = WITHOUT_COLUMN[FOLDER]
        if role == "id":
            words[FILE] = WITHOUT_COLUMN[FILE]
        return words | {chosen: words.get(chosen, str(chosen))}


def sentences_of_extraction(extraction: Account) -> list[str]:
    """Say what the files hold, and whom k counts."""
    counts = Counter[str](extraction["counts"])  # 0 for what was not counted
    unit = "trip" if extraction["trips"] else "window"
    points = number_of(counts["points read"], "point")
    recordings = number_of(counts["recordings read"], "recording")
    length = f"{counts['metres of track'] / 1_000:,.0f} km"
    lasts = f" in {span(seconds)}" if (seconds := counts["seconds of track"]) else ""
    became = number_of(counts["trajectories"], unit)

    nameless = Provenance.read(extraction).source.unnamed
    people = counts["subjects read"] - nameless.subjects
    counted = "k counts recordings: no person is named."
    if people > 0:
        named = number_of(people, "person is named", "people are named")
        counted = f"k counts people: {named}."
    sentences = [f"{points} of {recordings}: {length}{lasts}. They become {became}.", counted]
    if people > 0 < nameless.recordings:
        count = "counts" if nameless.recordings == 1 else "count"
        without = number_of(nameless.recordings, "recording")
        as_many = number_of(nameless.subjects, "person", "people")
        sentences.append(f"{without} without a name {count} as {as_many}.")
    return sentences


class Remedy(NamedTuple):
    """What helps against a finding: new values of options of a command."""

    label: str
    command: str
    changes: Mapping[str, Choice]  # None leaves an option out


def changes_of(remedy: Remedy) -> list[tuple[str, Choice]]:
    """List the fields of the page that a remedy changes, and their new values.

    Options without a field are as the remedy wants them, as the page never sets them.

    >>> changes_of(Remedy("", "extract", {"columns": "subject=NAME", "per_recording": 1}))
    [('subject', 'NAME')]
    """
    changes: list[tuple[str, Choice]] = []
    for name, value in remedy.changes.items():
        if name == "columns":
            pairs = (pair.partition("=") for pair in str(value).split(","))
            changes += [(role, column) for role, _, column in pairs if role in BY_NAME]
        elif name in BY_NAME:
            changes.append((name, value))
    return changes


class Finding(NamedTuple):
    """What a verdict found, and the one thing that helps."""

    sentence: str
    remedy: Remedy | None


class Verdict(NamedTuple):
    """Whether a release may be published."""

    colour: str
    headline: str
    findings: Sequence[Finding]

    @classmethod
    def of(cls, evaluation: Account) -> "Verdict":
        """Read it from what `evaluate` says."""
        verdict = evaluation["verdict"]
        findings = [
            Finding(finding["sentence"], _remedy_in(finding)) for finding in verdict["findings"]
        ]
        return cls(verdict["colour"], verdict["headline"], findings)


def _remedy_in(finding: Account) -> Remedy | None:
    if (remedy := finding["remedy"]) is None:
        return None
    return Remedy(remedy["label"], remedy["command"], remedy["changes"])


@dataclass(frozen=True)
class ReleaseFigures:
    """A release in a few figures, to be compared with others."""

    name: str
    k: int
    colour: str
    metres: float  # that points moved, on average
    attack: str  # the best one on a person's row, and what it knows
    chance: float
    left_out: str
    chosen: Mapping[str, Choice]
    made_by: Table  # the options that decide what is in it


def release_figures(
    name: str, evaluation: Account, chosen: Mapping[str, Choice], made_by: Table
) -> ReleaseFigures:
    """Read the figures of a release from what `evaluate` says."""
    attacks = [
        attack
        for attack in evaluation["attacks"]
        if attack["against"] == "release" and attack["question"] == "singling out"
    ]
    best = max(attacks, key=lambda attack: float(attack["expected"]))
    return ReleaseFigures(
        name=name,
        k=int(evaluation["k"]),
        colour=evaluation["verdict"]["colour"],
        metres=float(evaluation["utility"]["displacement"]["mean"]),
        attack=f"{best['name']}: knows {best['knows']}",
        chance=float(best["expected"]),
        left_out=evaluation["answers"][3]["answer"],
        chosen=chosen,
        made_by=made_by,
    )
