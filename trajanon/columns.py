"""Groups as columns: set partitioning by column generation, with HiGHS."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from threading import Event
from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from trajanon._kernels.pricing import (
    Market,
    earnings,
    grow_group,
    grow_groups,
    search_groups,
)
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.progress import Progress, silent
from trajanon.workers import in_threads, unwatched

NEAREST = 4
"""Neighbours with each of which a record starts groups for the first pool.

With fewer, prices swing for many rounds before they tell anything.
"""

ROUNDS = 100
"""Linear programmes solved at most. Up to k = 5, 60 rounds sufficed on 1,080 records;
large groups of many records would go on for hundreds, for little.
"""

POOL = 30
"""Columns per record at which no more are generated; 20 are rarely needed."""

PRICING_NODES = 20_000
"""Of a search through all groups round a record: some hundredths of a second. Up to
k = 5, a tenth sufficed on 1,080 records.
"""

ROOM = 50
"""Groups round a record that may be columns beside those generated."""

HALVINGS = 10
"""How often what such a group may cost too much is halved, if they are too many."""

_ROOTS = 8  # records round which one call searches, a fraction of a second
_SEEDS = 64  # records round which one call grows groups, likewise

INTEGER_NODES = 200
"""Of the branch and bound that chooses; the root alone usually suffices."""

INTEGER_GAP = 1e-4
"""Share of the SSE that the choice of groups may leave on the table."""

_TINY = 1e-7  # of a squared standard deviation: as exact as the linear programme is


class Relaxation(NamedTuple):
    """The linear programme over all columns so far.

    Attributes
    ----------
    sse
        Its optimum.
    market
        The records, at the price that each one's constraint costs, and with the tolls.
    proven
        Whether no group of k to 2k - 1 records could lower the optimum.
    """

    sse: float
    market: Market
    proven: bool


class Found(NamedTuple):
    """Groups that a search has found.

    Attributes
    ----------
    groups
        Their members, the root first.
    at_most
        What no group round each record earns more than, shape (m,).
    complete
        Whether the search looked at all groups.
    """

    groups: list[NDArray[np.int64]]
    at_most: NDArray[np.float64]
    complete: bool


class Choice(NamedTuple):
    """Columns that hold each record once.

    Attributes
    ----------
    columns
        Their places in the pool.
    ended
        Whether the branch and bound ended before its limits.
    """

    columns: NDArray[np.int64]
    ended: bool


class Master:
    """A pool of groups, and the linear programme that parts the records into them.

    At its optimum no column earns more than it costs.

    Parameters
    ----------
    distances
        Squared distance of each pair of records, shape (m, m).

    Attributes
    ----------
    groups
        The members of each column, rising.
    costs
        Their SSE.
    trios
        Of all groups that hold two or more of such three records, one is chosen at
        most, shape (t, 3): subset-row cuts.
    tolls, shares
        What each of these constraints costs, shape (t,), and how much of each column is
        chosen, as of the last optimum.
    """

    def __init__(self, distances: NDArray[np.float64]) -> None:
        self.groups: list[tuple[int, ...]] = []
        self.costs: list[float] = []
        self.trios = np.zeros((0, 3), dtype=np.int64)
        self.tolls, self.shares = np.zeros(0), np.zeros(0)
        self._distances = distances
        self._known: set[tuple[int, ...]] = set()
        self._trios_of: list[list[int]] = [[] for _ in distances]
        self._relaxed = _programme(len(distances))

    def add(self, groups: Iterable[NDArray[np.int64]]) -> int:
        """Add the groups not yet in the pool; how many they are."""
        before = len(self.groups)
        for members in groups:
            group = tuple(np.sort(members).tolist())
            if group not in self._known:
                self._known.add(group)
                self.groups.append(group)
                within = self._distances[np.ix_(members, members)]
                self.costs.append(float(within.sum()) / (2 * len(members)))
        # No bound but that of the rows, which is 1: the prices alone prove an optimum.
        self._add_columns(self._relaxed, range(before, len(self.groups)), np.inf)
        return len(self.groups) - before

    def cut(self, trios: NDArray[np.int64]) -> None:
        """Choose at most one of the groups that hold two or more of three records.

        Parameters
        ----------
        trios
            Three records for each constraint, shape (t, 3).
        """
        for trio, records in enumerate(trios.tolist(), len(self.trios)):
            for record in records:
                self._trios_of[record].append(trio)
        self.trios = np.concatenate([self.trios, trios])
        met = meetings(self.groups, trios, len(self._distances)).T.tocsr()
        _add_rows(self._relaxed, len(trios), met)

    def relax(
        self, watch: Callable[[], None] = unwatched
    ) -> tuple[float, NDArray[np.float64]]:
        """Solve the linear programme: its optimum, and the prices of the records."""
        _run(self._relaxed, watch)
        solution = self._relaxed.getSolution()
        duals = np.array(solution.row_dual)
        self.tolls = np.maximum(-duals[len(self._distances) :], 0.0)
        self.shares = np.array(solution.col_value)
        return self._relaxed.getObjectiveValue(), duals[: len(self._distances)]

    def within(self, market: Market, gap: float) -> NDArray[np.int64]:
        """Find the places of the columns that cost up to a gap more than they earn."""
        prices = market.prices
        reduced = np.array(self.costs) - [prices[list(g)].sum() for g in self.groups]
        reduced += meetings(self.groups, market.trios, len(prices)) @ market.tolls
        return np.flatnonzero(reduced <= gap + _TINY)

    def choose(
        self,
        candidates: NDArray[np.int64],
        incumbent: NDArray[np.int64],
        *,
        nodes: int,
        gap: float,
        looks: float = np.inf,
        watch: Callable[[], None] = unwatched,
    ) -> Choice:
        """Choose columns that hold each record once, of the least SSE within limits.

        Parameters
        ----------
        candidates
            Places in the pool of the columns to choose from.
        incumbent
            Places of columns that hold each record once: the start.
        nodes
            Of the branch and bound.
        gap
            Share of the SSE that may be left on the table.
        looks
            How often the branch and bound may ask whether to go on.
        watch
            Called now and then; what it raises ends the search.

        Returns
        -------
        Choice
            The start, if nothing better was found.
        """
        columns = np.union1d(candidates, incumbent)
        count = len(columns)
        programme = _programme(len(self._distances))
        _add_rows(programme, len(self.trios))
        self._add_columns(programme, columns.tolist(), 1.0)
        places = np.arange(count, dtype=np.int32)
        integer = np.full(count, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        programme.changeColsIntegrality(count, places, integer)
        programme.setOptionValue("mip_max_nodes", nodes)
        programme.setOptionValue("mip_rel_gap", gap)
        start = np.isin(columns, incumbent).astype(np.float64)
        programme.setSolution(count, places, start)
        _run(programme, watch, looks)
        values = np.array(programme.getSolution().col_value)
        chosen = columns[np.flatnonzero(values > 0.5)]
        held = sorted(chain.from_iterable(self.groups[column] for column in chosen))
        valid = held == list(range(len(self._distances)))
        ended = programme.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return Choice(chosen if valid else incumbent, ended)

    def _add_columns(
        self, programme: highspy.Highs, columns: Sequence[int], most: float
    ) -> None:
        """Add columns of the pool to a programme, each from 0 to a bound."""
        if not columns:
            return
        groups = [self.groups[column] for column in columns]
        rows = [[*group, *self._rows_met(group)] for group in groups]
        lengths = np.array([len(entries) for entries in rows])
        places = np.concatenate(rows).astype(np.int32)
        programme.addCols(
            len(columns),
            np.array([self.costs[column] for column in columns]),
            np.zeros(len(columns)),
            np.full(len(columns), most),
            len(places),
            (np.cumsum(lengths) - lengths).astype(np.int32),
            places,
            np.ones(len(places)),
        )

    def _rows_met(self, group: tuple[int, ...]) -> list[int]:
        """Rows of the trios of which a group holds two or more records."""
        held = Counter(trio for record in group for trio in self._trios_of[record])
        first = len(self._distances)
        return [first + trio for trio, count in held.items() if count > 1]


def best_groups(
    records: NDArray[np.float64],
    k: int,
    subjects: NDArray[np.int64],
    incumbent: NDArray[np.int64],
    *,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Group a few hundred records better, nearly as well as can be.

    Each group of k to 2k - 1 records with k different subjects is a column of a
    set-partitioning programme, and costs its SSE. Column generation solves its linear
    relaxation; an integer programme then chooses among the columns generated. Every
    limit is a count, so that a result can be repeated.

    Parameters
    ----------
    records
        Standardised, shape (m, p). Memory grows as m².
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (m,), numbered from 0; ``arange(m)`` counts
        records.
    incumbent
        Labels of groups with k different subjects, shape (m,); these groups are
        columns too, whatever their sizes.
    progress
        Told how far the work is.

    Returns
    -------
    NDArray[np.int64]
        Labels, shape (m,), of groups with k different subjects; the SSE is no larger
        than that of the incumbent.

    References
    ----------
    Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An optimization-based
    decomposition heuristic for the microaggregation problem", section 4.
    """
    incumbent = dense(incumbent)
    market = open_market(records, k, subjects)
    master = Master(market.distances)
    # First of all, so that the first columns of the pool are the incumbent.
    master.add(np.flatnonzero(incumbent == g) for g in range(incumbent.max() + 1))
    master.add(first_groups(market))
    relaxation = generate(master, market, progress)
    watch = partial(progress, "Choosing groups", 0, None)
    watch()
    together = np.arange(incumbent.max() + 1)
    gap = sum(master.costs[: len(together)]) - relaxation.sse
    master.add(groups_within(relaxation.market, gap, ROOM, watch).groups)
    choice = master.choose(
        master.within(relaxation.market, gap),
        together,
        nodes=INTEGER_NODES,
        gap=INTEGER_GAP,
        watch=watch,
    )
    labels = np.full_like(incumbent, -1)
    for column in choice.columns:
        labels[list(master.groups[column])] = column
    labels = dense(labels)
    return labels if sse(records, labels) < sse(records, incumbent) else incumbent


