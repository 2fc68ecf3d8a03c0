"""Descent in the way that suits a table: in one piece, or block by block."""

from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np
from numpy.typing import NDArray

from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.refine.blocks import draw_blocks, put_together
from trajanon.refine.descent import begin, descent, looks_of
from trajanon.refine.grouped import Grouped, lay_out
from trajanon.refine.random_moves import DROPPED, neighbours_within
from trajanon.vicinity import Vicinity
from trajanon.workers import in_threads


def descend(grouped: Grouped) -> NDArray[np.int64]:
    """Make moves that lower the SSE until there are none, or none within blocks.

    A table whose vicinity is known to be large is searched in blocks of whole groups,
    all at once, in two rounds with other borders. The first one sees the leading
    principal axes that leave out 1 % of the SSE at most; the second sees all columns.

    Parameters
    ----------
    grouped
        Records in groups of at least k different subjects.

    Returns
    -------
    NDArray[np.int64]
        Labels, shape (n,), of an SSE that is no larger.
    """
    vicinity = grouped.vicinity
    if vicinity is None or not vicinity.large:
        return descent(grouped)
    labels = descend_along_axes(grouped, vicinity)
    return _round(replace(grouped, labels=labels), vicinity, grouped.records)


def descend_along_axes(grouped: Grouped, vicinity: Vicinity) -> NDArray[np.int64]:
    """Descend once in the blocks of a large table, as its leading axes show it."""
    lost = sse(grouped.records, grouped.labels)
    return _round(grouped, vicinity, vicinity.turned(DROPPED * lost))


def _round(
    grouped: Grouped, vicinity: Vicinity, records: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Descend in each block, all at once; the better of what was and what is."""

    def tell() -> None:
        grouped.progress("Moving records", 0, None, grouped.course.note)

    tell()
    blocks = list(draw_blocks(vicinity.near.points, grouped.labels, grouped.random))
    jobs = [partial(_settle, grouped, vicinity, records, rows) for rows in blocks]
    labels = put_together(blocks, in_threads(jobs, tell))
    lost = [sse(grouped.records, some) for some in (grouped.labels, labels)]
    if lost[1] > lost[0]:  # for columns that were not seen
        return grouped.labels
    grouped.course.offer(labels, lost[1])
    return labels


def _settle(
    grouped: Grouped,
    vicinity: Vicinity,
    records: NDArray[np.float64],
    rows: NDArray[np.int64],
    stop: Event,
) -> NDArray[np.int64]:
    """Descend in a block: the new group of each of its records, numbered from 0.

    Moves of three groups that have become possible out of a record's sight are left to
    what follows: it sees other blocks anyway.
    """
    groups = lay_out(
        records[rows],
        dense(grouped.labels[rows]),
        dense(grouped.subjects[rows]),
        len(rows) // grouped.k + 1,
    )
    descent = begin(groups, neighbours_within(vicinity.nearest, rows))
    moves, before = 0, -1
    while moves > before:
        before = moves
        for look, count in looks_of(descent):
            if stop.is_set():
                raise KeyboardInterrupt
            moves = look(descent, grouped.k, moves, 0, count)
    return dense(groups.labels)
