"""Fixes as a device wrote them, one after the other -> traces; all readers of devices give these.

A file of a device names nobody: like a GPX file it is one recording of one person, with all its
pieces.
"""

import math
import shlex
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import CutOff, Reading
from trajanon.extract.trace import Trace

Fix = tuple[float, float, float]
"""Latitude and longitude in degrees, and seconds since 1970 UTC; NaN where there is none."""

EMPTY = "files without track points"
PLANNED = "points of courses, which are planned, not recorded"
PLACELESS = "points without a position"

GPSBABEL: Mapping[str, str] = {
    ".bin": "mtk-bin",  # of most loggers; others are skytraq-bin and m241-bin
    ".crs": "gtrnctr",
    ".gdb": "gdb",
    ".gtm": "gtm",
    ".hst": "gtrnctr",
    ".ht": "humminbird_ht",
    ".igc": "igc",
    ".plt": "ozi",
    ".usr": "lowranceusr",
}
"""What GPSBabel calls formats with tracks that are not read here, by suffix."""


def to_gpx(path: Path, name: str | None = None) -> str:
    """Write the command by which GPSBabel makes a GPX file of a file, beside it."""
    name = name or GPSBABEL.get(path.suffix.lower(), "FORMAT")
    file, gpx = (shlex.quote(str(one)) for one in (path, path.with_suffix(".gpx")))
    return f"gpsbabel -t -i {name} -f {file} -o gpx -F {gpx}"


def traces_of_fixes(
    fixes: Iterable[Fix | None], label: str, how: Reading, subject: str | None = None
) -> Iterator[Trace]:
    """Make a trace of each piece of a recording; None ends a piece."""

    def traces() -> Iterator[Trace]:
        for piece in _pieces(fixes):
            lat, lon, time = np.array(piece).reshape(-1, 3).T.copy()
            yield Trace(label, subject, lat, lon, time)

    empty = True
    for trace in with_last_cut_off(traces()):
        empty = False
        yield trace
    if empty:
        how.counts[EMPTY] += 1


def with_last_cut_off(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Mark the last trace as cut off where they end because a file cannot be read any further."""
    held: Trace | None = None
    try:
        for trace in traces:
            if held is not None:
                yield held
            held = trace
    except (FileProblem, CutOff):
        if held is not None:
            yield replace(held, cut_off=True)
        raise
    if held is not None:
        yield held


def _pieces(fixes: Iterable[Fix | None]) -> Iterator["array[float]"]:
    piece = array("d")
    try:
        for fix in fixes:
            if fix is not None:
                piece.extend(fix)
            elif piece:
                yield piece
                piece = array("d")
    except FileProblem:
        if piece:
            yield piece
        raise
    if piece:
        yield piece


def number(value: object) -> float:
    """Read a number of XML or JSON; NaN if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def moment(value: object) -> float:
    """Read a time in ISO 8601, UTC unless it says otherwise; NaN if it is none, or a day alone."""
    if not isinstance(value, str) or len(value.strip()) <= len("2026-01-31"):
        return math.nan
    try:
        time = datetime.fromisoformat(value.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan
