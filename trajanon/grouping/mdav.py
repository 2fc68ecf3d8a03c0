"""MDAV: groups of k round the records farthest from the middle."""

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.mdav import (
    farthest,
    nearest_centroid,
    nearest_of_other_subjects,
)
from trajanon.loss import group_means
from trajanon.progress import Progress, silent


def mdav(
    records: NDArray[np.float64],
    k: int,
    subjects: NDArray[np.int64],
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Group records round the farthest ones, k at a time ("classic" MDAV).

    While 3k records remain: the record farthest from their centroid takes its k - 1
    nearest, then the record farthest from that one does. Of 2k to 3k - 1 the farthest
    from the centroid takes its k - 1 nearest; the last k to 2k - 1 are one group.

    With subjects, a record takes the nearest record of each of the k - 1 nearest other
    subjects. What remains when fewer than k subjects do joins the groups with the
    nearest centroids, so a group may then be larger than 2k - 1.

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,), numbered from 0; at least k different.
        ``arange(n)`` counts records.
    progress
        Told of the records grouped.

    Returns
    -------
    NDArray[np.int64]
        Group of each record, shape (n,).

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented microaggregation for
    statistical disclosure control"; the variant without its final reassignment.
    """
    work = _Mdav(records, k, subjects)
    task, n = "Grouping by MDAV", len(records)
    while len(work.remaining) >= 3 * k and work.subjects_left >= k:
        seed = work.farthest_from(work.centroid())
        work.group_round(seed)
        if work.subjects_left >= k:
            work.group_round(work.farthest_from(records[seed]))
        progress(task, n - len(work.remaining), n)
    if len(work.remaining) >= 2 * k and work.subjects_left >= k:
        work.group_round(work.farthest_from(work.centroid()))
    if work.subjects_left >= k:
        work.group(work.remaining)
    else:
        work.join_nearest()
    progress(task, n, n)
    return work.labels


class _Mdav:
    """The records still without a group."""

    def __init__(
        self, records: NDArray[np.float64], k: int, subjects: NDArray[np.int64]
    ) -> None:
        self.records, self.k, self.subjects = records, k, subjects
        self.labels = np.full(len(records), -1, dtype=np.int64)
        self.remaining = np.arange(len(records), dtype=np.int64)
        self.held = np.bincount(subjects)
        self.subjects_left = int(np.count_nonzero(self.held))
        self.groups = 0
        self._sum = records.sum(axis=0)

    def centroid(self) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = self._sum / len(self.remaining)
        return mean

    def farthest_from(self, point: NDArray[np.float64]) -> int:
        return int(farthest(self.records, self.remaining, point))

    def group_round(self, seed: int) -> None:
        others = nearest_of_other_subjects(
            self.records, self.remaining, self.subjects, seed, self.k - 1
        )
        self.group(np.append(others, seed))

    def group(self, members: NDArray[np.int64]) -> None:
        self.labels[members] = self.groups
        self.groups += 1
        self._sum = self._sum - self.records[members].sum(axis=0)
        np.subtract.at(self.held, self.subjects[members], 1)
        self.subjects_left = int(np.count_nonzero(self.held))
        self.remaining = self.remaining[self.labels[self.remaining] < 0]

    def join_nearest(self) -> None:
        grouped = self.labels >= 0
        centroids = group_means(self.records[grouped], self.labels[grouped])
        for record in self.remaining:
            self.labels[record] = nearest_centroid(self.records[record], centroids)
        self.remaining = self.remaining[:0]
