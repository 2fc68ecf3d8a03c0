"""T-Drive: `ID.txt`, a file a taxi, without a header -> traces."""

import re
from collections.abc import Iterator
from pathlib import Path

from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.layout import Layout
from trajanon.extract.sources.tables.point_groups import traces_of_points
from trajanon.extract.trace import Trace

_LAYOUT = Layout(names=("subject", "time", "lon", "lat"))
_TYPES = {
    "subject": delimited.NAME,
    "time": delimited.TEXT,
    "lat": delimited.NUMBER,
    "lon": delimited.NUMBER,
}

_ROW = re.compile(rb"\d+,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,-?\d+(\.\d+)?,-?\d+(\.\d+)?\s")
_NAME = re.compile(r"\d+\.txt")


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file begins with: number, time, longitude and latitude.

    Some files of the collection are empty; their names tell.
    """
    if not head:
        return _NAME.fullmatch(name) is not None
    return _ROW.match(head + b"\n") is not None


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the file of a taxi: one trace, of all that it did."""
    parts = delimited.read(path, lambda names: _TYPES, how, _LAYOUT)
    chunks = (part.to_pandas(use_threads=False) for part in parts)
    yield from traces_of_points(chunks, label, how)
