"""The roles that columns of a table may have: their usual names, and what shows that they fit."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import table_beside
from trajanon.extract.sources.column_evidence import TableHead
from trajanon.extract.sources.time_zone_column import are_zones
from trajanon.extract.sources.timestamps import are_times_of_day, may_be_gps_seconds

# Words that a user may say in place of a column.
FILE = "file"  # each file is a recording
FOLDER = "folder"  # each folder is a person
NOBODY = "none"  # no column names a person
TRACK = "track"  # each track is a person
DIFFERENT = "different"  # each recording without a name is of a person of its own

WORDS: Mapping[str, Sequence[str]] = {
    "id": (FILE,),
    "subject": (FOLDER, NOBODY, TRACK),
    "nameless": (DIFFERENT,),
}
"""These words by role. `nameless` is no role of a column."""

ONE_A_FILE = "tables without ids, each taken for one recording"

SIGNS = ("lat_sign", "lon_sign")  # roles of letters: N or S, E or W
OF_COORDINATES = ("lat", "lon", *SIGNS, "place")

_SIGNS_AND_UNITS = re.compile(r"\s+[NE]/[SW]\s*$|[(\[].*[)\]]\s*$|[-_.#\s\ufeff]", re.IGNORECASE)
"""Signs between words, and units behind a name: in brackets, or as in LATITUDE N/S."""

Test = Callable[[TableHead, str], bool]
"""Judges by the first rows of a table whether the column of a name may play a role."""

OWNERS = ("id", "subject")  # roles of what tells recordings, and persons, apart

_VALUES_JUDGED = 20  # the first ones, which show whether a column holds letters of signs


class Role(NamedTuple):
    """What a column may be used as."""

    usual: Sequence[str]  # plain names found without asking, best first
    wrong: bool | None  # what it says of rows that are not valid, if it marks rows
    fits: Test  # whether the first rows of a column of a usual name fit
    fits_any_name: Test  # whether a column's first rows show the role, whatever its name is


@lru_cache(4096)  # many small files have the same columns
def plain(name: str) -> str:
    """Make names equal that differ in case, blanks, and signs between words."""
    return _SIGNS_AND_UNITS.sub("", name).casefold()


def _is_time(head: TableHead, name: str) -> bool:
    """Return whether a column holds whole times, or times of day with a day beside them."""
    held = head[name].times
    if held is not None:
        return not held.days and not on_two_clocks(head, name)

    has_day = any("date" in known_as(beside) for beside in head if beside != name)
    return has_day and are_times_of_day(head[name].values)


def on_two_clocks(head: TableHead, name: str) -> bool:
    """Return whether numbers may count from 1970 or from 1980, as GPS does."""
    return "gps" in plain(name) and may_be_gps_seconds(head[name].numbers)


def _is_other_time(head: TableHead, name: str) -> bool:
    """Return whether texts are times of points, whatever the column is called."""
    times = head[name].times
    has_whole_times = times is not None and not times.days and not times.numbers
    return has_whole_times and not head.is_constant(name)


def _holds_only(letters: set[str], values: pd.Series) -> bool:
    """Return whether all texts of a column are some of these letters."""
    first = values.dropna().head(_VALUES_JUDGED)
    texts = {str(value).strip().lower() for value in first} - {""}
    return bool(texts) and texts <= letters


def _is_zone(head: TableHead, name: str) -> bool:
    """Return whether a column holds time zones."""
    column = head[name]
    # Numbers in a column called zone may be of parts of a town, and so may letters beside Z.
    may_be_places = plain(name) == "zone"
    if may_be_places and not np.isnan(column.numbers).all():
        return False
    # Elsewhere a few others are errors: without the column, all times would be read as UTC.
    return are_zones(column.coded.values, 1.0 if may_be_places else 0.5)


def _are_gps_seconds(head: TableHead, name: str) -> bool:
    """Return whether numbers count from 1980, or from the beginning of a week beside them."""
    values = head[name].numbers
    has_week = any("gps_week" in known_as(beside) for beside in head)
    return bool((values >= 0.0).any()) and (has_week or may_be_gps_seconds(values))


_TESTS: Mapping[str, Test] = {
    "id": lambda head, name: not head[name].is_key,
    "subject": lambda head, name: not head[name].is_key,
    "gps_seconds": _are_gps_seconds,
    "time": _is_time,
    "zone": _is_zone,
    "order": lambda head, name: head.numbers_points(name, gapless=False),
}
_TESTS_OF_ANY_NAME: Mapping[str, Test] = {
    "lat_sign": lambda head, name: _holds_only({"n", "s"}, head[name].values),
    "lon_sign": lambda head, name: _holds_only({"e", "w"}, head[name].values),
    "time": _is_other_time,
    "order": lambda head, name: head.numbers_points(name, gapless=True),
}


ROLES: Mapping[str, Role] = {
    row["role"]: Role(
        [plain(name) for name in row["usual names"].split()],
        wrong={"yes": True, "no": False}.get(row["wrong rows say"]),
        fits=_TESTS.get(row["role"], lambda head, name: True),
        fits_any_name=_TESTS_OF_ANY_NAME.get(row["role"], lambda head, name: False),
    )
    for row in table_beside(__file__, "column_role_names.csv")
}
"""Roles of columns, each found after those above it: names of cabspotting, scikit-mobility,
movingpandas, GDAL, Movebank, MDS and ships' AIS. A date is the day of times of day; a part is a
piece of the trace with the id; a place is both coordinates in one field; order numbers points."""

MARKS = {name: role.wrong for name, role in ROLES.items() if role.wrong is not None}
"""By role: what a column says of rows that are not valid."""


def is_word(role: str, name: str) -> bool:
    """Return whether a user says a word for a role, and no column."""
    return name in WORDS.get(role, ())


def known_as(name: str) -> list[str]:
    """List the roles that a column of this name may play."""
    spelled_out = plain(name)
    return [role for role, rule in ROLES.items() if spelled_out in rule.usual]


def parse_columns(text: str) -> dict[str, str]:
    """Read ``lat=...,lon=...,time=...,id=...,subject=...`` as a user gives it."""
    columns: dict[str, str] = {}
    for part in text.split(","):
        role, _, name = (word.strip() for word in part.partition("="))
        if not name or set(name) & set("=;") or role in columns:
            way_out = "write id=...,lat=...,lon=...,time=...,subject=... with your column names"
            raise BadInput(f"`columns` {text!r} is not understood at {part!r}; {way_out}")
        columns[role] = name
    check_wanted(columns)
    return columns


def check_wanted(wanted: Mapping[str, str]) -> None:
    """Refuse unknown roles, and a second role for the column of a coordinate."""
    for role, name in wanted.items():
        if role == "nameless" and not is_word(role, name):
            raise BadInput(f"`columns` nameless={name} is not known: use nameless={DIFFERENT}")
        if role not in ROLES and role not in WORDS:
            raise BadInput(f"columns have no role {role!r}: choose from {', '.join(ROLES)}")
        second_roles = [second for second in wanted if second != role and wanted[second] == name]
        if second_roles and role in ("lat", "lon"):
            twice = f"{role}={name},{second_roles[0]}={name}"
            raise BadInput(f"`columns` {twice} names one column twice")
