"""Collections that researchers know, each in a form of its own: GeoLife, Porto, ... -> traces."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.sources import source_tables
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.source_tables import TableLayout, read_columns
from trajanon.extract.sources.streams import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.timestamps import TimeColumn
from trajanon.extract.trace import Trace

_GEOLIFE = TableLayout(names=("lat", "lon", "zero", "altitude", "days", "date", "time"), above=6)
_CABSPOTTING = TableLayout(names=("lat", "lon", "occupied", "time"), separator=" ")
_TDRIVE = TableLayout(names=("subject", "time", "lon", "lat"))
_PORTO = ("TRIP_ID", "TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE")

_POLYLINE = msgspec.json.Decoder(list[tuple[float, float]])  # longitudes and latitudes
_STEP = 15.0  # seconds from point to point in Porto


def _whole(path: Path, layout: TableLayout, names: Sequence[str], how: Reading) -> pd.DataFrame:
    """Read columns of a text, as texts."""
    none = pd.DataFrame(columns=list(names))
    return pd.concat([none, *read_columns(path, layout, names, how)], ignore_index=True)


def read_geolife(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a `.plt` file, one trace; its subject is the folder around the folder Trajectory."""
    before = how.counts[TABLE_CUT_OFF]
    points = _whole(path, _GEOLIFE, ("lat", "lon", "date", "time"), how)
    if len(points) == 0:
        return
    folder = path.absolute().parent
    subject = folder.parent.name if folder.name == "Trajectory" else None
    points = points.fillna({"date": "", "time": ""})  # each point has a time
    time = TimeColumn(points, str(path), how).seconds(points, how)
    lat, lon = numbers(points["lat"]), numbers(points["lon"])
    cut_off = how.counts[TABLE_CUT_OFF] > before
    yield Trace(label, subject, lat, lon, time, cut_off=cut_off)


def read_cabspotting(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read `new_NAME.txt`, the file of a cab: a trip ends whenever the cab is taken or left."""
    rows = _whole(path, _CABSPOTTING, _CABSPOTTING.names, how).apply(numbers)
    placed = rows["time"].notna() & rows["occupied"].notna()  # others belong to no trip
    how.counts[source_tables.UNREAD] += int((~placed).sum())
    # The file has the newest first: of two points of one second, the later is above.
    rows = rows[placed][::-1].sort_values("time", kind="stable")
    if len(rows) == 0:
        return
    cab = re.match(r"(?:new_)?([^.]+)", path.name)
    changes = np.flatnonzero(np.diff(rows["occupied"].to_numpy())) + 1
    lat, lon, time = (rows[name].to_numpy() for name in ("lat", "lon", "time"))
    for trip, bounds in enumerate(pairwise([0, *changes.tolist(), len(rows)]), start=1):
        points = slice(*bounds)
        subject = cab[1] if cab else None
        yield Trace(f"{label}#{trip}", subject, lat[points], lon[points], time[points])


def read_tdrive(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read `ID.txt`, the file of a taxi: one trace with all its points."""
    yield from traces_of_points(read_columns(path, _TDRIVE, _TDRIVE.names, how), label, how)


def looks_like_porto(name: str, head: bytes) -> bool:
    """Tell the trips of Porto by the names of their columns."""
    return any("POLYLINE" in fields for fields in source_tables.fields_below(head)[:1])


def read_porto(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the trips of taxis, a point every 15 s; those with missing points are left out."""
    layout, _ = source_tables.layout_of(path)
    missing = [name for name in _PORTO if name not in layout.names]
    if missing:
        has = f"as tables of Porto's taxis have; its columns are {', '.join(layout.names)}"
        raise BadInput(f"{path} has no column {' and '.join(missing)}, {has}")
    for trips in read_columns(path, layout, _PORTO, how):
        lines = trips["POLYLINE"].fillna("")
        pointless = lines.str.strip("[] \t") == ""
        gaps = ~pointless & (trips["MISSING_DATA"].str.strip().str.lower() == "true")
        how.counts["rows without points"] += int(pointless.sum())
        how.counts["trips with missing points"] += int(gaps.sum())
        yield from _trips(trips.assign(POLYLINE=lines)[~pointless & ~gaps], how)


def _trips(trips: pd.DataFrame, how: Reading) -> Iterator[Trace]:
    starts = pd.to_numeric(trips["TIMESTAMP"], errors="coerce").to_numpy(np.float64)
    lines = map(_line, trips["POLYLINE"])
    names, taxis = (trips[c].astype(object).where(trips[c].notna(), None) for c in _PORTO[:2])
    for name, taxi, start, line in zip(names, taxis, starts, lines, strict=True):
        if line is None or name is None or np.isnan(start):
            how.counts[source_tables.UNREAD] += 1
            continue
        time = start + _STEP * np.arange(len(line))
        yield Trace(name, taxi, line[:, 1].copy(), line[:, 0].copy(), time)


def _line(text: str) -> Floats | None:
    try:
        return np.array(_POLYLINE.decode(text), dtype=np.float64).reshape(-1, 2)
    except (msgspec.DecodeError, RecursionError):
        return None
