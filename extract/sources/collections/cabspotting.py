"""Cabspotting: `new_NAME.txt`, a file a cab, newest point first -> traces."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.layout import Layout
from trajanon.extract.trace import Trace

_LAYOUT = Layout(names=("lat", "lon", "occupied", "time"), separator=" ")
_TYPES = dict.fromkeys(_LAYOUT.names, delimited.NUMBER)

_ROW = re.compile(rb"-?\d+\.\d+ -?\d+\.\d+ [01] \d{9,10}\s")
_NAME = re.compile(r"(?:new_)?([^.]+)")


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file begins with: latitude, longitude, 0 or 1, and seconds."""
    return _ROW.match(head + b"\n") is not None


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the file of a cab: a trace for each trip, with passengers or without.

    Whenever the cab is taken or left, a trip ends.
    """
    parts = delimited.read(path, lambda names: _TYPES, how, _LAYOUT)
    rows = pd.concat([part.to_pandas(use_threads=False) for part in parts])
    placed = rows["time"].notna() & rows["occupied"].notna()  # others belong to no trip
    how.counts[delimited.UNREAD] += int((~placed).sum())
    # The file has the newest first: of two points of one second, the later is above.
    rows = rows[placed][::-1].sort_values("time", kind="stable")
    if len(rows) == 0:
        return
    cab = _NAME.match(path.name)
    changes = np.flatnonzero(np.diff(rows["occupied"].to_numpy())) + 1
    bounds = [0, *changes.tolist(), len(rows)]
    lat, lon, time = (rows[name].to_numpy() for name in ("lat", "lon", "time"))
    for trip, (start, end) in enumerate(pairwise(bounds), start=1):
        yield Trace(
            name=f"{label}#{trip}",
            subject=cab[1] if cab else None,
            lat=lat[start:end],
            lon=lon[start:end],
            time=time[start:end],
        )
