"""Tables that hold a point a row, as text or Parquet -> traces."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.columns import check_single, known_as, roles
from trajanon.extract.sources.tables.coordinates import are_in_letters, with_signs
from trajanon.extract.sources.tables.layout import ABOVE, BYTE_ORDER_MARK, layout_of
from trajanon.extract.sources.tables.point_groups import traces_of_points
from trajanon.extract.sources.tables.recording_ids import with_recordings
from trajanon.extract.sources.tables.unused_columns import check_use
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, reading
from trajanon.files.number_texts import separator_of
from trajanon.inputs import named_rightly

_PARQUET = b"PAR1"
_NAMES_OF_PARQUET = (".parquet", ".geoparquet")
NAMES_OF_TEXTS = (".csv", ".tsv")

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
    if head.startswith(_PARQUET) or name.endswith((*_NAMES_OF_PARQUET, *NAMES_OF_TEXTS)):
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
    begin = layout.sample(2)
    column_of = roles(layout.names, how.columns, str(path))

    def first(names: Sequence[str]) -> pd.DataFrame:
        texts = dict.fromkeys(names, delimited.TEXT)
        return next(delimited.read(path, layout, texts, Reading(warned=how.warned))).to_pandas(
            use_threads=False
        )

    column_of = with_signs(column_of, how.columns, begin, layout.sample)
    column_of = with_recordings(layout.names, column_of, first, str(path), how, begin)
    check_use(layout.names, column_of, first, str(path), how)
    # As texts, if a column is a name and a time.
    types = {name: _TYPES.get(role, delimited.TEXT) for role, name in reversed(column_of.items())}
    for role in ("lat", "lon"):
        if are_in_letters(begin[column_of[role]], role):
            types[column_of[role]] = delimited.TEXT
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

        begin = _begin(file, path)
        column_of = with_signs(column_of, how.columns, begin, lambda: begin)
        column_of = with_recordings(schema.names, column_of, first, str(path), how)
        check_use(schema.names, column_of, first, str(path), how)
        chunks = _chunks(file, column_of, path)
        yield from traces_of_points(chunks, label, how)


def _chunks(
    file: pq.ParquetFile, column_of: Mapping[str, str], path: Path
) -> Iterator[pd.DataFrame]:
    """Read some rows at a time, their columns under the names of their roles."""
    for table in frames(file, path)(list(dict.fromkeys(column_of.values()))):
        by_role = {role: table[name] for role, name in column_of.items()}
        yield pd.DataFrame(by_role, copy=False)


def _begin(file: pq.ParquetFile, path: Path) -> dict[str, list[str]]:
    """Read the first texts of each column of texts; no one asked for them, if one is damaged."""
    found: dict[str, list[str]] = {}
    names = Counter(file.schema_arrow.names)
    for field in file.schema_arrow:
        if names[field.name] == 1 and field.type in (pa.string(), pa.large_string()):
            with suppress(FileProblem, StopIteration):
                rows = next(frames(file, path, 100)([field.name]))
                found[field.name] = rows[field.name].dropna().map(str).tolist()
    return found


def frames(
    file: pq.ParquetFile, path: Path, size: int = _CHUNK
) -> Callable[[Sequence[str]], Iterator[pd.DataFrame]]:
    """Give what reads some columns of Parquet, some rows at a time."""

    def read(names: Sequence[str]) -> Iterator[pd.DataFrame]:
        with reading(path, _KIND):
            for part in file.iter_batches(size, columns=list(names), use_threads=False):
                # As floats, long ids would become one.
                yield frame(part, path, date_as_object=False, integer_object_nulls=True)

    return read