def open_market(
    records: NDArray[np.float64], k: int, subjects: NDArray[np.int64]
) -> Market:
    """Lay out records for pricing; the price of each is 0."""
    distances = cdist(records, records, "sqeuclidean")
    others = distances.copy()
    np.fill_diagonal(others, 0.0)  # is first, whatever the duplicates
    others.sort(axis=1)
    return Market(
        distances=distances,
        halves=others[:, : 2 * k - 1].cumsum(axis=1) / 2.0,
        subjects=subjects,
        prices=np.zeros(len(records)),
        k=k,
        trios=np.zeros((0, 3), dtype=np.int64),
        tolls=np.zeros(0),
        first_trio=np.zeros(len(records) + 1, dtype=np.int64),
        trios_of=np.zeros(0, dtype=np.int64),
    )


def with_trios(
    market: Market, trios: NDArray[np.int64], tolls: NDArray[np.float64]
) -> Market:
    """Let groups pay a toll for each trio of which they hold two records or more."""
    trios, tolls = trios[tolls > 0.0], tolls[tolls > 0.0]
    held = np.bincount(trios.ravel(), minlength=len(market.prices))
    return market._replace(
        trios=trios,
        tolls=tolls,
        first_trio=np.concatenate([[0], held.cumsum()]),
        trios_of=np.argsort(trios.ravel(), kind="stable") // 3,
    )


