"""Tables of points in text: comma, semicolon, tab or bar -> traces."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.columns import roles
from trajanon.extract.sources.tables.gathering import gathered
from trajanon.extract.sources.tables.whose import candidates, warn_of_subjects
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
    role_of: dict[str, str] = {}

    def choose(names: Sequence[str]) -> dict[str, pa.DataType]:
        role_of.update(roles(names, how.columns, path))
        if may_be := candidates(names, role_of):
            as_texts = dict.fromkeys(may_be, delimited.TEXT)
            first = next(delimited.read(path, lambda _: as_texts, Reading()))
            warn_of_subjects(first, str(path))
        return {name: _TYPES[role] for name, role in role_of.items()}

    chunks = (
        table.rename_columns(role_of).to_pandas(use_threads=False)
        for table in delimited.read(path, choose, how)
    )
    yield from gathered(chunks, label, how, rows=path.stat().st_size // _BYTES)
