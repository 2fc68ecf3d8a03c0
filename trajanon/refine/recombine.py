"""Recombination: the best partition made of the groups of many local optima."""

from collections.abc import Iterable, Sequence
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.pricing import Market
from trajanon.columns import (
    Master,
    Relaxation,
    _add_columns,
    _programme,
    generate,
    open_market,
    search,
)
from trajanon.loss import group_means, sse
from trajanon.partition import dense
from trajanon.progress import Progress
from trajanon.refine.grouped import Grouped
from trajanon.workers import in_threads

SIZES = (125, 125, 250, 250, 500, 500, 500, 1_000)
"""Records of a region at most, from round to round.

Small regions are solved to the end at once, and what they gain narrows the gap, which
tells what columns the larger ones need. Rounds of one size have other borders.
"""

POOL_SIZE = 4_000
"""Records of a region at most where groups of the local optima are all there is."""

LARGEST_K = 5
"""Largest k with which columns are priced; with more, a search has no end."""

ROOM, ROOM_PER_RECORD = 1_500, 4
"""Priced columns of a region, beside those of the linear relaxation, at most: the
larger of the two.
"""

HALVINGS = 10
"""How often the reduced cost of priced columns is halved, if they are too many."""

PRICING_NODES = 20_000
"""Of the search for columns round a record."""

INTEGER_NODES = 200
"""Of the branch and bound in a region."""

LOOKS = 150
"""How often the branch and bound may ask whether to go on.

It asks many times between two nodes, the most between the first ones. On one machine
150 looks took some seconds.
"""

_TINY = 1e-7  # of a squared standard deviation: as exact as the linear programme is


class _Pool(NamedTuple):
    """Different groups.

    Attributes
    ----------
    members
        Of each group after the other.
    first
        Place of each group's first member.
    """

    members: NDArray[np.int64]
    first: NDArray[np.int64]


