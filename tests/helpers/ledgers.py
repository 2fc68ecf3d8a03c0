"""Made-up entries for a ledger, and windows that it should recognise."""

import numpy as np

from trajanon.common.arrays import Floats, Hashes, Ints
from trajanon.extract import Rules, Trace
from trajanon.extract.traces_to_trajectories import cut
from trajanon.release.ledger import Note
from trajanon.trajectories.trajectories import HOP_HASHES_KEPT, Trajectories

TOLD: Note = {
    "when": "2026-11-24T00:00:00+00:00",
    "release": "/nowhere.parquet",
    "originals": "/trips.parquet",
    "content": "",
    "settled": True,
    "k": 3,
    "counted": "subjects",
    "n": 1,
    "all_named": True,
}


def marks_of(*rows: list[int]) -> Hashes:
    """Who made each, and its hops."""
    marks = np.zeros((len(rows), 1 + HOP_HASHES_KEPT), np.uint64)
    for mark, row in zip(marks, rows, strict=True):
        mark[: len(row)] = row
    return marks


def trace(name: str, fixes: slice, *, subject: str = "anna") -> Trace:
    """A part of one long way, with its times."""
    step = np.arange(400.0)[fixes]
    lat = 40.0 + 3e-4 * step + 1e-5 * np.sin(step)
    return Trace(name=name, subject=subject, lat=lat, lon=-3.7 + 0 * step, time=1e9 + 5 * step)


def windows_of(*traces: Trace, per_recording: int | None = None) -> Trajectories:
    return cut(traces, Rules(spacing=50.0, points=10, per_recording=per_recording))


def trips_of(number: Ints, points: Floats) -> Trajectories:
    """Trips that are marked by their numbers; two of each subject."""
    marks = np.zeros((len(number), 1 + HOP_HASHES_KEPT), np.uint64)
    marks[:, 0], marks[:, 1] = 1 + number // 2, 1 + number
    return Trajectories(points, subject=number // 2, marks=marks)
