"""Tables that hold a point a row -> traces."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited, table_parquet
from trajanon.extract.sources.tables.columns import known_as, roles
from trajanon.extract.sources.tables.layout import ABOVE, BYTE_ORDER_MARK
from trajanon.extract.sources.tables.point_groups import traces_of_points
from trajanon.extract.sources.tables.unused_columns import check_use
from trajanon.extract.trace import Trace
from trajanon.files.csv_dialect import separator_of
from trajanon.inputs import named_rightly

_PARQUET = b"PAR1"
_NAMES_OF_PARQUET = (".parquet", ".geoparquet")
_NAMES_OF_TEXTS = (".csv", ".tsv")

_TYPES: Mapping[str, pa.DataType] = {
    "lat": delimited.NUMBER,
    "lon": delimited.NUMBER,
    "time": delimited.TEXT,
    "date": delimited.TEXT,
    "id": delimited.NAME,
    "part": delimited.NAME,
    "subject": delimited.NAME,
}
"""Names and times are read as they are written, even if they look like numbers: 7 and
07 are two names."""

_BYTES = 8  # of a row, at least, even in a packed file


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file is Parquet, or a text that is named or begins as a table.

    A text begins as a table if its first line, or a comment above it, has a usual name for the
    latitude, and one for the longitude.
    """
    if head.startswith(_PARQUET) or name.endswith(_NAMES_OF_PARQUET):
        return True
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()
    written = [line for line in lines if line.strip()]
    below = next((i for i, row in enumerate(written) if not row.startswith(ABOVE)), 0)
    headers = (line.decode(errors="replace") for line in written[: below + 1])
    return name.endswith(_NAMES_OF_TEXTS) or any(map(_names_places, headers))


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a table that holds a point a row.

    Rows of one subject and one id are one trace, wherever they stand in the table. A table without
    ids has one trace a subject.
    """
    if _is_parquet(path):
        yield from table_parquet.read(path, label, how)
    else:
        yield from _read_text(path, label, how)


def _read_text(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a text with a point a row."""
    column_of: dict[str, str] = {}

    def first(names: Sequence[str]) -> pd.DataFrame:
        texts = dict.fromkeys(names, delimited.TEXT)
        table = next(delimited.read(path, lambda _: texts, Reading()))
        return table.to_pandas(use_threads=False)

    def choose(names: Sequence[str]) -> dict[str, pa.DataType]:
        column_of.update(roles(names, how.columns, path))
        check_use(names, column_of, first, str(path), how)
        # As texts, if a column is a name and a time.
        return {name: _TYPES[role] for role, name in reversed(column_of.items())}

    chunks = (
        pa.table({role: table[name] for role, name in column_of.items()}).to_pandas(
            use_threads=False
        )
        for table in delimited.read(path, choose, how)
    )
    yield from traces_of_points(chunks, label, how, rows=path.stat().st_size // _BYTES)


def _names_places(header: str) -> bool:
    fields = header.split(separator_of(header))
    found = {role for field in fields for role in known_as(field.strip(' "'))}
    return {"lat", "lon"} <= found


def _is_parquet(path: Path) -> bool:
    if path.name.lower().endswith(_NAMES_OF_PARQUET):
        named_rightly(path)
        return True
    with Reading().open(path) as stream:
        return stream.peek().startswith(_PARQUET)
