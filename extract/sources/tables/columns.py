"""What the columns of a table of points mean, and what their values are."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trajanon.errors import BadInput
from trajanon.extract.sources.tables.layout import is_row

KNOWN_NAMES: Mapping[str, Sequence[str]] = {
    "lat": ("lat", "latitude", "y"),
    "lon": ("lon", "lng", "long", "longitude", "x"),
    "time": ("time", "timestamp", "datetime", "date_time", "t", "date"),
    "date": ("date", "day"),
    "id": (
        "trajectory_id",
        "traj_id",
        "trip_id",
        "trace_id",
        "track_id",
        "tid",
        "trajectory",
        "track_fid",
        "id",
    ),
    "part": ("track_seg_id",),
    "subject": (
        "user_id",
        "uid",
        "user",
        "userid",
        "subject",
        "subject_id",
        "person_id",
        "person",
        "participant_id",
        "participant",
        "driver_id",
        "driver",
        "rider_id",
        "rider",
        "owner_id",
        "owner",
        "account_id",
        "account",
        "vehicle_id",
        "taxi_id",
        "cab_id",
        "cab",
        "bike_id",
        "device_id",
        "phone_id",
        "vehicle",
        "mmsi",
        "imei",
        "icao24",
    ),
}
"""Column names found without asking, best first; case does not matter. Among them are
those of the cabspotting tables, scikit-mobility, movingpandas and GDAL. A date is the
day of times that are times of day; a part is a piece of what has the id."""

_EXACT = 2.0**53  # below it, a float is not the neighbour of the number meant


def parse_columns(text: str) -> dict[str, str]:
    """Read ``lat=...,lon=...,time=...,id=...,subject=...`` as a user gives it.

    Raises
    ------
    BadInput
        If it is not of this form.

    Examples
    --------
    >>> parse_columns("lat=y_wgs,lon=x_wgs")
    {'lat': 'y_wgs', 'lon': 'x_wgs'}
    """
    columns: dict[str, str] = {}
    for part in text.split(","):
        role, _, name = (word.strip() for word in part.partition("="))
        understood = role in KNOWN_NAMES and name and not set(name) & set("=;")
        if not understood or role in columns or name in columns.values():
            msg = (
                f"--columns {text!r} is not understood at {part!r}; write "
                "id=...,lat=...,lon=...,time=...,subject=... with your column names"
            )
            raise BadInput(msg)
        columns[role] = name
    return columns


def roles(
    names: Sequence[str], wanted: Mapping[str, str], path: Path
) -> dict[str, str]:
    """Find which column plays which role.

    Parameters
    ----------
    names
        Columns of the table.
    wanted
        Column by role, as the user gave them.
    path
        The table, for messages.

    Returns
    -------
    dict[str, str]
        Role by column.

    Raises
    ------
    BadInput
        If a wanted column is not there, or one that is needed is not found.
    """
    found: dict[str, str] = {}
    by_lower = {name.lower(): name for name in reversed(names)}
    for role, known in KNOWN_NAMES.items():
        if role in wanted:
            if wanted[role] not in names:
                _check_names(names, path)
                msg = (
                    f"{path} has no column {wanted[role]!r} for {role}; "
                    f"its columns are {', '.join(names)}"
                )
                raise BadInput(msg)
            found[wanted[role]] = role
            continue
        candidates = (by_lower[name] for name in known if name in by_lower)
        taken = {*found, *wanted.values()}
        name = next((n for n in candidates if n not in taken), None)
        if name is not None:
            found[name] = role
    if "part" not in wanted and found.get(by_lower.get("track_fid", "")) != "id":
        found = {name: role for name, role in found.items() if role != "part"}
    there = set(found.values())
    missing = [role for role in ("lat", "lon") if role not in there]
    if not there & {"id", "subject"}:
        missing.append("id")
    if missing:
        _check_names(names, path)
        msg = (
            f"{path} has no column known as {' or '.join(missing)}; its columns are "
            f"{', '.join(names)}: say --columns {','.join(f'{m}=...' for m in missing)}"
        )
        raise BadInput(msg)
    return found


def _check_names(names: Sequence[str], path: Path) -> None:
    if is_row(names):
        msg = (
            f"{path} lacks a line with the names of its columns, for its first one "
            "holds numbers: write one above it, such as id,lat,lon,time"
        )
        raise BadInput(msg)


def numbers(values: pd.Series) -> NDArray[np.float64]:
    """Read coordinates; what is no number becomes NaN."""
    if not pd.api.types.is_numeric_dtype(values):
        values = pd.to_numeric(values, errors="coerce")
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def names(values: pd.Series) -> list[str | None]:
    """Read names; 7.0, which a gap in the column makes of 7, is 7 again.

    One person under two spellings would count as two. What is empty is None.
    """
    if pd.api.types.is_integer_dtype(values) and not values.hasnans:
        return list(map(str, values.tolist()))
    if pd.api.types.infer_dtype(values, skipna=True) == "bytes":
        values = values.map(
            lambda name: name.decode("utf-8", "backslashreplace"), na_action="ignore"
        )
    texts = values.astype("string")
    if pd.api.types.is_float_dtype(values):
        whole = (values % 1 == 0) & (values.abs() < _EXACT)
        texts[whole] = values[whole].astype("Int64").astype("string")
    stripped = pc.utf8_trim_whitespace(pa.array(texts, from_pandas=True))
    named = pc.replace_substring_regex(stripped, r"^(\d+)\.0+$", r"\1")
    return [name or None for name in named.to_pylist()]
