"""Borders between shards: the groups on both sides are searched together."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from trajanon.loss import sse
from trajanon.microaggregation import find_groups
from trajanon.partition import dense
from trajanon.parts.centroids import Tally, finish
from trajanon.parts.folder import ByteRange
from trajanon.parts.plan import Plan
from trajanon.parts.scratch import read_rows
from trajanon.parts.shard_search import Waiting
from trajanon.problem import whole_problem


class ShardBorder(NamedTuple):
    """What is searched at once."""

    number: int  # of the task
    waiting: tuple[Waiting, ...]  # the groups, of both sides

    @property
    def places(self) -> list[ByteRange]:
        """Where the rows of the groups are."""
        return [ByteRange(some.name) for some in self.waiting]


def borders(waiting: Sequence[Waiting], capacity: int) -> list[ShardBorder]:
    """Take groups together that wait at the plane of one node.

    If they do not fit into memory at once they are divided, the groups between the same two shards
    only if these alone do not fit.
    """
    together: list[list[Waiting]] = []
    for _, at_node in groupby(sorted(waiting), lambda some: some.node):
        held = capacity
        for _, between in groupby(at_node, lambda some: some.between):
            some = list(between)
            for these in [some] if _rows(some) <= capacity else [[one] for one in some]:
                if held + _rows(these) > capacity:
                    together.append([])
                    held = 0
                together[-1] += these
                held += _rows(these)
    return [ShardBorder(number, tuple(some)) for number, some in enumerate(together)]


def _rows(waiting: Sequence[Waiting]) -> int:
    return sum(some.rows for some in waiting)


def search_border(plan: Plan, border: ShardBorder) -> Tally:
    """Search among the groups near a border, beginning with them, and finish them."""
    shard_rows = read_rows(plan.scratch, border.places, _rows(border.waiting))
    begin = 0
    groups = np.int64(0)
    for some in border.waiting:  # each numbered its groups for itself
        theirs = shard_rows.mark[begin : begin + some.rows]
        theirs += groups - theirs.min()
        begin, groups = begin + some.rows, theirs.max() + 1
    before = dense(shard_rows.mark)
    records = plan.survey.standardised(shard_rows.points)
    problem = whole_problem(
        records,
        plan.counted(shard_rows.subject),
        plan.k,
        plan.settings,
        np.random.default_rng([plan.settings.seed, 2, border.number]),
        plan.progress,
    )
    found, stopped = find_groups(problem, before)
    if stopped:
        raise KeyboardInterrupt
    labels = found if sse(records, found) < sse(records, before) else before
    del records, problem
    return finish(plan, shard_rows._replace(mark=labels), f"border-{border.number:06d}")
