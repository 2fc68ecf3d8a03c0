"""Paths that moves of a few links shorten until none is left: 2-opt and or-opt.

A path is a tour through the records and a dummy city at distance 0 from all of them, cut there.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.path_building import greedy_fragments, join_fragments
from trajanon._kernels.tour_moves import Tour, shorten
from trajanon.arrays import Floats, Ints
from trajanon.neighbours import BATCHES, Approximate, Neighbours, neighbours_of
from trajanon.problem import Problem
from trajanon.search.distance_methods import mdav
from trajanon.search.paths import from_any_start, nearest_neighbour, shortest, through_groups
from trajanon.workers import in_parts, in_threads

FEW = 5
"""Fewer records are tried in every order: a kick needs two stretches."""

NEIGHBOURS = 16
"""Candidates of a move. Ten are filled by the twelve months of one utility (EIA), and
the links between utilities then stay bad; twice as many change little."""

PATH_BLOCK = 1_000
"""Records of a block, about. Joining the first links takes time with the square of it;
and what is lost at a border, the search that follows mends."""

_LISTS_AT_ONCE = 500  # records at a time, for a thread that measures distances

_CHUNK = 20_000  # kicks between two words about progress, and two chances to interrupt

_JOURNAL = 100_000  # reversals that can be taken back

_FARTHEST = 10  # a tour leads no farther than 2 to this, in standard deviations from the mean

_TASK = "Finding a short path"


class NearLists(NamedTuple):
    """The nearest records of each record, (n, c), the nearest first, and how far they are."""

    nearest: Ints
    away: Floats  # not squared; infinite where there is no such record


def or_opt(problem: Problem, start: int | None = None) -> Ints:
    """Find a short Hamiltonian path through the records.

    Greedy edges give the first tour; 2-opt moves and moves of segments of up to three records
    (or-opt) to one of 16 nearest neighbours improve it until there is none left; kicks that
    exchange two short stretches at random are kept where the repaired tour is no longer than
    before. A large table with known neighbours is visited block by block, without kicks.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3 for the tour heuristics, chapter 4,
    Algorithm 2 for the dummy node. Bentley (1992), "Fast algorithms for geometric
    traveling salesman problems", for 2-opt with neighbour lists and a queue.
    """
    if start is None and problem.large is not None:
        return _path_in_blocks(problem, problem.large.approximate)
    return _or_opt(problem, start)


@from_any_start
def _or_opt(problem: Problem) -> Ints:
    near = near_lists(problem.records, problem.neighbours)
    return _shortened(problem, partial(greedy, problem.records, near), near, or_opt=True)


@from_any_start
def two_opt(problem: Problem) -> Ints:
    """Exchange two links of a nearest neighbour path for two shorter ones while that can be done.

    A link may only be exchanged for one to a record's 16 nearest.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3.
    """
    return _shortened(problem, partial(nearest_neighbour, problem), or_opt=False)


@from_any_start
def mdav_lk(problem: Problem) -> Ints:
    """Lead through the groups of MDAV, and shorten that by the moves and kicks of or-opt.

    References
    ----------
    MDAV-LK-MHM: Heaton, Mukherjee (2011), "Record ordering heuristics for disclosure
    control through microaggregation", who shorten it by Lin and Kernighan's heuristic.
    """
    return _shortened(problem, partial(through_groups(mdav), problem, None), or_opt=True)


def _shortened(
    problem: Problem, first: Callable[[], Ints], near: NearLists | None = None, *, or_opt: bool
) -> Ints:
    """Shorten a first path by 2-opt moves; or by or-opt moves and kicks as well."""
    records, total = problem.records, 0
    if len(records) < FEW:
        return shortest(records)
    tour = tour_through(records, first(), near or near_lists(records), problem.random)
    shorten(tour, or_opt, 0)
    if or_opt:
        total = problem.budget.kicks_per_record * len(records)
        for done in range(0, total, _CHUNK):
            problem.progress(_TASK, done, total)
            shorten(tour, or_opt, min(_CHUNK, total - done))
        problem.progress(_TASK, total, total)
    return cut_at_dummy(tour)


def cut_at_dummy(tour: Tour) -> Ints:
    """Cut a tour at the dummy into a path."""
    return np.roll(tour.order, -int(tour.position[-1]))[1:]


def near_lists(records: Floats, known: Neighbours | None = None) -> NearLists:
    """Find the nearest records of each record, unless they are known."""
    nearest = neighbours_of(records, NEIGHBOURS, known)

    def away(rows: Ints, stop: Event) -> Floats:
        apart = records[rows, None, :] - records[nearest[rows]]
        return np.asarray(np.sqrt((apart**2).sum(axis=2)))

    return NearLists(
        nearest, np.concatenate(in_parts(away, np.arange(len(records)), _LISTS_AT_ONCE))
    )


def greedy(records: Floats, near: NearLists) -> Ints:
    """Take the shortest links between near records that make no fork and no circle."""
    n, count = near.nearest.shape
    edges = np.column_stack([np.repeat(np.arange(n), count), near.nearest.ravel()])
    shortest_first = np.argsort(near.away.ravel(), kind="stable")
    shortest_first = shortest_first[: np.isfinite(near.away).sum()]
    links, order = np.full((n, 2), -1), np.empty(n, dtype=np.int64)
    greedy_fragments(edges[shortest_first], links, np.arange(n))
    ends = np.flatnonzero(links[:, 1] < 0)
    join_fragments(records, links, ends, np.zeros(n, dtype=np.bool_), order)
    return order


def tour_through(records: Floats, path: Ints, near: NearLists, random: np.random.Generator) -> Tour:
    """Make a path a tour through the dummy, every city to be looked at.

    Heavy columns can make it so long that gains of rounding alone are above what the search takes
    for rounding, and it never ends: such a tour is made shorter by a power of two.
    """
    n, away = len(records), near.away
    _, exponent = np.frexp(np.abs(records).max())
    if exponent > _FARTHEST:
        records, away = (np.ldexp(each, _FARTHEST - exponent) for each in (records, away))
    tour = Tour(
        records=records,
        neighbours=near.nearest,
        near=away,
        order=np.append(path, n),
        position=np.empty(n + 1, dtype=np.int64),
        queue=np.concatenate([path, [n, 0, n + 1]]),  # all from the first on
        queued=np.ones(n + 1, dtype=np.bool_),
        journal=np.zeros(2 * _JOURNAL + 1, dtype=np.int64),
        random=random.integers(1, 2**63, size=1, dtype=np.uint64),
    )
    tour.position[tour.order] = np.arange(n + 1)
    return tour


def _path_in_blocks(problem: Problem, near: Approximate) -> Ints:
    """Visit the blocks of a large table one after the other.

    A block is some leaves of a tree that follow each other; its path is found among the leading
    axes, and runs in the direction that begins nearer to the end of the last.
    """
    place = np.empty(len(near.order), dtype=np.int64)
    place[near.order] = np.arange(len(place))
    leaves = max(PATH_BLOCK * (len(near.borders) - 1) // len(place), 1)
    borders = np.append(near.borders[:-1:leaves], len(place))
    batch = -(-len(borders) // BATCHES)

    def paths(some: Ints, stop: Event) -> list[Ints]:
        found = []
        for start, behind in pairwise(some):
            if stop.is_set():
                raise KeyboardInterrupt
            rows = near.order[start:behind]
            block = Problem(records=near.points[rows], subjects=rows, k=problem.k)
            within = _within_block(near, rows, place[near.nearest[rows]] - start)
            path = _shortened(block, partial(greedy, block.records, within), within, or_opt=True)
            found.append(rows[path])
        return found

    jobs = [partial(paths, borders[s : s + batch + 1]) for s in range(0, len(borders) - 1, batch)]
    problem.progress(_TASK, 0, None)
    found = in_threads(jobs, lambda: problem.progress(_TASK, 0, None))
    return joined_paths(near.points, [path for some in found for path in some])


def _within_block(near: Approximate, rows: Ints, neighbours: Ints) -> NearLists:
    """Take the neighbours within a block, numbered from its first record; the others go last."""
    outside = (neighbours < 0) | (neighbours >= len(rows))
    away = np.where(outside, np.inf, np.sqrt(near.squared[rows]))
    within = np.where(outside, np.arange(len(rows))[:, None], neighbours)
    inner = np.argsort(outside, axis=1, kind="stable")
    return NearLists(*(np.take_along_axis(part, inner, axis=1) for part in (within, away)))


def joined_paths(points: Floats, paths: Sequence[Ints]) -> Ints:
    """Join paths in their order, each in the direction that begins nearer."""
    turned = [paths[0]]
    for path in paths[1:]:
        last = points[turned[-1][-1]]
        begin, end = ((points[path[[0, -1]]] - last) ** 2).sum(axis=1)
        turned.append(path if begin <= end else path[::-1])
    return np.concatenate(turned)