def recombine(
    grouped: Grouped, optima: Sequence[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Choose groups of many local optima, and others, that make a better partition.

    Each group of any optimum is a column of a set-partitioning programme, which HiGHS
    solves with the best optimum as its start. Up to k = 5 the records are then parted
    into regions of whole groups, of 125 records at first and of 1,000 in the end, each
    time with other borders. In a region the columns are those of the optima that
    lie inside; those that column generation finds; and all others whose reduced cost
    is no larger than the gap between the partition and the linear relaxation, for no
    others can better it; or, if they are too many, than a half, a quarter, ... of it.

    Every limit is a count, so that a seed repeats a result bit for bit on any number
    of cores.

    Parameters
    ----------
    grouped
        Records in groups of at least k different subjects: the best optimum.
    optima
        Labels, shape (n,), of other such groups.

    Returns
    -------
    NDArray[np.int64]
        Labels, shape (n,), numbered 0..g-1 in the order in which groups first appear;
        every group has k different subjects, and the SSE is no larger than that of
        the best optimum.

    References
    ----------
    The programme is that of Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An
    optimization-based decomposition heuristic for the microaggregation problem",
    section 4. Its columns from many local optima follow Rochat and Taillard (1995),
    "Probabilistic diversification and intensification in local search for vehicle
    routing", J. Heuristics 1.
    """
    labels = dense(grouped.labels)
    pool = _gather([labels, *optima])
    sizes = [POOL_SIZE]
    if grouped.k <= LARGEST_K:
        # One region of all records is enough.
        whole = [size for size in SIZES if size >= len(labels)]
        sizes += [size for size in SIZES if size < len(labels)] + whole[:1]
    for number, size in enumerate(sizes):
        labels = _round(
            grouped, labels, pool, size, (number, len(sizes)), priced=number > 0
        )
    return labels


def _gather(optima: Iterable[NDArray[np.int64]]) -> _Pool:
    """Gather the different groups of several partitions, those of the first first."""
    groups: dict[bytes, NDArray[np.int64]] = {}
    for labels in optima:
        rows = np.argsort(labels, kind="stable")
        borders = np.flatnonzero(np.diff(labels[rows])) + 1
        for group in np.split(rows, borders):
            groups.setdefault(group.tobytes(), group)
    sizes = np.array([len(group) for group in groups.values()])
    return _Pool(np.concatenate(list(groups.values())), np.cumsum(sizes) - sizes)


def _groups_inside(
    pool: _Pool, inside: NDArray[np.bool_]
) -> Iterable[NDArray[np.int64]]:
    """Find the groups all of whose members are inside a region, (n,)."""
    whole = np.logical_and.reduceat(inside[pool.members], pool.first)
    last = np.append(pool.first[1:], len(pool.members))
    for group in np.flatnonzero(whole):
        yield pool.members[pool.first[group] : last[group]]


def _round(
    grouped: Grouped,
    labels: NDArray[np.int64],
    pool: _Pool,
    size: int,
    number: tuple[int, int],
    *,
    priced: bool,
) -> NDArray[np.int64]:
    """Regroup the records in regions of up to a size, all at once.

    ``number`` tells which round it is, and of how many.
    """
    regions = _draw_regions(grouped, labels, size)
    done: list[int] = []
    jobs = [
        partial(_regroup, grouped, labels, pool, rows, done, priced) for rows in regions
    ]

    def watch() -> None:
        finished = number[0] + len(done) / len(regions)
        grouped.progress("Recombining groups", finished, number[1])

    watch()
    new, groups = np.empty_like(labels), 0
    for rows, local in zip(regions, in_threads(jobs, watch), strict=True):
        new[rows] = groups + local
        groups += int(local.max()) + 1
    return dense(new)


def _draw_regions(
    grouped: Grouped, labels: NDArray[np.int64], size: int
) -> list[NDArray[np.int64]]:
    """Part the records into regions of whole groups that are near each other.

    The groups of a region that is too large are halved along the line from one end of
    it to the other, as seen from a random group.
    """
    means, sizes = group_means(grouped.records, labels), np.bincount(labels)
    waiting = [np.arange(len(sizes))]
    regions: list[NDArray[np.int64]] = []
    while waiting:
        groups = waiting.pop()
        if sizes[groups].sum() <= size or len(groups) == 1:
            inside = np.zeros(len(sizes), dtype=bool)
            inside[groups] = True
            regions.append(np.flatnonzero(inside[labels]))
            continue
        here = means[groups]
        seen_from = here[grouped.random.integers(len(groups))]
        end = here[((here - seen_from) ** 2).sum(axis=1).argmax()]
        other = here[((here - end) ** 2).sum(axis=1).argmax()]
        along = ((here - end) * (other - end)).sum(axis=1)
        groups = groups[np.argsort(along, kind="stable")]
        held = np.cumsum(sizes[groups])
        # Not always in the middle, lest the borders be those of the round before.
        share = grouped.random.uniform(0.35, 0.65)
        part = int(np.searchsorted(held, share * held[-1])) + 1
        part = min(part, len(groups) - 1)
        waiting += [groups[part:], groups[:part]]
    return regions


def _regroup(
    grouped: Grouped,
    labels: NDArray[np.int64],
    pool: _Pool,
    rows: NDArray[np.int64],
    done: list[int],
    priced: bool,
    stop: Event,
) -> NDArray[np.int64]:
    """Regroup a region: the new group of each of its records, numbered from 0."""

    def look_up(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    look_up("", 0, None)
    before = dense(labels[rows])
    groups = int(before.max()) + 1
    inside = np.zeros(len(labels), dtype=bool)
    inside[rows] = True
    place = np.cumsum(inside) - 1
    records = grouped.records[rows]
    market = open_market(records, grouped.k, dense(grouped.subjects[rows]))
    master = Master(market.distances)
    # First of all, so that the first columns are the groups as they are.
    master.add(np.flatnonzero(before == group) for group in range(groups))
    master.add(place[group] for group in _groups_inside(pool, inside))
    if priced:
        relaxation = generate(master, market, look_up)
    else:
        relaxation = Relaxation(*master.relax(), proven=False)
    gap = sum(master.costs[:groups]) - relaxation.sse
    after = np.full_like(before, -1)
    if gap > _TINY:
        if priced:
            market = market._replace(prices=relaxation.prices)
            master.add(_columns_within(market, gap, look_up))
        look_up("", 0, None)
        for column in _choose(master, relaxation, groups, gap, stop):
            after[list(master.groups[column])] = column
    done.append(len(rows))
    # Without a choice within the limits, or but for rounding, they stay.
    if (after < 0).any() or sse(records, dense(after)) >= sse(records, before):
        return before
    return dense(after)


def _columns_within(
    market: Market, gap: float, look_up: Progress
) -> list[NDArray[np.int64]]:
    """Find all groups whose reduced cost is within the gap, or within a part of it."""
    room = max(ROOM, ROOM_PER_RECORD * len(market.prices))
    for halving in range(HALVINGS):
        look_up("", 0, None)
        found = search(market, -gap / 2**halving, PRICING_NODES, room=room)
        if found.complete:
            return found.groups
    return []


def _choose(
    master: Master, relaxation: Relaxation, groups: int, gap: float, stop: Event
) -> NDArray[np.int64]:
    """Choose columns that hold each record once; at the start the first ones do."""
    costs, prices = np.array(master.costs), relaxation.prices
    reduced = costs - [prices[list(group)].sum() for group in master.groups]
    # A column that costs more than the whole gap is in no better partition.
    useful = reduced <= gap + _TINY
    useful[:groups] = True
    columns = np.flatnonzero(useful)
    count = len(columns)
    programme = _programme(len(prices))
    members = [master.groups[column] for column in columns]
    _add_columns(programme, members, costs[columns].tolist(), 1.0)
    places = np.arange(count, dtype=np.int32)
    integer = np.full(count, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
    programme.changeColsIntegrality(count, places, integer)
    programme.setOptionValue("mip_max_nodes", INTEGER_NODES)
    programme.setOptionValue("mip_rel_gap", 0.0)
    programme.setSolution(count, places, (columns < groups).astype(np.float64))
    looks = 0

    def look(event: Any) -> None:
        nonlocal looks
        looks += 1
        if stop.is_set() or looks > LOOKS:
            event.interrupt()

    programme.cbMipInterrupt.subscribe(look)
    if programme.run() == highspy.HighsStatus.kError:
        return np.zeros(0, dtype=np.int64)
    chosen = np.array(programme.getSolution().col_value) > 0.5
    return columns[chosen]
