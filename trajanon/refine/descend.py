"""Descent in the way that suits a table: in one piece, or in blocks."""

from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np
from numpy.typing import NDArray

from trajanon.course import Unheeded
from trajanon.partition import dense
from trajanon.refine.blocks import draw_blocks, put_together
from trajanon.refine.descent import begin, descent, looks_of, settle
from trajanon.refine.grouped import Grouped, lay_out
from trajanon.refine.random_moves import neighbours_within
from trajanon.workers import in_threads

ROUNDS = 2
"""Times that a large table is parted anew: what one border kept apart, the next one
does not."""


def descend(grouped: Grouped) -> NDArray[np.int64]:
    """Make moves that lower the SSE until there are none, or none within blocks.

    A table whose vicinity is known to be large is searched in blocks of whole groups,
    all at once; two times, with other borders.

    Parameters
    ----------
    grouped
        Records in groups of at least k different subjects.

    Returns
    -------
    NDArray[np.int64]
        Labels, shape (n,), of an SSE that is no larger.
    """
    vicinity, labels = grouped.vicinity, grouped.labels
    if vicinity is None or not vicinity.large:
        return descent(grouped)
    for number in range(ROUNDS):
        grouped.progress("Moving records", number, ROUNDS, grouped.course.note)
        points = vicinity.near.points
        blocks = list(draw_blocks(points, labels, grouped.random))
        jobs = [partial(_settle_block, grouped, labels, rows) for rows in blocks]
        labels = put_together(blocks, in_threads(jobs))
        grouped.course.offer(labels)
    return labels


def _settle_block(
    grouped: Grouped, labels: NDArray[np.int64], rows: NDArray[np.int64], stop: Event
) -> NDArray[np.int64]:
    """Descend in a block: the new group of each of its records, numbered from 0."""

    def look_up(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    block = replace(
        grouped,
        records=grouped.records[rows],
        labels=dense(labels[rows]),
        subjects=dense(grouped.subjects[rows]),
        vicinity=None,
        course=Unheeded(),
        progress=look_up,
    )
    groups = lay_out(
        block.records, block.labels, block.subjects, len(rows) // block.k + 1
    )
    assert grouped.vicinity is not None
    state = begin(groups, neighbours_within(grouped.vicinity.nearest, rows))
    settle(block, state, looks_of(state))
    return dense(groups.labels)
