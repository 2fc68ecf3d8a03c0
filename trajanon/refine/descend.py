"""Descent in the way that suits a table: in one piece, or block by block."""

from dataclasses import replace
from functools import partial
from threading import Event

from trajanon.arrays import Floats, Ints
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.refine.blocks import draw_blocks, put_together
from trajanon.refine.descent import begin, descent, looks_of
from trajanon.refine.grouped import Grouped, lay_out
from trajanon.refine.random_moves import neighbours_within
from trajanon.vicinity import Vicinity
from trajanon.workers import in_threads

SETTLED = 0.03
"""A block is left when fewer moves than so many a record have been made since all its
records were looked at: the last moves gain a thousandth, for a fifth of the time."""


def descend(grouped: Grouped) -> Ints:
    """Make moves that lower the SSE until there are none, or none within blocks.

    A table whose vicinity is known to be large is searched in blocks of whole groups, all at once,
    in two rounds with other borders. The first one sees the leading principal axes of the vicinity,
    the second one all columns.

    Parameters
    ----------
    grouped
        Records in groups of at least k different subjects.

    Returns
    -------
    Ints
        Labels, shape (n,), of an SSE that is no larger.
    """
    large = grouped.large
    if large is None:
        return descent(grouped)
    labels = descend_along_axes(grouped, large)
    return descend_in_blocks(replace(grouped, labels=labels), large)


def descend_along_axes(grouped: Grouped, vicinity: Vicinity) -> Ints:
    """Descend once in the blocks of a large table, as its leading axes show it."""
    return _round(grouped, vicinity, vicinity.near.points)


def descend_in_blocks(grouped: Grouped, vicinity: Vicinity) -> Ints:
    """Descend once in the blocks of a large table, all columns in sight."""
    return _round(grouped, vicinity, grouped.records)


def _round(grouped: Grouped, vicinity: Vicinity, records: Floats) -> Ints:
    """Descend in each block, all at once."""

    def tell() -> None:
        grouped.progress("Moving records", 0, None, grouped.course.note)

    tell()
    blocks = list(draw_blocks(vicinity.near.points, grouped.labels, grouped.random))
    jobs = [partial(_settle, grouped, vicinity, records, rows) for rows in blocks]
    found = in_threads(jobs, tell)
    labels = put_together([(rows, theirs) for rows, (theirs, _) in zip(blocks, found, strict=True)])
    grouped.course.offer(labels, sum(lost for _, lost in found))
    return labels


def _settle(
    grouped: Grouped, vicinity: Vicinity, records: Floats, rows: Ints, stop: Event
) -> tuple[Ints, float]:
    """Descend in a block: the better groups of before and after, and their SSE.

    Moves of three groups that have become possible out of a record's sight are left to what
    follows: it sees other blocks anyway.
    """
    before = dense(grouped.labels[rows])
    groups = lay_out(
        records[rows], before, dense(grouped.subjects[rows]), len(rows) // grouped.k + 1
    )
    descent = begin(groups, neighbours_within(vicinity.nearest, rows))
    moves, last = 0, -len(rows)
    while moves - last > SETTLED * len(rows):
        last = moves
        for look, count in looks_of(descent):
            if stop.is_set():
                raise KeyboardInterrupt
            moves = look(descent, grouped.k, moves, 0, count)
    after, block = dense(groups.labels), grouped.records[rows]
    lost = sse(block, after)
    if lost > (as_it_was := sse(block, before)):  # in columns that were not seen
        return before, as_it_was
    return after, lost
