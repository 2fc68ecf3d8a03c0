"""Texts of coordinates and times -> numbers, many at once."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.arrays import Floats

_MOMENT = pa.timestamp("us", "UTC")


def degrees(texts: Sequence[str | None]) -> Floats:
    """Give the numbers that are written; NaN where there is none."""
    try:
        numbers = pa.array(texts, pa.string()).cast(pa.float64())
    except pa.ArrowInvalid:  # some are no numbers, or not written as usual
        return np.array([_number(text) for text in texts], dtype=np.float64)
    return _as_floats(numbers)


def seconds(texts: Sequence[str | None]) -> Floats:
    """Give seconds since 1970 of ISO 8601 times, UTC unless they say otherwise.

    NaN where there is no time; a day alone is none.
    """
    try:
        trimmed = pc.utf8_trim_whitespace(pa.array(texts, pa.string()))
        moments = trimmed.cast(_MOMENT).cast(pa.int64())
    except pa.ArrowInvalid:  # some are no times, or have no zone
        return np.array([_seconds(text) for text in texts], dtype=np.float64)
    return _as_floats(moments) / 1e6


def _as_floats(column: pa.Array) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


def _seconds(text: str | None) -> float:
    text = (text or "").strip()
    if len(text) <= len("2026-01-31"):
        return float("nan")
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return float("nan")
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
