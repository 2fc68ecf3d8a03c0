"""Which column of a table of points plays which role: one ranking by names and evidence."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from trajanon.common.columns_read import NamesHeld
from trajanon.common.errors import ColumnsUnclear
from trajanon.extract.sources import column_role_names
from trajanon.extract.sources.column_evidence import TableHead, as_given
from trajanon.extract.sources.column_role_names import FILE, OWNERS, ROLES, is_word, known_as, plain
from trajanon.extract.sources.reader_sentences import columns_unclear
from trajanon.extract.sources.reading import Reading
from trajanon.trajectories.person_names import key_of

# What names of columns say of the times in them.
_SAYS_UTC = re.compile(r"utc|gmt|zulu|epoch|unix", re.IGNORECASE)
_SAYS_LOCAL = re.compile(r"local|lokal", re.IGNORECASE)
_SAYS_TIME = re.compile(r"time|date|stamp|epoch|utc|start|begin|end|_at$|\bts$|_ts$", re.IGNORECASE)

_FLAGS = {"true", "false", "yes", "no", "t", "f", "y", "n", "0", "1"}  # which name no persons
_SEQUENCE = "collection"  # what Panoramax calls a recording, beside the name of a picture
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")
_NEEDED = ("lat", "lon", *OWNERS)  # roles whose column is refused if it holds lists
_SHARE_OF_FINEST = 0.8  # of the different times of the finest column: as many are as fine


def used_columns(
    names: Sequence[str], first: pd.DataFrame, reading: Reading, *, geometry: bool = False
) -> dict[str, str]:
    """Find which column of a table of points plays which role, by its first rows; record this.

    With a ``geometry``, coordinates are known already. The columns are by their roles.
    """
    choice = _ChoiceOfColumns(names, first, reading, geometry=geometry)
    if not geometry:
        choice.assign_coordinates()
    if "place" not in choice.column_of:
        choice.assign_owners()
        choice.assign_times()
        choice.check_owners()
        for role in column_role_names.MARKS:
            choice.assign(role)
        choice.assign_order()
        choice.warn_of_unused_names()
        choice.record()
    return choice.column_of


def columns_of_lines(
    columns: pd.DataFrame,
    times: Sequence[str],
    holds_times: Callable[[str], bool],
    reading: Reading,
) -> dict[str, str]:
    """Find which attribute of lines plays which role, by their names; record this.

    ``times`` names the columns with lists of the times of points, which are recorded, too;
    ``holds_times`` returns whether a column holds such a list.
    """
    choice = _ChoiceOfColumns(list(columns), columns, reading, geometry=True)
    # A line has no rows that could be marked or ordered.
    for role in OWNERS:
        choice.assign(role, by_name=True)

    # The time of a line, such as its beginning, is not that of its points.
    time_column = choice.assign("time", by_name=True)
    if time_column is not None and not holds_times(time_column):
        del choice.column_of["time"]
        reading.found("no lists of times", name=time_column)

    column_of = dict(choice.column_of)
    if times:
        choice.column_of.setdefault("time", times[0])
    if "id" in column_of:
        choice.head.number_recordings_by([column_of["id"]])
    else:
        choice.head.recording = np.arange(len(columns))
    choice.record()
    return column_of


class _ChoiceOfColumns:
    """Finds the roles of the columns of one table, one after the other."""

    def __init__(
        self, names: Sequence[str], first: pd.DataFrame, reading: Reading, *, geometry: bool
    ) -> None:
        self.names = names
        self.reading = reading
        self.geometry = geometry
        self.head = TableHead(first)
        self.column_of: dict[str, str] = {}  # by roles: the choice so far

        # Of nested names, such as user.id, the end may be the usual one, or be named by a user.
        end_of = {name: name.rpartition(".")[2] for name in names} if reading.nested else {}
        self.by_plain_name: defaultdict[str, list[str]] = defaultdict(list)
        for name, usual in [*((name, name) for name in names), *end_of.items()]:
            self.by_plain_name[plain(usual)].append(name)

        column_role_names.check_wanted(reading.columns)
        self.named: dict[str, str] = {}  # by roles: the columns that a user names
        for role, name in reading.columns.items():
            if is_word(role, name):
                if name in names and role != "nameless":
                    raise reading.refusal("column called as a word", name=name, role=role)
            elif not (geometry and role in column_role_names.OF_COORDINATES):
                with_this_end = [nested for nested, end in end_of.items() if end == name]
                is_end = name not in names and len(with_this_end) == 1
                self.named[role] = with_this_end[0] if is_end else name

    @property
    def _in_use(self) -> set[str]:
        """Return the columns that have a role, or are named for one."""
        return {*self.column_of.values(), *self.named.values()}

    def _usual(self, role: str) -> list[str]:
        """List the columns of usual names for a role that have no other one, best first."""
        columns = (name for usual in ROLES[role].usual for name in self.by_plain_name[usual])
        return [name for name in dict.fromkeys(columns) if name not in self._in_use]

    def _best(self, role: str) -> str | None:
        """Rank the columns that may play a role by their names, then by what they hold.

        This is the one place where a column is chosen that nobody named.
        """
        rule = ROLES[role]
        head = self.head
        are_times = role == "time"
        usual = self._usual(role)
        fitting = [name for name in usual if name in head and rule.fits(head, name)]

        # A column of another name plays the role if none of a usual name can. Among times it may
        # be finer than these; alone it is not trusted, as it may be the time of anything.
        may_have_another_name = bool(usual) if are_times else not fitting
        if may_have_another_name:
            others = head.keys() - {*usual, *self._in_use}
            fitting += [name for name in head if name in others and rule.fits_any_name(head, name)]

        if are_times and fitting:
            return _finest(head, fitting)
        # What cannot be read is refused, and not ignored: times of no clock, and needed lists.
        refused = [name for name in usual if are_times or (role in _NEEDED and name not in head)]
        return next(iter([*fitting, *refused]), None)

    def assign(self, role: str, *, by_name: bool = False) -> str | None:
        """Assign a role to the column that is named, or else to the best; None if there is none."""
        is_said_by_a_word = role in self.reading.columns and role not in self.named
        if is_said_by_a_word:
            return None

        name = self.named.get(role)
        if name is None:
            name = next(iter(self._usual(role)), None) if by_name else self._best(role)
        elif name not in self.names:
            self._refuse_row_as_header()
            raise self._unclear("no such column", role, name=name, role=role)
        if name is None:
            return None

        self.column_of[role] = name
        if self.names.count(name) > 1:
            raise self.reading.refusal("column twice in a table", name=name)
        is_time_of_lines = by_name and role == "time"  # which has many times a row
        if name not in self.head and not is_time_of_lines:
            raise self.reading.refusal("column of lists", name=name)
        return name

    def _unclear(self, kind: str, *roles: str, table: str = "", **values: object) -> ColumnsUnclear:
        """Return the error that lists the columns of the table."""
        listed = ", ".join(self.names) or "none"
        values |= {"what": self.reading.what, "listed": listed}
        return columns_unclear(kind, roles, self.names, table, **values)

    def _refuse_row_as_header(self) -> None:
        """Refuse a table whose first line is a row."""
        if not self.geometry and is_row(self.names):
            raise self.reading.refusal("no line with names")

    def assign_coordinates(self) -> None:
        """Find latitude and longitude, or the place that is both."""
        missing = [role for role in ("lat", "lon") if self.assign(role) is None]
        not_needed: Sequence[str] = ()
        if (missing or "place" in self.named) and self.assign("place"):
            not_needed = ("lat", "lon")
        elif missing:
            self._refuse_without(missing)
        elif not all(self.assign(role) for role in column_role_names.SIGNS):
            not_needed = column_role_names.SIGNS
        for role in not_needed:
            self.column_of.pop(role, None)

    def _refuse_without(self, missing: list[str]) -> None:
        """Refuse a table without coordinates; name all that must be named."""
        self._refuse_row_as_header()
        if not any(role in self.named or self._usual(role) for role in OWNERS):
            missing = [*missing, "id"]
        raise self._unclear(
            "no column recognised",
            *missing,
            table=self.reading.what,
            missing=" or ".join(missing),
            settings=",".join(f"{role}=..." for role in missing),
        )

    def assign_owners(self) -> None:
        """Find what tells recordings and persons apart."""
        for role in OWNERS:
            self.assign(role)

        # Ids have parts if a user names them, and those of GDAL's tracks.
        if "part" in self.named or plain(self.column_of.get("id", "")) == "trackfid":
            self.assign("part")
        owners = [self.column_of[role] for role in (*OWNERS, "part") if role in self.column_of]
        self.head.number_recordings_by(owners)

    def check_owners(self) -> None:
        """Check that a column names recordings, or that each file is one; warn of row numbers."""
        if self.column_of.keys().isdisjoint(OWNERS):
            if self.reading.columns.get("id") != FILE:
                self._refuse_several_recordings()
            self.reading.counts[column_role_names.ONE_A_FILE] += 1

        # A column with the usual name of an owner that is none counts rows.
        subject = self.column_of.get("subject")
        recording_of = "a file" if subject is None else f"each subject ({subject})"
        decided = {*self.column_of, *self.reading.columns}
        if "id" not in decided:
            for name in self._usual("id"):
                self.reading.found("an id counts rows", name=name, recording_of=recording_of)
        if "subject" not in decided:
            for name in self._usual("subject"):
                self.reading.found("a subject counts rows", name=name)

        # Whoever names both may have exchanged them: k would count trips as people.
        recording = self.named.get("id", "")
        subject = self.named.get("subject", "")
        if "subject" in known_as(recording) and "id" in known_as(subject):
            self.reading.found("owners exchanged", recording=recording, subject=subject)

    def _refuse_several_recordings(self) -> None:
        """Refuse a table if a column may tell recordings apart, or if it has no times."""
        suspects = [name for name in self._unused() if self._may_tell_apart(name)]
        suspects.sort(key=lambda name: plain(name) != _SEQUENCE)
        if self._clock is None:
            suspects = ["..."]  # any column
        if suspects:
            table = self.reading.what
            raise self._unclear("no id recognised", "id", table=table, suspect=suspects[0])

    def _may_tell_apart(self, name: str) -> bool:
        """Return whether a column may name recordings or people: a few texts or whole numbers."""
        column = self.head[name]
        if column.has_name_of_measure or column.measures_points or column.times is not None:
            return False
        values_given = int((column.coded.code >= 0).sum())
        return 1 < len(column.coded.values) < values_given

    def _unused(self) -> list[str]:
        """List the columns without a role that hold a value a row."""
        return [name for name in self.head if name not in self.column_of.values()]

    @property
    def _clock(self) -> str | None:
        """Return the column of times; None if there is none so far."""
        return self.column_of.get("time") or self.column_of.get("gps_seconds")

    def assign_times(self) -> None:
        """Find the times of points: those of the finest column, with its day or zone."""
        # Who names the times alone does not want those of another clock beside them.
        is_time_named_alone = "time" in self.named and "gps_seconds" not in self.named
        if not is_time_named_alone and self.assign("gps_seconds"):
            self.assign("gps_week")
            return
        name = self.assign("time")
        if name is None:
            return

        column = self.head[name]
        if "time" not in self.named:
            if column_role_names.on_two_clocks(self.head, name):
                example = column.values.dropna().iloc[0]
                raise self._unclear("times on two clocks", "time", name=name, example=example)

            if self.head.comes_again(name):
                del self.column_of["time"]
                self.reading.found("no times", name=name)
                return

        if column.times is None or "date" in self.named:
            self.assign("date")
        in_utc = column.times is not None and column.times.in_utc
        if "zone" in self.named or not (in_utc or _SAYS_UTC.search(name)):
            self._assign_zone()

    def _assign_zone(self) -> None:
        """Find the column with the zones of local times; warn of one that holds no known zones."""
        if self.assign("zone") is not None:
            return
        for name in self._usual("zone"):
            if name not in self.head or plain(name) == "zone":  # which may be of parts of a town
                continue
            for example in self.head[name].coded.values[:1]:
                self.reading.found("no zones", name=name, example=example)

    def assign_order(self) -> None:
        """Find the column that numbers points, if they have no times, or several have one."""
        clock = self._clock
        is_needed = clock is None or "order" in self.named
        if clock is not None and self._usual("order"):
            is_needed |= self.head.count_different(clock) < self.head.row_count
        if is_needed:
            self.assign("order")

    def warn_of_unused_names(self) -> None:
        """Warn of columns that a user names without use, as a zone beside the clock of GPS."""
        for role, name in self.named.items():
            if role not in self.column_of:
                self.reading.found("named without use", role=role, name=name)

    def record(self) -> None:
        """Record how the columns were used, and what the others may be; warn of unused times."""
        self.column_of = {role: self.column_of[role] for role in ROLES if role in self.column_of}
        unused = tuple(name for name in self.names if name not in self.column_of.values())
        self.reading.tables.uses[tuple(self.column_of.items()), unused] += 1

        if self._clock is None:
            self._warn_of_unused_times()
        if "subject" in self.column_of and "id" not in self.column_of:
            self._warn_of_recordings()
        if "subject" in self.column_of or "subject" in self.reading.columns:
            return
        for name in self._unused():
            names_held = self._names_held(name)
            if names_held is not None:
                self.reading.tables.names.setdefault(name, NamesHeld()).add(names_held)

    def _warn_of_unused_times(self) -> None:
        """Warn of a column of times that is not used, or refuse it if times are asked for."""
        for name in self._unused():
            held = self.head[name].times
            is_constant = held is not None and self.head.is_constant(name)
            if held is None or (held.numbers and is_constant):
                continue
            if self.reading.timed and not is_constant:
                raise self._unclear("times asked for", "time", name=name)
            self.reading.found("times", name=name)

    def _warn_of_recordings(self) -> None:
        """Warn of a column that may divide what a subject made into recordings."""
        owner = self.head[self.column_of["subject"]]
        for name in self._unused():
            if self._may_tell_apart(name) and self.head.divides(name, owner):
                self.reading.found("recordings", name=name)

    def _names_held(self, name: str) -> NamesHeld | None:
        """Find which names of persons a column may hold; None if it is of another kind."""
        column = self.head[name]
        if column.measures_points:
            return None
        if not self.head.is_constant(name):
            return NamesHeld(varies=True)

        times = column.times
        if times is not None and (not times.numbers or _SAYS_TIME.search(name)):
            return None
        names = {key_of(text) for text in as_given(column.coded.values) if text}
        if names <= _FLAGS:
            return None
        recordings = self.head.recording[column.coded.code >= 0]
        return NamesHeld(len(np.unique(recordings[recordings >= 0])), names)


def _finest(head: TableHead, columns: list[str]) -> str:
    """Choose among columns of times: a fine one before others, one in UTC, no local one."""
    different_times = {name: head.count_different(name) for name in columns}
    fine = _SHARE_OF_FINEST * max(different_times.values())

    def rank(name: str) -> tuple[bool, bool, bool]:
        held = head[name].times
        in_utc = _SAYS_UTC.search(name) or (held is not None and held.in_utc)
        return different_times[name] < fine, bool(_SAYS_LOCAL.search(name)), not in_utc

    return min(columns, key=rank)


def is_row(fields: Sequence[str]) -> bool:
    """Return whether fields are values rather than names of columns: two are numbers."""
    return sum(_NUMBER.fullmatch(field) is not None for field in fields) >= 2
