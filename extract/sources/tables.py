"""Tables of points (CSV, Parquet, GeoParquet) -> traces."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.trace import Trace
from trajanon.progress import Progress, silent

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

_CHUNK = 250_000  # rows of a CSV that are parsed between two words about progress


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
    columns = {}
    for part in text.split(","):
        role, equals, name = (word.strip() for word in part.partition("="))
        if not equals or not name or role not in KNOWN_NAMES:
            msg = (
                f"--columns {text!r} is not understood at {part!r}; write "
                "id=...,lat=...,lon=...,time=...,subject=... with your column names"
            )
            raise BadInput(msg)
        columns[role] = name
    return columns


def traces(
    paths: Sequence[Path],
    columns: Mapping[str, str] | None = None,
    *,
    counts: Counter[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Trace]:
    """Read the traces of tables that hold a point a row.

    Rows of one subject and one id are one trace, wherever they stand in the table. A
    table without ids has one trace a subject. Coordinates that are no numbers become
    NaN, and so do times that cannot be read; times without a zone are taken as UTC.

    Parameters
    ----------
    paths
        Files that end in .csv, .csv.gz, .parquet or .geoparquet.
    columns
        Column names by role (lat, lon, time, id, subject), where `KNOWN_NAMES` do not
        find them.
    counts
        Told of rows that belong to no trace.
    progress
        Told of the rows read.

    Raises
    ------
    BadInput
        If a column cannot be found.
    FileProblem
        If a file cannot be read.
    """
    counts = Counter() if counts is None else counts
    for path in paths:
        try:
            table = _read(path, columns or {}, progress)
        except BadInput:
            raise
        except (OSError, ValueError) as error:  # what pandas and pyarrow raise
            reason = " ".join(str(error).split())[:200]
            msg = f"cannot read {path} as a table of points: {reason}"
            raise FileProblem(msg) from error
        yield from _traces(table, path, len(paths) > 1, counts)


def _read(path: Path, wanted: Mapping[str, str], progress: Progress) -> pd.DataFrame:
    """Read the columns that matter, named by their role."""
    if path.suffix.lower() in (".parquet", ".geoparquet"):
        return _read_parquet(path, wanted, progress)
    return _read_csv(path, wanted, progress)


def _read_csv(
    path: Path, wanted: Mapping[str, str], progress: Progress
) -> pd.DataFrame:
    head = pd.read_csv(path, sep=None, engine="python", nrows=0, encoding="utf-8-sig")
    roles = _roles(list(head.columns), wanted, path)
    separator = _separator(path)
    total = path.stat().st_size
    parts = []
    task = f"Reading {path.name}"
    with path.open("rb") as file:
        for part in pd.read_csv(
            file,
            sep=separator,
            usecols=list(roles),
            chunksize=_CHUNK,
            compression="gzip" if path.suffix.lower() == ".gz" else None,
            encoding="utf-8-sig",
            low_memory=False,
        ):
            parts.append(part.rename(columns=roles))
            progress(task, file.tell(), total)
    progress(task, total, total)
    if not parts:
        return pd.DataFrame(columns=list(roles.values()))
    return pd.concat(parts, ignore_index=True)


def _separator(path: Path) -> str:
    import gzip

    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig") as file:
        header = file.readline()
    return max(",;\t|", key=header.count)


def _read_parquet(
    path: Path, wanted: Mapping[str, str], progress: Progress
) -> pd.DataFrame:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    names = file.schema_arrow.names
    if b"geo" in (file.schema_arrow.metadata or {}) and "lat" not in wanted:
        return _read_geoparquet(path, names, wanted)
    roles = _roles(names, wanted, path)
    task, total = f"Reading {path.name}", file.metadata.num_rows
    parts, done = [], 0
    for part in file.iter_batches(_CHUNK, columns=list(roles)):
        parts.append(part.to_pandas().rename(columns=roles))
        done += part.num_rows
        progress(task, done, total)
    if not parts:
        return pd.DataFrame(columns=list(roles.values()))
    return pd.concat(parts, ignore_index=True)


def _read_geoparquet(
    path: Path, names: Sequence[str], wanted: Mapping[str, str]
) -> pd.DataFrame:
    import geopandas

    table = geopandas.read_parquet(path)
    if not (table.geom_type == "Point").all():
        kinds = ", ".join(sorted(set(table.geom_type.dropna())))
        msg = f"{path} holds {kinds or 'no geometry'}; a table source needs Points"
        raise BadInput(msg)
    points = table.geometry if table.crs is None else table.geometry.to_crs(4326)
    roles = _roles([*names, "lat", "lon"], wanted, path)
    place = {"lat": points.y, "lon": points.x}
    return pd.DataFrame(
        {role: place.get(role, table.get(name)) for name, role in roles.items()}
    )


def _roles(
    names: Sequence[str], wanted: Mapping[str, str], path: Path
) -> dict[str, str]:
    """Find which column plays which role; returns role by column name."""
    roles: dict[str, str] = {}
    by_lower = {name.lower(): name for name in reversed(names)}
    for role, known in KNOWN_NAMES.items():
        if role in wanted:
            if wanted[role] not in names:
                msg = (
                    f"{path} has no column {wanted[role]!r} for {role}; "
                    f"its columns are {', '.join(names)}"
                )
                raise BadInput(msg)
            roles[wanted[role]] = role
            continue
        found = (by_lower[name] for name in known if name in by_lower)
        name = next((name for name in found if name not in wanted.values()), None)
        if name is not None:
            roles[name] = role
    there = set(roles.values())
    missing = [role for role in ("lat", "lon") if role not in there]
    if not there & {"id", "subject"}:
        missing.append("id")
    if missing:
        msg = (
            f"{path} has no column known as {' or '.join(missing)}; its columns are "
            f"{', '.join(names)}: say --columns {','.join(f'{m}=...' for m in missing)}"
        )
        raise BadInput(msg)
    return roles


def _traces(
    table: pd.DataFrame, path: Path, several: bool, counts: Counter[str]
) -> Iterator[Trace]:
    """Gather the rows of each trace, in the order of first appearance."""
    keys = [role for role in ("subject", "id") if role in table]
    nameless = table["id" if "id" in table else "subject"].isna()
    if nameless.any():
        counts["points without an id"] += int(nameless.sum())
        table = table[~nameless]
    code = table.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    order = np.argsort(code, kind="stable")
    lat, lon = (_numbers(table[role])[order] for role in ("lat", "lon"))
    time = (
        _seconds(table["time"])[order] if "time" in table else np.full_like(lat, np.nan)
    )
    first = np.flatnonzero(np.diff(code[order], prepend=-1))
    ends = np.append(first[1:], len(order))
    heads = table.iloc[order[first]]
    subjects = heads["subject"].tolist() if "subject" in table else [None] * len(first)
    names = heads["id"].tolist() if "id" in table else subjects
    # Without subjects, equal ids in two files are two traces.
    prefix = f"{path}#" if several and "subject" not in table else ""
    for start, end, subject, name in zip(first, ends, subjects, names, strict=True):
        yield Trace(
            name=f"{prefix}{name}",
            subject=None if subject is None or pd.isna(subject) else str(subject),
            lat=lat[start:end],
            lon=lon[start:end],
            time=time[start:end],
        )


def _numbers(values: pd.Series) -> NDArray[np.float64]:
    numbers = pd.to_numeric(values, errors="coerce")
    return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))


def _seconds(values: pd.Series) -> NDArray[np.float64]:
    """Read times as seconds since 1970 UTC: dates, texts, or numbers of any unit."""
    if pd.api.types.is_numeric_dtype(values):
        seconds = _numbers(values)
        # Seconds have ten digits in our time; milli-, micro-, nanoseconds have more.
        largest = np.nanmax(np.abs(seconds), initial=0.0)
        for threshold, per_second in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
            if largest >= threshold:
                return np.asarray(seconds / per_second)
        return seconds
    times = pd.to_datetime(values, utc=True, errors="coerce")
    unread = times.isna() & values.notna()
    if unread.any():  # not written like the first one
        times[unread] = pd.to_datetime(
            values[unread], utc=True, errors="coerce", format="mixed"
        )
    microseconds = times.astype("datetime64[us, UTC]")
    seconds = microseconds.astype("int64").to_numpy() / 1e6
    return np.where(times.isna().to_numpy(), np.nan, seconds)
