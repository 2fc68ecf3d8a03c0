"""What the columns of a table of points mean, and what their values are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.subjects import spelled

KNOWN_NAMES: Mapping[str, Sequence[str]] = {
    role: known.split()
    for role, known in {
        "lat": "lat latitude location_lat gps_lat gps_latitude latitude_deg lat_deg y",
        "lon": """lon lng long longitude location_long gps_lon gps_longitude longitude_deg lon_deg
            x""",
        "time": """time timestamp datetime base_date_time ais_pos_timestamp date_time utc_time
            gps_time recorded_at tracked_at created_at ts utc t date""",
        "date": "date day utc_date gps_date",
        "id": "trajectory_id traj_id trip_id trace_id track_id tid trajectory track_fid id",
        "part": "track_seg_id",
        "subject": """
            user_id uid user userid subject subject_id person_id person participant_id participant
            driver_id driver rider_id rider owner_id owner account_id account vehicle_id taxi_id
            cab_id cab bike_id device_id phone_id vehicle mmsi imei icao24
            individual_local_identifier tag_local_identifier
        """,
        "place": """
            wkt wkb geometry geom the_geom geojson point location position coordinates coords
            latlon latlng lat_long lonlat lnglat lat,lon
        """,
        "lat_sign": "lat_sign n/s ns lat_dir latitude_ref lat_ref",
        "lon_sign": "lon_sign e/w ew lon_dir longitude_ref lon_ref",
        "visible": "visible",
        "valid": "valid is_valid gps_valid",
        "outlier": "manually_marked_outlier outlier is_outlier",
        "outlier_by_algorithm": "algorithm_marked_outlier",
        "outlier_at_import": "import_marked_outlier",
    }.items()
}
"""Column names found without asking, best first, as `plain` makes them equal: those of cabspotting,
scikit-mobility, movingpandas, GDAL, Movebank, MDS and ships' AIS. A date is the day of times of
day; a part is a piece of the trace with the id; a place is both coordinates in one field."""

MARKS = {"visible": False, "valid": False} | dict.fromkeys(
    ("outlier", "outlier_by_algorithm", "outlier_at_import"), True
)
"""By role: what a column says of rows that are not valid."""

FILE, FOLDER = "file", "folder"  # for a column: each file is a recording, each folder a person

_WORDS = {"id": FILE, "subject": FOLDER}
_OF_COORDINATES = ("lat", "lon", "lat_sign", "lon_sign", "place")

Values: TypeAlias = pd.Series | pa.ChunkedArray  # a column of a table

Rows: TypeAlias = pd.DataFrame | Mapping[str, pa.ChunkedArray]
"""Some rows of a table, their columns by their roles; a frame takes longer than a small file."""

_NO_WORD = re.compile(r"\s+[NE]/[SW]\s*$|[(\[].*[)\]]\s*$|[-_.#\s\ufeff]", re.IGNORECASE)
"""Signs between words, and units behind a name: in brackets, or as in LATITUDE N/S."""

_EXACT = 2.0**53  # below it, a float is not the neighbour of the number meant
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")


@lru_cache(4096)  # many small files have the same columns
def plain(name: str) -> str:
    """Make names equal that differ in case, blanks, and signs between words."""
    return _NO_WORD.sub("", name).casefold()


_KNOWN = {role: [plain(name) for name in known] for role, known in KNOWN_NAMES.items()}


def known_as(name: str) -> list[str]:
    """List the roles that a column of this name may play."""
    spelled_out = plain(name)
    return [role for role, known in _KNOWN.items() if spelled_out in known]


def parse_columns(text: str) -> dict[str, str]:
    """Read ``lat=...,lon=...,time=...,id=...,subject=...`` as a user gives it."""
    columns: dict[str, str] = {}
    for part in text.split(","):
        role, _, name = (word.strip() for word in part.partition("="))
        understood = role in KNOWN_NAMES and name and not set(name) & set("=;")
        if not understood or role in columns:
            raise BadInput(
                f"`columns` {text!r} is not understood at {part!r}; write "
                "id=...,lat=...,lon=...,time=...,subject=... with your column names"
            )
        columns[role] = name
    _check_wanted(columns)
    return columns


def roles(
    names: Sequence[str],
    wanted: Mapping[str, str],
    what: str,
    *,
    geometry: bool = False,
    place: bool = False,
) -> dict[str, str]:
    """Find which column plays which role; with ``place`` both coordinates may be in one field."""
    words = {role: word for role, word in _WORDS.items() if wanted.get(role) == word}
    for role, word in words.items():
        if word in names:
            raise BadInput(
                f"{what} has a column {word!r}, and {role}={word} means the {word} itself: rename "
                "the column"
            )
    left_out = _OF_COORDINATES if geometry else ()
    wanted = {r: name for r, name in wanted.items() if r not in words and r not in left_out}
    _check_wanted(wanted)
    found: dict[str, str] = {}
    by_name = {plain(name): name for name in reversed(names)}
    for role, known in _KNOWN.items():
        taken = {*found.values(), *wanted.values()}
        candidates = (by_name[name] for name in known if name in by_name)
        chosen = wanted.get(role) or next((name for name in candidates if name not in taken), None)
        if chosen is not None and role not in left_out:
            found[role] = chosen
    if "part" not in wanted and plain(found.get("id", "")) != "trackfid":
        found.pop("part", None)
    unknown = [role for role in found if found[role] not in names]
    missing = [] if geometry else [role for role in ("lat", "lon") if role not in found]
    if (unknown or missing) and not geometry and is_row(names):
        raise BadInput(
            f"{what} has no line with the names of its columns, because its first line "
            "holds numbers: write one above it, such as id,lat,lon,time"
        )
    if unknown:
        raise BadInput(
            f"{what} has no column {found[unknown[0]]!r} for {unknown[0]}; {listed(names)}"
        )
    if place and "place" in found and (missing or "place" in wanted):
        return {role: name for role, name in found.items() if role not in ("lat", "lon")}
    found.pop("place", None)
    if missing:
        missing += ["id"] * found.keys().isdisjoint(("id", "subject"))
        raise BadInput(
            f"{what} has no column known as {' or '.join(missing)}; {listed(names)}: say `columns` "
            f"{','.join(f'{role}=...' for role in missing)}"
        )
    return found


def is_row(fields: Sequence[str]) -> bool:
    """Say whether fields are values rather than names of columns: two are numbers."""
    return sum(_NUMBER.fullmatch(field) is not None for field in fields) >= 2


def listed(names: Sequence[str]) -> str:
    """List the columns of a table."""
    return f"its columns are {', '.join(names) or 'none'}"


def check_single(names: Sequence[str], used: Iterable[str], what: str) -> None:
    """Refuse a name that two columns have, if one of them is used."""
    for name in used:
        if names.count(name) > 1:
            raise BadInput(
                f"the column {name!r} appears more than once in {what}: rename one of them"
            )


def _check_wanted(wanted: Mapping[str, str]) -> None:
    """Refuse unknown roles, and a second role for the column of a coordinate."""
    for role, name in wanted.items():
        if role not in KNOWN_NAMES:
            raise BadInput(f"columns have no role {role!r}: choose from {', '.join(KNOWN_NAMES)}")
        others = [other for other in wanted if other != role and wanted[other] == name]
        if others and role in ("lat", "lon"):
            raise BadInput(
                f"`columns` {role}={name},{others[0]}={name} names one column twice: "
                "lat and lon each have a column of their own"
            )


def are_numbers(values: Values) -> bool:
    """Say whether a column is one of numbers, by its type."""
    if isinstance(values, pa.ChunkedArray):
        return bool(pa.types.is_floating(values.type) or pa.types.is_integer(values.type))
    return bool(pd.api.types.is_numeric_dtype(values))


def numbers(values: Values) -> Floats:
    """Read numbers; other values become NaN."""
    if isinstance(values, pa.ChunkedArray):
        return np.asarray(pd.to_numeric(values.to_numpy(), errors="coerce"), np.float64)
    if not pd.api.types.is_numeric_dtype(values):
        values = pd.to_numeric(values, errors="coerce")
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def names(values: pd.Series) -> list[str | None]:
    """Read names in their one spelling; None where there is none."""
    return [None if name is None else spelled(name) for name in as_given(values)]


def as_given(values: pd.Series) -> list[str | None]:
    """Read names as they are written; None where there is none."""
    if pd.api.types.is_integer_dtype(values) and not values.hasnans:
        return list(map(str, values.tolist()))
    if pd.api.types.infer_dtype(values) == "string":  # as nearly always, or some are missing
        return [name if isinstance(name, str) and spelled(name) else None for name in values]
    texts = values.astype("string")
    if pd.api.types.is_float_dtype(values):
        whole = (values % 1 == 0) & (values.abs() < _EXACT)
        texts[whole] = values[whole].astype("Int64").astype("string")
    given = texts.astype(object).where(texts.notna(), None).tolist()
    return [name if name is not None and spelled(name) else None for name in given]
