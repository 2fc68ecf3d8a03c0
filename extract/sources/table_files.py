"""Tables of points in files: CSV, Parquet, GeoParquet -> columns by their role."""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.columns import TEXTS, roles
from trajanon.progress import Progress

_CHUNK = 250_000  # rows of a table that are read between two words about progress


def read(path: Path, wanted: Mapping[str, str], progress: Progress) -> pd.DataFrame:
    """Read the columns that matter.

    Parameters
    ----------
    path
        Ends in .csv, .csv.gz, .parquet or .geoparquet.
    wanted
        Column by role, where the usual names do not say.
    progress
        Told of the part read.

    Returns
    -------
    pd.DataFrame
        Columns named lat, lon and, where there are any, time, id, subject; their
        values as the file has them.

    Raises
    ------
    BadInput
        If a column cannot be found.
    FileProblem
        If the file cannot be read.
    """
    try:
        if path.suffix.lower() in (".parquet", ".geoparquet"):
            return _read_parquet(path, wanted, progress)
        return _read_csv(path, wanted, progress)
    except BadInput:
        raise
    except (OSError, ValueError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split())[:200]
        if isinstance(error, UnicodeDecodeError):
            reason += "; save it as UTF-8"
        msg = f"cannot read {path} as a table of points: {reason}"
        raise FileProblem(msg) from error


def _read_csv(
    path: Path, wanted: Mapping[str, str], progress: Progress
) -> pd.DataFrame:
    separator = _separator(path)
    head = pd.read_csv(path, sep=separator, nrows=0, encoding="utf-8-sig")
    role_of = roles(list(head.columns), wanted, path)
    total = path.stat().st_size
    parts = []
    task = f"Reading {path.name}"
    with path.open("rb") as file:
        for part in pd.read_csv(
            file,
            sep=separator,
            usecols=list(role_of),
            dtype={name: str for name, role in role_of.items() if role in TEXTS},
            chunksize=_CHUNK,
            compression="gzip" if path.suffix.lower() == ".gz" else None,
            encoding="utf-8-sig",
        ):
            parts.append(part.rename(columns=role_of))
            progress(task, file.tell(), total)
    progress(task, total, total)
    if not parts:
        return pd.DataFrame(columns=list(role_of.values()))
    return pd.concat(parts, ignore_index=True)


def _separator(path: Path) -> str:
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
    role_of = roles(names, wanted, path)
    task, total = f"Reading {path.name}", file.metadata.num_rows
    parts, done = [], 0
    for part in file.iter_batches(_CHUNK, columns=list(role_of)):
        parts.append(part.to_pandas(ignore_metadata=True).rename(columns=role_of))
        done += part.num_rows
        progress(task, done, total)
    if not parts:
        return pd.DataFrame(columns=list(role_of.values()))
    return pd.concat(parts, ignore_index=True)


def _read_geoparquet(
    path: Path, names: Sequence[str], wanted: Mapping[str, str]
) -> pd.DataFrame:
    import geopandas

    table = geopandas.read_parquet(path)
    table = table.reset_index(names=[n for n in table.index.names if n] or None)
    if not (table.geom_type.dropna() == "Point").all():
        kinds = ", ".join(sorted(set(table.geom_type.dropna())))
        msg = f"{path} holds {kinds or 'no geometry'}; a table source needs Points"
        raise BadInput(msg)
    points = table.geometry if table.crs is None else table.geometry.to_crs(4326)
    role_of = roles([*names, "lat", "lon"], wanted, path)
    place = {"lat": points.y, "lon": points.x}
    return pd.DataFrame(
        {role: place.get(role, table.get(name)) for name, role in role_of.items()}
    )
