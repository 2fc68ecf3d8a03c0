"""Windows and their groups, and the best of them so far."""

from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.windows import Windows
from trajanon.align.windows import AT_ONCE, records_at, summed, take
from trajanon.arrays import Ints
from trajanon.loss import information_loss, sse
from trajanon.partition import dense
from trajanon.problem import NullLog
from trajanon.words import percent
from trajanon.workers import in_threads


class Aligned(NamedTuple):
    """Windows, and their groups."""

    start: Ints  # of each window on its run, (n,)
    labels: Ints  # group of each window, (n,)


class Best:
    """The least that windows and groups lost so far."""

    def __init__(self, windows: Windows, aligned: Aligned) -> None:
        self._ground = windows
        self._all = float(summed(windows, aligned.start, lambda some: (some**2).sum()))
        self.lost = lost_at(windows, aligned)
        self.aligned = aligned

    def offer(self, aligned: Aligned) -> None:
        """Keep windows and groups that lose less than all before."""
        lost = lost_at(self._ground, aligned)
        if lost < self.lost:
            self.aligned = Aligned(aligned.start.copy(), aligned.labels.copy())
            self.lost = lost

    @property
    def note(self) -> str:
        """What is lost, for those who watch the progress."""
        return f"IL {percent(information_loss(self.lost, self._all) / 100.0, 4)}"


def lost_at(windows: Windows, aligned: Aligned) -> float:
    """Sum up what windows lose in groups that are numbered 0..g-1.

    Some groups after the others: the records of all would take a table's memory.
    """
    start, labels = aligned
    sizes = np.bincount(labels)
    members = np.argsort(labels, kind="stable")
    batch = np.cumsum(sizes) // AT_ONCE
    last = np.cumsum(sizes)[np.append(np.flatnonzero(np.diff(batch)), -1)]

    def lost(rows: Ints, stop: Event) -> float:
        return sse(records_at(take(windows, rows), start[rows]), dense(labels[rows]))

    parts = np.split(members, last[:-1])
    return sum(in_threads([partial(lost, np.sort(rows)) for rows in parts]))


class Heard(NullLog):
    """Offers what descent arrives at, with the windows as they are by then."""

    def __init__(self, best: Best, start: Ints) -> None:
        super().__init__()
        self._best = best
        self._start = start

    def offer(self, labels: Ints, lost: float | None = None) -> None:
        """Offer windows and groups."""
        self._best.offer(Aligned(self._start, labels))
