"""Groups on both sides of a border are searched together."""

import numpy as np

from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.pipeline import search
from trajanon.refine.blocks import draw_blocks
from trajanon.shards.finishing import Tally, finish, joined_tallies
from trajanon.shards.pieces import read_pieces
from trajanon.shards.plan import Plan
from trajanon.shards.solving import Waiting


def mend(plan: Plan, border: tuple[int, list[Waiting]]) -> Tally:
    """Search among the groups near a border, beginning with them, and finish them.

    More of them than fit into memory are parted first, into groups near each other.

    Parameters
    ----------
    plan
        The run.
    border
        The node whose border it is, and what waits there.
    """
    node, waiting = border
    piece = read_pieces(
        plan.scratch,
        [some.name for some in waiting],
        sum(some.rows for some in waiting),
    )
    begin = 0
    groups = np.int64(0)
    for some in waiting:  # each numbered its groups for itself
        theirs = piece.mark[begin : begin + some.rows]
        theirs += groups - theirs.min()
        begin, groups = begin + some.rows, theirs.max() + 1
    labels = dense(piece.mark)
    records = plan.survey.standardised(piece.points)
    random = np.random.default_rng([plan.options["seed"], 2, node])
    tallies = []
    turned = records @ plan.survey.axes
    for number, rows in enumerate(draw_blocks(turned, labels, random, plan.capacity)):
        mine, before = records[rows], dense(labels[rows])
        subjects = plan.counted(piece.subject[rows])
        found = search(mine, subjects, plan.k, plan.options, random, before)
        if found.stopped:
            raise KeyboardInterrupt
        better = sse(mine, found.labels) < sse(mine, before)
        block = piece.take(rows)._replace(mark=found.labels if better else before)
        tallies.append(finish(plan, block, f"node-{node:06d}-{number:06d}"))
    return joined_tallies(tallies)
