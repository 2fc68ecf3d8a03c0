"""Groups as columns: set partitioning by column generation, with HiGHS."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
from trajanon.workers import in_threads

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

SLACK = 1e-5
"""Share of the SSE by which a column may cost too much to be in the linear programme's
solution, at first; then it doubles.
"""

ROOM = 10
"""Columns per record that such a search may find, some of them twice."""

_ROOTS = 8  # records round which one call searches, a fraction of a second
_SEEDS = 64  # records round which one call grows groups, likewise
_PARTS = 16  # searches between two looks at how many groups were found

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
    prices
        What each record's constraint costs, shape (m,).
    proven
        Whether no group of k to 2k - 1 records could lower the optimum.
    """

    sse: float
    prices: NDArray[np.float64]
    proven: bool


class Found(NamedTuple):
    """Groups that a search has found.

    Attributes
    ----------
    groups
        Their members, the root first.
    at_most
        What no group round each record earns more than, shape (m,); told by a search
        for the best group round each.
    complete
        Whether the search looked at all groups.
    """

    groups: list[NDArray[np.int64]]
    at_most: NDArray[np.float64]
    complete: bool


class Master:
    """A pool of groups, and the linear programme that parts the records into them.

    Parameters
    ----------
    distances
        Squared distance of each pair of records, shape (m, m).
    most
        Bound of each column. Where it is 1, a column that is chosen may earn more than
        it costs; where it is infinity, none does at the optimum, and the prices alone
        prove it.

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

    def __init__(self, distances: NDArray[np.float64], most: float = 1.0) -> None:
        self.groups: list[tuple[int, ...]] = []
        self.costs: list[float] = []
        self.trios = np.zeros((0, 3), dtype=np.int64)
        self.tolls, self.shares = np.zeros(0), np.zeros(0)
        self._distances = distances
        self._most = most
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
        added = self.groups[before:]
        rows = [[*group, *self._rows_met(group)] for group in added]
        _add_columns(self._relaxed, rows, self.costs[before:], self._most)
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
        least, most = np.full(len(trios), -np.inf), np.ones(len(trios))
        self._relaxed.addRows(
            len(trios),
            least,
            most,
            met.nnz,
            met.indptr[:-1].astype(np.int32),
            met.indices.astype(np.int32),
            np.ones(met.nnz),
        )

    def relax(self) -> tuple[float, NDArray[np.float64]]:
        """Solve the linear programme: its optimum, and the prices of the records."""
        _run(self._relaxed)
        solution = self._relaxed.getSolution()
        duals = np.array(solution.row_dual)
        self.tolls = np.maximum(-duals[len(self._distances) :], 0.0)
        self.shares = np.array(solution.col_value)
        return self._relaxed.getObjectiveValue(), duals[: len(self._distances)]

    def _rows_met(self, group: tuple[int, ...]) -> list[int]:
        """Rows of the trios of which a group holds two or more records."""
        held = Counter(trio for record in group for trio in self._trios_of[record])
        first = len(self._distances)
        return [first + trio for trio, count in held.items() if count > 1]

    def choose(
        self, relaxation: Relaxation, incumbent: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose columns that hold each record once, of the least SSE within limits.

        Parameters
        ----------
        relaxation
            Its prices tell which columns matter.
        incumbent
            Places in the pool of columns that hold each record once: the start.

        Returns
        -------
        NDArray[np.int64]
            Places of the chosen columns in the pool.
        """
        prices = relaxation.prices
        reduced = np.array(self.costs)
        reduced -= [prices[list(group)].sum() for group in self.groups]
        # A column that costs more than the whole gap is in no better partition.
        gap = np.array(self.costs)[incumbent].sum() - relaxation.sse
        candidates = np.union1d(np.flatnonzero(reduced <= gap + _TINY), incumbent)
        count = len(candidates)
        programme = _programme(len(prices))
        _add_columns(
            programme,
            [self.groups[column] for column in candidates],
            [self.costs[column] for column in candidates],
            1.0,
        )
        places = np.arange(count, dtype=np.int32)
        integer = np.full(count, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        programme.changeColsIntegrality(count, places, integer)
        programme.setOptionValue("mip_max_nodes", INTEGER_NODES)
        programme.setOptionValue("mip_rel_gap", INTEGER_GAP)
        start = np.isin(candidates, incumbent).astype(np.float64)
        programme.setSolution(count, places, start)
        _run(programme)
        chosen = np.array(programme.getSolution().col_value) > 0.5
        return candidates[chosen]


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
    progress("Choosing groups", 0, None)
    _add_nearly_optimal(master, market, relaxation)
    labels = np.full_like(incumbent, -1)
    for column in master.choose(relaxation, np.arange(incumbent.max() + 1)):
        labels[list(master.groups[column])] = column
    if (labels < 0).any():  # the limits were met before any choice was found
        return incumbent
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
    value, prices = master.relax()
    for done in range(1, rounds):
        progress("Generating groups", done, None)
        market = with_trios(market._replace(prices=prices), master.trios, master.tolls)
        if len(master.groups) >= pool * len(prices):
            break
        if len(market.tolls) or not master.add(_grown(market)):
            groups, _, complete = search(market, _TINY, PRICING_NODES)
            if not complete or not master.add(groups):
                return Relaxation(value, prices, complete)
        value, prices = master.relax()
    return Relaxation(value, prices, proven=False)


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


def _add_nearly_optimal(master: Master, market: Market, relaxation: Relaxation) -> None:
    """Add all columns up to some reduced cost.

    Of those that a good partition is made of, the linear programme needs but a few.
    """
    market = market._replace(prices=relaxation.prices)
    slack, complete = relaxation.sse * SLACK, True
    while complete and slack < relaxation.sse:
        groups, _, complete = search(
            market, -slack, PRICING_NODES, room=ROOM * len(market.prices)
        )
        master.add(groups)
        slack *= 2.0


def _grown(market: Market) -> list[NDArray[np.int64]]:
    """Groups grown round each record, if they earn more than they cost."""
    parts = _parts(len(market.prices), _SEEDS)
    found = in_threads([partial(_grow_round, market, roots) for roots in parts])
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
    market: Market, least: float, nodes: int, *, room: int | None = None
) -> Found:
    """Search for the best group round each record, or every one, above the least.

    Parameters
    ----------
    market
        Records, prices and tolls.
    least
        What a group has to earn more than.
    nodes
        Of the branch and bound round each record.
    room
        How many groups may be found where every one is wanted; left out, the best
        round each record is.

    Returns
    -------
    Found
        The same on any number of cores.
    """
    parts = _parts(len(market.prices), _ROOTS)
    # What is found beyond the room is thrown away, so a few parts at a time.
    step = len(parts) if room is None else _PARTS
    done: list[Found] = []
    groups: list[NDArray[np.int64]] = []
    for first in range(0, len(parts), step):
        done += in_threads(
            [
                partial(_search_round, market, roots, least, nodes, room)
                for roots in parts[first : first + step]
            ]
        )
        groups += [group for part in done[first:] for group in part.groups]
        if room is not None and len(groups) > room:
            return Found(groups[:room], np.zeros(0), complete=False)
    return Found(
        groups,
        np.concatenate([part.at_most for part in done]),
        complete=all(part.complete for part in done),
    )


