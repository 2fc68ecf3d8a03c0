"""GeoParquet, written by pyarrow alone: a data frame library adds its index and environment."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NotRequired, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import shapely

from trajanon.common.arrays import Column, Floats, Geometries
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import parsed
from trajanon.common.number_text import number_of
from trajanon.files import arrow
from trajanon.files.lines_as_wkb import wkb_of_points
from trajanon.files.parquet_parts import ParquetParts, parquet_of
from trajanon.files.release_contents import COUNTED, Layout, Lines, ReleaseFormat
from trajanon.trajectories.trajectories import TrajectoryRows

_MAGIC = 4  # bytes at both ends of a file; as many before the last ones say how long its footer is
_BINARY = b"\x18"  # begins a text in a footer; its length follows
_COVERING = [("bbox", side) for side in ("xmin", "ymin", "xmax", "ymax")]
_ROWS_PER_BATCH = 10_000  # with their tracks, some tens of megabytes


class _Column(TypedDict):
    encoding: NotRequired[str]
    geometry_types: NotRequired[list[str]]
    crs: NotRequired[dict[str, Any] | str | None]
    bbox: NotRequired[object]  # what programs that skip rows read, and we do not
    covering: NotRequired[object]


class Geo(TypedDict):
    """What GeoParquet says of its columns of geometries."""

    version: NotRequired[str]
    primary_column: str
    columns: dict[str, _Column]


def column_of_lines(lines: Iterable[Geometries]) -> pa.ChunkedArray:
    """Write shapely lines, some rows at a time, as a column."""
    chunks = [pa.array(shapely.to_wkb(batch), type=pa.binary()) for batch in lines]
    return pa.chunked_array(chunks, type=pa.binary())


def column_of_points(points: Floats) -> pa.ChunkedArray:
    """Write lines of as many points (lat, lon), (n, m, 2), as a column."""
    chunks = [
        wkb_of_points(points[begin : begin + _ROWS_PER_BATCH])
        for begin in range(0, len(points), _ROWS_PER_BATCH)
    ]
    return pa.chunked_array(chunks, type=pa.binary())


def write_tables(
    file: IO[bytes],
    tables: Iterable[pa.Table],
    metadata: Mapping[str, str],
    *,
    checksums: bool = True,
    box: Sequence[float] | None = None,
    rows_per_group: int | None = None,
) -> None:
    """Write tables with lines in binary columns, a row group or more for each, with metadata.

    With a box around all, in which a column has one of each row, other programs can skip rows.
    """
    with ExitStack() as closing:
        writer = None
        for table in tables:
            if writer is None:
                geo = json.dumps(_geo_of(table.schema, box))
                schema = table.schema.with_metadata({"geo": geo, **metadata})
                writer = pq.ParquetWriter(
                    file,
                    schema,
                    compression="zstd",
                    write_statistics=[] if box is None else [".".join(side) for side in _COVERING],
                    write_page_checksum=checksums,
                )
                closing.callback(writer.close)

            writer.write_table(table, row_group_size=rows_per_group)
            del table
            # The allocator would keep what each part took, and more with each.
            pa.default_memory_pool().release_unused()


def _geo_of(schema: pa.Schema, box: Sequence[float] | None) -> Geo:
    """Describe the columns of geometries, as GeoParquet wants it.

    No "crs" means longitude and latitude on WGS 84 (OGC:CRS84).
    """
    columns: dict[str, _Column] = {
        field.name: {"encoding": "WKB", "geometry_types": ["LineString"]}
        for field in schema
        if field.type == pa.binary()
    }
    if "runs" in schema.names:
        columns["track"]["geometry_types"] = ["LineString", "MultiLineString"]
    if box is not None:
        columns["geometry"] |= {
            "bbox": [*box],
            "covering": {"bbox": {side: [column, side] for column, side in _COVERING}},
        }
    return {"version": "1.1.0", "primary_column": "geometry", "columns": columns}


def described(schema: pa.Schema, source: object) -> Geo:
    """Read what a file says of its geometries, of which the primary ones are there."""
    try:
        geo = parsed((schema.metadata or {}).get(b"geo", b"{}"), Geo)
        name = geo["primary_column"]
        if name not in geo["columns"] or schema.names.count(name) != 1:
            raise BadInput(f"there is no one column {name!r}")
    except BadInput as error:
        raise FileProblem(
            f"{source} is not GeoParquet: its footer does not describe its geometries, {error}"
        ) from error
    return geo


@contextmanager
def expecting_geometries(source: object) -> Iterator[None]:
    """Report in a sentence that a column of a Parquet file holds no geometries."""
    try:
        yield
    except (ValueError, TypeError, shapely.errors.ShapelyError) as error:
        raise FileProblem(
            f"{source} is not GeoParquet: it has no readable geometry column"
        ) from error


def refuse_other_system(where: object, geo: Geo) -> None:
    """Refuse geometries that are said not to be in WGS 84."""
    # The default of GeoParquet is WGS 84. Null is an unknown system: its coordinates are taken for
    # degrees, and refused where these are not on Earth.
    system = geo["columns"][geo["primary_column"]].get("crs")
    if system is None:
        return
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    with suppress(CRSError):
        if CRS.from_user_input(system).equals("OGC:CRS84", ignore_axis_order=True):
            return
    raise BadInput(f"{where} is not in WGS 84; convert it to EPSG:4326 first")


def written_column(file: ParquetParts, name: str) -> Column | None:
    """Read a column that holds single values; None if there is none."""
    if name not in file.schema_arrow.names:
        return None
    column_type = file.schema_arrow.field(name).type
    if pa.types.is_nested(column_type):
        raise BadInput(
            f"the column {name!r} of {file.where} holds {column_type}, and not one value a row; "
            "leave it out"
        )
    column = arrow.sound(file.read([name])[name])
    if pa.types.is_integer(column.type) and column.null_count:
        # As floats, long numbers would lose digits: one subject would be two, in a part with a
        # missing value and in another without.
        return np.array(column.to_pylist(), dtype=object)
    return np.asarray(column.to_numpy())


def batches_of(file: ParquetParts, name: str) -> Iterator[pa.Array]:
    """Read a column some rows at a time."""
    for batch in file.iter_batches(_ROWS_PER_BATCH, columns=[name]):
        yield batch[name]


def text_of(schema: pa.Schema, name: str) -> str | None:
    """Read a text that belongs to the whole file with this schema of Arrow."""
    text = (schema.metadata or {}).get(name.encode())
    return None if text is None else text.decode("utf-8", "replace")


def write_geoparquet(path: Path, release: TrajectoryRows, first: int = 1) -> None:
    """Write a release: ids from the first on, lines, times, and words; nothing else."""
    with path.open("wb") as file:
        write_released(file, release, first)


def write_released(file: IO[bytes], release: TrajectoryRows, first: int = 1) -> None:
    """Write a release, or a part of one: then ids go on where the last part ended."""
    lines, counts, _, words = Layout.of(release)
    columns = {"id": np.arange(first, first + len(lines)), **counts}
    columns["geometry"] = column_of_points(lines.points)
    if lines.times is not None:
        columns["times"] = arrow.column_of_rows(lines.times.astype(int))
    # A release is compared byte by byte with one that is written anew, and older ones have none.
    write_tables(file, [pa.table(columns)], words, checksums=False)


def _read_lines(path: Path) -> Lines:
    """Read the lines of a release, unchecked."""
    with parquet_of(path, described) as file:
        names = file.schema_arrow.names
        geometry = described(file.schema_arrow, path)["primary_column"]
        with expecting_geometries(path), np.errstate(invalid="ignore"):
            written = np.asarray(written_column(file, geometry))
            geometries = shapely.from_wkb(written)
        attribution = text_of(file.schema_arrow, "attribution")
        clock_sentence = text_of(file.schema_arrow, "times")
        times = _times(file) if "times" in names else None
        columns = {name: written_column(file, name) for name in COUNTED}
        counted = {name: column for name, column in columns.items() if column is not None}
        lines = Lines.of(geometries, written)
        return lines.with_words(attribution, times, clock_sentence, counted)


def _times(file: ParquetParts) -> Sequence[Column | None]:
    """Read the list of each row; None where a column holds no lists of numbers."""
    column = file.read(["times"])["times"]
    if not arrow.holds_lists(column.type):
        return [None] * file.n
    values, size = arrow.lists_of(column, "times")
    return np.split(values, np.cumsum(size)[:-1])


def _contents(path: Path) -> tuple[str, dict[str, object]]:
    """Read who wrote a file, in which encodings, and all that Arrow shows of it."""
    with arrow.parquet(path) as file:
        metadata = file.metadata
        table = file.read()

        # Of keys that occur several times Arrow shows the last, so it matters how often each is.
        footer = path.read_bytes()[-metadata.serialized_size - 2 * _MAGIC :]
        content: dict[str, object] = {
            f"file metadata {key.decode('utf-8', 'replace')!r}": (
                _schema_in(value) if key == b"ARROW:schema" else value,
                footer.count(_BINARY + bytes([len(key) % 256]) + key),
            )
            for key, value in (metadata.metadata or {}).items()
        }
        for field in file.schema_arrow:
            content[f"column {field.name!r}"] = field, field.metadata, table[field.name]

        row_groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        chunks = [group.column(at) for group in row_groups for at in range(group.num_columns)]
        bytes_beside = path.stat().st_size - metadata.serialized_size - 3 * _MAGIC
        bytes_beside -= sum(chunk.total_compressed_size for chunk in chunks)
        content["what stands beside the columns"] = bytes_beside
        content["a least or greatest value"] = all(map(partial(_is_of, table), chunks))

        encodings = {f"{chunk.compression} {' '.join(chunk.encodings)}" for chunk in chunks}
        encodings |= {"statistics" for chunk in chunks if chunk.is_stats_set}

    groups = number_of(len(row_groups), "row group")
    return f"{metadata.created_by}, {groups}, {', '.join(sorted(encodings))}", content


def _schema_in(encoded: bytes) -> object:
    """Read the schema that Arrow keeps; who reads and writes a file renames elements of lists."""
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(encoded, validate=True)))
    if base64.b64encode(schema.serialize().to_pybytes()) != encoded:
        return encoded
    fields = [
        (
            field.name,
            str(field.type).replace("<element: ", "<item: "),
            field.nullable,
            field.metadata,
        )
        for field in schema
    ]
    return fields, schema.metadata


def _is_of(table: pa.Table, column: pq.ColumnChunkMetaData) -> bool:
    """Check that the statistics of a column hold values that are in it, and nothing else."""
    if not column.is_stats_set or not column.statistics.has_min_max:
        return True

    try:
        values = table[column.path_in_schema.partition(".")[0]].combine_chunks()
        if arrow.holds_lists(values.type):
            values = pc.list_flatten(values)

        ends = pa.array([column.statistics.min, column.statistics.max], values.type)
        return bool(pc.all(pc.is_in(ends, values)).as_py())
    except (LookupError, TypeError, ValueError, pa.ArrowException):
        return False  # it is no column of a release


GEOPARQUET = ReleaseFormat(write_geoparquet, _read_lines, _contents)
