"""A k-partition, and the promise it keeps."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.number_text import UNITS, number_of
from trajanon.grouping import loss
from trajanon.trajectories.subjects import Nameless


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the search, and where it arrived."""

    name: str  # the method or refinement
    information_loss: float | None  # IL after it, percent
    seconds: float  # wall time it took
    # What the step chose by itself: ``gamma`` of v-mdav, ``heuristic`` of a path.
    chosen: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def account(self) -> dict[str, Any]:
        """Return the stage for JSON; nothing chosen is left out."""
        account = asdict(self) | {"seconds": round(self.seconds, 3)}
        if not self.chosen:
            del account["chosen"]
        return account


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
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

    def lines(self, points: Floats) -> Floats:
        """Return centroids as lines, (g, m, 2), where records are trajectories, (n, m, 2)."""
        return self.centroids.reshape(-1, *points.shape[1:])

    @property
    def aggregated(self) -> Floats:
        """Return each record's centroid, shape (n, p): the microaggregated table."""
        return self.centroids[self.labels]


def check_k(k: int) -> None:
    """Refuse a group size that is no promise."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise BadInput(f"k must be a whole number (got {k!r})")
    if k < 2:
        raise BadInput(f"k must be at least 2 (got {k}): a group of 1 hides nobody")


def check_enough(
    n: int,
    k: int,
    different: int | None = None,
    unit: str = "record",
    nameless: Nameless | None = None,
) -> None:
    """Refuse records that cannot form a group of k, or different subjects, where these count."""
    check_k(k)
    units = UNITS.get(unit, "records")
    counted = number_of(n, unit, units)

    if n < k:
        raise TooFewRecords(f"{counted} cannot form a group of k = {k}; lower k or add {units}")

    if different is not None and different < k:
        raise TooFewSubjects(
            f"the {counted} come from {number_of(different, 'subject')}, and k = {k} needs "
            f"{k} different ones in each group; lower k or add subjects{_way_out(nameless)}"
        )


def _way_out(nameless: Nameless | None) -> str:
    """Write what helps if recordings without a name count as one subject."""
    if nameless is None or nameless.recordings < 2 or nameless.subjects > 1:
        return ""
    return (
        f"; {nameless.recordings:,} recordings without a name count as one person: extract with "
        "`columns` nameless=different if each is a person's own"
    )


def subjects_per_group(labels: Ints, subjects: Ints) -> Ints:
    """Count the different subjects in each group, shape (g,)."""
    # The pairs below must fit into 64 bits.
    if len(subjects) and (subjects.min() < 0 or subjects.max() > len(subjects)):
        subjects = dense(subjects)

    # A pair as one number: rows of two are sorted ten times as slowly.
    count = int(subjects.max(initial=0)) + 1
    pairs = np.sort(labels * count + subjects)
    first = np.diff(pairs, prepend=-1) > 0
    return np.bincount(pairs[first] // count)


def member_weights(labels: Ints, subjects: Ints | None) -> Floats:
    """Return what each record counts in the mean of its group, (n,): they add up to 1 in each.

    All records that a person has in a group count together as one, so people are averaged. Without
    subjects each record is somebody's.

    >>> member_weights(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 7])).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    if subjects is None:
        return np.asarray(1.0 / np.bincount(labels)[labels])

    people = dense(subjects)
    pair = dense(labels * (people.max(initial=0) + 1) + people)
    records_of_person = np.bincount(pair)[pair]
    return np.asarray(1.0 / (subjects_per_group(labels, people)[labels] * records_of_person))


def broken_promises(labels: Ints, subjects: Ints, k: int) -> int:
    """Count groups with fewer than k different subjects."""
    return int((subjects_per_group(labels, subjects) < k).sum())


def regrouped(
    partition: Partition, X: Floats, labels: Ints, weights: Floats | None = None
) -> Partition:
    """Return a partition with other records, weighted columns, or other groups."""
    records = loss.standardise(X, weights)
    return replace(
        partition,
        labels=labels,
        centroids=loss.group_means(X, labels),
        sse=loss.sse(records, labels),
        sst=loss.sum_of_squares(records),
    )


def measured(
    X: Floats, labels: Ints, step: str, since: float, weights: Floats | None = None
) -> Partition:
    """Measure groups that no search gave; ``since`` is when the step to them began."""
    records = loss.standardise(X, weights)
    sse = loss.sse(records, labels)
    sst = loss.sum_of_squares(records)
    stage = Stage(step, loss.information_loss(sse, sst), perf_counter() - since)
    return Partition(labels, loss.group_means(X, labels), sse, sst, None, (stage,))
