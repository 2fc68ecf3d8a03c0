"""Annealing: random moves, at first hot, then ever colder, and descent at the end."""

from dataclasses import replace
from functools import partial, reduce
from threading import Event

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.problem import NullLog, Problem
from trajanon.refine.blocks import BLOCK, draw_blocks, put_together
from trajanon.refine.crossing import cross
from trajanon.refine.descend import descend, descend_along_axes, descend_in_blocks
from trajanon.refine.descent import descent
from trajanon.refine.random_moves import Field, anneal_part, lay_field
from trajanon.refine.regions import anneal_regions
from trajanon.refine.schedule import schedule
from trajanon.workers import in_threads

AT_ONCE = 4
"""Passes of a table in one block between two looks at its runs: whichever is first
waits for the others."""

SOLVED = 5
"""Up to this k recombination solves regions, or comes near it, and none is annealed."""


def anneal(problem: Problem, labels: Ints) -> Ints:
    """Search by descent, by annealing, and by descent from where that ends.

    Several runs end in several local optima, of which each place gets the best; if so asked, the
    best partition that their groups make is chosen, and descended from. Beyond k = 5, where that
    leaves more to gain, its regions are then annealed anew.

    Annealing tries random moves of the kinds that descent makes: a record and one of its 16 nearest
    in another group are drawn, the nearest most often; either joins the group of the other, or
    changes places with a member of it; and 1 % of the moves dissolve or create a group. A move that
    raises the SSE by d is made with the probability exp(-d / T).

    T is the heat, which falls as `trajanon.refine.schedule` says, times the temperature that suits
    the place: sqrt(s_x s_y) for a move between records x and y, where s is the root mean square
    distance to the k nearest, times that of a record to its centroid at the start. One temperature
    for all would freeze the outskirts, where distances are large, long after the middle, or melt
    the middle.

    Tables beyond 2,500 records are searched in blocks of whole groups, all at once and drawn anew
    after 500 moves a record. The search sees the leading principal axes that leave out 1 % of the
    SSE at most; descent sees all columns.

    Parameters
    ----------
    problem
        Its budget is used.
    labels
        Groups of at least k different subjects, shape (n,).

    Returns
    -------
    Ints
        Labels, shape (n,), of the best partition of all runs.

    References
    ----------
    Kirkpatrick, Gelatt and Vecchi (Science 1983), "Optimization by simulated
    annealing".
    """
    log, large = problem.log, problem.large
    if large is None or problem.budget.moves_per_record == 0:
        labels = dense(descend(problem, labels))
    else:
        labels = descend_along_axes(problem, labels, large)
    log.end_step("descent", labels)
    if problem.budget.moves_per_record == 0:
        return labels
    optima = anneal_runs(problem, labels)
    best = reduce(partial(cross, problem.records), optima, labels)
    log.end_step("annealing", best)
    if not problem.budget.recombined:
        return best
    from trajanon.refine.recombine import recombine  # loads HiGHS: nothing else does

    best = recombine(problem, best, optima)
    log.offer(best)
    best = dense(descend(problem, best))
    log.end_step("recombination", best)
    if problem.k > SOLVED:
        best = anneal_regions(problem, best)
        best = dense(descend(problem, best))
        log.end_step("regions", best)
    return best


def anneal_runs(problem: Problem, labels: Ints) -> list[Ints]:
    """Run the annealing several times, each time with other moves: the local optima.

    A table of several blocks keeps the cores busy by itself, and gets fewer runs.
    """
    lost = sse(problem.records, labels)
    large = problem.large
    blocks = -(-len(problem.records) // BLOCK)
    runs = [labels] * max(problem.budget.runs // blocks, 1)
    if lost == 0.0 or np.count_nonzero(np.bincount(problem.subjects)) < 2 * problem.k:
        return runs  # nothing can be better, or all is one group
    field = lay_field(problem, labels)
    moves, heats = schedule(problem)
    passes = len(heats) - 1
    together = AT_ONCE if blocks == 1 else 1  # no borders, no need for others
    best, least = list(runs), [np.inf] * len(runs)
    for number in range(0, passes, together):
        problem.progress("Annealing", number, passes, problem.log.note)
        between = heats[number : number + together + 1]
        runs = _passes(problem, field, runs, moves, between)
        for run, labels in enumerate(runs):
            lost = sse(problem.records, labels)
            problem.log.offer(labels, lost)
            if lost < least[run]:
                best[run], least[run] = labels, lost
    if large is not None:
        return [descend_in_blocks(problem, one, large) for one in best]
    return in_threads([partial(_descend, problem, labels) for labels in best])


def _passes(
    problem: Problem, field: Field, runs: list[Ints], moves: int, heats: Floats
) -> list[Ints]:
    """Anneal each block of each run between some heats; the labels of each run then."""
    blocks = [
        (run, rows)
        for run, labels in enumerate(runs)
        for rows in draw_blocks(field.records, labels, problem.random)
    ]
    jobs = [
        partial(
            anneal_part,
            problem,
            field,
            dense(runs[run][rows]),
            rows,
            problem.random.integers(1, 2**63, dtype=np.uint64),
            moves,
            heats,
        )
        for run, rows in blocks
    ]
    done = list(zip(blocks, in_threads(jobs), strict=True))
    return [
        put_together([(rows, found) for (of, rows), found in done if of == run])
        for run in range(len(runs))
    ]


def _descend(problem: Problem, labels: Ints, stop: Event) -> Ints:
    """Descend, unless the search has ended meanwhile."""

    def look_up(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    alone = replace(problem, log=NullLog(), progress=look_up)
    return dense(descent(alone, labels))
