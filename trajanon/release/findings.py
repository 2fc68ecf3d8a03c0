"""Findings of a verdict and their remedies: records, which `verdict_words` puts into sentences."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from trajanon.common.command_lines import Option, Options, command_line

StopKind = Literal[
    "plain_means",
    "groups_below_k_trajectories",
    "groups_below_k_people",
    "people_below_k_behind_records",
    "people_not_named",
    "shows_nothing",
    "drives_betrayed",
    "file_problem",
]
"""Why a release must not be published."""

WeighKind = Literal[
    "people_unknown",
    "people_below_k",
    "people_not_checked",
    "drives_below_k",
    "drives_not_checked",
    "hours_alone",
    "ends_in_one_place",
    "ends_in_few_places",
    "nameless_differ",
    "pairs_of_windows",
    "far_from_streets",
    "unlike_members",
    "days_left_out",
]
"""What somebody has to weigh before a release is published, the most important first."""

FindingKind = StopKind | WeighKind

RemedyKind = Literal[
    "one_line_each",
    "name_persons",
    "one_window_each",
    "hours_alone_of_day",
    "departures_may_differ",
    "trim_ends",
    "larger_k",
    "smaller_k",
    "nameless_differ",
    "trips_not_days",
    "not_as_published",
    "again",
]


class Share(NamedTuple):
    """A share of people or drives, which is rounded so that nothing follows of a single one."""

    value: float
    cases: int


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
        What it is, for the words of a button.
    command
        The command whose options change: ``extract`` or ``anonymize``.
    changes
        New values of options by their names; None where an option is to be left out.
    runs
        Options of both commands as they were typed, by command.
    entered
        Where a ledger has the release. Another one of the same trips is for those alone who did
        not publish this one, and the command forgets it.
    """

    kind: RemedyKind
    command: Literal["extract", "anonymize"]
    changes: Mapping[str, Option | None]
    runs: Mapping[str, Options]
    entered: Entered | None = None

    @property
    def command_line(self) -> str:
        """Write the whole command: that of the release, changed; or both, if extraction changes."""
        typed = {**self.runs[self.command]}
        for name, value in self.changes.items():
            before = typed.pop(name, "")
            if name == "columns":
                typed[name] = _with_role(str(before), str(value))
            elif value is not None:
                typed[name] = value

        runs = {**self.runs, self.command: typed}
        lines = [command_line("anonymize", runs["anonymize"])]
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
        What was found.
    numbers
        The numbers and names of its sentence.
    remedy
        The one thing that helps; None where nothing does.
    """

    kind: FindingKind
    numbers: Mapping[str, Number]
    remedy: Remedy | None = None


def _with_role(columns: str, change: str) -> str:
    """Add a column with its role to those that were named, in place of one of the same role."""
    role, _, _ = change.partition("=")
    others = [column for column in columns.split(",") if column.partition("=")[0].strip() != role]
    return ",".join([*filter(None, others), change])
