"""Tables that hold a point a row -> traces."""

from collections.abc import Iterator
from pathlib import Path

from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import table_csv, table_parquet
from trajanon.extract.sources.tables.columns import known_as
from trajanon.extract.sources.tables.layout import separator_of
from trajanon.extract.sources.tables.text_blocks import ABOVE, BYTE_ORDER_MARK
from trajanon.extract.trace import Trace
from trajanon.inputs import named_rightly

_PARQUET = b"PAR1"
_NAMES_OF_PARQUET = (".parquet", ".geoparquet")
_NAMES_OF_TEXTS = (".csv", ".tsv")


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
        yield from table_csv.read(path, label, how)


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
