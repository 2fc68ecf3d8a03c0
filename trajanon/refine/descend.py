"""Descent in the way that suits a table: in one piece, or block by block."""

from functools import partial
from threading import Event

from trajanon.arrays import Floats, Ints
from trajanon.loss import sse
from trajanon.neighbours import Neighbours
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.refine.blocks import draw_blocks, put_together
from trajanon.refine.descent import begin, descent, looks_of
from trajanon.refine.grouped import lay_out
from trajanon.refine.random_moves import neighbours_within
from trajanon.workers import in_threads

SETTLED = 0.03
"""A block is left when fewer moves than so many a record have been made since all its
records were looked at: the last moves gain a thousandth, for a fifth of the time."""


def descend(problem: Problem, labels: Ints) -> Ints:
    """Make moves that lower the SSE until there are none, or none within blocks.

    A large table is searched in blocks of whole groups, all at once,
    in two rounds with other borders. The first one sees the leading principal axes of the table,
    the second one all columns.

    Parameters
    ----------
    problem
        The records.
    labels
        Groups of at least k different subjects, shape (n,).

    Returns
    -------
    Ints
        Labels, shape (n,), of an SSE that is no larger.
    """
    large = problem.large
    if large is None:
        return descent(problem, labels)
    labels = descend_along_axes(problem, labels, large)
    return descend_in_blocks(problem, labels, large)


def descend_along_axes(problem: Problem, labels: Ints, neighbours: Neighbours) -> Ints:
    """Descend once in the blocks of a large table, as its leading axes show it."""
    return _round(problem, labels, neighbours, neighbours.approximate.points)


def descend_in_blocks(problem: Problem, labels: Ints, neighbours: Neighbours) -> Ints:
    """Descend once in the blocks of a large table, all columns in sight."""
    return _round(problem, labels, neighbours, problem.records)


def _round(problem: Problem, labels: Ints, neighbours: Neighbours, records: Floats) -> Ints:
    """Descend in each block, all at once."""

    def tell() -> None:
        problem.progress("Moving records", 0, None, problem.log.note)

    tell()
    blocks = list(draw_blocks(neighbours.approximate.points, labels, problem.random))
    jobs = [partial(_settle, problem, labels, neighbours, records, rows) for rows in blocks]
    found = in_threads(jobs, tell)
    labels = put_together([(rows, theirs) for rows, (theirs, _) in zip(blocks, found, strict=True)])
    problem.log.offer(labels, sum(lost for _, lost in found))
    return labels


def _settle(
    problem: Problem, labels: Ints, neighbours: Neighbours, records: Floats, rows: Ints, stop: Event
) -> tuple[Ints, float]:
    """Descend in a block: the better groups of before and after, and their SSE.

    Moves of three groups that have become possible out of a record's sight are left to what
    follows: it sees other blocks anyway.
    """
    before = dense(labels[rows])
    groups = lay_out(
        records[rows], before, dense(problem.subjects[rows]), len(rows) // problem.k + 1
    )
    descent = begin(groups, neighbours_within(neighbours.nearest, rows))
    moves, last = 0, -len(rows)
    while moves - last > SETTLED * len(rows):
        last = moves
        for look, count in looks_of(descent):
            if stop.is_set():
                raise KeyboardInterrupt
            moves = look(descent, problem.k, moves, 0, count)
    after, block = dense(groups.labels), problem.records[rows]
    lost = sse(block, after)
    if lost > (as_it_was := sse(block, before)):  # in columns that were not seen
        return before, as_it_was
    return after, lost
