"""Provenance: how trajectories came about, as far as a release needs it, read from any file."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from msgspec import Struct

from trajanon.common.columns_read import columns_read
from trajanon.common.command_lines import Option, options_in
from trajanon.common.json_toml_and_regular_files import Whole
from trajanon.common.number_text import UnitName
from trajanon.trajectories.subjects import (
    AT_TWO_PLACES,
    COPIES_MERGED,
    DRAWN_ANEW,
    NAMELESS,
    NAMELESS_COUNT_AS,
    NAMES_MERGED,
    PERHAPS_TRIPS,
    Identities,
    Merged,
    Nameless,
)

NAMELESS_SUBJECT = "nameless_subject"
"""Under this name a provenance has the number of the one subject of all recordings without a name,
if they count as one."""


class PossiblePersons(Struct, frozen=True):
    """A column that may name subjects, where none does."""

    column: str
    values: Whole  # different ones


class Source(Struct, frozen=True, kw_only=True):
    """What was read, and what was left out before a release was made."""

    recordings: Whole | None = None  # that were read; None if not known
    used: Whole = 0  # of these, with a trajectory
    nameless: Whole = 0  # recordings
    nameless_count_as: Whole | None = None  # subjects
    perhaps_trips: Whole = 0  # subjects whose only recording is named as another's
    drawn_anew: Whole = 0  # subjects, if nearly all of their names seem to be drawn anew
    at_two_places: Whole = 0  # subjects, again and again at one time
    per_recording: Whole | None = None  # windows of a recording, at most; None if not known
    possible_persons: list[PossiblePersons] = []
    person_columns: list[str] = []  # that name the subjects of one or more tables
    left_out: dict[str, Whole] = {}  # recordings, and why
    trips: dict[str, Whole] = {}  # found, and left out, by reason
    points: dict[str, Whole] = {}  # read, used, and left out, by reason
    run: dict[str, Option] = {}  # options of extract, as they were typed

    @property
    def unnamed(self) -> Nameless:
        """Count recordings without a name; earlier versions counted each as another person's."""
        count_as = self.nameless_count_as
        return Nameless(self.nameless, self.nameless if count_as is None else count_as)

    @property
    def share_nameless(self) -> float:
        """Compute the share of the recordings that were read without a name; 1 if nobody has one.

        How many were read may not be known; and there may be none.
        """
        return self.nameless / max(self.recordings or 0, self.nameless, 1)

    @property
    def names_people(self) -> bool:
        """Check whether some recording has a name; without any, several may be of one person."""
        # Where nobody knows how many recordings were read: those without a name count as one person
        # if others have one.
        count_as_one = self.recordings is None and self.nameless_count_as == 1
        return count_as_one or self.share_nameless < 1.0


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a provenance says that a release, or its check, needs."""

    unit: UnitName
    trips_of_day: int  # at most; 0 of what is no day
    attribution: str | None  # the line that must be shown with the data
    times: str | None  # of a release: what its times count from
    nameless_subject: int | None  # number of the one subject of all recordings without a name
    merged: Merged
    source: Source

    @classmethod
    def read(cls, account: Mapping[str, object]) -> "Provenance":
        """Read what a file says, which may be anything: what is not known keeps its default."""
        days = account.get("days")
        trips_of_day = days if _is_count(days) else 0
        # Of whole recordings, extraction writes "trips": true.
        unit: UnitName = "trip" if account.get("trips") is True else "trajectory"
        counts = counts_in(account.get("counts"))
        merged = Merged(counts.get(NAMES_MERGED, 0), counts.get(COPIES_MERGED, 0))
        nameless_subject = account.get(NAMELESS_SUBJECT)
        return cls(
            unit="day" if trips_of_day else unit,
            trips_of_day=trips_of_day,
            attribution=_text_in(account.get("attribution")),
            times=_text_in(account.get("times")),
            nameless_subject=nameless_subject if _is_count(nameless_subject) else None,
            merged=merged,
            source=_source_in(account, counts),
        )


def _source_in(account: Mapping[str, object], counts: Mapping[str, int]) -> Source:
    """Read what was read and left out, in what a file says, and in its counts."""
    recordings_entry = account.get("recordings")
    recordings = counts_in(recordings_entry)
    reasons = recordings_entry.get("left out") if isinstance(recordings_entry, Mapping) else None
    nameless = counts.get(NAMELESS, 0)
    per_recording = account.get("per_recording")
    return Source(
        recordings=recordings.get("read"),
        used=recordings.get("with a trajectory", 0),
        nameless=nameless,
        nameless_count_as=counts.get(NAMELESS_COUNT_AS, nameless),
        perhaps_trips=counts.get(PERHAPS_TRIPS, 0),
        drawn_anew=counts.get(DRAWN_ANEW, 0),
        at_two_places=counts.get(AT_TWO_PLACES, 0),
        per_recording=per_recording if _is_count(per_recording) else None,
        possible_persons=_columns_in(account.get("possible_persons")),
        person_columns=_person_columns_in(account),
        left_out=counts_in(reasons),
        trips=_beginning(counts, "trips "),
        points=_beginning(counts, "points ", "stray points"),
        run=options_in(account.get("run")),
    )


def _beginning(counts: Mapping[str, int], *words: str) -> dict[str, int]:
    """Return the counts whose names begin with one of these words."""
    return {name: n for name, n in counts.items() if name.startswith(words)}


def counts_in(account: object) -> dict[str, int]:
    """Read the counts in what a file says, which may be anything."""
    counts = account if isinstance(account, Mapping) else {}
    return {str(name): n for name, n in counts.items() if _is_count(n)}


def with_identities(account: Mapping[str, object], found: Identities) -> Mapping[str, object]:
    """Add to a provenance what was found of subjects when they were numbered.

    Counts that are not zero are added to those before; what else stands there stays.
    """
    added = {name: value for name, value in account.items() if name != NAMELESS_SUBJECT}
    if found.nameless_subject is not None:
        added[NAMELESS_SUBJECT] = found.nameless_subject

    entry = account.get("counts")
    counts_before = counts_in(entry)
    sums = {name: n + counts_before.get(name, 0) for name, n in found.counts.items() if n}
    if sums:
        added["counts"] = {**(entry if isinstance(entry, Mapping) else {}), **sums}
    return added


def _is_count(value: object) -> TypeGuard[int]:
    """Check whether a value is a whole number that is not negative; True is none."""
    return type(value) is int and 0 <= value <= sys.maxsize


def _text_in(value: object) -> str | None:
    """Return what a file says as a text."""
    return None if value is None else str(value)


def _columns_in(account: object) -> list[PossiblePersons]:
    """Read the columns, with how many values they have, in what a file says."""
    rows = account if isinstance(account, list) else []
    return [
        PossiblePersons(str(row["column"]), row["values"])
        for row in rows
        if isinstance(row, Mapping) and "column" in row and _is_count(row.get("values"))
    ]


def _person_columns_in(account: Mapping[str, object]) -> list[str]:
    """List the columns with subjects, of names that differ in more than case and signs."""
    subjects = (use.roles["subject"] for use in columns_read(account) if "subject" in use.roles)
    letters = re.compile(r"[\W_]")
    return list({letters.sub("", name).casefold(): name for name in subjects}.values())
