"""Which column of a table of points plays which role: one ranking by names and evidence."""

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pandas as pd

from trajanon.common.columns_read import NamesHeld
from trajanon.common.errors import BadInput, ColumnsUnclear
from trajanon.extract.sources import column_roles
from trajanon.extract.sources.column_evidence import TableHead
from trajanon.extract.sources.column_roles import FILE, OWNERS, ROLES, is_word, plain
from trajanon.extract.sources.reading import Reading
from trajanon.trajectories.person_names import key_of

_SAYS_UTC = re.compile(r"utc|gmt|zulu|epoch|unix", re.IGNORECASE)
_SAYS_LOCAL = re.compile(r"local|lokal", re.IGNORECASE)
_SAYS_TIME = re.compile(r"time|date|stamp|epoch|utc|start|begin|end|_at$|\bts$|_ts$", re.IGNORECASE)
_FLAGS = {"true", "false", "yes", "no", "t", "f", "y", "n", "0", "1"}

_CLOCKS = {"time", "gps_seconds"}  # roles of columns that hold times

_SEQUENCE = "collection"  # what Panoramax calls a recording, beside the name of a picture
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")
_AS_FINE = 0.8  # of the different times of the finest column


def used_columns(
    names: Sequence[str], first: pd.DataFrame, reading: Reading, *, geometry: bool = False
) -> dict[str, str]:
    """Find which column of a table of points plays which role, by its first rows; record this."""
    choice = _Choice(names, first, reading, geometry=geometry)
    choice.take_coordinates()
    if "place" not in choice.columns:
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
    choice = _Choice(list(columns), columns, reading, geometry=True)
    # A line has no rows that could be marked or ordered.
    for role in (*OWNERS, "time"):
        choice.take(role, by_name=True)

    column_of = dict(choice.columns)
    if times:
        choice.columns.setdefault("time", times[0])
    choice.head.recording = np.arange(len(columns))
    if "id" in column_of:
        choice.head.tell_recordings(column_of["id"])
    choice.record()
    return column_of


