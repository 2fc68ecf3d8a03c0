"""What the columns of a table of points mean, which are used, and what their values are."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import pandas as pd
from pandas.api.types import is_list_like, is_object_dtype

from trajanon.errors import BadInput, printable
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.streams import COLUMNS, Reading
from trajanon.extract.sources.timestamps import holds_times
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

ONE_A_FILE = "tables without ids, each taken for one recording"

_WORDS = {"id": FILE, "subject": FOLDER}
_OF_COORDINATES = ("lat", "lon", "lat_sign", "lon_sign", "place")
_SIGNS = {"lat_sign": {"n", "s"}, "lon_sign": {"e", "w"}}

_NO_WORD = re.compile(r"\s+[NE]/[SW]\s*$|[(\[].*[)\]]\s*$|[-_.#\s\ufeff]", re.IGNORECASE)
"""Signs between words, and units behind a name: in brackets, or as in LATITUDE N/S."""

_MEASURES = re.compile(
    r"(?<![a-z])(acc|accuracy|alt|altitude|azimuth|bearing|battery|cadence|comment|course"
    r"|direction|dist|distance|[hpv]?dop|elev?|elevation|event|fix|[hv]acc|heading|height|hgt|hr"
    r"|heart|heartrate|mode|note|odometer|power|pressure|quality|rate|rssi|sats?|satellites"
    r"|signal|speed|state|status|temp|temperature|vel|velocity)(?![a-z])",
    re.IGNORECASE,
)
"""Words in the names of columns that describe a point, not its owner."""

_SEQUENCE = "collection"  # what Panoramax calls a recording, beside the name of a picture
_FEW = 10  # rows, too few to say that an id counts rows
_EXACT = 2.0**53  # below it, a float is not the neighbour of the number meant
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")
_LISTED, _LETTERS = 40, 40  # unused columns that are listed, and letters of each name


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
            way_out = "write id=...,lat=...,lon=...,time=...,subject=... with your column names"
            raise BadInput(f"`columns` {text!r} is not understood at {part!r}; {way_out}")
        columns[role] = name
    _check_wanted(columns)
    return columns


def used_columns(
    names: Sequence[str], first: pd.DataFrame, what: str, how: Reading, *, geometry: bool = False
) -> dict[str, str]:
    """Find which column of a table of points plays which role, by its first rows; count this."""
    found = roles(names, how.columns, what, geometry=geometry, place=not geometry)
    if "place" in found:
        return found
    first = refuse_lists(found, first, what)
    if not geometry:
        found |= _signs(first, found, how.columns)
    found = _with_recordings(found, first, what, how)
    if (own := found.get("time")) and "date" not in found and "time" not in how.columns:
        # Seconds since the start, or a time of day, may stand beside whole times.
        named = [own, *(name for name in names if name != own and "time" in known_as(name))]
        if len(named) > 1:
            found["time"] = next((one for one in named if holds_times(first[one], one)), own)
    count_use(names, found, how)
    unused = [name for name in first if name not in found.values()]
    if unused and "time" not in found:
        _say_times(first[unused], what, how)
    if unused and "id" in found and "subject" not in (*found, *how.columns):
        _say_subjects(first[found["id"]], first[unused], what, how)
    return found


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
            why = f"{role}={word} means the {word} itself: rename the column"
            raise BadInput(f"{what} has a column {word!r}, and {why}")
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
        why = "as its first line holds numbers: write one above it, such as id,lat,lon,time"
        raise BadInput(f"{what} has no line with the names of its columns, {why}")
    if unknown:
        name = found[unknown[0]]
        raise BadInput(f"{what} has no column {name!r} for {unknown[0]}; {_listed(names)}")
    if place and "place" in found and (missing or "place" in wanted):
        found = {role: name for role, name in found.items() if role not in ("lat", "lon")}
    elif missing:
        missing += ["id"] * found.keys().isdisjoint(("id", "subject"))
        way_out = f"say `columns` {','.join(f'{role}=...' for role in missing)}"
        known_as_none = f"{what} has no column known as {' or '.join(missing)}"
        raise BadInput(f"{known_as_none}; {_listed(names)}: {way_out}")
    else:
        found.pop("place", None)
    for name in found.values():
        if names.count(name) > 1:
            raise BadInput(f"the column {name!r} appears twice in {what}: rename one of them")
    return found


def refuse_lists(found: Mapping[str, str], first: pd.DataFrame, what: str) -> pd.DataFrame:
    """Refuse a column of lists, if it is used; give the other columns."""
    objects = [name for name in first if is_object_dtype(first[name])]
    lists = [name for name in objects if first[name].map(is_list_like).any()]
    for name in set(lists) & set(found.values()):
        why = "holds lists, not a value a row; name another in `columns`"
        raise BadInput(f"the column {name!r} of {what} {why}")
    return first.drop(columns=lists) if lists else first


def is_row(fields: Sequence[str]) -> bool:
    """Say whether fields are values rather than names of columns: two are numbers."""
    return sum(_NUMBER.fullmatch(field) is not None for field in fields) >= 2


def _listed(names: Sequence[str]) -> str:
    return f"its columns are {', '.join(names) or 'none'}"


def _check_wanted(wanted: Mapping[str, str]) -> None:
    """Refuse unknown roles, and a second role for the column of a coordinate."""
    for role, name in wanted.items():
        if role not in KNOWN_NAMES:
            raise BadInput(f"columns have no role {role!r}: choose from {', '.join(KNOWN_NAMES)}")
        others = [other for other in wanted if other != role and wanted[other] == name]
        if others and role in ("lat", "lon"):
            raise BadInput(f"`columns` {role}={name},{others[0]}={name} names one column twice")


def _signs(
    first: pd.DataFrame, found: Mapping[str, str], wanted: Mapping[str, str]
) -> dict[str, str]:
    """Find the two columns of letters for signs, by their values; headings hold all four."""
    free = [name for name in first if found.get("id") != name and first[name].dtype.kind in "OT"]
    by_value: dict[str, str] = {}
    for name in free:
        values = {str(value).strip().lower() for value in first[name].head(20).tolist() if value}
        for role, letters in _SIGNS.items():
            if values and values <= letters:
                by_value.setdefault(role, name)
    return by_value if len(by_value) == 2 else {}


def _with_recordings(
    column_of: Mapping[str, str], first: pd.DataFrame, what: str, how: Reading
) -> dict[str, str]:
    """Leave out an id that counts rows; without any id, take the file for one recording."""
    found, said = dict(column_of), how.columns.get("id")
    key = found.get("id") if said is None else None
    counts_rows = key is not None and len(first) >= _FEW
    counts_rows = counts_rows and bool(first[key].is_unique and first[key].notna().all())
    if counts_rows or said == FILE:
        found.pop("id", None)
    if {"id", "subject"} & found.keys():
        one = f"each subject ({found.get('subject')})"
    else:
        one = "a file"
        others = [name for name in first if name not in (*found.values(), key)]
        suspects = [name for name in others if _may_name(first[name], str(name))]
        suspects.sort(key=lambda name: plain(str(name)) != _SEQUENCE)
        suspects = suspects if "time" in found else ["..."]
        if suspects and said != FILE:
            way_out = f"say `columns` id={suspects[0]}, or id={FILE} if each file is one recording"
            raise BadInput(f"{what} has no column known as id; {_listed(list(first))}: {way_out}")
        how.counts[ONE_A_FILE] += 1
    if counts_rows:
        msg = f"the column {key!r} of {what} counts rows: {one} is taken for one recording; "
        how.warn(f"counts rows {key}", f"{msg}if another tells them apart, say `columns` id=...")
    return found


def _may_name(values: pd.Series, name: str) -> bool:
    """Say whether a column may name recordings or people: a few texts or whole numbers."""
    values = values.dropna()
    if _MEASURES.search(name) or not 1 < values.nunique() < len(values):
        return False
    fractions = numbers(values) % 1.0
    return not bool((fractions > 0.0).any()) and not holds_times(values, name)


def count_use(names: Sequence[str], column_of: Mapping[str, str], how: Reading) -> None:
    """Count a table under the use of its columns, in words."""
    used = [f"{role}={printable(name, _LETTERS)}" for role, name in column_of.items()]
    others = [printable(name, _LETTERS) for name in names if name not in column_of.values()]
    more = f" and {len(others) - _LISTED:,} more" if len(others) > _LISTED else ""
    unused = f"{', '.join(others[:_LISTED]) or 'none'}{more}"
    how.counts[f"{COLUMNS}{', '.join(used) or 'none'}; not used: {unused}"] += 1


def _say_times(unused: pd.DataFrame, what: str, how: Reading) -> None:
    for name in (name for name in unused if holds_times(unused[name], str(name))):
        msg = f"{what}: no column is used as time, but {name!r} holds times"
        msg += f": say `columns` time={name}"
        if how.timed:
            raise BadInput(msg)
        how.warn("times", f"{msg}; without, points are taken in their order", str(name))


def _say_subjects(ids: pd.Series, unused: pd.DataFrame, what: str, how: Reading) -> None:
    """Warn of a column that is the same within each id, and of several ids, too."""
    for name in (name for name in unused if str(name).lower().endswith("id")):
        several = 0 < unused[name].nunique() < ids.nunique()
        if several and unused[name].groupby(ids, observed=True).nunique().max() == 1:
            msg = f"the column {name!r} of {what} may hold the subjects of the traces: if it does, "
            how.warn("subject", f"{msg}name it with `columns` subject={name}", str(name))
            return


def as_given(values: pd.Series) -> list[str | None]:
    """Read names as they are written; None where there is none. Whole floats are no fractions."""
    if pd.api.types.is_float_dtype(values):
        whole = (values % 1 == 0) & (values.abs() < _EXACT)
        texts = values.astype("string")
        texts[whole] = values[whole].astype("Int64").astype("string")
        values = texts
    given = (None if pd.isna(one) else str(one) for one in values.tolist())
    return [one if one and spelled(one) else None for one in given]
