"""GeoParquet: Parquet with geometries, which its footer describes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.geo.layer import BATCH_OF_FEATURES, Features, Layer, features_of
from trajanon.extract.sources.streams import Reading
from trajanon.files.arrow import opened, reading
from trajanon.files.geoparquet import described

MAGIC = b"PAR1"

_LISTS = {"point": 0, "linestring": 1, "multipoint": 1, "multilinestring": 2}
"""How deep the points lie in lists, by the encodings that have points or lines."""

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
        return dict(pq.read_metadata(opened(path)).metadata or {})
    except (OSError, pa.ArrowException):
        return {}  # its reader names the fault


def layer(path: Path, what: str, label: str, how: Reading) -> Layer:
    """Open GeoParquet."""
    with reading(what, "GeoParquet"):
        file = pq.ParquetFile(opened(path))
        schema = file.schema_arrow
    metadata = file.metadata.metadata or {}
    if b"trajanon" in metadata:
        raise BadInput(
            f"{what} is what trajanon extract wrote, and no source of traces; give it "
            "to trajanon anonymize"
        )
    if b"geo" not in metadata:
        raise BadInput(f"{what} is Parquet without geometries; give it the suffix .parquet")
    geo = described(schema, what)
    geometry = geo["primary_column"]
    column = geo["columns"][geometry]
    encoding = column.get("encoding", "WKB")
    if encoding != "WKB":
        _refuse_other_shapes(encoding, schema.field(geometry).type, what)
    only_points = set(column.get("geometry_types") or "?") <= {"Point", "Point Z"}
    size = BATCH_OF_FEATURES["points" if only_points else "lines"]

    def features(columns: Sequence[str]) -> Iterator[Features]:
        with reading(what, "GeoParquet"):
            for batch in file.iter_batches(size, columns=[geometry, *columns]):
                yield features_of(batch, geometry, what, encoding)

    return Layer(
        what=what,
        label=label,
        names=[name for name in schema.names if name != geometry],
        system=column.get("crs", _DEFAULT_SYSTEM),
        features=features,
        count=file.metadata.num_rows,
    )


def _refuse_other_shapes(encoding: str, kind: pa.DataType, what: str) -> None:
    """Refuse geometries that are not lists of points as their encoding has them."""
    depth = _LISTS.get(encoding, -1)
    inner = kind
    while pa.types.is_list(inner) or pa.types.is_large_list(inner):
        depth, inner = depth - 1, inner.value_type
    if pa.types.is_struct(inner):
        numbers = [inner.field(i) for i in range(inner.num_fields)]
        placed = [number.name for number in numbers][:2] == ["x", "y"]
        placed = placed and all(pa.types.is_float64(one.type) for one in numbers)
    else:
        placed = pa.types.is_fixed_size_list(inner)
        placed = placed and pa.types.is_float64(inner.value_type) and inner.list_size > 1
    if depth or not placed:
        raise FileProblem(
            f"{what} has geometries in the encoding {encoding!r}, which cannot be "
            f"read as {inner}; write them as WKB"
        )
