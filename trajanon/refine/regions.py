"""Regions of a table are annealed anew, and what gains is kept."""

from functools import partial
from threading import Event

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.refine.blocks import block_count, block_of, draw_blocks, put_together, random_word
from trajanon.refine.crossover import cross
from trajanon.refine.descent import descend
from trajanon.refine.random_moves import PASS, Field, anneal_block, build_field, cooling
from trajanon.workers import in_threads

GROUPS = 25
"""A region holds this many times k records: as many groups, if they are small."""

MOVES = 5_000
"""Per record in a round at most."""

SHARE = 2.0
"""Moves of all rounds, of those that all runs of annealing had."""

HOT, COLD = 0.6, 0.05
"""First and last heat: what groups look like from afar is settled before."""


def anneal_regions(problem: Problem, labels: Ints) -> Ints:
    """Anneal each region of a table anew, again and again, and keep what gains.

    A run ends well in one place and badly in another, and which is which is left to chance. A small
    region on its own is tried again, and whatever gains in any place of it is kept.
    """
    labels = dense(labels)
    if sse(problem.records, labels) == 0.0:
        return labels
    seen, field = build_field(problem, labels)
    runs = max(problem.budget.runs // block_count(len(labels)), 1)
    moves = min(problem.budget.moves_per_record, MOVES)  # per record, in a round
    _, heats = cooling(moves, PASS, 1, HOT, COLD)
    rounds = int(SHARE * runs * problem.budget.moves_per_record / moves)
    for number in range(rounds):
        problem.progress("Annealing regions", number, rounds, problem.log.note)
        regions = list(draw_blocks(seen.records, labels, problem.random, GROUPS * problem.k))
        jobs = [
            partial(
                _anneal_region,
                problem,
                seen,
                field,
                dense(labels[rows]),
                rows,
                random_word(problem.random),
                heats,
            )
            for rows in regions
        ]
        labels = put_together(zip(regions, in_threads(jobs), strict=True))
        problem.log.offer(labels)
    return labels


def _anneal_region(
    problem: Problem,
    seen: Problem,
    field: Field,
    labels: Ints,
    rows: Ints,
    word: np.uint64,
    heats: Floats,
    stop: Event,
) -> Ints:
    """Anneal a region: the best of its groups as they were and as they are."""
    region = block_of(problem, rows, stop)
    found = anneal_block(seen, field, labels, rows, word, PASS, heats, stop)
    found = cross(region.records, labels, descend(region, found))
    # But for rounding, it always gains.
    gains = sse(region.records, found) < sse(region.records, labels)
    return found if gains else labels