def meetings(
    groups: Sequence[Sequence[int]], trios: NDArray[np.int64], m: int
) -> csr_array:
    """Which groups hold two records or more of which trios, (groups, trios)."""
    sizes = [len(group) for group in groups]
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    held = np.fromiter(chain.from_iterable(groups), np.int64, first[-1])
    members = csr_array((np.ones(len(held)), held, first), (len(groups), m))
    ends = np.arange(len(trios) + 1) * 3
    of_trios = csr_array(
        (np.ones(3 * len(trios)), trios.ravel(), ends), (len(trios), m)
    )
    together = members @ of_trios.T
    return csr_array(together > 1.5)


def generate(
    master: Master,
    market: Market,
    progress: Progress = silent,
    *,
    rounds: int | None = None,
    pool: int | None = None,
) -> Relaxation:
    """Add columns of negative reduced cost until there are none, or a limit is met.

    Groups are grown round each record first; only where none of them is new, or tolls
    are due, of which growing knows nothing, all groups are searched.

    Parameters
    ----------
    master
        Columns that hold each record once are among its own.
    market
        The same records; its prices do not matter.
    progress
        Told how far the work is.
    rounds, pool
        Linear programmes solved at most, and columns per record at which no more are
        generated; `ROUNDS` and `POOL` if left out.
    """
    rounds = ROUNDS if rounds is None else rounds
    pool = POOL if pool is None else pool
    for done in range(1, rounds + 1):
        watch = partial(progress, "Generating groups", done, None)
        watch()
        value, prices = master.relax(watch)
        market = with_trios(market._replace(prices=prices), master.trios, master.tolls)
        if done == rounds or len(master.groups) >= pool * len(prices):
            break
        if len(market.tolls) or not master.add(_grown(market, watch)):
            groups, _, complete = search(market, _TINY, PRICING_NODES, watch)
            if not complete or not master.add(groups):
                return Relaxation(value, market, complete)
    return Relaxation(value, market, proven=False)


