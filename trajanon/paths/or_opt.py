"""Our path: greedy edges, 2-opt and or-opt on neighbour lists, then kicks."""

import numpy as np

from trajanon._kernels.greedy import greedy_fragments, join_fragments
from trajanon._kernels.search import OR_OPT, improve_everywhere, kicks
from trajanon.arrays import Floats, Ints
from trajanon.paths.in_blocks import path_in_blocks
from trajanon.paths.tours import (
    FEW,
    FirstOrder,
    closed,
    closed_among,
    from_any_start,
    opened,
    shortest,
)
from trajanon.problem import Problem

_CHUNK = 20_000  # kicks between two words about progress, and two chances to interrupt


def or_opt(problem: Problem, start: int | None = None) -> Ints:
    """Find a short Hamiltonian path through the records.

    The path is a tour through the records and a dummy city at distance 0 from all of them, cut
    there. Greedy edges give the first tour; 2-opt moves and moves of segments of up to three
    records (or-opt) to one of 16 nearest neighbours improve it until there is none left; kicks that
    exchange two short stretches at random are kept where the repaired tour is no longer than
    before. A large table whose neighbours are known is visited block by block, without kicks.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3 for the tour heuristics, chapter 4,
    Algorithm 2 for the dummy node. Bentley (1992), "Fast algorithms for geometric
    traveling salesman problems", for 2-opt with neighbour lists and a queue.
    """
    if start is None and problem.large is not None:
        return path_in_blocks(problem.large, _visit, problem.progress)
    return _or_opt(problem, start)


@from_any_start
def _or_opt(problem: Problem) -> Ints:
    records = problem.records
    if len(records) < FEW:
        return shortest(records)

    tour = closed(records, greedy(records), problem.random, problem.neighbours)
    improve_everywhere(tour, OR_OPT)
    total = problem.budget.kicks_per_record * len(records)
    for done in range(0, total, _CHUNK):
        problem.progress("Finding a short path", done, total)
        kicks(tour, min(_CHUNK, total - done))
    problem.progress("Finding a short path", total, total)
    return opened(tour)


def _visit(records: Floats, neighbours: Ints, near: Floats) -> Ints:
    """Find the path through a block, where neighbours are known."""
    if len(records) < FEW:
        return shortest(records)
    unused = np.random.default_rng(0)  # nothing is kicked
    tour = closed_among(records, neighbours, near, greedy(records), unused)
    improve_everywhere(tour, OR_OPT)
    return opened(tour)


def greedy(records: Floats) -> FirstOrder:
    """Take the shortest links between near records that make no fork and no circle."""

    def order(neighbours: Ints, near: Floats) -> Ints:
        n, count = neighbours.shape
        edges = np.column_stack([np.repeat(np.arange(n), count), neighbours.ravel()])
        shortest_first = np.argsort(near.ravel(), kind="stable")
        shortest_first = shortest_first[: np.isfinite(near).sum()]
        return np.asarray(join_fragments(records, greedy_fragments(edges[shortest_first], n)))

    return order
