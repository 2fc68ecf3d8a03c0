"""What the columns of a table of points mean: one table of roles, and one ranking by evidence."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from trajanon.common.columns_read import ColumnRole, NamesHeld, Why
from trajanon.common.errors import BadInput, ColumnsUnclear
from trajanon.extract.sources.column_evidence import Column, TableHead
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.timestamps import are_of_day, are_zones, may_be_gps_seconds
from trajanon.trajectories.subjects import key_of

FILE, FOLDER = "file", "folder"  # for a column: each file is a recording, each folder a person
NOBODY, TRACK = "none", "track"  # no column names a person; each track is one
DIFFERENT = "different"  # each recording without a name is of a person of its own

WORDS: Mapping[str, Sequence[str]] = {
    "id": (FILE,),
    "subject": (FOLDER, NOBODY, TRACK),
    "nameless": (DIFFERENT,),
}
"""By role: words that may be said in place of a column. `nameless` is no role of a column."""

ONE_A_FILE = "tables without ids, each taken for one recording"

_SIGNS = {"lat_sign": {"n", "s"}, "lon_sign": {"e", "w"}}
_OF_COORDINATES = ("lat", "lon", *_SIGNS, "place")

_NO_WORD = re.compile(r"\s+[NE]/[SW]\s*$|[(\[].*[)\]]\s*$|[-_.#\s\ufeff]", re.IGNORECASE)
"""Signs between words, and units behind a name: in brackets, or as in LATITUDE N/S."""

_SAYS_UTC = re.compile(r"utc|gmt|zulu|epoch|unix", re.IGNORECASE)
_SAYS_LOCAL = re.compile(r"local|lokal", re.IGNORECASE)
_SAYS_TIME = re.compile(r"time|date|stamp|epoch|utc|start|begin|end|_at$|\bts$|_ts$", re.IGNORECASE)
_FLAGS = {"true", "false", "yes", "no", "t", "f", "y", "n", "0", "1"}

_SEQUENCE = "collection"  # what Panoramax calls a recording, beside the name of a picture
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")
_AS_FINE = 0.8  # of the different times of the finest column
_SECONDS_OF_MINUTE = 63  # the largest: AIS has codes beyond 59


Test = Callable[[TableHead, str], bool]


@dataclass(frozen=True, slots=True)
class Role:
    """What a column may be used as."""

    name: str
    usual: str  # names found without asking, best first, between blanks
    fits: Test = lambda head, name: True  # by the values of the first rows
    unnamed: Test = lambda head, name: False  # the same of a column of another name
    finest: bool = False  # whether of several the one with the most different values is taken
    kept: bool = False  # whether the first usual name is taken although its values do not fit


@lru_cache(4096)  # many small files have the same columns
def plain(name: str) -> str:
    """Make names equal that differ in case, blanks, and signs between words."""
    return _NO_WORD.sub("", name).casefold()


def _names_owners(head: TableHead, name: str) -> bool:
    return not head.columns[name].is_key


def _is_time(head: TableHead, name: str) -> bool:
    """Return whether a column holds whole times, or times of day with a day beside them."""
    held = head.columns[name].times
    if held is None:
        days = [
            other_name
            for other_name in head.columns
            if other_name != name and plain(other_name) in _USUAL["date"]
        ]
        return bool(days) and are_of_day(head.columns[name].values)
    return not held.days and not _on_two_clocks(head, name)


def _on_two_clocks(head: TableHead, name: str) -> bool:
    """Return whether numbers may count from 1970 or from 1980, as GPS does."""
    return "gps" in plain(name) and may_be_gps_seconds(head.columns[name].numbers)


def _is_other_time(head: TableHead, name: str) -> bool:
    """Return whether texts are times of points, whatever the column is called."""
    times = head.columns[name].times
    has_whole_times = times is not None and not times.days and not times.numbers
    return has_whole_times and not head.is_constant(name)


def _is_letters(letters: set[str]) -> Test:
    def fits(head: TableHead, name: str) -> bool:
        values = head.columns[name].values
        if values.dtype.kind not in "OT":
            return False
        texts = {str(value).strip().lower() for value in values.head(20).tolist() if value}
        return bool(texts) and texts <= letters

    return fits


def _is_zone(head: TableHead, name: str) -> bool:
    column = head.columns[name]
    if plain(name) == "zone" and np.isfinite(column.numbers).any():
        return False  # numbers of places
    return are_zones(column.coded.values)


def _orders(*, gapless: bool) -> Test:
    return lambda head, name: head.numbers_points(name, gapless=gapless)


ROLES: Mapping[str, Role] = {
    role.name: role
    for role in (
        Role(
            "lat",
            "lat latitude location_lat gps_lat gps_latitude latitude_deg lat_deg y",
            kept=True,
        ),
        Role(
            "lon",
            "lon lng long longitude location_long gps_lon gps_longitude longitude_deg lon_deg x",
            kept=True,
        ),
        Role(
            "place",
            "wkt wkb geometry geom the_geom geojson point location position coordinates coords "
            "latlon latlng lat_long lonlat lnglat lat,lon",
        ),
        Role(
            "lat_sign",
            "lat_sign n/s ns lat_dir latitude_ref lat_ref",
            unnamed=_is_letters(_SIGNS["lat_sign"]),
        ),
        Role(
            "lon_sign",
            "lon_sign e/w ew lon_dir longitude_ref lon_ref",
            unnamed=_is_letters(_SIGNS["lon_sign"]),
        ),
        Role(
            "id",
            "trajectory_id traj_id trip_id ride_id rental_id journey_id trace_id track_id tid "
            "trajectory trip ride rental journey track_fid id",
            fits=_names_owners,
        ),
        Role("part", "track_seg_id"),
        Role(
            "subject",
            "user_id uid user userid subject subject_id person_id person participant_id "
            "participant driver_id driver rider_id rider owner_id owner account_id account "
            "vehicle_id taxi_id cab_id cab bike_id device_id phone_id vehicle mmsi imei icao24 "
            "individual_local_identifier tag_local_identifier",
            fits=_names_owners,
        ),
        Role("gps_week", "gps_week gpsweek"),
        Role(
            "gps_seconds",
            "gps_seconds gps_sec gps_tow tow time_of_week gps_sow",
            fits=lambda head, name: bool((head.columns[name].numbers >= 0.0).any()),
        ),
        Role(
            "time",
            "time timestamp datetime base_date_time ais_pos_timestamp date_time utc_time time_utc "
            "timestamp_utc gps_time recorded_at tracked_at created_at ts utc t date",
            fits=_is_time,
            unnamed=_is_other_time,
            finest=True,
            kept=True,
        ),
        Role("date", "date day utc_date gps_date"),
        Role(
            "zone",
            "tz timezone time_zone tzid tz_name utc_offset tz_offset timezone_offset gmt_offset "
            "zone",
            fits=_is_zone,
        ),
        Role("visible", "visible"),
        Role("valid", "valid is_valid gps_valid validity"),
        Role("outlier", "manually_marked_outlier outlier is_outlier"),
        Role("outlier_by_algorithm", "algorithm_marked_outlier"),
        Role("outlier_at_import", "import_marked_outlier"),
        Role(
            "order",
            "seq sequence seq_no sequence_no sequence_number point_no point_number point_index "
            "point_order order track_seg_point_id index idx nr no num number n row row_number",
            fits=_orders(gapless=False),
            unnamed=_orders(gapless=True),
        ),
    )
}
"""Roles of columns, each found after those above it: names of cabspotting, scikit-mobility,
movingpandas, GDAL, Movebank, MDS and ships' AIS. A date is the day of times of day; a part is a
piece of the trace with the id; a place is both coordinates in one field; order numbers points."""

_USUAL = {role: [plain(name) for name in ROLES[role].usual.split()] for role in ROLES}

MARKS = {"visible": False, "valid": False} | dict.fromkeys(
    ("outlier", "outlier_by_algorithm", "outlier_at_import"), True
)
"""By role: what a column says of rows that are not valid."""


def is_word(role: str, name: str) -> bool:
    """Return whether what is said for a role is a word, and no column."""
    return name in WORDS.get(role, ())


def known_as(name: str) -> list[str]:
    """List the roles that a column of this name may play."""
    spelled_out = plain(name)
    return [role for role, usual in _USUAL.items() if spelled_out in usual]


def parse_columns(text: str) -> dict[str, str]:
    """Read ``lat=...,lon=...,time=...,id=...,subject=...`` as a user gives it."""
    columns: dict[str, str] = {}
    for part in text.split(","):
        role, _, name = (word.strip() for word in part.partition("="))
        understood = role in {*ROLES, *WORDS} and name and not set(name) & set("=;")
        if not understood or role in columns:
            way_out = "write id=...,lat=...,lon=...,time=...,subject=... with your column names"
            raise BadInput(f"`columns` {text!r} is not understood at {part!r}; {way_out}")
        columns[role] = name
    _check_wanted(columns)
    return columns


def _check_wanted(wanted: Mapping[str, str]) -> None:
    """Refuse unknown roles, and a second role for the column of a coordinate."""
    for role, name in wanted.items():
        if role == "nameless" and not is_word(role, name):
            raise BadInput(f"`columns` nameless={name} is not known: say nameless={DIFFERENT}")
        if role not in ROLES and role not in WORDS:
            raise BadInput(f"columns have no role {role!r}: choose from {', '.join(ROLES)}")
        same_column = [
            other_role for other_role in wanted if other_role != role and wanted[other_role] == name
        ]
        if same_column and role in ("lat", "lon"):
            raise BadInput(
                f"`columns` {role}={name},{same_column[0]}={name} names one column twice"
            )


def used_columns(
    names: Sequence[str],
    first: pd.DataFrame,
    what: str,
    reading: Reading,
    *,
    geometry: bool = False,
    nested: bool = False,
) -> dict[str, str]:
    """Find which column of a table of points plays which role, by its first rows; record this."""
    choice = _Choice(names, first, what, reading, geometry=geometry, nested=nested)
    choice.take_coordinates()
    if "place" not in choice.roles:
        choice.take_owners()
        choice.take_times()
        choice.check_owners()
        for role in MARKS:
            choice.take(role)
        choice.take_order()
        choice.record()
    return choice.columns


def named_columns(
    names: Sequence[str], wanted: Mapping[str, str], what: str, *, geometry: bool = False
) -> dict[str, str]:
    """Find which column plays which role by their names alone."""
    choice = _Choice(names, None, what, Reading(columns=wanted), geometry=geometry)
    choice.take_coordinates()
    for role in ROLES:
        if role not in _OF_COORDINATES:
            choice.take(role)
    if plain(choice.columns.get("id", "")) != "trackfid" and "part" not in wanted:
        choice.roles.pop("part", None)
    return choice.columns


def columns_of_lines(
    columns: pd.DataFrame, times: Sequence[str], what: str, reading: Reading
) -> dict[str, str]:
    """Find which attribute of lines plays which role, by their names; record this."""
    column_of = named_columns(list(columns), reading.columns, what, geometry=True)
    # A line has no rows that could be marked or ordered.
    column_of = {role: column_of[role] for role in ("id", "subject", "time") if role in column_of}
    for role in column_of.keys() - {"time"}:
        refuse_list(Column(column_of[role], columns[column_of[role]]), what)
    choice = _Choice(list(columns), columns, what, reading, geometry=True)
    by_role = {"time": times[0], **column_of} if times else column_of
    choice.roles = {role: ColumnRole(name, role, "name") for role, name in by_role.items()}
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
        first: pd.DataFrame | None,
        what: str,
        reading: Reading,
        *,
        geometry: bool,
        nested: bool = False,
    ) -> None:
        self.names = names
        self.what = what
        self.reading = reading
        self.geometry = geometry
        self.nested = nested
        self.by_names_alone = first is None
        self.head = TableHead(pd.DataFrame() if first is None else first)
        self.roles: dict[str, ColumnRole] = {}
        self.keys: list[str] = []  # usual names of owners that count rows

        _check_wanted(reading.columns)
        self.said = {
            role: self._said(role, name)
            for role, name in reading.columns.items()
            if not self._is_word(role, name) and not (geometry and role in _OF_COORDINATES)
        }

        self.by_name: dict[str, list[str]] = {}
        for name in names:
            self.by_name.setdefault(plain(name), []).append(name)
        for name in names if nested else ():
            self.by_name.setdefault(plain(name.rpartition(".")[2]), []).append(name)

    @property
    def columns(self) -> dict[str, str]:
        """Columns by their roles, in the order of the table of roles."""
        return {role: self.roles[role].column for role in ROLES if role in self.roles}

    def _is_word(self, role: str, name: str) -> bool:
        if not is_word(role, name):
            return False
        if name in self.names and role != "nameless":
            why = f"{role}={name} means no column: rename it"
            raise BadInput(f"{self.what} has a column {name!r}, and {why}")
        return True

    def _said(self, role: str, name: str) -> str:
        """Find the column that is said for a role; of nested names the end may be said."""
        ending_so = [
            name_there
            for name_there in self.names
            if self.nested and name_there.rpartition(".")[2] == name
        ]
        if name in self.names or len(ending_so) != 1:
            return name
        return ending_so[0]

    def _free(self, role: str) -> list[str]:
        """List the columns of usual names that have no other role, best first."""
        usual_names = (name for usual in _USUAL[role] for name in self.by_name.get(usual, ()))
        return list(dict.fromkeys(name for name in usual_names if name not in self._taken))

    @property
    def _taken(self) -> set[str]:
        """The columns that have a role, or were said for one."""
        return {column_role.column for column_role in self.roles.values()} | {*self.said.values()}

    def ranked(self, role: str) -> list[tuple[str, Why]]:
        """Rank the columns that may play a role, best first: by their names, then what they hold.

        This is the one place where a column is chosen that nobody named.
        """
        rule = ROLES[role]
        usual_names = self._free(role)
        if self.by_names_alone:
            return [(name, "name") for name in usual_names]

        head = self.head
        readable = [name for name in usual_names if name in head.columns]
        ranked: list[tuple[str, Why]] = [
            (name, "name") for name in readable if rule.fits(head, name)
        ]

        # Columns of other names play a role if none of the usual names does, or if they are finer.
        if (not ranked or rule.finest) and (usual_names or not rule.finest):
            taken = self._taken.union(usual_names)
            unnamed = [name for name in head.columns if name not in taken]
            ranked += [(name, "values") for name in unnamed if rule.unnamed(head, name)]

        if rule.finest and len(ranked) > 1:
            ranked = _finest(head, ranked)
        if not ranked and rule.kept:
            ranked = [(name, "name") for name in usual_names[:1]]
        return ranked

    def take(self, role: str) -> str | None:
        """Return a role to the column that was said, or else to the best; None if there is none."""
        if self.reading.columns.get(role) in WORDS.get(role, ()):
            return None

        if (column_said := self.said.get(role)) is not None:
            self._check_there(role, column_said)
            self.roles[role] = ColumnRole(column_said, role, "said")
        elif ranked := self.ranked(role):
            self.roles[role] = ColumnRole(ranked[0][0], role, ranked[0][1])
        if role not in self.roles:
            return None

        name = self.roles[role].column
        if self.names.count(name) > 1:
            raise BadInput(f"the column {name!r} appears twice in {self.what}: rename one of them")
        if name in self.head.columns:
            refuse_list(self.head.columns[name], self.what)
        return name

    def _check_there(self, role: str, name: str) -> None:
        if name not in self.names:
            self._refuse_rows()
            raise self._unclear(
                f"{self.what} has no column {name!r} for {role}", "name one of these", role
            )

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
        if (missing or "place" in self.said) and self.take("place"):
            for role in ("lat", "lon"):
                self.roles.pop(role, None)
        elif missing:
            self._refuse_rows()
            owners = {*self.said, *(role for role in ("id", "subject") if self._free(role))}
            missing += ["id"] * owners.isdisjoint(("id", "subject"))
            way_out = f"say `columns` {','.join(f'{role}=...' for role in missing)}"
            problem = f"{self.what} has no column known as {' or '.join(missing)}"
            raise self._unclear(problem, way_out, *missing, table=self.what)
        elif not (self.by_names_alone or all(self.take(role) for role in _SIGNS)):
            for role in _SIGNS:
                self.roles.pop(role, None)

    def take_owners(self) -> None:
        """Find what tells recordings and persons apart."""
        head = self.head
        for role in ("id", "subject"):
            if role not in self.said:
                usual = (name for name in self._free(role) if name in head.columns)
                self.keys += [name for name in usual if head.columns[name].is_key]
            self.take(role)

        if "part" in self.said or plain(self.columns.get("id", "")) == "trackfid":
            self.take("part")

        owners = [role for role in ("id", "subject", "part") if role in self.roles]
        head.tell_recordings(*(self.columns[role] for role in owners))

    def check_owners(self) -> None:
        """Check that a column names recordings, or that each file is one; warn of row numbers."""
        recording_of = f"each subject ({self.columns.get('subject')})"
        if {"id", "subject"}.isdisjoint(self.roles):
            recording_of = "a file"
            if self.reading.columns.get("id") != FILE:
                self._refuse_several()
            self.reading.counts[ONE_A_FILE] += 1

        for name in self.keys:
            role = "id" if plain(name) in _USUAL["id"] else "subject"
            if role in self.roles or name in self.columns.values():
                continue
            msg = f"the column {name!r} of {self.what} counts rows: "
            if role == "id":
                msg += f"{recording_of} is taken for one recording; if another tells them apart, "
            else:
                msg += "it names no persons; if another does, "
            self.reading.warn(f"counts rows {name}", f"{msg}say `columns` {role}=...")

    def _refuse_several(self) -> None:
        """Refuse a table if a column may tell recordings apart, or if it has no times."""
        suspects = [name for name in self._unused() if self._may_tell_apart(name)]
        suspects.sort(key=lambda name: plain(name) != _SEQUENCE)
        suspects = suspects if "time" in self.roles or "gps_seconds" in self.roles else ["..."]
        if suspects:
            way_out = f"say `columns` id={suspects[0]}, or id={FILE} if each file is one recording"
            problem = f"{self.what} has no column known as id"
            raise self._unclear(problem, way_out, "id", table=self.what)

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
        head = self.head
        if self.take("gps_week") is None or self.take("gps_seconds") is None:
            self._drop_weeks()

        if "gps_seconds" in self.roles or self.take("time") is None:
            return
        name = self.columns["time"]
        if self.roles["time"].why != "said":
            if _on_two_clocks(head, name):
                example = head.columns[name].values.dropna().iloc[0]
                why = f"such as {example}, may count from 1970 or, as GPS does, from 1980"
                way_out = f"say `columns` time={name}, or gps_seconds={name}"
                raise self._unclear(f"the times of {self.what}, {why}", way_out, "time")
            if head.columns[name].times is None and self._is_second_of_minute(name):
                del self.roles["time"]
                msg = f"the column {name!r} of {self.what} holds seconds of the minute, no times"
                self.reading.warn(
                    "seconds of the minute", f"{msg}: name another, `columns` time=..."
                )
                return
        column = head.columns[name]
        if column.times is None or "date" in self.said:
            self.take("date")
        in_utc = column.times is not None and column.times.in_utc
        if "zone" in self.said or not (in_utc or _SAYS_UTC.search(name)):
            self.take("zone")

    def _drop_weeks(self) -> None:
        """Use seconds of GPS without a week if they count from 1980, or if they were said."""
        week = self.roles.pop("gps_week", None)
        name = self.take("gps_seconds")
        if name is None or self.roles["gps_seconds"].why == "said":
            return
        if week is None and not may_be_gps_seconds(self.head.columns[name].numbers):
            del self.roles["gps_seconds"]

    def _is_second_of_minute(self, name: str) -> bool:
        """Return whether small whole numbers come again and again within a recording."""
        head = self.head
        values = head.columns[name].numbers
        known = values[np.isfinite(values)]
        small = (known >= 0.0) & (known <= _SECONDS_OF_MINUTE) & (known % 1.0 == 0.0)
        return bool(len(known) and small.all()) and 2 * head.differs(name) < len(known)

    def take_order(self) -> None:
        """Find the column that numbers points, if they have no times, or several have one."""
        head = self.head
        timed = {"time", "gps_seconds"} & self.roles.keys()
        coarse = not timed
        if timed and self._free("order"):
            coarse = any(head.differs(self.columns[role]) < head.rows for role in timed)
        if coarse or "order" in self.said:
            self.take("order")

    def record(self) -> None:
        """Record how the columns were used, and what the others may be; warn of unused times."""
        used = set(self.columns.values())
        unused = [ColumnRole(name) for name in self.names if name not in used]
        by_role = (self.roles[role] for role in ROLES if role in self.roles)
        self.reading.tables.uses[(*by_role, *unused)] += 1

        if not {"time", "gps_seconds"} & self.roles.keys():
            self._tell_times()
        if "subject" in self.roles and "id" not in self.roles:
            self._tell_recordings()
        if "subject" not in self.roles and "subject" not in self.reading.columns:
            for name in self._unused():
                if (held := self._names_held(name)) is not None:
                    self.reading.tables.names.setdefault(name, NamesHeld()).add(held)

    def _tell_times(self) -> None:
        head = self.head
        for name in self._unused():
            held = head.columns[name].times
            if held is None or (held.numbers and head.is_constant(name)):
                continue
            msg = f"{self.what}: no column is used as time, but {name!r} holds times"
            way_out = f"say `columns` time={name}"
            if self.reading.timed and not head.is_constant(name):
                raise ColumnsUnclear(msg, way_out, ["time"], self.names)
            without = "without, points are taken in their order"
            self.reading.warn("times", f"{msg}: {way_out}; {without}", name)

    def _tell_recordings(self) -> None:
        """Warn of a column that may divide what a subject made into recordings."""
        head = self.head
        owner = head.columns[self.columns["subject"]]
        for name in self._unused():
            if self._may_tell_apart(name) and head.divides(name, owner):
                msg = f"the column {name!r} of {self.what} may hold the recordings of each subject"
                self.reading.warn("recordings", f"{msg}: if it does, say `columns` id={name}", name)

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


def refuse_list(column: Column, what: str) -> None:
    """Refuse a column of lists, if it is used."""
    if column.holds_lists:
        why = "holds lists, not a value a row; name another in `columns`"
        raise BadInput(f"the column {column.name!r} of {what} {why}")


def is_row(fields: Sequence[str]) -> bool:
    """Return whether fields are values rather than names of columns: two are numbers."""
    return sum(_NUMBER.fullmatch(field) is not None for field in fields) >= 2
