"""GeoParquet: Parquet with geometries, which its footer describes."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.geo.layer import (
    LINES_OF_A_BATCH,
    POINTS_OF_A_BATCH,
    Features,
    Layer,
)
from trajanon.extract.sources.geo.wkb import from_wkb
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.tables.table_parquet import first_rows

MAGIC = b"PAR1"

_DEFAULT_SYSTEM = "OGC:CRS84"  # of GeoParquet


def is_geoparquet(path: Path) -> bool:
    """Say whether a file is Parquet with geometries, by its footer alone."""
    return b"geo" in _metadata(path)


def is_our_own(path: Path) -> bool:
    """Say whether a file holds what was extracted already, by its footer alone."""
    return b"trajanon" in _metadata(path)


def _metadata(path: Path) -> dict[bytes, bytes]:
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return {}
        return dict(pq.read_metadata(path).metadata or {})
    except (OSError, pa.ArrowException):
        return {}  # what is wrong with it, its reader says


def layer(path: Path, what: str, label: str, how: Reading) -> Layer:
    """Open GeoParquet.

    Parameters
    ----------
    path
        The file.
    what, label
        As in `Layer`.
    how
        Says which columns are wanted.

    Returns
    -------
    Layer
        Its primary geometries; they are read batch by batch.

    Raises
    ------
    BadInput
        If it has no geometries, is what was extracted already, or lacks a column.
    FileProblem
        If it cannot be read.
    """
    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(what, error) from error
    metadata = file.metadata.metadata or {}
    if b"trajanon" in metadata:
        msg = (
            f"{what} is what trajanon extract wrote, and no source of traces; give it "
            "to trajanon anonymize"
        )
        raise BadInput(msg)
    if b"geo" not in metadata:
        msg = f"{what} is Parquet without geometries; read it with --format table"
        raise BadInput(msg)
    geometry, described = _primary(metadata[b"geo"], file.schema_arrow.names, what)
    found = Layer(
        what=what,
        label=label,
        names=[name for name in file.schema_arrow.names if name != geometry],
        system=described.get("crs", _DEFAULT_SYSTEM),
        features=(),
        first=partial(first_rows, file),
        count=file.metadata.num_rows,
    )
    columns = found.needed(how.columns)
    encoding = str(described.get("encoding", "WKB"))
    only_points = set(described.get("geometry_types") or "?") <= {"Point", "Point Z"}
    size = POINTS_OF_A_BATCH if only_points else LINES_OF_A_BATCH
    batches = file.iter_batches(size, columns=[geometry, *columns])
    return found.with_features(
        _features(batches, geometry, encoding, what, strict=how.strict)
    )


def _primary(text: bytes, columns: list[str], what: str) -> tuple[str, dict[str, Any]]:
    """Find the column of geometries and its description."""
    try:
        geo = json.loads(text)
        name = str(geo["primary_column"])
        described = dict(geo["columns"][name])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        msg = f"{what} is no GeoParquet: its footer does not describe its geometries"
        raise FileProblem(msg) from error
    if name not in columns:
        msg = f"{what} has no column {name!r}, where its footer says geometries are"
        raise FileProblem(msg)
    return name, described


def _features(
    batches: Iterator[pa.RecordBatch],
    geometry: str,
    encoding: str,
    what: str,
    *,
    strict: bool,
) -> Iterator[Features]:
    while True:
        try:
            batch = next(batches, None)
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(what, error) from error
        if batch is None:
            return
        table = pa.Table.from_batches([batch])
        others = table.drop_columns([geometry]).to_pandas(
            ignore_metadata=True, integer_object_nulls=True
        )
        yield _geometries(batch[geometry], encoding, what, strict=strict), others


def _geometries(
    column: pa.Array, encoding: str, what: str, *, strict: bool
) -> NDArray[Any]:
    if encoding == "WKB":
        return from_wkb(column, what, strict=strict)
    import geopandas

    meant = {"ARROW:extension:name": f"geoarrow.{encoding}"}
    field = pa.field("geometry", column.type, metadata=meant)
    batch = pa.record_batch([column], schema=pa.schema([field]))
    try:
        frame = geopandas.GeoDataFrame.from_arrow(batch)
    except (TypeError, ValueError, NotImplementedError) as error:
        msg = (
            f"{what} has geometries in the encoding {encoding!r}, which cannot be "
            "read; write them as WKB"
        )
        raise FileProblem(msg) from error
    geometries: NDArray[Any] = frame.geometry.to_numpy()
    return geometries


def _unreadable(what: str, error: Exception) -> FileProblem:
    reason = " ".join(str(error).split())[:200]
    return FileProblem(f"cannot read {what} as GeoParquet: {reason}")
