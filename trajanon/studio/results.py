"""What commands gave: is it what is chosen now, what can be saved, and records for the page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from trajanon.cli.options import MAP, PUBLIC_MAP
from trajanon.common.columns_read import columns_read
from trajanon.common.command_lines import Options
from trajanon.common.number_text import number_of, span
from trajanon.extract.why_left_out import people_sentences, recordings_sentence
from trajanon.studio.fields import (
    FIELDS_BY_NAME,
    FILE,
    FOLDER,
    NOBODY,
    WITHOUT_COLUMN,
    Choice,
    in_words_of_the_page,
)
from trajanon.studio.form_to_commands import (
    EVALUATION_PAGE,
    MAKE_RELEASE,
    PUBLISHER,
    SETTINGS,
    Form,
)
from trajanon.trajectories.provenance import Provenance

_PROCESSING_RECORD = "evaluation.record.html"
_MOST_COMPARED = 3  # releases side by side
_NOT_IN_NAMES = set(",=;")  # what no name in the option `columns` may hold


@dataclass(frozen=True)
class Columns:
    """The columns of the tables that were read: their roles, and what may name people."""

    roles: Mapping[str, str]  # columns by their roles
    names: Sequence[str]  # of all columns
    persons: Mapping[str, int]  # how many values columns have that may name people

    @classmethod
    def of(cls, extraction: Mapping[str, Any]) -> "Columns":
        """Read them from what `extract` says."""
        roles = dict[str, str]()
        names = list[str]()
        for use in columns_read(extraction):
            roles = {**use.roles, **roles}  # the first table with a role decides
            names += [*use.roles.values(), *use.unused]

        possible = Provenance.read(extraction).source.possible_persons
        persons = {column.column: column.values for column in possible}
        return cls(roles, list(dict.fromkeys(names)), persons)

    def choices(
        self, role: str, names: Sequence[str], chosen: Choice, *, folders: bool
    ) -> dict[Choice, str]:
        """Return what can be chosen for a role, in words; columns that may name people first."""
        # Extraction tells a column that was chosen like one that it found.
        words: dict[Choice, str] = {"": "Look for one" if chosen else "None found"}
        if role == "subject":
            words[""] = "Not chosen yet"
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


def sentences_of_extraction(extraction: Mapping[str, Any]) -> list[str]:
    """List what the files hold, what became of it, and whom k counts."""
    counts = Counter[str](extraction["counts"])  # 0 for what was not counted
    unit = "trip" if extraction["trips"] else "window"
    points = number_of(counts["points read"], "point")
    recordings = number_of(counts["recordings read"], "recording")
    length = f"{counts['metres of track'] / 1_000:,.0f} km"
    lasts = f" in {span(seconds)}" if (seconds := counts["seconds of track"]) else ""
    became = number_of(counts["trajectories"], unit)

    people = people_named(extraction)
    named = number_of(people, "person is named", "people are named")
    return [
        f"{points} of {recordings} were read. Once cleaned, {length}{lasts} are left.",
        f"They become {became}.",
        f"k counts people: {named}." if people else "k counts recordings: nobody is named.",
        *map(in_words_of_the_page, people_sentences(extraction)),
        recordings_sentence(extraction),
    ]


def people_named(extraction: Mapping[str, Any]) -> int:
    """Count the people who have a name."""
    unnamed = Provenance.read(extraction).source.unnamed.subjects
    return int(extraction["counts"].get("subjects read", 0)) - unnamed


class Remedy(msgspec.Struct, frozen=True):
    """What helps against a finding, as commands print it for scripts: new values of options."""

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
            changes += [(role, column) for role, _, column in pairs if role in FIELDS_BY_NAME]
        elif name in FIELDS_BY_NAME:
            changes.append((name, value))
    return changes


class Finding(msgspec.Struct):
    """What a verdict found, and the one thing that helps, as commands print them."""

    sentence: str
    remedy: Remedy | None


class Verdict(msgspec.Struct):
    """Whether a release may be published, as commands print it."""

    kind: str
    colour: str
    headline: str
    findings: Sequence[Finding]


class Answer(msgspec.Struct):
    """An answer that the page of the evaluation and the datasheet give, too."""

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
    made_with: Sequence[Options]  # those that decide what is in it


class Results:
    """What the commands gave last, for which choices, and the releases that were made."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.outputs: dict[str, Any] = {}  # JSON of each command that ran, or empty
        self.messages: dict[str, list[str]] = {}  # of each command
        self.made_with: dict[str, Options] = {}  # the options of each command that gave them
        self.releases: list[MadeRelease] = []  # the newest first
        self.maps_drawn = 0

    def clear(self) -> None:
        """Forget all of them, as of files that are gone."""
        self.outputs.clear()
        self.messages.clear()
        self.releases.clear()
        self.make_old()

    def make_old(self) -> None:
        """Mark all results as out of date.

        A command that is running writes into the dictionary of before: its results are old, too.
        """
        self.made_with = {}

    def compare(self, options: Mapping[str, Options]) -> None:
        """Keep the release that was made last beside those of before."""
        # In another format, and with another name, it is the same release.
        made_with = [options["extract"], {**options["anonymize"], "out": ""}]
        newest = MadeRelease(self.form.name, self.evaluation, dict(self.form.chosen), made_with)
        others = [release for release in self.releases if release.made_with != made_with]
        self.releases = [newest, *others][:_MOST_COMPARED]

    # Are they what was asked for?

    def have(self, commands: Sequence[str]) -> bool:
        """Whether all of these commands gave results, whatever was chosen.

        There may be no public map: a release that must not be published gets none.
        """
        return self.outputs.keys() >= {*commands} - {"public map"}

    def are_current(self, commands: Sequence[str]) -> bool:
        """Whether the results of commands are those of what is chosen now."""
        options = self.form.options()
        return all(
            self.made_with.get(command) == options[command] for command in self.needed(commands)
        )

    def are_old(self, commands: Sequence[str]) -> bool:
        """Whether there are results, but not those of what is chosen now."""
        return self.have(commands) and not self.are_current(commands)

    def needed(self, commands: Sequence[str]) -> list[str]:
        """List commands, but for the public map of what must not be published."""
        is_stopped = self.have(("check", "evaluate")) and not self.may_be_published
        return [command for command in commands if command != "public map" or not is_stopped]

    @property
    def may_be_published(self) -> bool:
        """Whether nothing speaks against publishing the release that was made last."""
        return self.evaluation.verdict.kind != "stop" and bool(self.outputs["check"]["holds"])

    # What the page shows of them.

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the release that was made last."""
        return msgspec.convert(self.outputs["evaluate"], Evaluation)

    @property
    def columns(self) -> Columns:
        """The columns of the tables that were read."""
        return Columns.of(self.outputs.get("extract", {}))

    @property
    def lack_persons(self) -> bool:
        """Whether no column of a table is known to name people, and none was chosen."""
        columns = self.columns
        is_known = "subject" in columns.roles or bool(self.form.chosen["subject"])
        return bool(columns.names) and not is_known

    @property
    def files_to_save(self) -> Mapping[str, str]:
        """The files of the release that was asked for, and what each is; none if it is not made."""
        if not self.are_current(MAKE_RELEASE):
            return {}
        name = self.form.name
        public = {
            self.form.released_file: "the release, to be published",
            f"{name}.datasheet.md": "its datasheet, to be published with it",
            f"{name}.certificate.json": "the same for machines, to be published",
            str(PUBLIC_MAP): "the map of the release alone, to be published if you like",
        }
        private = {
            _PROCESSING_RECORD: "the record of processing, to sign (private)",
            SETTINGS: "repeats the work (private)",
            PUBLISHER: "the publisher's words (private)",
            EVALUATION_PAGE: "the evaluation (private)",
            str(MAP): "the map with the originals (private)",
        }
        words = public | private if self.may_be_published else private
        # Settings are no file: the server writes them when they are asked for.
        present = {path.name for path in self.form.folder.iterdir()} | {SETTINGS}
        return {file: meaning for file, meaning in words.items() if file in present}
