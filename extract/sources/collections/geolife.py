"""GeoLife: a `.plt` file a trajectory, in a folder of its user -> traces."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.arrays import Floats
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables import delimited
from trajanon.extract.sources.tables.fixed_times import read_fixed
from trajanon.extract.sources.tables.layout import Layout
from trajanon.extract.sources.tables.timestamps import UNREAD_TIMES, unread_time
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

    Its subject is the folder around the folder Trajectory; elsewhere, nobody says.
    """
    parts = list(delimited.read(path, lambda names: _TYPES, how, _LAYOUT))
    points = pa.concat_tables(parts).combine_chunks()
    if points.num_rows == 0:
        return
    lat, lon = (points[name].to_numpy() for name in ("lat", "lon"))
    yield Trace(label, _user(path), lat, lon, _times(points, path, how))


def _times(points: pa.Table, path: Path, how: Reading) -> Floats:
    written = pc.binary_join_element_wise(points["date"], points["time"], " ")
    times = read_fixed(written.combine_chunks(), "%Y-%m-%d %H:%M:%S")
    unread = np.flatnonzero(np.isnan(times))
    if len(unread) and how.strict:
        raise unread_time(written[int(unread[0])].as_py(), int(unread[0]), str(path))
    how.counts[UNREAD_TIMES] += len(unread)
    return times


def _user(path: Path) -> str | None:
    folder = path.absolute().parent
    return folder.parent.name if folder.name == "Trajectory" else None
