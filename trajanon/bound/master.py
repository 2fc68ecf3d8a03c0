"""Master problem: the pool of columns, and the programmes in HiGHS that choose among them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from threading import Event
from typing import Any, NamedTuple

import highspy
import numpy as np
from scipy.sparse import csr_array

from trajanon._kernels.pricing import PricingProblem
from trajanon.arrays import Floats, Ints
from trajanon.bound.pricing import LEAST_EARNINGS, cut_coefficients
from trajanon.workers import in_threads, unwatched


class ChosenColumns(NamedTuple):
    """Columns that hold each record once."""

    columns: Ints  # their places in the pool
    ended: bool  # whether the branch and bound ended before its limits


class Master:
    """A pool of groups, and the linear programme that parts the records into them.

    At its optimum no column earns more than it costs.
    """

    def __init__(self, distances: Floats) -> None:
        self.groups: list[tuple[int, ...]] = []
        self.costs: list[float] = []
        self.cuts = np.zeros((0, 3), dtype=np.int64)
        self.cut_duals, self.shares = np.zeros(0), np.zeros(0)
        self._distances = distances
        self._known: set[tuple[int, ...]] = set()
        self._cuts_of: list[list[int]] = [[] for _ in distances]
        self._relaxed = begin_programme(len(distances))

    def add(self, groups: Iterable[Ints]) -> int:
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

    def add_cuts(self, cuts: Ints) -> None:
        """Choose at most one of the groups that hold two or more of three records."""
        for cut, records in enumerate(cuts.tolist(), len(self.cuts)):
            for record in records:
                self._cuts_of[record].append(cut)
        self.cuts = np.concatenate([self.cuts, cuts])
        met = cut_coefficients(self.groups, cuts, len(self._distances)).T.tocsr()
        add_rows(self._relaxed, len(cuts), met)

    def relax(self, watch: Callable[[], None] = unwatched) -> tuple[float, Floats]:
        """Solve the linear programme: its optimum, and the prices of the records."""
        solve_programme(self._relaxed, watch)
        solution = self._relaxed.getSolution()
        duals = np.array(solution.row_dual)
        self.cut_duals = np.maximum(-duals[len(self._distances) :], 0.0)
        self.shares = np.array(solution.col_value)
        return self._relaxed.getObjectiveValue(), duals[: len(self._distances)]

    def within(self, pricing: PricingProblem, gap: float) -> Ints:
        """Find the places of the columns that cost up to a gap more than they earn."""
        prices = pricing.prices
        reduced = np.array(self.costs) - [prices[list(g)].sum() for g in self.groups]
        reduced += cut_coefficients(self.groups, pricing.cuts, len(prices)) @ pricing.cut_duals
        return np.flatnonzero(reduced <= gap + LEAST_EARNINGS)

    def choose(
        self,
        candidates: Ints,
        incumbent: Ints,
        *,
        nodes: int,
        gap: float,
        looks: float = np.inf,
        watch: Callable[[], None] = unwatched,
    ) -> ChosenColumns:
        """Choose columns that hold each record once, of the least SSE within limits.

        The search begins with the incumbent, and may ask ``looks`` times whether to go on.
        """
        columns = np.union1d(candidates, incumbent)
        count = len(columns)
        programme = begin_programme(len(self._distances))
        add_rows(programme, len(self.cuts))
        self._add_columns(programme, columns.tolist(), 1.0)
        places = np.arange(count, dtype=np.int32)
        integer = np.full(count, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        programme.changeColsIntegrality(count, places, integer)
        programme.setOptionValue("mip_max_nodes", nodes)
        programme.setOptionValue("mip_rel_gap", gap)
        start = np.isin(columns, incumbent).astype(np.float64)
        programme.setSolution(count, places, start)
        solve_programme(programme, watch, looks)
        values = np.array(programme.getSolution().col_value)
        chosen = columns[np.flatnonzero(values > 0.5)]
        held = sorted(chain.from_iterable(self.groups[column] for column in chosen))
        valid = held == list(range(len(self._distances)))
        ended = programme.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return ChosenColumns(chosen if valid else incumbent, ended)

    def _add_columns(self, programme: highspy.Highs, columns: Sequence[int], most: float) -> None:
        """Add columns of the pool to a programme, each from 0 to a bound."""
        if not columns:
            return
        groups = [self.groups[column] for column in columns]
        rows = [[*group, *self._cut_rows(group)] for group in groups]
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

    def _cut_rows(self, group: tuple[int, ...]) -> list[int]:
        """Rows of the cuts of which a group holds two or more records."""
        held = Counter(cut for record in group for cut in self._cuts_of[record])
        first = len(self._distances)
        return [first + cut for cut, count in held.items() if count > 1]


def begin_programme(m: int) -> highspy.Highs:
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


def add_rows(programme: highspy.Highs, count: int, held: csr_array | None = None) -> None:
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


def solve_programme(
    programme: highspy.Highs, watch: Callable[[], None], looks: float = np.inf
) -> None:
    """Solve a programme in a thread of its own, so that Ctrl-C ends it.

    HiGHS refuses another number of threads than it had when it first ran in a thread.
    """
    (status,) = in_threads([partial(_run, programme, looks)], watch)
    if status == highspy.HighsStatus.kError:
        model_status = programme.modelStatusToString(programme.getModelStatus())
        msg = f"HiGHS gave up on a programme that has a solution: {model_status}"
        raise RuntimeError(msg)


def _run(programme: highspy.Highs, looks: float, stop: Event) -> highspy.HighsStatus:
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
