"""Paths that moves of a few links shorten until none is left: 2-opt, or-opt, Lin-Kernighan."""

from collections.abc import Callable

import numpy as np

from trajanon._kernels.greedy import greedy_fragments, join_fragments
from trajanon._kernels.tour import Tour
from trajanon._kernels.tour_search import LIN_KERNIGHAN, OR_OPT, TWO_OPT, improve_everywhere, kicks
from trajanon.arrays import Floats, Ints
from trajanon.methods.mdav import mdav
from trajanon.neighbours import Neighbours
from trajanon.paths.in_blocks import path_in_blocks
from trajanon.paths.nearest_neighbour import nearest_neighbour
from trajanon.paths.through_groups import through_groups
from trajanon.paths.tours import (
    FirstPath,
    NearLists,
    from_any_start,
    path_along,
    shortest,
    tour_through,
)
from trajanon.problem import Problem

FEW = 5
"""Fewer records are tried in every order: a kick needs two stretches."""

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
        return path_in_blocks(problem.large, _path_of_block, problem.progress)
    return _or_opt(problem, start)


@from_any_start
def _or_opt(problem: Problem) -> Ints:
    records = problem.records
    total = problem.budget.kicks_per_record * len(records)

    def kick(tour: Tour) -> None:
        for done in range(0, total, _CHUNK):
            problem.progress("Finding a short path", done, total)
            kicks(tour, min(_CHUNK, total - done))
        problem.progress("Finding a short path", total, total)

    return _shortened(
        records, greedy(records), OR_OPT, problem.random, problem.neighbours, finish=kick
    )


def _path_of_block(records: Floats, lists: NearLists) -> Ints:
    unused = np.random.default_rng(0)  # nothing is kicked
    return _shortened(records, greedy(records), OR_OPT, unused, lists=lists)


@from_any_start
def two_opt(problem: Problem) -> Ints:
    """Exchange two links of a nearest neighbour path for two shorter ones while that can be done.

    A link may only be exchanged for one to a record's 16 nearest.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3.
    """

    def first(_: NearLists) -> Ints:
        return nearest_neighbour(problem)

    return _shortened(problem.records, first, TWO_OPT, problem.random)


@from_any_start
def mdav_lk(problem: Problem) -> Ints:
    """Lead through the groups of MDAV, and shorten that by Lin-Kernighan.

    References
    ----------
    MDAV-LK-MHM: Heaton, Mukherjee (2011), "Record ordering heuristics for disclosure
    control through microaggregation". Lin, Kernighan (1973), "An effective heuristic
    algorithm for the traveling-salesman problem".
    """

    def first(_: NearLists) -> Ints:
        return through_groups(mdav)(problem, None)

    return _shortened(problem.records, first, LIN_KERNIGHAN, problem.random)


def greedy(records: Floats) -> FirstPath:
    """Take the shortest links between near records that make no fork and no circle."""

    def path(lists: NearLists) -> Ints:
        n, count = lists.nearest.shape
        edges = np.column_stack([np.repeat(np.arange(n), count), lists.nearest.ravel()])
        shortest_first = np.argsort(lists.away.ravel(), kind="stable")
        shortest_first = shortest_first[: np.isfinite(lists.away).sum()]
        return np.asarray(join_fragments(records, greedy_fragments(edges[shortest_first], n)))

    return path


def _shortened(
    records: Floats,
    first: FirstPath,
    rule: np.int64,
    random: np.random.Generator,
    known: Neighbours | None = None,
    lists: NearLists | None = None,
    finish: Callable[[Tour], None] = lambda _: None,
) -> Ints:
    """Shorten a first path by the moves of a rule, and finish it."""
    if len(records) < FEW:
        return shortest(records)
    tour = tour_through(records, first, random, known, lists)
    improve_everywhere(tour, rule)
    finish(tour)
    return path_along(tour)
