"""Taxis of Porto: a trip a row, its points a list in the column POLYLINE -> traces."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as pa_csv

from trajanon.arrays import Floats
from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.layout import fields_of
from trajanon.extract.trace import Trace
from trajanon.files.csv_dialect import separator_of
from trajanon.files.json_types import parsed

_STEP = 15.0  # seconds from point to point

_TYPES = {
    "TRIP_ID": delimited.TEXT,
    "TAXI_ID": delimited.TEXT,
    "TIMESTAMP": delimited.TEXT,
    "MISSING_DATA": delimited.TEXT,
    "POLYLINE": delimited.TEXT,
}

_IN_NUMBERS = b"0123456789.-+eE \t"


def looks_like(name: str, head: bytes) -> bool:
    """Say whether the first line names a column POLYLINE."""
    lines = head.decode("utf-8-sig", errors="replace").lstrip().splitlines()
    return bool(lines) and "POLYLINE" in fields_of(lines[0], separator_of(lines[0]))


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the trips of taxis, a point every 15 seconds.

    Trips with missing points are left out: it is unknown where they are missing, so times and
    lines would be invented.
    """

    def choose(names: Sequence[str]) -> dict[str, pa.DataType]:
        missing = [name for name in _TYPES if name not in names]
        if missing:
            msg = (
                f"{path} has no column {' and '.join(missing)}, as tables of Porto's "
                f"taxis have; its columns are {', '.join(names)}"
            )
            raise BadInput(msg)
        return _TYPES

    for table in delimited.read(path, choose, how):
        trips = table.to_pandas(use_threads=False)
        yield from _traces(_whole(trips, how), path, how)


def _whole(trips: pd.DataFrame, how: Reading) -> pd.DataFrame:
    """Leave out trips without points and those with missing ones."""
    lines = trips["POLYLINE"].fillna("")
    pointless = lines.str.strip("[] \t") == ""
    gaps = ~pointless & (trips["MISSING_DATA"].str.strip().str.lower() == "true")
    how.counts["rows without points"] += int(pointless.sum())
    how.counts["trips with missing points"] += int(gaps.sum())
    return trips.assign(POLYLINE=lines)[~pointless & ~gaps]


def _traces(trips: pd.DataFrame, path: Path, how: Reading) -> Iterator[Trace]:
    starts = pd.to_numeric(trips["TIMESTAMP"], errors="coerce").to_numpy(np.float64)
    lines = _lines(trips["POLYLINE"].tolist())
    names = trips["TRIP_ID"].astype(object).where(trips["TRIP_ID"].notna(), None)
    taxis = trips["TAXI_ID"].astype(object).where(trips["TAXI_ID"].notna(), None)
    for name, taxi, start, line in zip(names, taxis, starts, lines, strict=True):
        if line is None or name is None or np.isnan(start):
            if how.strict:
                msg = f"the row of trip {name} in {path} cannot be read; mend it, or "
                raise FileProblem(msg + "read not strictly")
            how.counts[delimited.UNREAD] += 1
            continue
        time = start + _STEP * np.arange(len(line))
        yield Trace(name, taxi, line[:, 1].copy(), line[:, 0].copy(), time)


def _lines(texts: Sequence[str]) -> Iterator[Floats | None]:
    """Read lists of longitudes and latitudes, all at once if all are as they should."""
    size = [text.count("[") - 1 for text in texts]
    numbers = _numbers(",".join(texts).encode(), size)
    if numbers is None:
        yield from map(_line, texts)
        return
    places = numbers.reshape(-1, 2)
    ends = np.cumsum(size).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        yield places[start:end]


def _numbers(text: bytes, size: Sequence[int]) -> Floats | None:
    """Read the numbers of lists that have these sizes; None if they do not."""
    brackets = b",".join(b"[" + (b"[,]," * n)[:-1] + b"]" for n in size)
    if not text or text.translate(None, _IN_NUMBERS) != brackets:
        return None
    try:
        column = pa_csv.read_csv(
            pa.BufferReader(text.translate(None, b"[]").replace(b",", b"\n")),
            pa_csv.ReadOptions(column_names=["number"], use_threads=False),
            convert_options=pa_csv.ConvertOptions(column_types={"number": pa.float64()}),
        )["number"]
    except pa.ArrowInvalid:
        return None
    if len(column) != 2 * sum(size) or column.null_count:
        return None
    return np.asarray(column.to_numpy())


def _line(text: str) -> Floats | None:
    try:
        places = np.array(parsed(text, list[list[float]]))
    except ValueError:  # of other lists, or of points with more numbers than others
        return None
    return places if places.ndim == 2 and places.shape[1] == 2 else None