def first_groups(market: Market) -> Iterator[NDArray[np.int64]]:
    """Grow groups of every size, at the market's prices, from each near pair."""
    m, largest = market.halves.shape
    others = market.distances.copy()
    np.fill_diagonal(others, np.inf)
    near = np.argsort(others, axis=1, kind="stable")[:, : min(NEAREST, m - 1)]
    for record in range(m):
        for other in near[record]:
            members = np.array([record, other, *[-1] * (largest - 2)])
            grow_group(market, members, 2)
            for size in range(market.k, largest + 1):
                group = members[:size]
                if group[-1] >= 0 and len(set(market.subjects[group])) >= market.k:
                    yield group


def _grown(market: Market, watch: Callable[[], None]) -> list[NDArray[np.int64]]:
    """Groups grown round each record, if they earn more than they cost."""
    parts = _parts(len(market.prices), _SEEDS)
    found = in_threads([partial(_grow_round, market, roots) for roots in parts], watch)
    return [group for groups in found for group in groups]


def _grow_round(
    market: Market, roots: NDArray[np.int64], _: Event
) -> list[NDArray[np.int64]]:
    """Grow groups round a few records, if they earn more than they cost."""
    found = np.zeros((len(roots), market.halves.shape[1]), dtype=np.int64)
    sizes = np.zeros(len(roots), dtype=np.int64)
    grow_groups(market, roots, found, sizes)
    return [g for g in _groups(found, sizes) if earnings(market, g) > _TINY]


def _parts(m: int, count: int) -> list[NDArray[np.int64]]:
    """Part m records, so many at a time."""
    return np.split(np.arange(m), np.arange(count, m, count))


def search(
    market: Market,
    least: float,
    nodes: int,
    watch: Callable[[], None] = unwatched,
) -> Found:
    """Search for the best group round each record, if it earns more than the least.

    Parameters
    ----------
    market
        Records, prices and tolls.
    least
        What a group has to earn more than.
    nodes
        Of the branch and bound round each record.
    watch
        Called now and then; what it raises ends the search.

    Returns
    -------
    Found
        The same on any number of cores.
    """
    return _search_parts(partial(_search_round, market, least, nodes), market, watch)


def groups_within(
    market: Market, gap: float, room: int, watch: Callable[[], None] = unwatched
) -> Found:
    """Search for all groups that cost up to a gap more than they earn.

    Where they are too many round a record, those within a half of the gap, or a
    quarter, ... stand for them: where records are dense, groups differ by less.

    Parameters
    ----------
    market
        Records, prices and tolls, at which no group earns more than it costs.
    gap
        In the unit of the SSE.
    room
        How many groups may be found round each record.
    watch
        Called now and then; what it raises ends the search.

    Returns
    -------
    Found
        Some groups are there twice; complete, if all are there. The same on any number
        of cores.
    """
    return _search_parts(partial(_search_within, market, gap, room), market, watch)


