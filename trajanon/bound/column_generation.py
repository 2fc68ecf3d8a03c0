"""Column generation: a linear programme over groups, to which better ones are added."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from threading import Event
from typing import Any, NamedTuple

import highspy
import numpy as np

from trajanon._kernels.column_search import PricingProblem
from trajanon.arrays import Floats, Ints
from trajanon.bound.pricing import (
    LEAST_EARNINGS,
    PRICING_NODES,
    first_groups,
    grown_groups,
    pricing_problem,
    search_best,
)
from trajanon.loss import sse
from trajanon.partition import dense
from trajanon.progress import Progress, silent
from trajanon.workers import in_threads, unwatched


class Relaxation(NamedTuple):
    """The linear programme over all columns so far."""

    sse: float  # its optimum
    pricing: PricingProblem  # at its prices
    proven: bool = False  # whether no group of k to 2k - 1 records could lower the optimum


class Master:
    """A pool of groups, and the linear programme that parts the records into them.

    At its optimum no column earns more than it costs. The first columns are the groups of an
    incumbent, numbered from 0.
    """

    def __init__(self, distances: Floats, incumbent: Ints) -> None:
        self.groups: list[tuple[int, ...]] = []
        self.costs: list[float] = []
        self._distances = distances
        self._known: set[tuple[int, ...]] = set()
        self._relaxed = begin_programme(len(distances))
        self._incumbent = incumbent
        self.add(np.flatnonzero(incumbent == group) for group in range(incumbent.max() + 1))
        self.incumbent_sse = sum(self.costs)

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

    def relax(self, pricing: PricingProblem, watch: Callable[[], None] = unwatched) -> Relaxation:
        """Solve the linear programme: its optimum, and the problem at its prices."""
        solve_programme(self._relaxed, watch)
        prices = np.array(self._relaxed.getSolution().row_dual)
        return Relaxation(self._relaxed.getObjectiveValue(), pricing._replace(prices=prices))

    def within(self, relaxation: Relaxation) -> Ints:
        """Find the columns that cost no more than they earn and the gap to the incumbent."""
        prices, gap = relaxation.pricing.prices, self.incumbent_sse - relaxation.sse
        reduced = np.array(self.costs) - [prices[list(g)].sum() for g in self.groups]
        return np.flatnonzero(reduced <= gap + LEAST_EARNINGS)

    def choose(
        self,
        relaxation: Relaxation,
        *,
        nodes: int,
        gap: float,
        looks: float = np.inf,
        watch: Callable[[], None] = unwatched,
    ) -> Ints:
        """Choose columns that hold each record once, of the least SSE within limits.

        The search begins with the incumbent, and may ask ``looks`` times whether to go on.
        """
        incumbent = np.arange(self._incumbent.max() + 1)
        columns = np.union1d(self.within(relaxation), incumbent)
        count = len(columns)
        programme = begin_programme(len(self._distances))
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
        labels = self._incumbent.copy()
        if held == list(range(len(labels))):
            for column in chosen:
                labels[list(self.groups[column])] = column
        return dense(labels)

    def _add_columns(self, programme: highspy.Highs, columns: Sequence[int], most: float) -> None:
        if not columns:
            return
        lengths = np.array([len(self.groups[column]) for column in columns])
        places = np.concatenate([self.groups[column] for column in columns]).astype(np.int32)
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


def begin_programme(m: int) -> highspy.Highs:
    """Begin a programme without columns; its rows cover each of m records once."""
    programme = highspy.Highs()
    programme.setOptionValue("output_flag", False)
    programme.setOptionValue("threads", 1)  # with more, results depend on their number
    programme.setOptionValue("random_seed", 0)
    none = np.zeros(0, dtype=np.int32)
    programme.addRows(m, np.ones(m), np.ones(m), 0, np.zeros(m, np.int32), none, np.zeros(0))
    return programme


def solve_programme(
    programme: highspy.Highs, watch: Callable[[], None], looks: float = np.inf
) -> None:
    """Solve a programme in a thread of its own, so that Ctrl-C ends it.

    HiGHS refuses another number of threads than it had when it first ran in a thread.
    """
    (status,) = in_threads([partial(_run, programme, looks)], watch)
    if status == highspy.HighsStatus.kError:
        model_status = programme.modelStatusToString(programme.getModelStatus())
        raise RuntimeError(f"HiGHS gave up on a programme that has a solution: {model_status}")


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


GENERATION_ROUNDS = 100
"""Linear programmes solved at most. Up to k = 5, 60 rounds sufficed on 1,080 records;
large groups of many records would go on for hundreds, for little."""

POOL = 30
"""Columns per record at which no more are generated; 20 are rarely needed."""

CHOICE_NODES = 200  # of the branch and bound that chooses; the root alone usually suffices
CHOICE_GAP = 1e-4  # share of the SSE that the choice of groups may leave on the table


def best_groups(
    records: Floats, k: int, subjects: Ints, incumbent: Ints, *, progress: Progress = silent
) -> Ints:
    """Group a few hundred records better, nearly as well as can be.

    Source: Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022), "An optimization-based
    decomposition heuristic for the microaggregation problem", section 4.
    """
    incumbent = dense(incumbent)
    pricing = pricing_problem(records, k, subjects)
    master = Master(pricing.distances, incumbent)
    master.add(first_groups(pricing))
    relaxation = generate(master, pricing, progress)
    watch = partial(progress, "Choosing groups", 0, None)
    watch()
    master.add(first_groups(relaxation.pricing))  # near to the best at its prices
    labels = master.choose(relaxation, nodes=CHOICE_NODES, gap=CHOICE_GAP, watch=watch)
    return labels if sse(records, labels) < sse(records, incumbent) else incumbent


def generate(
    master: Master,
    pricing: PricingProblem,
    progress: Progress = silent,
    *,
    rounds: int | None = None,
) -> Relaxation:
    """Add columns of negative reduced cost until there are none, or a limit is met.

    Groups are grown round each record first; only where none of them is new, all groups are
    searched.
    """
    rounds = GENERATION_ROUNDS if rounds is None else rounds
    for done in range(1, rounds + 1):
        watch = partial(progress, "Generating groups", done, None)
        watch()
        relaxation = master.relax(pricing, watch)
        pricing = relaxation.pricing
        if done == rounds or len(master.groups) >= POOL * len(pricing.prices):
            break
        if not master.add(grown_groups(pricing, watch)):
            groups, _, complete = search_best(pricing, LEAST_EARNINGS, PRICING_NODES, watch)
            if not complete or not master.add(groups):
                return relaxation._replace(proven=complete)
    return relaxation
