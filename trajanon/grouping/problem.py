"""The problem that every method, path and refinement is given, and the log of its steps."""

from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TypeVar

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.declared_options import EFFORTS, Effort, Settings
from trajanon.common.method_parameters import MethodParameters, SearchOptions
from trajanon.common.progress import Progress, silent
from trajanon.grouping.different_ends import Ends
from trajanon.grouping.loss import information_loss, sse, sum_of_squares
from trajanon.grouping.neighbours import Neighbours, neighbour_count
from trajanon.grouping.partition import Stage

Parameters = TypeVar("Parameters", bound=MethodParameters)


class SearchLog:
    """The steps of a search, and the best partition; without records a log that keeps nothing."""

    def __init__(self, records: Floats | None = None) -> None:
        self.stages: list[Stage] = []
        self.chosen: dict[str, str | float] = {}  # what this step chose by itself
        self.best: Ints | None = None
        self.path_length: float | None = None  # of the path that the groups were cut from
        self.sst = 0.0 if records is None else sum_of_squares(records)
        self._records = records
        self._least = np.inf
        self._since = perf_counter()

    @property
    def note(self) -> str:
        """Write the IL of the best partition so far, for those who watch the progress."""
        if self.best is None:
            return ""
        return f"IL {information_loss(self._least, self.sst):.4g} %"

    def forget_best(self) -> None:
        """Forget partitions that may not be chosen."""
        self.best = None
        self._least = np.inf

    def offer(self, labels: Ints, lost: float | None = None) -> None:
        """Keep a partition if it is the best so far; its SSE may be given."""
        if self._records is None:
            return

        if lost is None:
            lost = sse(self._records, labels)
        if lost < self._least:
            self.best = labels.copy()
            self._least = lost

    def end_step(self, name: str, labels: Ints | None = None) -> None:
        """End a step, with a partition if it has one: the next step begins."""
        chosen = self.chosen
        self.chosen = {}
        if self._records is None:
            return

        loss = None
        if labels is not None:
            lost = sse(self._records, labels)
            self.offer(labels, lost)
            loss = information_loss(lost, self.sst)

        now = perf_counter()
        self.stages.append(Stage(name, loss, now - self._since, chosen))
        self._since = now


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Records to be grouped; everything checked."""

    records: Floats  # standardised, shape (n, p)
    subjects: Ints  # of each record, (n,), numbered from 0; `arange(n)` counts records
    k: int  # least number of different subjects in a group
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    settings: Settings = field(default_factory=Settings)  # of method, path and refinement
    budget: Effort = field(default_factory=Effort)  # kicks of the path, moves, runs of annealing
    neighbours: Neighbours | None = None  # found once for all; None if each step finds its own
    log: SearchLog = field(default_factory=SearchLog)  # of each step, and of each good partition
    progress: Progress = silent  # called with how far the work is
    parameters: tuple[MethodParameters, ...] = ()  # of single methods; defaults where none is given
    ends: Ends | None = None  # of trips; None if none need different places

    def part(self, rows: Ints) -> "Problem":
        """Return the problem of some of the records."""
        ends = None if self.ends is None else self.ends.take(rows)
        records = self.records[rows]
        return replace(self, records=records, subjects=self.subjects[rows], ends=ends)

    def parameters_of(self, kind: type[Parameters]) -> Parameters:
        """Return the parameters of a method."""
        return next((part for part in self.parameters if isinstance(part, kind)), kind())

    @property
    def large(self) -> Neighbours | None:
        """Return the neighbours, if these records are too many to be searched in one piece."""
        known = self.neighbours
        # Those of the whole table are of no use to a part of it.
        if known is None or known.records is not self.records:
            return None
        return known if known.large else None


def whole_problem(
    records: Floats,
    subjects: Ints,
    k: int,
    options: SearchOptions,
    random: np.random.Generator,
    progress: Progress = silent,
    ends: Ends | None = None,
) -> Problem:
    """Make the problem of a whole table: with its neighbours, its budget and a log."""
    settings, parameters = options
    budget = EFFORTS[settings.effort]
    if settings.refine == "anneal" and budget.moves_per_record > 0:
        # More lead to no better groups: while it is hot, annealing forgets where it started.
        budget = budget._replace(kicks_per_record=1)

    log = SearchLog(records)
    end_step = partial(log.end_step, "neighbours")
    near = Neighbours(records, neighbour_count(k), end_step, progress)
    return Problem(
        *(records, subjects, k, random, settings, budget), *(near, log, progress, parameters, ends)
    )
