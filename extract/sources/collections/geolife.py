"""GeoLife: a `.plt` file a trajectory, in a folder of its user -> traces."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.layout import Layout
from trajanon.extract.sources.tables.timestamps import TimeColumn
from trajanon.extract.trace import Trace

_LAYOUT = Layout(names=("lat", "lon", "zero", "altitude", "days", "date", "time"), above=6)
_TYPES = {
    "lat": delimited.NUMBER,
    "lon": delimited.NUMBER,
    "date": delimited.TEXT,
    "time": delimited.TEXT,
}


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file begins as those of GeoLife."""
    return head.startswith(b"Geolife trajectory")


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file of GeoLife: one trace, in Greenwich time.

    Its subject is the folder around the folder Trajectory; elsewhere it is unknown.
    """
    parts = delimited.read(path, lambda names: _TYPES, how, _LAYOUT)
    points = pd.concat([part.to_pandas(use_threads=False) for part in parts], ignore_index=True)
    if len(points) == 0:
        return
    folder = path.absolute().parent
    subject = folder.parent.name if folder.name == "Trajectory" else None
    points = points.fillna({"date": "", "time": ""})  # each point has a time
    time = TimeColumn(points, str(path)).seconds(points, how)
    yield Trace(label, subject, points["lat"].to_numpy(), points["lon"].to_numpy(), time)
