"""Small tables of points for tests, and their traces."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from trajanon.common.columns_read import columns_read
from trajanon.extract.sources import csv_and_parquet
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

ROWS = pd.DataFrame(
    {
        "lat": [40.0, 41.0, 42.0, 43.0],
        "lon": [-3.0, -3.1, -3.2, -3.3],
        "time": [10, 20, 30, 40],
        "id": ["a", "b", "a", "b"],
    }
)
"""Two traces, their rows in turn."""


def read(*paths: Path, counts: Counter[str] | None = None, **columns: str) -> list[Trace]:
    """Read tables; the label of each is its name without suffixes."""
    counts = Counter() if counts is None else counts
    how = Reading(columns=columns)
    found = [
        trace
        for path in paths
        for trace in csv_and_parquet.read(path, how.of_file(path, path.name.split(".")[0]))
    ]
    counts.update(how.counts)
    return found


def uses(how: Reading) -> list[str]:
    """How the columns of tables were used, in words."""
    provenance = how.tables.account
    return [one.sentence for one in columns_read(provenance)]


def csv(folder: Path, text: str | bytes, name: str = "points.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def names(found: Sequence[Trace]) -> list[tuple[str, str | None]]:
    return [(one.name, one.subject) for one in found]


def is_the_two_traces(found: Sequence[Trace]) -> bool:
    return (
        names(found) == [("points#a", None), ("points#b", None)]
        and [one.lat.tolist() for one in found] == [[40, 42], [41, 43]]
        and [one.lon.tolist() for one in found] == [[-3, -3.2], [-3.1, -3.3]]
        and [one.time.tolist() for one in found] == [[10, 30], [20, 40]]
    )
