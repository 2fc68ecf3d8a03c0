"""Recombination: the best partition made of the groups of many local optima.

It is a set-partitioning programme of which each group is a column (see `bound.master`). A "region"
is a part of the table, of whole groups that are near one another; it is solved by itself.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Event

import numpy as np

from trajanon._kernels.column_search import PricingProblem
from trajanon.common.arrays import Ints, renumbered
from trajanon.common.threads_and_dask import in_threads
from trajanon.grouping.bound.column_generation import tighten
from trajanon.grouping.bound.master import Master, Relaxation
from trajanon.grouping.bound.pricing import first_groups, groups_within, pricing_problem
from trajanon.grouping.group_means import members_of_groups
from trajanon.grouping.loss import sse
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.blocks import BLOCK, block_of, draw_blocks, put_together

SIZES = {4: (200, 300, 400, 500, BLOCK), 5: (200, 300, 400, 500), 6: (150, 250, 400)}
"""Records of a region at most, round by round, for k up to each of these numbers.

Small regions come first: what they gain makes larger ones easier to solve."""

REPEATED = 500
REPEATS = 20_000
"""Rounds with regions of 500 are repeated: twice, or until so many records were regrouped."""

ENOUGH = 1e-5
IDLE = 6
"""Rounds of a size end when 6 in a row gain less than a share of 1e-5 of the SSE. After each of the
first two such rounds there is twice the room."""

UNSOLVED = 2_000
"""They also end when regions with so many records were left unsolved: these take the time."""

POOL_SIZE = 4_000  # records of a region at most where groups of the local optima are all there is

MOST_SOLVED = 8_000
"""A region with more records is a single large group, of few people: distances of all pairs of them
would not fit into memory."""

ROOM = 10
LEAST_ROOM = 1_500
"""Groups round a record that may be columns beside those generated; or so many of a region."""

REGION_GAP = 1e-5  # share of the SSE that the choice of groups may leave on the table

POOL_CHECKS = 50
REGION_CHECKS = 150
"""How often the branch and bound may ask to go on, in the pool and in a region: some seconds."""

_TINY = 1e-7  # of a squared standard deviation: as exact as the linear programme is


def recombine(problem: Problem, labels: Ints, optima: Sequence[Ints]) -> Ints:
    """Choose groups of many local optima, and others, that make a better partition.

    Each group of any optimum is a column of a set-partitioning programme, which HiGHS solves with
    the best one, ``labels``, as its start. Up to k = 6 the records are then parted into regions of
    whole groups, small ones at first and larger ones later; up to k = 4 a table of one block is
    solved as a whole in the end, if that is to be hoped for. In a region column generation with
    cuts bounds what can be reached. No group can better the partition that costs more, at the
    prices of that bound, than the gap between the two. All others are columns; or, if they are too
    many round a record, those within a half, a quarter, ... of the gap.

    Every limit is a count, so that a seed repeats a result bit for bit on any number of cores.

    References
    ----------
    The programme is that of Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An
    optimization-based decomposition heuristic for the microaggregation problem", section 4. Its
    columns from many local optima follow Rochat and Taillard (1995), "Probabilistic diversification
    and intensification in local search for vehicle routing", J. Heuristics 1.
    """
    labels = renumbered(labels)
    pool = _different_groups([labels, *optima])
    sizes = [POOL_SIZE, *_region_sizes(len(labels), problem.k)]
    lost = sse(problem.records, labels)

    # Larger regions are not tried; it falls to a size that leaves half of the records unsolved.
    largest = POOL_SIZE
    last_size = 0  # of the round before; the first round sets the counts below
    for number, size in enumerate(sizes):
        if size != last_size:
            last_size = size
            idle_rounds = 0
            unsolved = 0  # records in regions that were left unsolved, in rounds of this size
        gains_nothing = idle_rounds == IDLE
        takes_too_long = size > largest or unsolved >= UNSOLVED
        if gains_nothing or takes_too_long:
            continue

        # In the first round, of the largest regions, no columns are generated. Later there is twice
        # the room after one idle round, and four times after more.
        is_pool = number == 0
        room = 0 if is_pool else ROOM * 2 ** min(idle_rounds, 2)
        watch = partial(
            problem.progress, "Recombining groups", number, len(sizes), problem.log.note
        )
        watch()
        labels, solved = _round(problem, labels, pool, size, room, watch)
        problem.log.offer(labels)

        lost_before = lost
        lost = sse(problem.records, labels)
        is_idle = lost_before - lost <= ENOUGH * lost_before
        idle_rounds = idle_rounds + 1 if is_idle else 0
        unsolved += len(labels) - solved
        if not is_pool and solved < len(labels) / 2:
            largest = size
    problem.progress("Recombining groups", len(sizes), len(sizes), problem.log.note)
    return labels


def _region_sizes(n: int, k: int) -> list[int]:
    """List the sizes of the regions in which columns are priced, from round to round."""
    sizes = next((SIZES[largest_k] for largest_k in sorted(SIZES) if k <= largest_k), ())
    below_table = [size for size in sizes if size < n]
    # One such round is among the sizes already.
    repeated = [REPEATED] * (max(REPEATS // n, 2) - 1) if REPEATED in below_table else []
    # One region of all records is enough.
    whole_table = [size for size in sizes if size >= n][:1]
    return sorted(below_table + repeated) + whole_table


def _different_groups(optima: Iterable[Ints]) -> list[Ints]:
    """List the different groups of several partitions, by their rows; those of the first first."""
    groups: dict[bytes, Ints] = {}
    for labels in optima:
        for group in members_of_groups(renumbered(labels)):
            groups.setdefault(group.tobytes(), group)
    return list(groups.values())


def _groups_inside(pool: Sequence[Ints], regions: Sequence[Ints]) -> list[list[Ints]]:
    """Find the groups with all members in one region, region by region; both are rows."""
    region_of_record = np.empty(sum(map(len, regions)), dtype=np.int64)
    for number, rows in enumerate(regions):
        region_of_record[rows] = number

    inside: list[list[Ints]] = [[] for _ in regions]
    for group in pool:
        first, *others = set(region_of_record[group].tolist())
        if not others:
            inside[first].append(group)
    return inside


def _round(
    problem: Problem,
    labels: Ints,
    pool: list[Ints],
    size: int,
    room: int,
    watch: Callable[[], None],
) -> tuple[Ints, int]:
    """Regroup the records in regions of a size, all at once; ``watch`` is called meanwhile.

    ``pool`` are groups of the local optima, by their rows; ``room`` is how many others may be
    columns round a record: 0 if only the pool may. Returned are the labels, and how many records
    are in regions that were solved.
    """
    regions = list(draw_blocks(problem.records, labels, problem.random, size))
    pools = _groups_inside(pool, regions)
    jobs = [
        partial(_regroup, problem, renumbered(labels[rows]), rows, groups, room)
        for rows, groups in zip(regions, pools, strict=True)
    ]
    region_labels, are_solved = zip(*in_threads(jobs, watch), strict=True)
    region_sizes = [len(rows) for rows in regions]
    solved = int(np.dot(region_sizes, are_solved))
    return put_together(zip(regions, region_labels, strict=True)), solved


def _regroup(
    problem: Problem, before: Ints, rows: Ints, pool: Iterable[Ints], room: int, stop: Event
) -> tuple[Ints, bool]:
    """Regroup the region of these rows, out of the groups of a pool and, if there is room, others.

    ``before`` are its labels; ``pool`` and ``room`` are as for a round. Returned are new labels,
    and whether the columns were found and chosen without meeting a limit.
    """
    if len(rows) > MOST_SOLVED:
        return before, False

    region = block_of(problem, stop, rows)
    watch = partial(region.progress, "", 0, None)  # which ends the thread after Ctrl-C
    watch()
    records = region.records
    pricing = pricing_problem(records, region.k, renumbered(region.subjects))
    master = Master(pricing.squares, before)
    master.add(np.searchsorted(rows, group) for group in pool)

    if room:
        relaxation = _price(region, master, pricing, before, room)
    else:
        relaxation = master.relax(pricing, watch)

    # Of the pool alone the optimum is a bound at once; with others it has to be proven.
    after = before
    solved = relaxation.proven
    is_bound = relaxation.proven or room == 0
    gap = master.incumbent_sse - relaxation.sse
    if is_bound and gap > _TINY:
        checks = REGION_CHECKS if room else POOL_CHECKS
        after, solved = master.choose(relaxation, gap=REGION_GAP, checks=checks, watch=watch)

    # But for rounding, they stay as they are.
    better = sse(records, after) < sse(records, before)
    return after if better else before, solved


def _price(
    region: Problem, master: Master, pricing: PricingProblem, before: Ints, room: int
) -> Relaxation:
    """Bound what can be reached, and add columns to the master: those of the bound, and of the gap.

    Those of the bound have a share in its solution; the others cost no more than they earn and the
    gap between the bound and the best partition known.
    """
    ends = region.ends

    def has_places(group: Ints) -> bool:
        return ends is None or not ends.lacks_place(group)

    # The bound has a pool of its own, for it needs many columns that no choice ever takes.
    bounding = Master(pricing.squares, before)
    bounding.add(np.array(group) for group in master.groups)
    bounding.add(first_groups(pricing))
    relaxation = tighten(bounding, pricing, region.progress, upper=master.incumbent_sse - _TINY)
    if not relaxation.proven:
        return relaxation

    solution = np.flatnonzero(bounding.shares > 0.0)
    master.add(filter(has_places, (np.array(bounding.groups[column]) for column in solution)))

    priced = relaxation.pricing
    gap = master.incumbent_sse - relaxation.sse
    room = max(room, LEAST_ROOM // len(priced.prices))
    watch = partial(region.progress, "Generating groups", 0, None)
    master.add(filter(has_places, groups_within(priced, gap, room, watch)))
    master.add_cuts(priced.cuts)
    return relaxation
