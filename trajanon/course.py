"""The course of a search: where each step arrived, and the best partition so far."""

from time import perf_counter

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.loss import information_loss, sse
from trajanon.partition import Stage
from trajanon.words import percent


class Course:
    """Told of every partition that a search arrives at."""

    def __init__(self, records: Floats) -> None:
        self.stages: list[Stage] = []
        self.best: Ints | None = None
        self.sst = float((records**2).sum())
        self._records = records
        self._least = np.inf
        self._since = perf_counter()

    @property
    def note(self) -> str:
        """The IL of the best partition so far, for those who watch the progress."""
        if self.best is None:
            return ""
        return f"IL {percent(information_loss(self._least, self.sst) / 100.0, 4)}"

    def offer(self, labels: Ints, lost: float | None = None) -> None:
        """Keep a partition if it is the best so far; its SSE need not be known."""
        if lost is None:
            lost = sse(self._records, labels)
        if lost < self._least:
            self.best, self._least = labels.copy(), lost

    def arrived(self, stage: str, labels: Ints | None = None) -> None:
        """End a step, with a partition if it has one: the next step begins."""
        loss = None
        if labels is not None:
            lost = sse(self._records, labels)
            self.offer(labels, lost)
            loss = information_loss(lost, self.sst)
        now = perf_counter()
        self.stages.append(Stage(stage, loss, now - self._since))
        self._since = now


class Unheeded(Course):
    """Told of everything, and keeps nothing: for searches that nobody asks about."""

    def __init__(self) -> None:
        super().__init__(np.zeros((1, 1)))

    def offer(self, labels: Ints, lost: float | None = None) -> None:
        """Forget the partition."""

    def arrived(self, stage: str, labels: Ints | None = None) -> None:
        """Forget the step."""
