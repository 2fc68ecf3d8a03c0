"""Fixes as a device wrote them, one after the other -> traces; all readers of devices give these.

A file of a device names nobody: like a GPX file it is one recording of one person, with all its
pieces.
"""

import math
from array import array
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import numpy as np

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.gpx_archive import EMPTY
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

Fix = tuple[float, float, float]
"""Latitude and longitude in degrees, and seconds since 1970 UTC; NaN where there is none."""

PLANNED = "points of courses, which are planned, not recorded"


def traces_of_fixes(
    fixes: Iterable[Fix | None], label: str, how: Reading, subject: str | None = None
) -> Iterator[Trace]:
    """Make a trace of each piece of a recording; None ends a piece.

    Where the fixes end by a `FileProblem`, the last piece before it is marked as cut off.
    """

    def trace(piece: "array[float]", *, cut_off: bool = False) -> Trace:
        lat, lon, time = np.array(piece).reshape(-1, 3).T.copy()
        return Trace(label, subject, lat, lon, time, cut_off=cut_off)

    last = None
    try:
        for piece in _pieces(fixes):
            if last is not None:
                yield trace(last)
            last = piece
    except FileProblem:
        if last is not None:
            yield trace(last, cut_off=True)
        raise
    if last is not None:
        yield trace(last)
    else:
        how.counts[EMPTY] += 1


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
