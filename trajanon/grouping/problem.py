"""The problem that every method, path and refinement is given, and the log of its steps.

A method returns labels of the problem's records; what it reports on the way goes to the log.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.effort_of_the_search import EFFORTS, Effort
from trajanon.common.parameters_of_single_methods import MicroaggregateSettings
from trajanon.common.progress import Progress, silent
from trajanon.grouping.different_ends import Ends
from trajanon.grouping.loss import information_loss, sse, sum_of_squares
from trajanon.grouping.neighbours import Neighbours, neighbour_count
from trajanon.grouping.partition import Stage


class SearchLog:
    """The steps of a search, and its best partition; without records a log that keeps nothing."""

    def __init__(self, records: Floats | None = None) -> None:
        self.stages: list[Stage] = []  # the steps that have ended
        self.chosen: dict[str, str | float] = {}  # parameters that the present step chose by itself
        self.best: Ints | None = None  # labels of the best partition so far, (n,)
        self.path_length: float | None = None  # of the path that the groups were cut from
        self.sst = 0.0 if records is None else sum_of_squares(records)
        self._records = records
        self._least_sse = np.inf  # of the best partition
        self._step_began = perf_counter()

    @property
    def note(self) -> str:
        """Write the IL of the best partition so far, for those who watch the progress."""
        if self.best is None:
            return ""
        return f"IL {information_loss(self._least_sse, self.sst):.4g} %"

    def forget_best(self) -> None:
        """Forget the partitions so far: none of them may be chosen."""
        self.best = None
        self._least_sse = np.inf

    def offer(self, labels: Ints, sse_of_labels: float | None = None) -> None:
        """Keep a partition if it is the best so far; its SSE is computed if it is not known."""
        if self._records is None:
            return

        if sse_of_labels is None:
            sse_of_labels = sse(self._records, labels)
        if sse_of_labels < self._least_sse:
            self.best = labels.copy()
            self._least_sse = sse_of_labels

    def end_step(self, name: str, labels: Ints | None = None) -> None:
        """Log the step that ends now, and its partition, if it has one; the next step begins."""
        chosen = self.chosen
        self.chosen = {}
        if self._records is None:
            return

        percent_lost = None
        if labels is not None:
            sse_of_labels = sse(self._records, labels)
            self.offer(labels, sse_of_labels)
            percent_lost = information_loss(sse_of_labels, self.sst)

        now = perf_counter()
        self.stages.append(Stage(name, percent_lost, now - self._step_began, chosen))
        self._step_began = now


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Records to be grouped; everything was checked before."""

    records: Floats  # standardised, shape (n, p)
    subjects: Ints  # of each record, (n,), numbered from 0; `arange(n)` counts records
    k: int  # least number of different subjects in a group
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    # Of method, path and refinement, with their parameters.
    settings: MicroaggregateSettings = field(default_factory=MicroaggregateSettings)
    budget: Effort = field(default_factory=Effort)  # of moves; by default none
    neighbours: Neighbours | None = None  # found once for all; None if each step finds its own
    log: SearchLog = field(default_factory=SearchLog)  # by default one that keeps nothing
    progress: Progress = silent  # called with how far the work is
    ends: Ends | None = None  # of trips; None if groups need no different places at the ends

    def part(self, rows: Ints) -> "Problem":
        """Return the problem of the records in these rows; all else is the same."""
        ends = None if self.ends is None else self.ends.take(rows)
        records = self.records[rows]
        return replace(self, records=records, subjects=self.subjects[rows], ends=ends)

    @property
    def neighbours_if_large(self) -> Neighbours | None:
        """Return the neighbours of a table that is too large to be searched in one piece."""
        known = self.neighbours
        # The neighbours of the whole table are of no use to a part of it.
        is_large = known is not None and known.records is self.records and known.large
        return known if is_large else None


def whole_problem(
    records: Floats,
    subjects: Ints,
    k: int,
    settings: MicroaggregateSettings,
    progress: Progress = silent,
    ends: Ends | None = None,
) -> Problem:
    """Make the problem of a whole table: with its neighbours, its budget and a log."""
    budget = EFFORTS[settings.effort]
    if settings.refine == "anneal" and budget.moves_per_record > 0:
        # A shorter path leads to no better groups: annealing forgets where it started while hot.
        budget = budget._replace(kicks_per_record=1)

    log = SearchLog(records)
    log_neighbours = partial(log.end_step, "neighbours")
    return Problem(
        records=records,
        subjects=subjects,
        k=k,
        random=np.random.default_rng(settings.seed),
        settings=settings,
        budget=budget,
        neighbours=Neighbours(records, neighbour_count(k), log_neighbours, progress),
        log=log,
        progress=progress,
        ends=ends,
    )
