"""Lines as they are written: how they are rounded, put in order, and told apart."""

import hashlib

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.trajectories.trajectories import TrajectoryRows

DIGITS = 5
"""Decimals of a degree of released lines: 1.1 m."""


def rounded(degrees: Floats) -> Floats:
    """Round coordinates as they are written; there is one zero."""
    return np.round(degrees, DIGITS) + 0.0


def in_order(lines: Floats, times: Floats | None = None) -> Ints:
    """Sort lines, (n, m, 2), by their coordinates and times: the order of a release."""
    return np.lexsort(numbers_of(lines, times).T[::-1])


def out_of_order(lines: Floats, times: Floats | None = None) -> int:
    """Count the lines that stand behind one that `in_order` puts after them."""
    differences = np.diff(numbers_of(lines, times), axis=0)
    first_different = (differences != 0.0).argmax(axis=1)  # 0 if there is none
    return int((differences[np.arange(len(differences)), first_different] < 0.0).sum())


def numbers_of(lines: Floats, times: Floats | None) -> Floats:
    """Return all numbers of each line, in the order in which they are compared."""
    records = lines.reshape(len(lines), -1)
    return records if times is None else np.hstack([records, times])


def line_numbers(lines: Floats, times: Floats | None = None) -> Ints:
    """Number lines, (n, m, 2), with times (n, m), from 0 as they appear; equal ones alike."""
    rows = lines if times is None else np.dstack([lines, times])
    return renumbered(np.array([row.tobytes() for row in rows], dtype=object))


def line_keys(points: Floats, times: Floats | None = None) -> Ints:
    """Compute 64 bits of each line as written, (n, m, 2), equal where lines are, (n,)."""
    lines = points if times is None else np.dstack([points, times])
    words = (hashlib.blake2b(line.tobytes(), digest_size=8).digest() for line in lines)
    return np.frombuffer(b"".join(words), dtype="<i8").astype(np.int64)


def different_lines(rows: TrajectoryRows) -> tuple[Ints, Ints, Ints]:
    """Find the different lines of a release: their keys, copies, and first rows, (l,) each."""
    keys, first, copies = np.unique(
        line_keys(rows.points, rows.times), return_index=True, return_counts=True
    )
    return keys, copies, first
