"""Master problem: the pool of columns, and the programmes in HiGHS that choose among them.

A column is a group: a sorted tuple of records, numbered 0..m-1. It costs its SSE. A row of the
programme is a record, which the columns chosen hold once, or a cut, three records of which at most
one column chosen may hold two or more.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from threading import Event
from typing import NamedTuple

import highspy
import numpy as np
from scipy.sparse import csr_array

from trajanon._kernels.column_search import PricingProblem
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.threads_and_dask import in_threads, unwatched
from trajanon.grouping.bound.pricing import LEAST_EARNINGS, cut_coefficients, with_cuts

CHOICE_NODES = 200  # of the branch and bound that chooses; the root alone usually suffices


class Relaxation(NamedTuple):
    """A solution of the linear programme over all columns so far."""

    sse: float  # its optimum
    pricing: PricingProblem  # with its prices, the duals of records, and the duals of cuts
    proven: bool = False  # whether no group of k to 2k - 1 records could lower the optimum


class Master:
    """A pool of groups, those of an incumbent first, and the linear programme over them.

    ``squares`` are squared distances between all m records, (m, m); ``incumbent`` are the labels of
    the best partition known, (m,).
    """

    def __init__(self, squares: Floats, incumbent: Ints) -> None:
        self.groups: list[tuple[int, ...]] = []  # the columns
        self.costs: list[float] = []  # the SSE of each
        self.cuts = np.zeros((0, 3), dtype=np.int64)  # the records of each

        self.shares = np.zeros(0)  # of each column in the last solution
        self._squares = squares
        self._known: set[tuple[int, ...]] = set()  # the columns
        self._cuts_of_record: list[list[int]] = [[] for _ in squares]
        self._relaxed = begin_programme(len(squares))
        self._incumbent = incumbent
        self.add(np.flatnonzero(incumbent == group) for group in range(incumbent.max() + 1))
        self.incumbent_sse = sum(self.costs)

    def add(self, groups: Iterable[Ints]) -> int:
        """Add the groups not yet in the pool; return how many they are."""
        before = len(self.groups)
        for members in groups:
            group = tuple(np.sort(members).tolist())
            if group not in self._known:
                self._known.add(group)
                self.groups.append(group)
                # The squares of all pairs, each twice, divided by the size: the SSE.
                squares = self._squares[np.ix_(members, members)]
                self.costs.append(float(squares.sum()) / (2 * len(members)))
        # No bound but that of the rows, which is 1: the prices alone prove an optimum.
        self._add_columns(self._relaxed, range(before, len(self.groups)), np.inf)
        return len(self.groups) - before

    def add_cuts(self, cuts: Ints) -> None:
        """Add cuts, (t, 3): of groups with two or three of these records at most one is chosen."""
        for cut, records in enumerate(cuts.tolist(), len(self.cuts)):
            for record in records:
                self._cuts_of_record[record].append(cut)
        self.cuts = np.concatenate([self.cuts, cuts])
        columns_of_cuts = cut_coefficients(self.groups, cuts, len(self._squares)).T.tocsr()
        add_rows(self._relaxed, len(cuts), columns_of_cuts)

    def relax(self, pricing: PricingProblem, watch: Callable[[], None] = unwatched) -> Relaxation:
        """Solve the linear programme; of ``pricing`` all but the prices and cuts stays."""
        solve_programme(self._relaxed, watch)
        solution = self._relaxed.getSolution()
        # The rows are those of records, then those of cuts. HiGHS has duals of cuts below 0.
        prices, duals = np.split(np.array(solution.row_dual), [len(self._squares)])
        self.shares = np.array(solution.col_value)
        pricing = with_cuts(pricing._replace(prices=prices), self.cuts, np.maximum(-duals, 0.0))
        return Relaxation(self._relaxed.getObjectiveValue(), pricing)

    def columns_within_gap(self, relaxation: Relaxation) -> Ints:
        """Find the columns that a partition better than the incumbent may hold.

        Their reduced costs are no larger than the gap between the incumbent and the relaxation.
        """
        pricing = relaxation.pricing
        prices = pricing.prices
        gap = self.incumbent_sse - relaxation.sse

        reduced_costs = np.array(self.costs) - [prices[list(group)].sum() for group in self.groups]
        cuts_of_columns = cut_coefficients(self.groups, pricing.cuts, len(prices))
        reduced_costs += cuts_of_columns @ pricing.cut_duals
        return np.flatnonzero(reduced_costs <= gap + LEAST_EARNINGS)

    def choose(
        self,
        relaxation: Relaxation,
        *,
        gap: float,
        checks: float = np.inf,
        watch: Callable[[], None] = unwatched,
    ) -> tuple[Ints, bool]:
        """Choose columns that hold each record once, by branch and bound.

        ``CHOICE_NODES``, ``gap`` (relative) and ``checks`` (how often it may ask whether to go on)
        are its limits. Returned are the labels, (m,), and whether no limit was met.
        """
        # The groups of the incumbent are the first columns, so there is a solution to begin with.
        incumbent = np.arange(self._incumbent.max() + 1)
        columns = np.union1d(self.columns_within_gap(relaxation), incumbent)
        count = len(columns)

        programme = begin_programme(len(self._squares))
        add_rows(programme, len(self.cuts))
        self._add_columns(programme, columns.tolist(), 1.0)
        places = np.arange(count, dtype=np.int32)
        integer = np.full(count, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        programme.changeColsIntegrality(count, places, integer)
        programme.setOptionValue("mip_max_nodes", CHOICE_NODES)
        programme.setOptionValue("mip_rel_gap", gap)
        start = np.isin(columns, incumbent).astype(np.float64)
        programme.setSolution(count, places, start)

        solve_programme(programme, watch, checks)
        optimal = programme.getModelStatus() == highspy.HighsModelStatus.kOptimal
        values = np.array(programme.getSolution().col_value)
        chosen = columns[np.flatnonzero(values > 0.5)]  # 0 or 1, but for rounding

        # Without a solution the incumbent stays.
        labels = self._incumbent.copy()
        records = sorted(chain.from_iterable(self.groups[column] for column in chosen))
        if records == list(range(len(labels))):
            for column in chosen:
                labels[list(self.groups[column])] = column
        return renumbered(labels), optimal

    def _add_columns(self, programme: highspy.Highs, columns: Sequence[int], most: float) -> None:
        """Add columns of the pool to a programme, which may take ``most`` of each."""
        if not columns:
            return

        # The rows of each column: its records, and the cuts with two or more of them.
        first_cut_row = len(self._squares)
        rows_of_columns = []
        for column in columns:
            group = self.groups[column]
            cuts_of_members = chain.from_iterable(self._cuts_of_record[member] for member in group)
            members_of_cut = Counter(cuts_of_members)
            cut_rows = [first_cut_row + cut for cut, count in members_of_cut.items() if count > 1]
            rows_of_columns.append([*group, *cut_rows])

        lengths = np.array([len(rows) for rows in rows_of_columns])
        rows = np.concatenate(rows_of_columns).astype(np.int32)
        programme.addCols(
            len(columns),
            np.array([self.costs[column] for column in columns]),
            np.zeros(len(columns)),  # least of each column
            np.full(len(columns), most),
            len(rows),
            (np.cumsum(lengths) - lengths).astype(np.int32),  # where the rows of each begin
            rows,
            np.ones(len(rows)),  # what a column counts in each of its rows
        )


def begin_programme(m: int) -> highspy.Highs:
    """Begin a programme without columns, with a row for each of m records, held exactly once."""
    programme = highspy.Highs()
    programme.setOptionValue("output_flag", False)
    programme.setOptionValue("threads", 1)  # with more, results depend on their number
    programme.setOptionValue("random_seed", 0)
    add_rows(programme, m, least=1.0)
    return programme


def add_rows(
    programme: highspy.Highs, count: int, held: csr_array | None = None, least: float = -np.inf
) -> None:
    """Add rows, of whose columns at most one may be chosen in all, and ``least`` at least.

    ``held`` marks the columns of each row, (rows, columns); without it there are none yet.
    """
    held = csr_array((count, 0)) if held is None else held
    programme.addRows(
        count,
        np.full(count, least),
        np.ones(count),
        held.nnz,
        held.indptr[:-1].astype(np.int32),  # where the columns of each row begin
        held.indices.astype(np.int32),
        np.ones(held.nnz),  # what each of them counts
    )


def solve_programme(
    programme: highspy.Highs, watch: Callable[[], None], checks: float = np.inf
) -> None:
    """Solve a programme in a thread, so that Ctrl-C ends it; ``watch`` is called meanwhile.

    The branch and bound is broken off when it asks more than ``checks`` times whether to go on.
    """
    (status,) = in_threads([partial(_run, programme, checks)], watch)
    if status == highspy.HighsStatus.kError:
        model_status = programme.modelStatusToString(programme.getModelStatus())
        raise RuntimeError(f"HiGHS gave up on a programme that has a solution: {model_status}")


def _run(programme: highspy.Highs, checks: float, stop: Event) -> highspy.HighsStatus:
    """Solve a programme, or break off for good: HiGHS will not take it up again."""
    checks_made = 0

    def check_simplex(event: highspy.HighsCallbackEvent) -> None:
        if stop.is_set():
            event.interrupt()

    def check_branches(event: highspy.HighsCallbackEvent) -> None:
        nonlocal checks_made
        checks_made += 1
        if stop.is_set() or checks_made > checks:
            event.interrupt()

    programme.cbSimplexInterrupt.subscribe(check_simplex)
    programme.cbMipInterrupt.subscribe(check_branches)
    try:
        return programme.run()
    finally:
        programme.cbSimplexInterrupt.unsubscribe(check_simplex)
        programme.cbMipInterrupt.unsubscribe(check_branches)
