"""Tables that hold a point a row, as text or Parquet -> traces."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.errors import BadInput
from trajanon.extract.sources.geo.features import traces_of_features
from trajanon.extract.sources.geo.layer import Features, Layer, features_of
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.columns import check_single, known_as, roles
from trajanon.extract.sources.tables.coordinates import are_in_letters, with_signs
from trajanon.extract.sources.tables.layout import ABOVE, BYTE_ORDER_MARK, layout_of
from trajanon.extract.sources.tables.one_field import layer_of, wkt_column
from trajanon.extract.sources.tables.point_groups import traces_of_points
from trajanon.extract.sources.tables.recording_ids import with_recordings
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
    begin = layout.sample(2)
    column_of = roles(layout.names, {**wkt_column(begin), **how.columns}, str(path))

    def first(names: Sequence[str]) -> pd.DataFrame:
        texts = dict.fromkeys(names, delimited.TEXT)
        return next(delimited.read(path, layout, texts, Reading())).to_pandas(use_threads=False)

    if "place" in column_of:

        def frames(names: Sequence[str]) -> Iterator[pd.DataFrame]:
            texts = dict.fromkeys(names, delimited.TEXT)
            tables = delimited.read(path, layout, texts, how)
            return (table.to_pandas(use_threads=False) for table in tables)

        layer = layer_of(column_of["place"], layout.names, frames, path, label, how)
        yield from traces_of_features(layer, how)
        return
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
        if "place" in column_of:
            layer = _layer(column_of["place"], file, path, label, how)
            yield from traces_of_features(layer, how)
            return
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

        texts = [field.name for field in schema if _is_text(field.type)]
        once = [name for name in texts if texts.count(name) == 1]
        begin = _texts_of(next(_frames(file, path, 100)(once), pd.DataFrame()))
        column_of = with_signs(column_of, how.columns, begin, lambda: begin)
        column_of = with_recordings(schema.names, column_of, first, str(path), how)
        check_use(schema.names, column_of, first, str(path), how)
        chunks = _chunks(file, column_of, path)
        yield from traces_of_points(chunks, label, how)


def _layer(place: str, file: pq.ParquetFile, path: Path, label: str, how: Reading) -> Layer:
    """Make a layer of Parquet with its places in one field, perhaps as WKB."""
    schema = file.schema_arrow
    check_single(schema.names, [place], str(path))
    if not pa.types.is_binary(schema.field(place).type):
        return layer_of(place, schema.names, _frames(file, path), path, label, how)

    def features(columns: Sequence[str]) -> Iterator[Features]:
        with reading(path, _KIND):
            for part in file.iter_batches(_CHUNK, columns=[*columns, place], use_threads=False):
                yield features_of(part, place, str(path), strict=how.strict)

    others = [name for name in schema.names if name != place]
    return Layer(str(path), label, others, None, features)


def _chunks(
    file: pq.ParquetFile, column_of: Mapping[str, str], path: Path
) -> Iterator[pd.DataFrame]:
    """Read some rows at a time, their columns under the names of their roles."""
    for table in _frames(file, path)(list(dict.fromkeys(column_of.values()))):
        by_role = {role: table[name] for role, name in column_of.items()}
        yield pd.DataFrame(by_role, copy=False)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _texts_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    return {name: rows[name].dropna().map(str).tolist() for name in rows}


def _frames(
    file: pq.ParquetFile, path: Path, size: int = _CHUNK
) -> Callable[[Sequence[str]], Iterator[pd.DataFrame]]:
    def frames(names: Sequence[str]) -> Iterator[pd.DataFrame]:
        with reading(path, _KIND):
            for part in file.iter_batches(size, columns=list(names), use_threads=False):
                # As floats, long ids would become one.
                yield frame(part, path, date_as_object=False, integer_object_nulls=True)

    return frames
