"""What the columns of a table of points mean, and what their values are."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import BadInput

KNOWN_NAMES: Mapping[str, Sequence[str]] = {
    "lat": ("lat", "latitude", "y"),
    "lon": ("lon", "lng", "long", "longitude", "x"),
    "time": ("time", "timestamp", "datetime", "date_time", "date", "t"),
    "id": (
        "trajectory_id",
        "traj_id",
        "trip_id",
        "trace_id",
        "track_id",
        "tid",
        "id",
    ),
    "subject": (
        "user_id",
        "uid",
        "user",
        "subject",
        "person_id",
        "vehicle_id",
        "taxi_id",
        "cab_id",
        "cab",
        "device_id",
    ),
}
"""Column names found without asking, best first; case does not matter. Among them are
those of the cabspotting tables and of scikit-mobility."""

TEXTS = ("id", "subject", "time")
"""Roles whose values are read as they are written, even if they look like numbers: 7
and 07 are two names."""


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
                msg = (
                    f"{path} has no column {wanted[role]!r} for {role}; "
                    f"its columns are {', '.join(names)}"
                )
                raise BadInput(msg)
            found[wanted[role]] = role
            continue
        candidates = (by_lower[name] for name in known if name in by_lower)
        name = next((n for n in candidates if n not in wanted.values()), None)
        if name is not None:
            found[name] = role
    there = set(found.values())
    missing = [role for role in ("lat", "lon") if role not in there]
    if not there & {"id", "subject"}:
        missing.append("id")
    if missing:
        msg = (
            f"{path} has no column known as {' or '.join(missing)}; its columns are "
            f"{', '.join(names)}: say --columns {','.join(f'{m}=...' for m in missing)}"
        )
        raise BadInput(msg)
    return found


def numbers(values: pd.Series) -> NDArray[np.float64]:
    """Read coordinates; what is no number becomes NaN."""
    read = pd.to_numeric(values, errors="coerce")
    return np.asarray(read.to_numpy(dtype=np.float64, na_value=np.nan))


def seconds(values: pd.Series) -> NDArray[np.float64]:
    """Read times as seconds since 1970 UTC: dates, texts, or numbers of any unit.

    The column is one of numbers if most of its values are. What cannot be read becomes
    NaN.
    """
    if pd.api.types.is_timedelta64_dtype(values):
        return np.asarray(values.dt.total_seconds().to_numpy(dtype=np.float64))
    if not pd.api.types.is_datetime64_any_dtype(values):
        epochs = numbers(values)
        if 2 * np.isfinite(epochs).sum() > values.notna().sum():
            return _seconds_of_epochs(epochs)
        values = values.astype("string")
        _refuse_times_of_day(values)
    times = _dates(values)
    unread = times.isna() & values.notna()
    if unread.any():  # not written like the first one
        times[unread] = _dates(values[unread], format="mixed")
    microseconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy()
    read = np.where(times.isna().to_numpy(), np.nan, microseconds / 1e6)
    if len(read) > 1 and not (read[np.isfinite(read)] % 86_400).any():
        return np.full_like(read, np.nan)  # days, which order nothing
    return read


def _refuse_times_of_day(texts: pd.Series) -> None:
    of_day = texts.str.fullmatch(r"\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*")
    if 2 * of_day.fillna(False).sum() > texts.notna().sum():
        msg = (
            f"the column of times holds times of day ({texts.dropna().iloc[0]}), which "
            "do not tell one day from another: name a column with both, --columns "
            "time=..."
        )
        raise BadInput(msg)


def _dates(values: pd.Series, **how: str) -> pd.Series:
    with warnings.catch_warnings():  # pandas warns of what it has to guess
        warnings.simplefilter("ignore", UserWarning)
        return pd.to_datetime(values, utc=True, errors="coerce", **how)


def _seconds_of_epochs(epochs: NDArray[np.float64]) -> NDArray[np.float64]:
    # Seconds have ten digits in our time; milli-, micro-, nanoseconds have more.
    # The median, for one wild number says nothing of the others.
    typical = np.nanmedian(np.abs(epochs))
    for threshold, per_second in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if typical >= threshold:
            return epochs / per_second
    return epochs


def names(values: pd.Series) -> pd.Series:
    """Read names; 7.0, which a gap in the column makes of 7, is 7 again.

    One person under two spellings would count as two.
    """
    if pd.api.types.infer_dtype(values, skipna=True) == "bytes":
        values = values.map(
            lambda name: name.decode("utf-8", "backslashreplace"), na_action="ignore"
        )
    if pd.api.types.is_float_dtype(values) and (values.dropna() % 1 == 0).all():
        values = values.astype("Int64")
    texts = values.astype("string").str.strip()
    return texts.str.replace(r"^(\d+)\.0+$", r"\1", regex=True).replace("", pd.NA)
