"""A k-partition: groups of at least k records, their loss, and the steps that led to them.

This is what `microaggregate` returns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from msgspec import Struct

from trajanon.common.arrays import Floats, Ints
from trajanon.common.json_toml_and_regular_files import Finite
from trajanon.common.number_text import Displayed, number_of
from trajanon.grouping import loss
from trajanon.grouping.group_means import group_means
from trajanon.grouping.standardised_records import standardise


class Stage(Struct, frozen=True, omit_defaults=True):
    """One step of the search, and the loss after it."""

    name: str  # the method or refinement
    information_loss: Finite | None  # IL after it, percent; None where there were no groups yet
    seconds: Finite = 0.0  # wall time it took
    # What the step chose by itself: ``gamma`` of v-mdav, ``heuristic`` of a path.
    chosen: Mapping[str, str | Finite] = {}

    @property
    def rounded(self) -> "Stage":
        """Return the stage with its seconds rounded to milliseconds, as reports have it."""
        return Stage(self.name, self.information_loss, round(self.seconds, 3), self.chosen)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partition(Displayed):
    """Groups of at least k records.

    Attributes
    ----------
    labels
        Group of each record, shape (n,), int64, numbered 0..g-1 in the order in which groups first
        appear.
    centroids
        Mean record of each group in the units of the input, shape (g, p).
    sse, sst
        Within-group and total sum of squares of the standardised records, and of weighted columns
        if there were weights.
    path_length
        Length of the Hamiltonian path on standardised records; None if the method has no path.
    stages
        IL and seconds after each step, and what the step chose by itself: the gamma of v-mdav, the
        path of hm2.
    stopped
        Whether Ctrl-C ended the search early: then a seed does not repeat it.

    Examples
    --------
    >>> import trajanon
    >>> partition = trajanon.microaggregate([[0.0], [1.0], [10.0], [11.0]], k=2)
    >>> partition.sizes.tolist(), partition.aggregated.tolist()
    ([2, 2], [[0.5], [0.5], [10.5], [10.5]])
    >>> round(partition.information_loss, 2)  # SSE 1, SST 101
    0.99
    """

    labels: Ints
    centroids: Floats
    sse: float
    sst: float
    path_length: float | None
    stages: tuple[Stage, ...]
    stopped: bool = False

    @property
    def sizes(self) -> Ints:
        """Count the records in each group, shape (g,)."""
        return np.bincount(self.labels)

    @property
    def information_loss(self) -> float:
        """Compute IL = 100 SSE / SST, percent."""
        return loss.information_loss(self.sse, self.sst)

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """List what is displayed of the partition."""
        n = len(self.labels)
        p = self.centroids.shape[1]
        groups = (
            f"{number_of(len(self.sizes), 'group')} of {self.sizes.min()} to {self.sizes.max()}"
        )
        facts = [
            ("Partition", f"{number_of(n, 'record')} of {number_of(p, 'number')} in {groups}"),
            ("Information loss", f"{self.information_loss:.4g} %"),
            ("Stages", ", ".join(stage.name for stage in self.stages)),
        ]
        return [*facts, ("Stopped", "stopped by Ctrl-C")] if self.stopped else facts

    def lines(self, points: Floats) -> Floats:
        """Return centroids as lines, (g, m, 2): the records are the trajectories ``points``."""
        return self.centroids.reshape(-1, *points.shape[1:])

    @property
    def aggregated(self) -> Floats:
        """Return each record's centroid, shape (n, p): the microaggregated table."""
        return self.centroids[self.labels]


def regrouped(
    partition: Partition, X: Floats, labels: Ints, weights: Floats | None = None
) -> Partition:
    """Return a partition with other labels, measured on records X, (n, p); its stages stay."""
    records = standardise(X, weights)
    return replace(
        partition,
        labels=labels,
        centroids=group_means(X, labels),
        sse=loss.sse(records, labels),
        sst=loss.sum_of_squares(records),
    )


def measured(
    X: Floats, labels: Ints, step: str, since: float, weights: Floats | None = None
) -> Partition:
    """Measure groups that no search formed on records X, (n, p), as a partition with one stage.

    The stage has the name of a step that began when `perf_counter` showed ``since``.
    """
    partition = regrouped(unmeasured(X, labels), X, labels, weights)
    stage = Stage(step, partition.information_loss, perf_counter() - since)
    return replace(partition, stages=(stage,))


def unmeasured(X: Floats, labels: Ints) -> Partition:
    """Return groups of records X, (n, p), without their loss and their means."""
    return Partition(labels, X[:0], sse=0.0, sst=0.0, path_length=None, stages=())
