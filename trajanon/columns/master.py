"""The pool of columns, and the programmes that part the records into some of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import highspy
import numpy as np

from trajanon._kernels.pricing import Market
from trajanon.arrays import Floats, Ints
from trajanon.columns.market import TINY, meetings
from trajanon.columns.programme import add_rows, begin_programme, solve
from trajanon.workers import unwatched


class Choice(NamedTuple):
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
        self.trios = np.zeros((0, 3), dtype=np.int64)
        self.tolls, self.shares = np.zeros(0), np.zeros(0)
        self._distances = distances
        self._known: set[tuple[int, ...]] = set()
        self._trios_of: list[list[int]] = [[] for _ in distances]
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

    def cut(self, trios: Ints) -> None:
        """Choose at most one of the groups that hold two or more of three records."""
        for trio, records in enumerate(trios.tolist(), len(self.trios)):
            for record in records:
                self._trios_of[record].append(trio)
        self.trios = np.concatenate([self.trios, trios])
        met = meetings(self.groups, trios, len(self._distances)).T.tocsr()
        add_rows(self._relaxed, len(trios), met)

    def relax(self, watch: Callable[[], None] = unwatched) -> tuple[float, Floats]:
        """Solve the linear programme: its optimum, and the prices of the records."""
        solve(self._relaxed, watch)
        solution = self._relaxed.getSolution()
        duals = np.array(solution.row_dual)
        self.tolls = np.maximum(-duals[len(self._distances) :], 0.0)
        self.shares = np.array(solution.col_value)
        return self._relaxed.getObjectiveValue(), duals[: len(self._distances)]

    def within(self, market: Market, gap: float) -> Ints:
        """Find the places of the columns that cost up to a gap more than they earn."""
        prices = market.prices
        reduced = np.array(self.costs) - [prices[list(g)].sum() for g in self.groups]
        reduced += meetings(self.groups, market.trios, len(prices)) @ market.tolls
        return np.flatnonzero(reduced <= gap + TINY)

    def choose(
        self,
        candidates: Ints,
        incumbent: Ints,
        *,
        nodes: int,
        gap: float,
        looks: float = np.inf,
        watch: Callable[[], None] = unwatched,
    ) -> Choice:
        """Choose columns that hold each record once, of the least SSE within limits."""
        columns = np.union1d(candidates, incumbent)
        count = len(columns)
        programme = begin_programme(len(self._distances))
        add_rows(programme, len(self.trios))
        self._add_columns(programme, columns.tolist(), 1.0)
        places = np.arange(count, dtype=np.int32)
        integer = np.full(count, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        programme.changeColsIntegrality(count, places, integer)
        programme.setOptionValue("mip_max_nodes", nodes)
        programme.setOptionValue("mip_rel_gap", gap)
        start = np.isin(columns, incumbent).astype(np.float64)
        programme.setSolution(count, places, start)
        solve(programme, watch, looks)
        values = np.array(programme.getSolution().col_value)
        chosen = columns[np.flatnonzero(values > 0.5)]
        held = sorted(chain.from_iterable(self.groups[column] for column in chosen))
        valid = held == list(range(len(self._distances)))
        ended = programme.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return Choice(chosen if valid else incumbent, ended)

    def _add_columns(self, programme: highspy.Highs, columns: Sequence[int], most: float) -> None:
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
