"""Tables that hold a point a row, as text or Parquet -> traces."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.columns import check_single, known_as, numbers, roles
from trajanon.extract.sources.tables.layout import ABOVE, BYTE_ORDER_MARK, layout_of
from trajanon.extract.sources.tables.point_groups import traces_of_points
from trajanon.extract.sources.tables.unused_columns import check_use
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, reading
from trajanon.files.csv_dialect import separator_of
from trajanon.inputs import named_rightly

_PARQUET = b"PAR1"
_NAMES_OF_PARQUET = (".parquet", ".geoparquet")
_NAMES_OF_TEXTS = (".csv", ".tsv")

_KIND = "a table of points"

_TYPES: delimited.Types = {
    **dict.fromkeys(("lat", "lon"), delimited.NUMBER),
    **dict.fromkeys(("time", "date"), delimited.TEXT),
    **dict.fromkeys(("id", "part", "subject"), delimited.NAME),
}
"""Names and times are read as they are written: 7 and 07 are two names."""

_CHUNK = 250_000  # rows of Parquet that are read at a time
_JUDGED = 100_000  # rows by which unused columns are judged
_BUFFER = 1 << 20  # bytes that are read at a time of each column


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file is Parquet, or a text that is named as a table or names lat and lon."""
    if head.startswith(_PARQUET) or name.endswith((*_NAMES_OF_PARQUET, *_NAMES_OF_TEXTS)):
        return True
    for line in head.removeprefix(BYTE_ORDER_MARK).splitlines():
        text = line.decode(errors="replace")
        fields = (field.strip(' "') for field in text.split(separator_of(text)))
        if {"lat", "lon"} <= {role for field in fields for role in known_as(field)}:
            return True
        if line.strip() and not line.startswith(ABOVE):
            return False
    return False


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a table that holds a point a row; see `traces_of_points`."""
    named = path.name.lower().endswith(_NAMES_OF_PARQUET)
    if named:
        named_rightly(path)
    with Reading().open(path) as stream:
        is_parquet = named or stream.peek().startswith(_PARQUET)
    read_it = _read_parquet if is_parquet else _read_text
    yield from read_it(path, label, how)


def _read_text(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    layout = layout_of(path)
    column_of = roles(layout.names, how.columns, str(path))

    def first(names: Sequence[str]) -> pd.DataFrame:
        texts = dict.fromkeys(names, delimited.TEXT)
        return next(delimited.read(path, layout, texts, Reading(warned=how.warned))).to_pandas(
            use_threads=False
        )

    check_use(layout.names, column_of, first, str(path), how)
    # As texts, if a column is a name and a time.
    types = {name: _TYPES[role] for role, name in reversed(column_of.items())}
    tables = delimited.read(path, layout, types, how)
    chunks = ({role: table[name] for role, name in column_of.items()} for table in tables)
    yield from traces_of_points(chunks, label, how)


def _read_parquet(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    with how.open(path) as stream:
        with reading(path, _KIND):
            file = pq.ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)
            schema = file.schema_arrow
        column_of = roles(schema.names, how.columns, str(path))
        check_single(schema.names, column_of.values(), str(path))
        for name in column_of.values():
            kind = schema.field(name).type
            if pa.types.is_nested(kind):
                raise BadInput(
                    f"the column {name!r} of {path} holds {kind}, not a value a row; name "
                    "another in `columns`"
                )

        def first(names: Sequence[str]) -> pd.DataFrame:
            batches = file.iter_batches(_JUDGED, columns=list(names), use_threads=False)
            return frame(next(batches), path)[list(names)]

        check_use(schema.names, column_of, first, str(path), how)
        chunks = _chunks(file, column_of, path, how)
        yield from traces_of_points(chunks, label, how)


def _chunks(
    file: pq.ParquetFile, column_of: Mapping[str, str], path: Path, how: Reading
) -> Iterator[pd.DataFrame]:
    """Read some rows at a time, their columns under the names of their roles."""
    before = 0
    columns = list(dict.fromkeys(column_of.values()))
    with reading(path, _KIND):
        for part in file.iter_batches(_CHUNK, columns=columns, use_threads=False):
            # As floats, long ids would become one.
            table = frame(part, path, date_as_object=False, integer_object_nulls=True)
            by_role = {role: table[name] for role, name in column_of.items()}
            rows = pd.DataFrame(by_role, copy=False)
            for role in ("lat", "lon"):
                values, rows[role] = rows[role], numbers(rows[role])
                wrong = np.flatnonzero(~np.isfinite(rows[role]) & how.strict)
                if len(wrong):
                    raise FileProblem(
                        f"row {before + wrong[0] + 1:,} of {path} has "
                        f"{str(values.iloc[wrong[0]])!r} for {role}, which is no number; "
                        "mend it, or read not strictly"
                    )
            before += len(rows)
            yield rows
