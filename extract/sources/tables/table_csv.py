"""Tables of points in text: comma, semicolon, tab or bar -> traces."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.columns import roles
from trajanon.extract.sources.tables.gathering import gathered
from trajanon.extract.sources.tables.use import tell_use
from trajanon.extract.trace import Trace

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


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a text with a point a row; see `table_files.read`."""
    column_of: dict[str, str] = {}

    def first(names: Sequence[str]) -> pd.DataFrame:
        texts = dict.fromkeys(names, delimited.TEXT)
        table = next(delimited.read(path, lambda _: texts, Reading()))
        return table.to_pandas(use_threads=False)

    def choose(names: Sequence[str]) -> dict[str, pa.DataType]:
        column_of.update(roles(names, how.columns, path))
        tell_use(names, column_of, first, str(path), how)
        # As texts, if a column is a name and a time.
        return {name: _TYPES[role] for role, name in reversed(column_of.items())}

    chunks = (
        pa.table({role: table[name] for role, name in column_of.items()}).to_pandas(
            use_threads=False
        )
        for table in delimited.read(path, choose, how)
    )
    yield from gathered(chunks, label, how, rows=path.stat().st_size // _BYTES)
