"""Records still without a group, and the steps of every grouping by distance."""

import numpy as np

from trajanon._kernels.mdav import farthest, nearest_centroid, nearest_of_other_subjects
from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means
from trajanon.partition import dense, subjects_per_group


class Remaining:
    """Records still without a group."""

    def __init__(self, records: Floats, k: int, subjects: Ints) -> None:
        self.records, self.k, self.subjects = records, k, subjects
        self.labels = np.full(len(records), -1, dtype=np.int64)
        self.rows = np.arange(len(records), dtype=np.int64)
        self.groups = 0
        self._held = np.bincount(subjects)
        self.subjects_left = int(np.count_nonzero(self._held))
        self._sum = records.sum(axis=0)

    def __len__(self) -> int:
        return len(self.rows)

    def centroid(self) -> Floats:
        """Mean of the remaining records."""
        mean: Floats = self._sum / len(self.rows)
        return mean

    def farthest_from(self, point: Floats) -> int:
        """The remaining record farthest from a point."""
        return int(farthest(self.records, self.rows, point))

    def group_round(self, seed: int) -> Ints:
        """Group a record with its k - 1 nearest, each of another subject."""
        others = nearest_of_other_subjects(self.records, self.rows, self.subjects, seed, self.k - 1)
        members = np.append(others, seed)
        self.group(members)
        return members

    def group(self, members: Ints) -> None:
        """Make records a group of their own."""
        self.groups += 1
        self.join(members, self.groups - 1)

    def join(self, members: Ints, group: int) -> None:
        """Give records to a group."""
        self.labels[members] = group
        self._sum = self._sum - self.records[members].sum(axis=0)
        np.subtract.at(self._held, self.subjects[members], 1)
        self.subjects_left = int(np.count_nonzero(self._held))
        self.rows = self.rows[self.labels[self.rows] < 0]

    def join_nearest(self) -> None:
        """Give every remaining record to the group with the nearest centroid."""
        grouped = self.labels >= 0
        centroids = group_means(self.records[grouped], self.labels[grouped])
        for record in self.rows:
            self.labels[record] = nearest_centroid(self.records[record], centroids)
        self.rows = self.rows[:0]


def mended(records: Floats, labels: Ints, subjects: Ints, k: int) -> Ints:
    """Let members of groups of fewer than k subjects join the nearest other group."""
    labels = dense(labels)
    whole = subjects_per_group(labels, subjects) >= k
    if not whole.any():
        return np.zeros_like(labels)
    remaining = Remaining(records, k, subjects)
    remaining.labels = np.where(whole, np.cumsum(whole) - 1, -1)[labels]
    remaining.rows = np.flatnonzero(remaining.labels < 0)
    remaining.join_nearest()
    return dense(remaining.labels)
