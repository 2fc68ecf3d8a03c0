"""Groups as columns: set partitioning by column generation, with HiGHS."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
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

PRICING_NODES = 2_000_000
"""Of a search through all groups: some seconds. Up to k = 5, a tenth sufficed on 1,080
records.
"""

SLACK = 1e-5
"""Share of the SSE by which a column may cost too much to be in the linear programme's
solution, at first; then it doubles.
"""

ROOM = 10
"""Columns per record that such a search may find, some of them twice."""

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


class Master:
    """A pool of groups, and the linear programme that parts the records into them.

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
    """

    def __init__(self, distances: NDArray[np.float64]) -> None:
        self.groups: list[tuple[int, ...]] = []
        self.costs: list[float] = []
        self._distances = distances
        self._known: set[tuple[int, ...]] = set()
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
        _add_columns(self._relaxed, self.groups[before:], self.costs[before:])
        return len(self.groups) - before

    def relax(self) -> tuple[float, NDArray[np.float64]]:
        """Solve the linear programme: its optimum, and the prices of the records."""
        _run(self._relaxed)
        prices = np.array(self._relaxed.getSolution().row_dual)
        return self._relaxed.getObjectiveValue(), prices

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
    master.add(_first_groups(market))
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
    )


def generate(master: Master, market: Market, progress: Progress = silent) -> Relaxation:
    """Add columns of negative reduced cost until there are none, or a limit is met.

    Groups are grown round each record first; only where none of them is new, all
    groups are searched.
    """
    value, prices = master.relax()
    for done in range(1, ROUNDS):
        progress("Generating groups", done, None)
        market = market._replace(prices=prices)
        if len(master.groups) >= POOL * len(prices):
            break
        if not master.add(_grown(market)):
            groups, complete = _searched(market, _TINY, every=False)
            if not complete or not master.add(groups):
                return Relaxation(value, prices, complete)
        value, prices = master.relax()
    return Relaxation(value, prices, proven=False)


def _first_groups(market: Market) -> Iterator[NDArray[np.int64]]:
    """Grow groups of every size, where records are free, from each near pair."""
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
        groups, complete = _searched(market, -slack, every=True)
        master.add(groups)
        slack *= 2.0


def _grown(market: Market) -> list[NDArray[np.int64]]:
    """Groups grown round each record, if they earn more than they cost."""
    m, largest = market.halves.shape
    found, sizes = np.zeros((m, largest), dtype=np.int64), np.zeros(m, dtype=np.int64)
    grow_groups(market, found, sizes)
    return [g for g in _groups(found, sizes) if earnings(market, g) > _TINY]


def _searched(
    market: Market, least: float, *, every: bool
) -> tuple[list[NDArray[np.int64]], bool]:
    """Search for the best group round each record, or every one, above the least.

    Returns these, and whether all groups were looked at.
    """
    m, largest = market.halves.shape
    room = ROOM * m if every else m
    found = np.zeros((room, largest), dtype=np.int64)
    sizes = np.zeros(room, dtype=np.int64)
    left = search_groups(market, least, PRICING_NODES, found, sizes, every)
    return _groups(found, sizes), left > 0


def _groups(
    found: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """The groups that a kernel has found."""
    return [members[:size] for members, size in zip(found, sizes, strict=True) if size]


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
    programme: highspy.Highs, groups: list[tuple[int, ...]], costs: list[float]
) -> None:
    """Add a column from 0 to 1 for each group."""
    if not groups:
        return
    count = len(groups)
    sizes = np.array([len(group) for group in groups])
    members = np.concatenate(groups).astype(np.int32)
    programme.addCols(
        count,
        np.array(costs),
        np.zeros(count),
        np.ones(count),
        len(members),
        (np.cumsum(sizes) - sizes).astype(np.int32),
        members,
        np.ones(len(members)),
    )


def _run(programme: highspy.Highs) -> None:
    """Solve a programme in a thread of its own.

    HiGHS refuses another number of threads than it had when it first ran in a thread.
    """
    with ThreadPoolExecutor(1) as thread:
        status = thread.submit(programme.run).result()
    if status == highspy.HighsStatus.kError:
        model_status = programme.modelStatusToString(programme.getModelStatus())
        msg = f"HiGHS gave up on a programme that has a solution: {model_status}"
        raise RuntimeError(msg)
