"""Regions of a table are annealed anew, and what gains is kept."""

from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np

from trajanon.arrays import Ints
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.problem import NullLog, Problem
from trajanon.refine.blocks import BLOCK, draw_blocks
from trajanon.refine.crossing import cross
from trajanon.refine.descent import descent
from trajanon.refine.random_moves import PASS, Field, anneal_part, lay_field
from trajanon.workers import in_threads

GROUPS = 25
"""Groups of a region, if they are small: it holds so many times k records."""

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
    field = lay_field(problem, labels)
    runs = max(problem.budget.runs // -(-len(labels) // BLOCK), 1)
    moves = min(problem.budget.moves_per_record, MOVES)  # per record, in a round
    rounds = int(SHARE * runs * problem.budget.moves_per_record / moves)
    for number in range(rounds):
        problem.progress("Annealing regions", number, rounds, problem.log.note)
        labels = _round(problem, field, labels)
        problem.log.offer(labels)
    return labels


def _round(problem: Problem, field: Field, labels: Ints) -> Ints:
    """Anneal each region once, all at once."""
    regions = list(draw_blocks(field.records, labels, problem.random, GROUPS * problem.k))
    jobs = [
        partial(
            _search,
            problem,
            field,
            dense(labels[rows]),
            rows,
            problem.random.integers(1, 2**63, dtype=np.uint64),
        )
        for rows in regions
    ]
    after, groups = np.empty_like(labels), 0
    for rows, found in zip(regions, in_threads(jobs), strict=True):
        after[rows] = groups + found
        groups += int(found.max()) + 1
    return dense(after)


def _search(
    problem: Problem, field: Field, labels: Ints, rows: Ints, word: np.uint64, stop: Event
) -> Ints:
    """Search a region: the best of its groups as they were and as they are."""

    def look_up(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    moves = min(problem.budget.moves_per_record, MOVES)
    heats = np.geomspace(HOT, COLD, max(moves // PASS, 1) + 1)
    found = anneal_part(problem, field, labels, rows, word, PASS, heats, stop)
    region = replace(
        problem,
        records=problem.records[rows],
        subjects=dense(problem.subjects[rows]),
        log=NullLog(),
        progress=look_up,
    )
    found = cross(region.records, labels, dense(descent(region, found)))
    # But for rounding, it always is.
    gains = sse(region.records, found) < sse(region.records, labels)
    return found if gains else labels