def _search_round(
    market: Market,
    roots: NDArray[np.int64],
    least: float,
    nodes: int,
    room: int | None,
    _: Event,
) -> Found:
    """Search round a few records, which takes a fraction of a second."""
    count = len(roots) if room is None else room + 1
    found = np.empty((count, market.halves.shape[1]), dtype=np.int64)
    sizes, at_most = np.empty(count, dtype=np.int64), np.empty(len(roots))
    complete, _ = search_groups(
        market, roots, least, nodes, found, sizes, at_most, room is not None
    )
    return Found(_groups(found, sizes), at_most, complete)


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


def _add_columns(
    programme: highspy.Highs,
    rows: Sequence[Sequence[int]],
    costs: list[float],
    most: float,
) -> None:
    """Add a column from 0 to a bound for each group, which is in some rows."""
    if not rows:
        return
    count = len(rows)
    lengths = np.array([len(entries) for entries in rows])
    places = np.concatenate(rows).astype(np.int32)
    programme.addCols(
        count,
        np.array(costs),
        np.zeros(count),
        np.full(count, most),
        len(places),
        (np.cumsum(lengths) - lengths).astype(np.int32),
        places,
        np.ones(len(places)),
    )


def _run(programme: highspy.Highs) -> None:
    """Solve a programme in a thread of its own, so that Ctrl-C ends it.

    HiGHS refuses another number of threads than it had when it first ran in a thread.
    """
    (status,) = in_threads([partial(_solve, programme)])
    if status == highspy.HighsStatus.kError:
        model_status = programme.modelStatusToString(programme.getModelStatus())
        msg = f"HiGHS gave up on a programme that has a solution: {model_status}"
        raise RuntimeError(msg)


def _solve(programme: highspy.Highs, stop: Event) -> highspy.HighsStatus:
    """Solve a programme, or break off for good: HiGHS will not take it up again."""

    def interrupt(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    callbacks = programme.cbSimplexInterrupt, programme.cbMipInterrupt
    for callback in callbacks:
        callback.subscribe(interrupt)
    try:
        return programme.run()
    finally:
        for callback in callbacks:
            callback.unsubscribe(interrupt)