class _Choice:
    """Finds the roles of the columns of one table, one after the other."""

    def __init__(
        self, names: Sequence[str], first: pd.DataFrame, reading: Reading, *, geometry: bool
    ) -> None:
        self.names = names
        self.reading = reading
        self.what = reading.what
        self.geometry = geometry
        self.head = TableHead(first)
        self.columns: dict[str, str] = {}  # by their roles
        self.keys: list[str] = []  # usual names of owners that count rows

        # Of nested names the end may be the usual one, or be said.
        ends = [(name, name.rpartition(".")[2]) for name in names] if reading.nested else []
        self.by_name: defaultdict[str, list[str]] = defaultdict(list)
        for name, usual in [*((name, name) for name in names), *ends]:
            self.by_name[plain(usual)].append(name)

        column_roles.check_wanted(reading.columns)
        self.said: dict[str, str] = {}
        for role, name in reading.columns.items():
            if is_word(role, name):
                if name in names and role != "nameless":
                    why = f"and {role}={name} means no column: rename it"
                    raise BadInput(f"{reading.what} has a column {name!r}, {why}")
            elif not (geometry and role in column_roles.OF_COORDINATES):
                ending_so = [nested_name for nested_name, end in ends if end == name]
                is_end = name not in names and len(ending_so) == 1
                self.said[role] = ending_so[0] if is_end else name

    def _free(self, role: str) -> list[str]:
        """List the columns of usual names that have no other role, best first."""
        usual_names = (name for usual in ROLES[role].usual for name in self.by_name[usual])
        return [name for name in dict.fromkeys(usual_names) if name not in self._taken]

    @property
    def _taken(self) -> set[str]:
        """The columns that have a role, or were said for one."""
        return {*self.columns.values(), *self.said.values()}

    def _best(self, role: str) -> str | None:
        """Rank the columns that may play a role by their names, then by what they hold.

        This is the one place where a column is chosen that nobody named.
        """
        rule = ROLES[role]
        head = self.head
        usual_names = self._free(role)
        ranked = [name for name in usual_names if name in head and rule.fits(head, name)]

        # Columns of other names play a role if none of the usual names does, or if they are finer.
        if (not ranked or rule.finest) and (usual_names or not rule.finest):
            other_names = (name for name in head if name not in self._taken)
            unnamed = (name for name in other_names if name not in usual_names)
            ranked += [name for name in unnamed if rule.fits_unnamed(head, name)]

        if rule.finest and len(ranked) > 1:
            return _finest(head, ranked)
        return next(iter(ranked or (usual_names if rule.kept else [])), None)

    def take(self, role: str, *, by_name: bool = False) -> str | None:
        """Assign a role to the column that was said, or else to the best; None if there is none."""
        if is_word(role, self.reading.columns.get(role, "")):
            return None

        name = self.said.get(role)
        if name is None:
            name = next(iter(self._free(role)), None) if by_name else self._best(role)
        elif name not in self.names:
            self._refuse_rows()
            problem = f"{self.what} has no column {name!r} for {role}"
            raise self._unclear(problem, "name one of these", role)
        if name is None:
            return None

        self.columns[role] = name
        if self.names.count(name) > 1:
            twice = f"the column {name!r} appears twice in {self.what}"
            raise BadInput(f"{twice}: rename one of the two")
        # A line has many times.
        has_values = name in self.head and not self.head[name].holds_lists
        if not has_values and not (by_name and role == "time"):
            holds = "holds lists, not a value a row; name another in `columns`"
            raise BadInput(f"the column {name!r} of {self.what} {holds}")
        return name

    def _unclear(self, problem: str, way_out: str, *roles: str, table: str = "") -> ColumnsUnclear:
        """Return the error that lists the columns of the table."""
        listed = f"its columns are {', '.join(self.names) or 'none'}"
        return ColumnsUnclear(f"{problem}; {listed}", way_out, roles, self.names, table)

    def _refuse_rows(self) -> None:
        """Refuse a table whose first line is a row."""
        if not self.geometry and is_row(self.names):
            why = "as its first line holds numbers: write one above it, such as id,lat,lon,time"
            raise BadInput(f"{self.what} has no line with the names of its columns, {why}")

    def take_coordinates(self) -> None:
        """Find latitude and longitude, or the place that is both."""
        if self.geometry:
            return

        missing = [role for role in ("lat", "lon") if self.take(role) is None]
        unused: Sequence[str] = ()
        if (missing or "place" in self.said) and self.take("place"):
            unused = ("lat", "lon")
        elif missing:
            self._refuse_without(missing)
        elif not all(self.take(role) for role in column_roles.SIGNS):
            unused = list(column_roles.SIGNS)
        for role in unused:
            self.columns.pop(role, None)

    def _refuse_without(self, missing: list[str]) -> None:
        """Refuse a table without coordinates; name all that must be said."""
        self._refuse_rows()
        if not any(role in self.said or self._free(role) for role in OWNERS):
            missing = [*missing, "id"]
        way_out = f"set `columns` {','.join(f'{role}=...' for role in missing)}"
        problem = f"{self.what} has no column recognised as {' or '.join(missing)}"
        raise self._unclear(problem, way_out, *missing, table=self.what)

    def take_owners(self) -> None:
        """Find what tells recordings and persons apart."""
        head = self.head
        for role in OWNERS:
            if role not in self.said:
                usual = (name for name in self._free(role) if name in head)
                self.keys += [name for name in usual if head[name].is_key]
            self.take(role)

        # Ids have parts if this was said, and those of GDAL's tracks.
        if "part" in self.said or plain(self.columns.get("id", "")) == "trackfid":
            self.take("part")
        owners = (self.columns.get(role) for role in (*OWNERS, "part"))
        head.tell_recordings(*filter(None, owners))

    def check_owners(self) -> None:
        """Check that a column names recordings, or that each file is one; warn of row numbers."""
        recording_of = f"each subject ({self.columns.get('subject')})"
        if self.columns.keys().isdisjoint(OWNERS):
            recording_of = "a file"
            if self.reading.columns.get("id") != FILE:
                self._refuse_several()
            self.reading.counts[column_roles.ONE_A_FILE] += 1

        for name in self.keys:
            role = "id" if plain(name) in ROLES["id"].usual else "subject"
            if role in self.columns or name in self.columns.values():
                continue
            taken = {
                "id": f"{recording_of} is taken for one recording; if another tells them apart",
                "subject": "it names no persons; if another does",
            }
            self.reading.found("a column counts rows", name=name, taken=taken[role], role=role)

    def _refuse_several(self) -> None:
        """Refuse a table if a column may tell recordings apart, or if it has no times."""
        suspects = [name for name in self._unused() if self._may_tell_apart(name)]
        suspects.sort(key=lambda name: plain(name) != _SEQUENCE)
        suspects = suspects if _CLOCKS & self.columns.keys() else ["..."]
        if suspects:
            one_each = f"id={FILE} if each file is one recording"
            way_out = f"set `columns` id={suspects[0]}, or {one_each}"
            problem = f"{self.what} has no column recognised as id"
            raise self._unclear(problem, way_out, "id", table=self.what)

    def _may_tell_apart(self, name: str) -> bool:
        """Return whether a column may name recordings or people: a few texts or whole numbers."""
        column = self.head[name]
        if column.is_key or column.describes:
            return False
        values_given = int((column.coded.code >= 0).sum())
        return 1 < len(column.coded.values) < values_given and column.times is None

    def _unused(self) -> list[str]:
        """List the columns without a role that hold a value a row."""
        columns = self.head.items()
        unused = (name for name, column in columns if not column.holds_lists)
        return [name for name in unused if name not in self.columns.values()]

    def take_times(self) -> None:
        """Find the times of points: those of the finest column, with its day or zone."""
        if self.take("gps_seconds"):
            self.take("gps_week")
            return
        if (name := self.take("time")) is None:
            return

        column = self.head[name]
        if "time" not in self.said:
            if column_roles.on_two_clocks(self.head, name):
                example = column.values.dropna().iloc[0]
                why = f"such as {example}, may count from 1970 or, as GPS does, from 1980"
                way_out = f"set `columns` time={name}, or gps_seconds={name}"
                raise self._unclear(f"the times of {self.what}, {why}", way_out, "time")

            if self.head.holds_seconds_of_minute(name):
                del self.columns["time"]
                self.reading.found("seconds of the minute", name=name)
                return

        if column.times is None or "date" in self.said:
            self.take("date")
        in_utc = column.times is not None and column.times.in_utc
        if "zone" in self.said or not (in_utc or _SAYS_UTC.search(name)):
            self.take("zone")

    def take_order(self) -> None:
        """Find the column that numbers points, if they have no times, or several have one."""
        timed = _CLOCKS & self.columns.keys()
        coarse = not timed
        if timed and self._free("order"):
            coarse = any(self.head.differs(self.columns[role]) < self.head.rows for role in timed)
        if coarse or "order" in self.said:
            self.take("order")

    def record(self) -> None:
        """Record how the columns were used, and what the others may be; warn of unused times."""
        self.columns = {role: self.columns[role] for role in ROLES if role in self.columns}
        unused = tuple(name for name in self.names if name not in self.columns.values())
        self.reading.tables.uses[tuple(self.columns.items()), unused] += 1

        if not _CLOCKS & self.columns.keys():
            self._tell_times()
        if "subject" in self.columns and "id" not in self.columns:
            self._tell_recordings()
        if "subject" in self.columns or "subject" in self.reading.columns:
            return
        for name in self._unused():
            if (held := self._names_held(name)) is not None:
                self.reading.tables.names.setdefault(name, NamesHeld()).add(held)

    def _tell_times(self) -> None:
        """Warn of a column of times that is not used, or refuse it if times are asked for."""
        for name in self._unused():
            held = self.head[name].times
            is_constant = held is not None and self.head.is_constant(name)
            if held is None or (held.numbers and is_constant):
                continue
            msg = f"{self.what}: no column is used as time, but {name!r} holds times"
            way_out = f"set `columns` time={name}"
            if self.reading.timed and not is_constant:
                raise ColumnsUnclear(msg, way_out, ["time"], self.names)
            self.reading.found("times", name=name)

    def _tell_recordings(self) -> None:
        """Warn of a column that may divide what a subject made into recordings."""
        owner = self.head[self.columns["subject"]]
        for name in self._unused():
            if self._may_tell_apart(name) and self.head.divides(name, owner):
                self.reading.found("recordings", name=name)

    def _names_held(self, name: str) -> NamesHeld | None:
        """Find which names of persons a column may hold; None if it is of another kind."""
        column = self.head[name]
        if name in self.keys or column.describes_numbers:
            return None
        if not self.head.is_constant(name):
            return NamesHeld(varies=True)

        times = column.times
        if times is not None and (not times.numbers or _SAYS_TIME.search(name)):
            return None
        names = {key_of(text) for text in self.head.names_in(name)}
        recordings = self.head.recording[column.coded.code >= 0]
        several = NamesHeld(len(np.unique(recordings[recordings >= 0])), names)
        return None if names <= _FLAGS else several


def _finest(head: TableHead, ranked: list[str]) -> str:
    """Choose among columns of times: a fine one before others, one in UTC, no local one."""
    differ = {name: head.differs(name) for name in ranked}
    fine = _AS_FINE * max(differ.values())

    def key(name: str) -> tuple[bool, bool, bool]:
        held = head[name].times
        in_utc = _SAYS_UTC.search(name) or (held is not None and held.in_utc)
        return differ[name] < fine, bool(_SAYS_LOCAL.search(name)), not in_utc

    return min(ranked, key=key)


def is_row(fields: Sequence[str]) -> bool:
    """Return whether fields are values rather than names of columns: two are numbers."""
    return sum(_NUMBER.fullmatch(field) is not None for field in fields) >= 2
