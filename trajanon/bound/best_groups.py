"""A few hundred records grouped nearly as well as can be: columns, then a choice."""

from functools import partial

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.bound.column_generation import generate
from trajanon.bound.master import Master
from trajanon.bound.pricing import first_groups, groups_within, pricing_problem
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.progress import Progress, silent

ROOM = 50
"""Groups round a record that may be columns beside those generated."""

CHOICE_NODES = 200
"""Of the branch and bound that chooses; the root alone usually suffices."""

CHOICE_GAP = 1e-4
"""Share of the SSE that the choice of groups may leave on the table."""


def best_groups(
    records: Floats, k: int, subjects: Ints, incumbent: Ints, *, progress: Progress = silent
) -> Ints:
    """Group a few hundred records better, nearly as well as can be.

    Each group of k to 2k - 1 records with k different subjects is a column of a set-partitioning
    programme, and costs its SSE.

    Source: Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An optimization-based
    decomposition heuristic for the microaggregation problem", section 4.
    """
    incumbent = dense(incumbent)
    pricing = pricing_problem(records, k, subjects)
    master = Master(pricing.distances)
    # First of all, so that the first columns of the pool are the incumbent.
    master.add(np.flatnonzero(incumbent == g) for g in range(incumbent.max() + 1))
    master.add(first_groups(pricing))
    relaxation = generate(master, pricing, progress)
    watch = partial(progress, "Choosing groups", 0, None)
    watch()
    together = np.arange(incumbent.max() + 1)
    gap = sum(master.costs[: len(together)]) - relaxation.sse
    master.add(groups_within(relaxation.pricing, gap, ROOM, watch).groups)
    choice = master.choose(
        master.within(relaxation.pricing, gap),
        together,
        nodes=CHOICE_NODES,
        gap=CHOICE_GAP,
        watch=watch,
    )
    labels = np.full_like(incumbent, -1)
    for column in choice.columns:
        labels[list(master.groups[column])] = column
    labels = dense(labels)
    return labels if sse(records, labels) < sse(records, incumbent) else incumbent
