"""What a Parquet file holds beside its rows, where readers of tables do not look."""

import base64
import re
from pathlib import Path
from typing import Any

from trajanon.files import native

_WRITER = re.compile(r"[\w-]+( version [\w.+-]+)?( \(build [\w.-]*\))?")
"""Who wrote the file: a program and its version, and no more."""

_OF_ARROW = b"ARROW:schema"
_NEEDED = {b"geo", b"attribution"}

_MAGIC = 4  # bytes at the begin and at the end, before which the footer's length stands


def beside_rows(path: Path) -> list[str]:
    """Name what a Parquet file holds beside its rows, and a release does not need.

    That are metadata of the file, bytes that belong to no column, statistics of other
    values than those in the file, values that no row has, parts of unequal sizes, and
    who wrote the file if that is more than a program's name.

    Parameters
    ----------
    path
        A file that has been read as Parquet.
    """
    import pyarrow.parquet as pq

    with native.opened(path) as opened:
        file = pq.ParquetFile(opened)
        metadata = file.metadata
        chunks = [
            (number, metadata.row_group(number).column(column))
            for number in range(metadata.num_row_groups)
            for column in range(metadata.num_columns)
        ]
        extras = [*_schema(metadata), *_row_groups(metadata)]
        wrong = {
            chunk.path_in_schema
            for number, chunk in chunks
            if chunk.is_stats_set and not _true_statistics(file, number, chunk)
        }
        extras += [f"statistics of other values than column {n!r}" for n in wrong]
    known = sum(chunk.total_compressed_size for _, chunk in chunks)
    known += metadata.serialized_size + 3 * _MAGIC
    if path.stat().st_size != known:
        extras.append(f"{path.stat().st_size - known} bytes that belong to no column")
    return extras


def _schema(metadata: Any) -> list[str]:
    """Look at who wrote the file, at its metadata, and at the schema hidden in them.

    Arrow keeps a schema of its own among the metadata, with metadata of its own; a
    reader may show the ones or the others.
    """
    import pyarrow as pa

    extras = []
    if not _WRITER.fullmatch(metadata.created_by or "unknown"):
        extras.append(f"an unknown writer {metadata.created_by[:40]!r}")
    seen = dict(metadata.metadata or {})
    hidden: dict[bytes, bytes] = {}
    if (encoded := seen.pop(_OF_ARROW, None)) is not None:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(encoded)))
        hidden = schema.metadata or {}
        extras += [
            f"type {field.type} of column {field.name!r}, which may hold values of no "
            "row"
            for field in schema
            if pa.types.is_dictionary(field.type)
        ]
    for key in sorted({*seen, *hidden}):
        name = key.decode("utf-8", "replace")
        if key not in _NEEDED:
            extras.append(f"file metadata {name!r}")
        elif key in seen and key in hidden and seen[key] != hidden[key]:
            extras.append(f"file metadata {name!r} twice")
    return extras


def _row_groups(metadata: Any) -> list[str]:
    """Parts of equal size but for the last tell nothing; others may be somebody's."""
    sizes = [
        metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)
    ]
    if len(set(sizes[:-1])) > 1 or (len(sizes) > 1 and sizes[-1] > sizes[0]):
        return [f"{len(sizes)} row groups of unequal sizes"]
    return []


def _true_statistics(file: Any, number: int, chunk: Any) -> bool:
    """Whether the least and greatest values told are those of the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    told, name = chunk.statistics, chunk.path_in_schema
    if told is None or not told.has_min_max or name not in file.schema_arrow.names:
        return True
    column = file.read_row_group(number, columns=[name]).column(0)
    if not (pa.types.is_integer(column.type) or pa.types.is_binary(column.type)):
        return True  # such a column is found for its name or type
    found = pc.min_max(column).as_py()
    return bool((told.min, told.max) == (found["min"], found["max"]))
