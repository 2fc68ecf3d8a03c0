"""Which column of a table of points plays which role: one ranking by names and evidence."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from trajanon.common.columns_read import ColumnRole, NamesHeld, Why
from trajanon.common.errors import BadInput, ColumnsUnclear
from trajanon.extract.sources import column_roles
from trajanon.extract.sources.column_evidence import TableHead
from trajanon.extract.sources.streams import Reading
from trajanon.trajectories.person_names import key_of

_SAYS_UTC = re.compile(r"utc|gmt|zulu|epoch|unix", re.IGNORECASE)
_SAYS_LOCAL = re.compile(r"local|lokal", re.IGNORECASE)
_SAYS_TIME = re.compile(r"time|date|stamp|epoch|utc|start|begin|end|_at$|\bts$|_ts$", re.IGNORECASE)
_FLAGS = {"true", "false", "yes", "no", "t", "f", "y", "n", "0", "1"}

_OWNERS = ("id", "subject")
_CLOCKS = {"time", "gps_seconds"}  # roles of columns that hold times

_SEQUENCE = "collection"  # what Panoramax calls a recording, beside the name of a picture
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")
_AS_FINE = 0.8  # of the different times of the finest column


def used_columns(
    names: Sequence[str],
    first: pd.DataFrame,
    reading: Reading,
    *,
    geometry: bool = False,
    nested: bool = False,
) -> dict[str, str]:
    """Find which column of a table of points plays which role, by its first rows; record this."""
    choice = _Choice(names, first, reading, geometry=geometry, nested=nested)
    choice.take_coordinates()
    if "place" in choice.roles:
        return choice.columns

    choice.take_owners()
    choice.take_times()
    choice.check_owners()
    for role in column_roles.MARKS:
        choice.take(role)
    choice.take_order()
    choice.record()
    return choice.columns


def columns_of_lines(
    columns: pd.DataFrame, times: Sequence[str], reading: Reading
) -> dict[str, str]:
    """Find which attribute of lines plays which role, by their names; record this."""
    choice = _Choice(list(columns), columns, reading, geometry=True, by_names=True)
    # A line has no rows that could be marked or ordered.
    for role in (*_OWNERS, "time"):
        choice.take(role)

    column_of = choice.columns
    if times and "time" not in column_of:
        choice.roles["time"] = ColumnRole(times[0], "time", "name")
    choice.head.recording = np.arange(len(columns))
    if "id" in column_of:
        choice.head.tell_recordings(column_of["id"])
    choice.record()
    return column_of


class _Choice:
    """Finds the roles of the columns of one table, one after the other."""

    def __init__(
        self,
        names: Sequence[str],
        first: pd.DataFrame,
        reading: Reading,
        *,
        geometry: bool,
        nested: bool = False,
        by_names: bool = False,
    ) -> None:
        self.names = names
        self.reading = reading
        self.geometry = geometry
        self.by_names = by_names  # alone, not by what columns hold
        self.head = TableHead(first)
        self.roles: dict[str, ColumnRole] = {}
        self.keys: list[str] = []  # usual names of owners that count rows

        # Of nested names the end may be the usual one, or be said.
        ends = {name: name.rpartition(".")[2] for name in names} if nested else {}
        self.by_name: dict[str, list[str]] = {}
        for name, usual in [*((name, name) for name in names), *ends.items()]:
            self.by_name.setdefault(column_roles.plain(usual), []).append(name)

        column_roles.check_wanted(reading.columns)
        self.said: dict[str, str] = {}
        for role, name in reading.columns.items():
            if self._is_word(role, name) or (geometry and role in column_roles.OF_COORDINATES):
                continue
            ending_so = [nested_name for nested_name, end in ends.items() if end == name]
            is_end = name not in names and len(ending_so) == 1
            self.said[role] = ending_so[0] if is_end else name

    @property
    def columns(self) -> dict[str, str]:
        """Columns by their roles, in the order of the table of roles."""
        return {role: self.roles[role].column for role in column_roles.ROLES if role in self.roles}

    @property
    def has_parts(self) -> bool:
        """Whether ids have parts: if this was said, or of GDAL's tracks."""
        return "part" in self.said or column_roles.plain(self.columns.get("id", "")) == "trackfid"

    def _is_word(self, role: str, name: str) -> bool:
        if not column_roles.is_word(role, name):
            return False
        if name in self.names and role != "nameless":
            why = f"{role}={name} means no column: rename it"
            raise BadInput(f"{self.reading.what} has a column {name!r}, and {why}")
        return True

    def _free(self, role: str) -> list[str]:
        """List the columns of usual names that have no other role, best first."""
        usual_names = (
            name for usual in column_roles.USUAL[role] for name in self.by_name.get(usual, ())
        )
        return list(dict.fromkeys(name for name in usual_names if name not in self._taken))

    @property
    def _taken(self) -> set[str]:
        """The columns that have a role, or were said for one."""
        return {column_role.column for column_role in self.roles.values()} | {*self.said.values()}

    def ranked(self, role: str) -> list[tuple[str, Why]]:
        """Rank the columns that may play a role, best first: by their names, then what they hold.

        This is the one place where a column is chosen that nobody named.
        """
        rule = column_roles.ROLES[role]
        usual_names = self._free(role)
        if self.by_names:
            return [(name, "name") for name in usual_names]

        head = self.head
        readable = [name for name in usual_names if name in head.columns]
        ranked: list[tuple[str, Why]] = [
            (name, "name") for name in readable if column_roles.fits(role, head, name)
        ]

        # Columns of other names play a role if none of the usual names does, or if they are finer.
        if (not ranked or rule.finest) and (usual_names or not rule.finest):
            taken = self._taken.union(usual_names)
            unnamed = [name for name in head.columns if name not in taken]
            fitting = [name for name in unnamed if column_roles.fits_unnamed(role, head, name)]
            ranked += [(name, "values") for name in fitting]

        if rule.finest and len(ranked) > 1:
            ranked = _finest(head, ranked)
        if not ranked and rule.kept:
            ranked = [(name, "name") for name in usual_names[:1]]
        return ranked

    def take(self, role: str) -> str | None:
        """Assign a role to the column that was said, or else to the best; None if there is none."""
        if column_roles.is_word(role, self.reading.columns.get(role, "")):
            return None

        if (column_said := self.said.get(role)) is not None:
            if column_said not in self.names:
                self._refuse_rows()
                problem = f"{self.reading.what} has no column {column_said!r} for {role}"
                raise self._unclear(problem, "name one of these", role)
            self.roles[role] = ColumnRole(column_said, role, "said")
        elif ranked := self.ranked(role):
            name, why = ranked[0]
            self.roles[role] = ColumnRole(name, role, why)
        else:
            return None

        name = self.roles[role].column
        if self.names.count(name) > 1:
            twice = f"the column {name!r} appears twice in {self.reading.what}"
            raise BadInput(f"{twice}: rename one of the two")
        # A line has many times.
        has_values = name in self.head.columns and not self.head.columns[name].holds_lists
        if not has_values and not (self.by_names and role == "time"):
            holds = "holds lists, not a value a row; name another in `columns`"
            raise BadInput(f"the column {name!r} of {self.reading.what} {holds}")
        return name

    def _unclear(self, problem: str, way_out: str, *roles: str, table: str = "") -> ColumnsUnclear:
        """Return the error that lists the columns of the table."""
        listed = f"its columns are {', '.join(self.names) or 'none'}"
        return ColumnsUnclear(f"{problem}; {listed}", way_out, roles, self.names, table)

    def _refuse_rows(self) -> None:
        """Refuse a table whose first line is a row."""
        if not self.geometry and is_row(self.names):
            why = "as its first line holds numbers: write one above it, such as id,lat,lon,time"
            raise BadInput(f"{self.reading.what} has no line with the names of its columns, {why}")

    def take_coordinates(self) -> None:
        """Find latitude and longitude, or the place that is both."""
        if self.geometry:
            return

        missing = [role for role in ("lat", "lon") if self.take(role) is None]
        if (missing or "place" in self.said) and self.take("place"):
            self._drop("lat", "lon")
        elif missing:
            self._refuse_without(missing)
        elif not (self.by_names or all(self.take(role) for role in column_roles.SIGNS)):
            self._drop(*column_roles.SIGNS)

    def _drop(self, *roles: str) -> None:
        for role in roles:
            self.roles.pop(role, None)

    def _refuse_without(self, missing: list[str]) -> None:
        """Refuse a table without coordinates; name all that must be said."""
        self._refuse_rows()
        if not any(role in self.said or self._free(role) for role in _OWNERS):
            missing = [*missing, "id"]
        way_out = f"set `columns` {','.join(f'{role}=...' for role in missing)}"
        problem = f"{self.reading.what} has no column recognised as {' or '.join(missing)}"
        raise self._unclear(problem, way_out, *missing, table=self.reading.what)

    def take_owners(self) -> None:
        """Find what tells recordings and persons apart."""
        head = self.head
        for role in _OWNERS:
            if role not in self.said:
                usual = (name for name in self._free(role) if name in head.columns)
                self.keys += [name for name in usual if head.columns[name].is_key]
            self.take(role)

        if self.has_parts:
            self.take("part")

        owners = [role for role in (*_OWNERS, "part") if role in self.roles]
        head.tell_recordings(*(self.columns[role] for role in owners))

    def check_owners(self) -> None:
        """Check that a column names recordings, or that each file is one; warn of row numbers."""
        recording_of = f"each subject ({self.columns.get('subject')})"
        if self.roles.keys().isdisjoint(_OWNERS):
            recording_of = "a file"
            if self.reading.columns.get("id") != column_roles.FILE:
                self._refuse_several()
            self.reading.counts[column_roles.ONE_A_FILE] += 1

        for name in self.keys:
            role = "id" if column_roles.plain(name) in column_roles.USUAL["id"] else "subject"
            if role in self.roles or name in self.columns.values():
                continue
            msg = f"the column {name!r} of {self.reading.what} counts rows: "
            if role == "id":
                msg += f"{recording_of} is taken for one recording; if another tells them apart, "
            else:
                msg += "it names no persons; if another does, "
            self.reading.warn(f"counts rows {name}", f"{msg}set `columns` {role}=...")

    def _refuse_several(self) -> None:
        """Refuse a table if a column may tell recordings apart, or if it has no times."""
        suspects = [name for name in self._unused() if self._may_tell_apart(name)]
        suspects.sort(key=lambda name: column_roles.plain(name) != _SEQUENCE)
        suspects = suspects if _CLOCKS & self.roles.keys() else ["..."]
        if suspects:
            one_each = f"id={column_roles.FILE} if each file is one recording"
            way_out = f"set `columns` id={suspects[0]}, or {one_each}"
            problem = f"{self.reading.what} has no column recognised as id"
            raise self._unclear(problem, way_out, "id", table=self.reading.what)

    def _may_tell_apart(self, name: str) -> bool:
        """Return whether a column may name recordings or people: a few texts or whole numbers."""
        column = self.head.columns[name]
        if column.is_key or column.describes:
            return False
        values_given = int((column.coded.code >= 0).sum())
        return 1 < len(column.coded.values) < values_given and column.times is None

    def _unused(self) -> list[str]:
        """List the columns without a role that hold a value a row."""
        used = set(self.columns.values())
        columns = self.head.columns.items()
        return [name for name, column in columns if name not in used and not column.holds_lists]

    def take_times(self) -> None:
        """Find the times of points: those of the finest column, with its day or zone."""
        if self.take("gps_seconds"):
            self.take("gps_week")
            return
        if self.take("time") is None:
            return

        name = self.columns["time"]
        if self.roles["time"].why != "said":
            self._refuse_two_clocks(name)
            if self.head.holds_seconds_of_minute(name):
                del self.roles["time"]
                holds = f"of {self.reading.what} holds seconds of the minute, no times"
                msg = f"the column {name!r} {holds}: name another, `columns` time=..."
                self.reading.warn("seconds of the minute", msg)
                return

        times = self.head.columns[name].times
        if times is None or "date" in self.said:
            self.take("date")
        in_utc = times is not None and times.in_utc
        if "zone" in self.said or not (in_utc or _SAYS_UTC.search(name)):
            self.take("zone")

    def _refuse_two_clocks(self, name: str) -> None:
        """Refuse numbers that may count from 1970, or from 1980 as GPS does."""
        if column_roles.on_two_clocks(self.head, name):
            example = self.head.columns[name].values.dropna().iloc[0]
            why = f"such as {example}, may count from 1970 or, as GPS does, from 1980"
            way_out = f"set `columns` time={name}, or gps_seconds={name}"
            raise self._unclear(f"the times of {self.reading.what}, {why}", way_out, "time")

    def take_order(self) -> None:
        """Find the column that numbers points, if they have no times, or several have one."""
        head = self.head
        timed = _CLOCKS & self.roles.keys()
        coarse = not timed
        if timed and self._free("order"):
            coarse = any(head.differs(self.columns[role]) < head.rows for role in timed)
        if coarse or "order" in self.said:
            self.take("order")

    def record(self) -> None:
        """Record how the columns were used, and what the others may be; warn of unused times."""
        used = set(self.columns.values())
        unused = [ColumnRole(name) for name in self.names if name not in used]
        by_role = (self.roles[role] for role in column_roles.ROLES if role in self.roles)
        self.reading.tables.uses[(*by_role, *unused)] += 1

        if not _CLOCKS & self.roles.keys():
            self._tell_times()
        if "subject" in self.roles and "id" not in self.roles:
            self._tell_recordings()
        if "subject" in self.roles or "subject" in self.reading.columns:
            return

        for name in self._unused():
            if (held := self._names_held(name)) is not None:
                self.reading.tables.names.setdefault(name, NamesHeld()).add(held)

    def _tell_times(self) -> None:
        """Warn of a column of times that is not used, or refuse it if times are asked for."""
        head = self.head
        for name in self._unused():
            held = head.columns[name].times
            if held is None or (held.numbers and head.is_constant(name)):
                continue
            msg = f"{self.reading.what}: no column is used as time, but {name!r} holds times"
            way_out = f"set `columns` time={name}"
            if self.reading.timed and not head.is_constant(name):
                raise ColumnsUnclear(msg, way_out, ["time"], self.names)
            without = "without, points are taken in their order"
            self.reading.warn("times", f"{msg}: {way_out}; {without}", name)

    def _tell_recordings(self) -> None:
        """Warn of a column that may divide what a subject made into recordings."""
        owner = self.head.columns[self.columns["subject"]]
        for name in self._unused():
            if self._may_tell_apart(name) and self.head.divides(name, owner):
                may_hold = f"of {self.reading.what} may hold the recordings of each subject"
                msg = f"the column {name!r} {may_hold}: if it does, set `columns` id={name}"
                self.reading.warn("recordings", msg, name)

    def _names_held(self, name: str) -> NamesHeld | None:
        """Find which names of persons a column may hold; None if it is of another kind."""
        head = self.head
        column = head.columns[name]
        if name in self.keys or column.describes_numbers:
            return None
        if not head.is_constant(name):
            return NamesHeld(varies=True)

        times = column.times
        if times is not None and (not times.numbers or _SAYS_TIME.search(name)):
            return None
        names = {key_of(text) for text in head.names_in(name)}
        if names <= _FLAGS:
            return None

        recordings = head.recording[column.coded.code >= 0]
        return NamesHeld(len(np.unique(recordings[recordings >= 0])), names)


def _finest(head: TableHead, ranked: list[tuple[str, Why]]) -> list[tuple[str, Why]]:
    """Sort columns of times: the finer before, those in UTC before others, local ones last."""
    differ = {name: head.differs(name) for name, _ in ranked}
    fine = _AS_FINE * max(differ.values())

    def key(entry: tuple[str, Why]) -> tuple[bool, bool, bool]:
        name, _ = entry
        held = head.columns[name].times
        in_utc = _SAYS_UTC.search(name) or (held is not None and held.in_utc)
        return differ[name] < fine, bool(_SAYS_LOCAL.search(name)), not in_utc

    return sorted(ranked, key=key)


def is_row(fields: Sequence[str]) -> bool:
    """Return whether fields are values rather than names of columns: two are numbers."""
    return sum(_NUMBER.fullmatch(field) is not None for field in fields) >= 2
