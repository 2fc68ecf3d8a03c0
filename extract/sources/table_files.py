"""Tables that hold a point a row, as text or Parquet -> traces."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources import delimited
from trajanon.extract.sources.column_use import check_use, with_recordings
from trajanon.extract.sources.columns import Rows, check_single, known_as, roles
from trajanon.extract.sources.coordinates import are_in_letters, with_signs
from trajanon.extract.sources.delimited import ABOVE, POINTS, Layout, Types, layout_of
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.streams import BYTE_ORDER_MARK, Reading
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, reading
from trajanon.files.numeric_table import separator_of
from trajanon.inputs import regular

PARQUET = b"PAR1"
NAMES_OF_TEXTS = (".csv", ".tsv")
_NAMES_OF_PARQUET = (".parquet", ".geoparquet")

_TYPES: Types = {
    **dict.fromkeys(("lat", "lon"), delimited.NUMBER),
    **dict.fromkeys(("time", "date"), delimited.TEXT),
    **dict.fromkeys(("id", "part", "subject"), delimited.NAME),
}
"""Names and times are read as they are written: 7 and 07 are two names."""

_CHUNK = 250_000  # rows of Parquet that are read at a time
_JUDGED = 100_000  # rows by which unused columns are judged

Frames = Callable[[Sequence[str]], Iterator[pd.DataFrame]]
"""Reads some columns of a table, some rows at a time."""


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file is Parquet, or a text that is named as a table or names lat and lon."""
    if head.startswith(PARQUET) or name.endswith((*_NAMES_OF_PARQUET, *NAMES_OF_TEXTS)):
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
        regular(path)
    with Reading().open(path) as stream:
        is_parquet = named or stream.peek().startswith(PARQUET)
    chunks = _chunks_of_parquet if is_parquet else _chunks_of_text
    yield from traces_of_points(chunks(path, how), label, how)


def _chunks_of_text(path: Path, how: Reading) -> Iterator[Rows]:
    layout = layout_of(path)
    begin = layout.sample(2)
    column_of = roles(layout.names, how.columns, str(path))

    def first(names: Sequence[str]) -> pd.DataFrame:
        return next(frames_of_text(path, layout, Reading(warned=how.warned))(names))

    column_of = with_signs(column_of, how.columns, begin, layout.sample)
    column_of = with_recordings(layout.names, column_of, first, str(path), how, begin)
    check_use(layout.names, column_of, first, str(path), how)
    # As texts, if a column is a name and a time.
    types = {name: _TYPES.get(role, delimited.TEXT) for role, name in reversed(column_of.items())}
    for role in ("lat", "lon"):
        if are_in_letters(begin[column_of[role]], role):
            types[column_of[role]] = delimited.TEXT
    for table in delimited.read_columns(path, layout, types, how):
        yield {role: table[name] for role, name in column_of.items()}


def frames_of_text(path: Path, layout: Layout, how: Reading) -> Frames:
    """Give what reads some columns of a text, as texts."""

    def read_some(names: Sequence[str]) -> Iterator[pd.DataFrame]:
        texts = dict.fromkeys(names, delimited.TEXT)
        tables = delimited.read_columns(path, layout, texts, how)
        return (table.to_pandas(use_threads=False) for table in tables)

    return read_some


def _chunks_of_parquet(path: Path, how: Reading) -> Iterator[Rows]:
    with how.open(path) as stream:
        with reading(path, POINTS):
            file = pq.ParquetFile(stream, buffer_size=1 << 20, pre_buffer=False)
            schema, names = file.schema_arrow, file.schema_arrow.names
        column_of = roles(names, how.columns, str(path))
        check_single(names, column_of.values(), str(path))
        for name in column_of.values():
            kind = schema.field(name).type
            if pa.types.is_nested(kind):
                raise BadInput(
                    f"the column {name!r} of {path} holds {kind}, not a value a row; name "
                    "another in `columns`"
                )

        def first(some: Sequence[str]) -> pd.DataFrame:
            batches = file.iter_batches(_JUDGED, columns=list(some), use_threads=False)
            return frame(next(batches), path)[list(some)]

        begin = _begin(file, path)
        column_of = with_signs(column_of, how.columns, begin, lambda: begin)
        column_of = with_recordings(names, column_of, first, str(path), how)
        check_use(names, column_of, first, str(path), how)
        for part in frames_of_parquet(file, path)(list(dict.fromkeys(column_of.values()))):
            yield pd.DataFrame({role: part[name] for role, name in column_of.items()}, copy=False)


def _begin(file: pq.ParquetFile, path: Path) -> dict[str, list[str]]:
    """Read the first texts of each column of texts; no one asked for them, if one is damaged."""
    found: dict[str, list[str]] = {}
    names = Counter(file.schema_arrow.names)
    for field in file.schema_arrow:
        if names[field.name] == 1 and field.type in (pa.string(), pa.large_string()):
            with suppress(FileProblem, StopIteration):
                rows = next(frames_of_parquet(file, path, 100)([field.name]))
                found[field.name] = rows[field.name].dropna().map(str).tolist()
    return found


def frames_of_parquet(file: pq.ParquetFile, path: Path, size: int = _CHUNK) -> Frames:
    """Give what reads some columns of Parquet."""

    def read_some(names: Sequence[str]) -> Iterator[pd.DataFrame]:
        with reading(path, POINTS):
            for part in file.iter_batches(size, columns=list(names), use_threads=False):
                # As floats, long ids would become one.
                yield frame(part, path, date_as_object=False, integer_object_nulls=True)

    return read_some
