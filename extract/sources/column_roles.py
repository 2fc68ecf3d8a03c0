"""The roles that columns of a table may have: their usual names, and what shows that they fit."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trajanon.common.errors import BadInput
from trajanon.extract.sources.column_evidence import TableHead
from trajanon.extract.sources.timestamps import are_of_day, are_zones, may_be_gps_seconds

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

SIGNS = {"lat_sign": {"n", "s"}, "lon_sign": {"e", "w"}}  # by role: the letters it holds
OF_COORDINATES = ("lat", "lon", *SIGNS, "place")

_NO_WORD = re.compile(r"\s+[NE]/[SW]\s*$|[(\[].*[)\]]\s*$|[-_.#\s\ufeff]", re.IGNORECASE)
"""Signs between words, and units behind a name: in brackets, or as in LATITUDE N/S."""

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
    wrong: bool | None = None  # what it says of rows that are not valid, if it marks rows


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
            if other_name != name and plain(other_name) in USUAL["date"]
        ]
        return bool(days) and are_of_day(head.columns[name].values)
    return not held.days and not on_two_clocks(head, name)


def on_two_clocks(head: TableHead, name: str) -> bool:
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


def _are_gps_seconds(head: TableHead, name: str) -> bool:
    """Return whether numbers count from 1980, or from the beginning of a week beside them."""
    values = head.columns[name].numbers
    has_week = any(plain(other_name) in USUAL["gps_week"] for other_name in head.columns)
    return bool((values >= 0.0).any()) and (has_week or may_be_gps_seconds(values))


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
            unnamed=_is_letters(SIGNS["lat_sign"]),
        ),
        Role(
            "lon_sign",
            "lon_sign e/w ew lon_dir longitude_ref lon_ref",
            unnamed=_is_letters(SIGNS["lon_sign"]),
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
            fits=_are_gps_seconds,
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
        Role("visible", "visible", wrong=False),
        Role("valid", "valid is_valid gps_valid validity", wrong=False),
        Role("outlier", "manually_marked_outlier outlier is_outlier", wrong=True),
        Role("outlier_by_algorithm", "algorithm_marked_outlier", wrong=True),
        Role("outlier_at_import", "import_marked_outlier", wrong=True),
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

USUAL = {name: [plain(column) for column in role.usual.split()] for name, role in ROLES.items()}
"""By role: names of columns that are found without asking, best first."""

MARKS = {name: role.wrong for name, role in ROLES.items() if role.wrong is not None}
"""By role: what a column says of rows that are not valid."""


def is_word(role: str, name: str) -> bool:
    """Return whether what is said for a role is a word, and no column."""
    return name in WORDS.get(role, ())


def known_as(name: str) -> list[str]:
    """List the roles that a column of this name may play."""
    spelled_out = plain(name)
    return [role for role, usual in USUAL.items() if spelled_out in usual]


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
    check_wanted(columns)
    return columns


def check_wanted(wanted: Mapping[str, str]) -> None:
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