def _search_parts(
    work: Callable[[NDArray[np.int64], Event], Found],
    market: Market,
    watch: Callable[[], None],
) -> Found:
    """Search round a few records after the other, and gather what is found."""
    parts = _parts(len(market.prices), _ROOTS)
    done = in_threads([partial(work, roots) for roots in parts], watch)
    return Found(
        [group for part in done for group in part.groups],
        np.concatenate([part.at_most for part in done]),
        complete=all(part.complete for part in done),
    )


def _search_round(
    market: Market, least: float, nodes: int, roots: NDArray[np.int64], _: Event
) -> Found:
    """Search round a few records, which takes a fraction of a second."""
    found = np.empty((len(roots), market.halves.shape[1]), dtype=np.int64)
    sizes, at_most = np.empty(len(roots), dtype=np.int64), np.empty(len(roots))
    complete, _ = search_groups(
        market, roots, least, nodes, found, sizes, at_most, False
    )
    return Found(_groups(found, sizes), at_most, complete)


def _search_within(
    market: Market, gap: float, room: int, roots: NDArray[np.int64], stop: Event
) -> Found:
    """Search for all groups within a gap round a few records, one after the other."""
    found = np.empty((room, market.halves.shape[1]), dtype=np.int64)
    sizes, at_most = np.empty(room, dtype=np.int64), np.full(len(roots), np.inf)
    groups: list[NDArray[np.int64]] = []
    at_full = 0
    for place, root in enumerate(roots):
        for halving in range(HALVINGS):
            complete, _ = search_groups(
                market,
                np.array([root]),
                -gap / 2**halving,
                PRICING_NODES,
                found,
                sizes,
                at_most[place : place + 1],
                True,
            )
            if complete:
                groups += _groups(found, sizes)
                at_full += halving == 0
            if complete or stop.is_set():
                break
    return Found(groups, at_most, complete=at_full == len(roots))


def _groups(
    found: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """The groups that a kernel has found."""
    return [found[place, : sizes[place]].copy() for place in np.flatnonzero(sizes)]


def _programme(m: int) -> highspy.Highs:
    """Begin a programme without columns, whose columns hold each of m records once."""
    programme = highspy.Highs()
    programme.setOptionValue("output_flag", False)
    programme.setOptionValue("threads", 1)  # with more, results depend on their number
    programme.setOptionValue("random_seed", 0)
    once = np.ones(m)
    none = np.zeros(0, dtype=np.int32)
    starts = np.zeros(m, dtype=np.int32)
    programme.addRows(m, once, once, 0, starts, none, np.zeros(0))
    return programme


def _add_rows(
    programme: highspy.Highs, count: int, held: csr_array | None = None
) -> None:
    """Add rows that allow one column each, of those held by it, (rows, columns)."""
    held = csr_array((count, 0)) if held is None else held
    programme.addRows(
        count,
        np.full(count, -np.inf),
        np.ones(count),
        held.nnz,
        held.indptr[:-1].astype(np.int32),
        held.indices.astype(np.int32),
        np.ones(held.nnz),
    )


def _run(
    programme: highspy.Highs, watch: Callable[[], None], looks: float = np.inf
) -> None:
    """Solve a programme in a thread of its own, so that Ctrl-C ends it.

    HiGHS refuses another number of threads than it had when it first ran in a thread.
    """
    (status,) = in_threads([partial(_solve, programme, looks)], watch)
    if status == highspy.HighsStatus.kError:
        model_status = programme.modelStatusToString(programme.getModelStatus())
        msg = f"HiGHS gave up on a programme that has a solution: {model_status}"
        raise RuntimeError(msg)


def _solve(programme: highspy.Highs, looks: float, stop: Event) -> highspy.HighsStatus:
    """Solve a programme, or break off for good: HiGHS will not take it up again."""
    looked = 0

    def interrupt(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    def look(event: Any) -> None:
        nonlocal looked
        looked += 1
        if stop.is_set() or looked > looks:
            event.interrupt()

    programme.cbSimplexInterrupt.subscribe(interrupt)
    programme.cbMipInterrupt.subscribe(look)
    try:
        return programme.run()
    finally:
        programme.cbSimplexInterrupt.unsubscribe(interrupt)
        programme.cbMipInterrupt.unsubscribe(look)
