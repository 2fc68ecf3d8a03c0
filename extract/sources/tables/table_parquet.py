"""Tables of points in Parquet -> traces."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.columns import numbers, roles
from trajanon.extract.sources.tables.point_groups import traces_of_points
from trajanon.extract.sources.tables.unused_columns import check_use
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, reading

_KIND = "a table of points"

_CHUNK = 250_000  # rows that are read at a time
_JUDGED = 100_000  # rows by which unused columns are judged
_BUFFER = 1 << 20  # bytes that are read at a time of each column


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a Parquet file with a point a row; see `table_files.read`."""
    with how.open(path) as stream:
        with reading(path, _KIND):
            file = pq.ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)
            schema = file.schema_arrow
        column_of = roles(schema.names, how.columns, path)
        for name in column_of.values():
            _check_column(schema, name, path)
        first = partial(first_rows, file)
        check_use(schema.names, column_of, first, str(path), how)
        chunks = _chunks(file, column_of, path, how)
        yield from traces_of_points(chunks, label, how, rows=file.metadata.num_rows)


def _check_column(schema: pa.Schema, name: str, path: Path) -> None:
    if schema.get_field_index(name) < 0:
        msg = f"the column {name!r} appears more than once in {path}: rename one of them"
        raise BadInput(msg)
    kind = schema.field(name).type
    if pa.types.is_nested(kind):
        msg = (
            f"the column {name!r} of {path} holds {kind}, not a value a row; name "
            "another in `columns`"
        )
        raise BadInput(msg)


def first_rows(file: pq.ParquetFile, names: Sequence[str]) -> pd.DataFrame:
    """Read the first rows of some columns."""
    columns = list(names)
    with reading("the first rows"):
        batches = file.iter_batches(_JUDGED, columns=columns, use_threads=False)
        rows = next(batches, None)
    found = pd.DataFrame(columns=columns) if rows is None else frame(rows, "a table")
    return found[columns]


def _chunks(
    file: pq.ParquetFile, column_of: Mapping[str, str], path: Path, how: Reading
) -> Iterator[pd.DataFrame]:
    """Read some rows at a time, their columns under the names of their roles."""
    before = 0
    columns = list(dict.fromkeys(column_of.values()))
    with reading(path, _KIND):
        for part in file.iter_batches(_CHUNK, columns=columns, use_threads=False):
            # As floats, long ids would become one.
            read = frame(part, path, date_as_object=False, integer_object_nulls=True)
            rows = pd.DataFrame({role: read[name] for role, name in column_of.items()})
            for role in ("lat", "lon"):
                values, rows[role] = rows[role], numbers(rows[role])
                wrong = np.flatnonzero(~np.isfinite(rows[role]) & how.strict)
                if len(wrong):
                    msg = (
                        f"row {before + wrong[0] + 1:,} of {path} has "
                        f"{str(values.iloc[wrong[0]])!r} for {role}, which is no number; "
                        "mend it, or read not strictly"
                    )
                    raise FileProblem(msg)
            before += len(rows)
            yield rows
