"""Annealing: random moves while the heat falls, and descent at the end.

Kirkpatrick, Gelatt and Vecchi (Science 1983); moves, temperatures and blocks are our own. Labels,
(n,), number the group of each record. A "run" is one annealing of the whole table, from the labels
of descent to other ones; it consists of passes, between which the heat falls.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial, reduce
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.annealing_moves import AT_ONE_HEAT, Annealing, make_random_moves
from trajanon._kernels.compiled import compile_beside
from trajanon._kernels.descent_moves import descent_pass
from trajanon._kernels.group_state import refresh_centroids
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.threads_and_dask import cores, in_parts, in_threads
from trajanon.grouping.loss import squares_to_means, sse
from trajanon.grouping.neighbours import neighbour_count, neighbours_of
from trajanon.grouping.principal_axes import leading_axes, sums_of_products, turn
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.blocks import (
    block_count,
    block_of,
    draw_blocks,
    neighbours_within,
    put_together,
    random_word,
)
from trajanon.grouping.refinements.descent import build_descent, descend, descend_in_blocks

COURSE = ((0.0, 1.4), (0.15, 0.6), (0.9, 0.12), (1.0, 0.07))
"""The cooling: the share of a run that is over, and the heat by then, which falls geometrically.

The temperature of a move is the heat times the temperature that suits the place of the move. Most
is gained in the middle, where the heat falls slowly. The hot part finds where whole groups belong;
it is short, as most moves are made then."""

LARGE_HOT = 1.4
LARGE_COLD = 0.1
"""Heats of a large table, which gets few moves: none are spent on what descent does as well."""

LARGE_SHARE = 0.01875
LARGE_RECORDS = 5_625
"""With n records, a large table gets LARGE_SHARE + LARGE_RECORDS / n of the moves per record of a
small one: 2,400 a record with 20,000."""

LARGE_MOVES_PER_PASS = 250  # per record, about
LARGE_PASSES = 4  # at least; with 3, 0.9 % of the SSE are lost

# Of a table that is one block. After these all runs are compared, and wait for the slowest.
PASSES_AT_ONCE = 4

LARGEST_K_SOLVED = 5  # up to this k recombination finds the best of a region, or nearly so
REGION_GROUPS = 25  # in a region, of k records each; fewer, if groups are larger
REGION_MOVES = 5_000  # per record in a round at most
REGION_MOVES_SHARE = 2.0  # moves of all rounds together, as a multiple of those of all runs
REGION_HOT = 0.6  # lower than in runs, which have found where whole groups belong
REGION_COLD = 0.05

MOVES_PER_PASS = 500  # per record, at most; after each pass blocks are drawn again
DROPPED_SHARE = 0.01  # of the SSE: the search leaves out axes that hold no more than this
# Of the exponential distribution, (4096,). A move may raise the SSE by one of these times its
# temperature T: with the probability exp(-d / T) that is enough for a rise of d.
QUANTILES = -np.log((np.arange(4096) + 0.5) / 4096)
_RECORDS_PER_PART = 10_000  # whose temperatures a thread finds at once

NEARNESS = 5.0
"""The farthest neighbours are drawn e^-5 times as often as the nearest; if all were drawn equally
often, 0.1 % of the SSE would be lost."""


class Shared(NamedTuple):
    """What random moves read of a whole table of n records, in all runs and blocks."""

    problem: Problem  # as the moves see it: records along the leading axes, (n, q)
    neighbours: NDArray[np.integer]  # the nearest records of each record, (n, c)
    warmth: Floats  # square root of the temperature that suits each record, (n,)


def anneal(problem: Problem, labels: Ints) -> Ints:
    """Search by descent, by annealing, and by descent from where that ends.

    Several runs end in several local optima; each place in the table gets its groups from the best
    of them. If the budget has recombination, the best partition made of groups of any optimum is
    found, and descent follows. Beyond k = 5, where this leaves more to gain, small regions are then
    annealed again.

    Annealing tries random moves of the kinds that descent makes: a record and one of its 16 nearest
    in another group are drawn, the nearest most often; either joins the group of the other, or
    changes places with a member of it; and 1 % of the moves dissolve or create a group. A move that
    raises the SSE by d is made with the probability exp(-d / T).

    T is the heat, which falls from pass to pass, times the temperature that suits the place:
    sqrt(s_x s_y) for a move between records x and y, where s is the root mean square distance to
    the k nearest, times that of a record to its centroid at the start. One temperature for all
    would freeze the outskirts, where distances are large, long after the middle, or melt the
    middle.

    Tables beyond 2,500 records are searched in blocks of whole groups, all at once and drawn anew
    after 500 moves a record. The search sees the leading principal axes that leave out 1 % of the
    SSE at most; descent sees all columns.

    References
    ----------
    Kirkpatrick, Gelatt and Vecchi (Science 1983), "Optimization by simulated annealing".

    Examples
    --------
    Descent finds the best groups here, and annealing nothing better:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> partition = trajanon.microaggregate(ages, k=2, method="mdav", refine="anneal")
    >>> [(stage.name, round(stage.information_loss, 2)) for stage in partition.stages]
    [('mdav', 8.66), ('descent', 6.69), ('annealing', 6.69)]
    """
    log = problem.log
    large = problem.neighbours_if_large
    if large is None or problem.budget.moves_per_record == 0:
        labels = descend(problem, labels)
    else:
        # Annealing follows: one round of descent will do.
        labels = descend_in_blocks(problem, labels, seen=large.approximate.points)
    log.end_step("descent", labels)
    if problem.budget.moves_per_record == 0:
        return labels

    optima = anneal_runs(problem, labels)
    best = reduce(partial(cross, problem.records), optima, labels)
    log.end_step("annealing", best)
    if not problem.budget.recombined:
        return best

    # Only here, as nothing else loads HiGHS.
    from trajanon.grouping.refinements.recombination import recombine

    best = recombine(problem, best, optima)
    log.offer(best)
    best = descend(problem, best)
    log.end_step("recombination", best)

    if problem.k > LARGEST_K_SOLVED:
        best = anneal_regions(problem, best)
        best = descend(problem, best)
        log.end_step("regions", best)
    return best


def anneal_runs(problem: Problem, labels: Ints) -> list[Ints]:
    """Run the annealing several times, each time with other moves.

    Returned are the labels of the local optimum of each run.
    """
    # A table of several blocks keeps the cores busy by itself, and gets fewer runs.
    blocks = block_count(len(labels))
    run_count = max(problem.budget.runs // blocks, 1)
    runs = [labels] * run_count

    # With fewer than 2 k subjects there is only one group.
    only_one_group = np.count_nonzero(np.bincount(problem.subjects)) < 2 * problem.k
    if only_one_group or sse(problem.records, labels) == 0.0:
        return runs

    shared = shared_input(problem, labels)
    moves, heats = schedule(problem)
    passes = len(heats) - 1
    # No record moves between blocks, so these are drawn anew after each pass. A single block need
    # not be.
    passes_at_once = PASSES_AT_ONCE if blocks == 1 else 1

    # Of each run the best labels, and their SSE: it may be better between passes than at its end.
    best = list(runs)
    least = [np.inf] * run_count
    for done in range(0, passes, passes_at_once):
        problem.progress("Annealing", done, passes, problem.log.note)
        runs = anneal_passes(shared, runs, moves, heats[done : done + passes_at_once + 1])
        for run, run_labels in enumerate(runs):
            lost = sse(problem.records, run_labels)
            problem.log.offer(run_labels, lost)
            if lost < least[run]:
                best[run] = run_labels
                least[run] = lost

    if problem.neighbours_if_large is not None:
        return [descend_in_blocks(problem, optimum, seen=problem.records) for optimum in best]

    def descend_in_thread(optimum: Ints, stop: Event) -> Ints:
        return descend(block_of(problem, stop), optimum)

    return in_threads([partial(descend_in_thread, optimum) for optimum in best])


def anneal_passes(shared: Shared, runs: list[Ints], moves: int, heats: Floats) -> list[Ints]:
    """Anneal each block of each run, one pass between each two heats; return the runs' labels.

    A pass makes so many ``moves`` per record.
    """
    random = shared.problem.random
    # Of each run the rows of its blocks; then a job for each block, in the same order.
    blocks_of_runs = [list(draw_blocks(shared.problem.records, labels, random)) for labels in runs]
    jobs = []
    for labels, blocks in zip(runs, blocks_of_runs, strict=True):
        for rows in blocks:
            seed = random_word(random)
            block_labels = renumbered(labels[rows])
            jobs.append(partial(anneal_block, shared, moves, heats, block_labels, rows, seed))

    results = iter(in_threads(jobs))
    return [put_together([(rows, next(results)) for rows in blocks]) for blocks in blocks_of_runs]


def schedule(problem: Problem) -> tuple[int, Floats]:
    """Return the moves per record of a pass, and the heats before and after each, (passes + 1,)."""
    moves = problem.budget.moves_per_record
    if problem.neighbours_if_large is not None:
        moves = int(moves * (LARGE_SHARE + LARGE_RECORDS / len(problem.records)))
        passes = max(moves // LARGE_MOVES_PER_PASS, LARGE_PASSES) if moves else 0
        moves_per_pass = -(-moves // max(passes, 1))  # rounded up
        return moves_per_pass, np.geomspace(LARGE_HOT, LARGE_COLD, passes + 1)

    passes = max(moves // MOVES_PER_PASS, 1)
    shares_of_run, heats = np.transpose(COURSE)
    shares = np.linspace(0.0, 1.0, passes + 1)
    return min(MOVES_PER_PASS, moves), np.exp(np.interp(shares, shares_of_run, np.log(heats)))


def anneal_regions(problem: Problem, labels: Ints) -> Ints:
    """Anneal small regions round after round, and keep each result that is better.

    How good a run ends is a matter of chance, so it is worth while to try again.
    """
    labels = renumbered(labels)
    if sse(problem.records, labels) == 0.0:
        return labels

    # Regions are the same to the search as blocks, but smaller, and drawn anew in each round.
    shared = shared_input(problem, labels)
    moves = min(problem.budget.moves_per_record, REGION_MOVES)  # per record, in a round
    passes = max(moves // MOVES_PER_PASS, 1)
    heats = np.geomspace(REGION_HOT, REGION_COLD, passes + 1)
    run_count = max(problem.budget.runs // block_count(len(labels)), 1)
    rounds = int(REGION_MOVES_SHARE * run_count * problem.budget.moves_per_record / moves)

    def anneal_region(before: Ints, rows: Ints, seed: np.uint64, stop: Event) -> Ints:
        """Anneal the region of these rows; return its labels, which lose no more than before."""
        region = block_of(problem, stop, rows)
        annealed = anneal_block(shared, MOVES_PER_PASS, heats, before, rows, seed, stop)
        after = cross(region.records, before, descend(region, annealed))
        # Crossed with the groups before, it can only lose by rounding.
        gains = sse(region.records, after) < sse(region.records, before)
        return after if gains else before

    region_size = REGION_GROUPS * problem.k
    for number in range(rounds):
        problem.progress("Annealing regions", number, rounds, problem.log.note)
        regions = list(draw_blocks(shared.problem.records, labels, problem.random, region_size))
        jobs = []
        for rows in regions:
            seed = random_word(problem.random)
            jobs.append(partial(anneal_region, renumbered(labels[rows]), rows, seed))

        labels = put_together(zip(regions, in_threads(jobs), strict=True))
        problem.log.offer(labels)
    return labels


def cross(records: Floats, labels: Ints, other_labels: Ints) -> Ints:
    """Join two partitions: wherever they differ, take the groups of the one with the lower SSE.

    As Whitley, Hains and Howe (GECCO 2009), "Tunneling between optima: partition crossover for the
    traveling salesman problem", do with two tours.
    """
    from scipy.sparse import coo_array  # takes long to load: most methods need none
    from scipy.sparse.csgraph import connected_components

    # A graph of the groups of both, of which two are linked if they share a record. Those of the
    # other partition are numbered on.
    group_count = int(labels.max()) + 1
    total = group_count + int(other_labels.max()) + 1
    links = coo_array(
        (np.ones(len(labels)), (labels, group_count + other_labels)), shape=(total, total)
    )

    # A connected part of it is a place: one of the smallest sets of records that are whole groups
    # in both partitions.
    places, place_of_group = connected_components(links, directed=False)
    place_of_record = place_of_group[labels]
    lost = np.bincount(place_of_record, squares_to_means(records, labels), places)
    other_lost = np.bincount(place_of_record, squares_to_means(records, other_labels), places)
    other_is_better = (other_lost < lost)[place_of_record]
    return renumbered(np.where(other_is_better, group_count + other_labels, labels))


@cache
def neighbour_ranks(count: int) -> Ints:
    """List the ranks of neighbours, (64 count,); the nearer one is, the more often it is listed."""
    # With 64 entries for each neighbour, even the farthest is listed. An entry is a quantile.
    weights_up_to = np.exp(-NEARNESS * np.arange(count) / count).cumsum()
    quantiles = (np.arange(64 * count) + 0.5) / (64 * count)
    return np.asarray(np.searchsorted(weights_up_to, quantiles * weights_up_to[-1]))


def shared_input(problem: Problem, labels: Ints) -> Shared:
    """Find leading axes, neighbours and temperatures for labels that have an SSE above 0."""
    records = problem.records
    lost = sse(records, labels)

    if (large := problem.neighbours_if_large) is not None:
        turned = large.turned(DROPPED_SHARE * lost)
        squared = large.approximate.squares.T  # neighbour by neighbour, (c, n)
        warmth = warmth_by_distances(squared, large.count, problem.k, lost / len(records))
        return Shared(replace(problem, records=turned), large.nearest, warmth)

    near = neighbours_of(records, neighbour_count(problem.k), problem.neighbours)
    turned = turn(records, leading_axes(sums_of_products(records), DROPPED_SHARE * lost))
    warmth = warmth_of(records, near, problem.k, lost)
    return Shared(replace(problem, records=turned), near, warmth)


def warmth_of(records: Floats, neighbours: NDArray[np.integer], k: int, lost: float) -> Floats:
    """Compute the warmth of records, (n,); ``lost`` is the SSE of the labels."""

    def warmth_of_part(rows: Ints, stop: Event) -> Floats:
        neighbours_by_rank = neighbours[rows].T
        part = records[rows]
        squared = (((part - records[near]) ** 2).sum(axis=1) for near in neighbours_by_rank)
        return warmth_by_distances(squared, len(neighbours_by_rank), k, lost / len(records))

    return np.concatenate(in_parts(warmth_of_part, np.arange(len(records)), _RECORDS_PER_PART))


def warmth_by_distances(squared: Iterable[Floats], count: int, k: int, lost: float) -> Floats:
    """Compute the warmth of records: the square root of the temperature that suits each, (n,).

    ``squared`` yields, for each of ``count`` neighbours from the nearest on, the squared distances
    of all records to it, (n,); ``lost`` is the SSE per record.
    """
    near_count = min(k, count)
    # Both become (n,) with the first distances.
    sum_of_near = np.zeros(1)
    sum_of_all = np.zeros(1)
    for rank, distances in enumerate(squared):
        sum_of_all = sum_of_all + distances
        if rank < near_count:
            sum_of_near = sum_of_near + distances

    # A record with k duplicates moves to farther neighbours, so all of them count.
    mean_square = np.where(sum_of_near > 0.0, sum_of_near / near_count, sum_of_all / count)
    temperature = np.sqrt(mean_square * lost)
    return np.sqrt(temperature)


def build_annealing(
    shared: Shared, records: Floats, labels: Ints, rows: Ints, seed: np.uint64
) -> Annealing:
    """Lay out the groups of the block of these rows for random moves."""
    near = neighbours_within(shared.neighbours, rows)
    return Annealing(
        descent=build_descent(shared.problem.part(rows), records, labels, near),
        warmth=shared.warmth[rows],
        quantiles=QUANTILES,
        ranks=neighbour_ranks(near.shape[1]),
        random=np.array([seed]),
        moves=np.empty((AT_ONE_HEAT, 4), dtype=np.int64),
    )


def anneal_block(
    shared: Shared,
    moves: int,
    heats: Floats,
    labels: Ints,
    rows: Ints,
    seed: np.uint64,
    stop: Event,
) -> Ints:
    """Make random moves in the block of these rows: ``moves`` per record between each two heats.

    ``labels`` are those of the block; its new ones are returned.
    """
    problem = shared.problem
    annealing = build_annealing(shared, problem.records[rows], labels, rows, seed)
    no_slides = None  # only windows slide
    for hot, cold in pairwise(heats):
        if stop.is_set():
            raise KeyboardInterrupt
        make_random_moves(annealing, no_slides, problem.k, moves * len(rows), hot, cold)
    return renumbered(annealing.descent.groups.labels)


def compile_ahead() -> None:
    """Start a process that compiles descent and annealing, unless an earlier run kept them.

    Meanwhile this process compiles and finds paths. The other one runs this module as a program. It
    compiles all three kernels, as they call others that then are compiled only once.
    """
    if cores() > 1:
        compile_beside(__name__, descent_pass, refresh_centroids, make_random_moves)


def compile_by_search() -> None:
    """Run descent and random moves on six records, which compiles both for the types they get."""
    records = np.arange(12.0).reshape(6, 2) % 5.0  # any that have a spread
    problem = Problem(records=records, subjects=np.arange(6), k=2)
    rows = np.arange(6)
    labels = rows // 2
    descend(problem, labels)
    shared = shared_input(problem, labels)
    anneal_block(shared, 1, np.array([1.0, 0.5]), labels, rows, np.uint64(1), Event())


if __name__ == "__main__":
    compile_by_search()
