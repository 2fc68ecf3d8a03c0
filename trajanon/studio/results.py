"""What commands gave, read from their JSON as records that the page shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from trajanon.cli.run_commands import Table
from trajanon.common.columns_read import columns_read
from trajanon.common.number_text import number_of, span
from trajanon.extract.why_dropped import people_sentences, recordings_sentence
from trajanon.studio.fields import (
    BY_NAME,
    FILE,
    FOLDER,
    NOBODY,
    WITHOUT_COLUMN,
    Choice,
    in_words_of_the_page,
)
from trajanon.trajectories.provenance import Provenance

_NOT_IN_NAMES = set(",=;")  # what no name in the option `columns` may hold


@dataclass(frozen=True)
class Columns:
    """The columns of the tables that were read: their roles, and what may name people."""

    roles: Mapping[str, str]  # columns by their roles
    names: Sequence[str]  # of all columns
    persons: Mapping[str, int]  # how many values columns have that may name people

    @classmethod
    def of(cls, extraction: Table) -> "Columns":
        """Read them from what `extract` says."""
        roles = dict[str, str]()
        names = list[str]()
        for use in columns_read(extraction):
            roles = {**use.roles, **roles}  # the first table with a role decides
            names += [*use.roles.values(), *use.unused]

        possible = Provenance.read(extraction).source.possible_persons
        persons = {column.column: column.values for column in possible}
        return cls(roles, list(dict.fromkeys(names)), persons)

    @property
    def unused(self) -> list[str]:
        """The columns that have no role."""
        return [name for name in self.names if name not in self.roles.values()]

    def choices(
        self, role: str, names: Sequence[str], chosen: Choice, *, folders: bool
    ) -> dict[Choice, str]:
        """Return what can be chosen for a role, in words; columns that may name people first."""
        words: dict[Choice, str] = {"": "Not chosen yet" if role == "subject" else "None found"}
        if self.roles.get(role, chosen) != chosen:
            words[""] = f"{self.roles[role]} (found)"

        likely = self.persons if role == "subject" else {}
        for name in dict.fromkeys([*likely, *names]):
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


def sentences_of_extraction(extraction: Table) -> list[str]:
    """List what the files hold, what became of it, and whom k counts."""
    counts = Counter[str](extraction["counts"])  # 0 for what was not counted
    unit = "trip" if extraction["trips"] else "window"
    points = number_of(counts["points read"], "point")
    recordings = number_of(counts["recordings read"], "recording")
    length = f"{counts['metres of track'] / 1_000:,.0f} km"
    lasts = f" in {span(seconds)}" if (seconds := counts["seconds of track"]) else ""
    became = number_of(counts["trajectories"], unit)

    people = counts["subjects read"] - Provenance.read(extraction).source.unnamed.subjects
    named = number_of(people, "person is named", "people are named")
    return [
        f"{points} of {recordings}: {length}{lasts}. They become {became}.",
        f"k counts people: {named}." if people else "k counts recordings: nobody is named.",
        *map(in_words_of_the_page, people_sentences(extraction)),
        recordings_sentence(extraction),
    ]


class Remedy(msgspec.Struct, frozen=True):
    """What helps against a finding: new values of options."""

    label: str
    changes: Mapping[str, Choice]  # None leaves an option out


def changes_of(remedy: Remedy) -> list[tuple[str, Choice]]:
    """List the fields of the page that a remedy changes, and their new values.

    Options without a field are as the remedy wants them, as the page never sets them.

    >>> changes_of(Remedy("", {"columns": "subject=NAME", "per_recording": 1}))
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


class Finding(msgspec.Struct):
    """What a verdict found, and the one thing that helps."""

    sentence: str
    remedy: Remedy | None


class Verdict(msgspec.Struct):
    """Whether a release may be published."""

    kind: str
    colour: str
    headline: str
    findings: Sequence[Finding]


class Answer(msgspec.Struct):
    """An answer that page and datasheet give, too."""

    question: str
    answer: str


class Evaluation(msgspec.Struct):
    """What the page shows of an evaluation."""

    k: int
    verdict: Verdict
    answers: Sequence[Answer]


class MadeRelease(NamedTuple):
    """A release to be compared with others."""

    name: str
    evaluation: Evaluation
    chosen: Mapping[str, Choice]
    made_by: Table  # the options that decide what is in it
