"""Recombination: the best partition made of the groups of many local optima."""

from collections.abc import Iterable, Sequence
from functools import partial
from threading import Event

import numpy as np

from trajanon.arrays import Ints
from trajanon.bound.column_generation import Master
from trajanon.bound.pricing import pricing_problem
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.search.blocks import block_of, draw_blocks, put_together
from trajanon.workers import in_threads

POOL_SIZE = 4_000  # records of a region at most
NODES = 200  # of the branch and bound in a region
GAP = 1e-5  # share of the SSE that the choice of groups may leave on the table

LOOKS = 50
"""How often the branch and bound may ask whether to go on.

It asks many times between two nodes, most often between the first ones: three times as many took
ten seconds in place of some, and gained nothing."""

_TINY = 1e-7  # of a squared standard deviation: as exact as the linear programme is


def recombine(problem: Problem, labels: Ints, optima: Sequence[Ints]) -> Ints:
    """Choose groups of many local optima that make a better partition.

    Each group of any optimum is a column of a set-partitioning programme, which HiGHS solves with
    the best one, ``labels``, as its start; a large table in regions of whole groups.

    Every limit is a count, so that a seed repeats a result bit for bit on any number of cores.

    References
    ----------
    The programme is that of Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An
    optimization-based decomposition heuristic for the microaggregation problem", section 4. Its
    columns from many local optima follow Rochat and Taillard (1995), "Probabilistic diversification
    and intensification in local search for vehicle routing", J. Heuristics 1.
    """
    labels = dense(labels)
    regions = list(draw_blocks(problem.records, labels, problem.random, POOL_SIZE))
    pools = _groups_inside(_gather([labels, *optima]), regions)
    jobs = [
        partial(_regroup, problem, dense(labels[rows]), rows, groups)
        for rows, groups in zip(regions, pools, strict=True)
    ]
    tell = partial(problem.progress, "Recombining groups", 0, None, problem.log.note)
    tell()
    return put_together(zip(regions, in_threads(jobs, tell), strict=True))


def _gather(optima: Iterable[Ints]) -> list[Ints]:
    """Gather the different groups of several partitions, those of the first first."""
    groups: dict[bytes, Ints] = {}
    for labels in optima:
        rows = np.argsort(labels, kind="stable")
        borders = np.flatnonzero(np.diff(labels[rows])) + 1
        for group in np.split(rows, borders):
            groups.setdefault(group.tobytes(), group)
    return list(groups.values())


def _groups_inside(pool: Sequence[Ints], regions: Sequence[Ints]) -> list[list[Ints]]:
    """Find the groups with all members in one region, region by region."""
    region = np.empty(sum(map(len, regions)), dtype=np.int64)
    for number, rows in enumerate(regions):
        region[rows] = number
    inside: list[list[Ints]] = [[] for _ in regions]
    for group in pool:
        if (region[group] == region[group[0]]).all():
            inside[region[group[0]]].append(group)
    return inside


def _regroup(problem: Problem, before: Ints, rows: Ints, pool: Iterable[Ints], stop: Event) -> Ints:
    """Regroup a region by the groups of the pool."""
    region = block_of(problem, stop, rows)
    watch = partial(region.progress, "", 0, None)
    pricing = pricing_problem(region.records, region.k, dense(region.subjects))
    master = Master(pricing.distances, before)
    master.add(np.searchsorted(rows, group) for group in pool)
    relaxation = master.relax(pricing, watch)
    if master.incumbent_sse - relaxation.sse <= _TINY:
        return before
    after = master.choose(relaxation, nodes=NODES, gap=GAP, looks=LOOKS, watch=watch)
    # But for rounding, it never loses.
    return after if sse(region.records, after) < sse(region.records, before) else before
