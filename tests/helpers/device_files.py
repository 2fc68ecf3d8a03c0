"""Files of devices for tests: written, read, and what is left out of them."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.extract.sources.formats_recognised import FORMATS, format_of
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

START = 1_700_000_000.0  # 2023-11-14T22:13:20Z
WAY = [(41.1, -2.1, START), (41.1001, -2.1002, START + 1), (41.1003, -2.1004, START + 2.5)]

Fixes = list[tuple[float, float, float | None]]


def fixes(trace: Trace) -> Fixes:
    """Its points to six digits, as places of FIT are multiples of 8e-8 degrees."""
    points = zip(trace.lat.tolist(), trace.lon.tolist(), trace.time.tolist(), strict=True)
    return [
        (round(lat, 6), round(lon, 6), None if math.isnan(time) else time)
        for lat, lon, time in points
    ]


def read(path: Path, content: Any) -> list[Fixes]:
    """Write a file and read it as what it looks like: one recording of an unnamed person."""
    write(path, content)
    how = Reading()
    read_it = FORMATS[str(format_of(path, how))].read
    found = list(read_it(path, how.of_file(path, "label")))
    assert {(one.name, one.subject, one.cut_off) for one in found} <= {("label", None, False)}
    return [fixes(one) for one in found]


def write(path: Path, content: Any) -> Path:
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def counted(path: Path) -> dict[str, int]:
    """What is left out of a file."""
    how = Reading()
    list(FORMATS[str(format_of(path, how))].read(path, how.of_file(path, "label")))
    return {name: n for name, n in how.counts.items() if n}


def iso(time: float) -> str:
    return str(np.datetime64(round(1000 * time), "ms")) + "Z"


TIMED: Fixes = list(WAY)
