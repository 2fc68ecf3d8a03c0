"""Records still without a group, and the steps of every grouping by distance."""

import numpy as np

from trajanon._kernels.mdav import farthest, nearest_centroid, nearest_of_other_subjects
from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means
from trajanon.partition import dense, subjects_per_group
from trajanon.problem import Problem


class Remaining:
    """Records still without a group; the progress shows ``task``."""

    def __init__(self, problem: Problem, task: str = "") -> None:
        self.problem, self.task = problem, task
        self.labels = np.full(len(problem.records), -1, dtype=np.int64)
        self.rows = np.arange(len(problem.records))  # of the remaining records
        self.groups = 0
        self._held = np.bincount(problem.subjects)
        self._subjects = int(np.count_nonzero(self._held))
        self._sum = problem.records.sum(axis=0)

    def enough_for(self, groups: int) -> bool:
        """Whether there are k records for each of some groups, and k subjects."""
        return len(self.rows) >= groups * self.problem.k and self._subjects >= self.problem.k

    def centroid(self) -> Floats:
        """Mean of the remaining records."""
        return np.asarray(self._sum / len(self.rows))

    def farthest_from(self, point: Floats) -> int:
        """The remaining record farthest from a point."""
        return int(farthest(self.problem.records, self.rows, point))

    def group_round(self, seed: int) -> Ints:
        """Group a record with its k - 1 nearest, each of another subject."""
        records, subjects, k = self.problem.records, self.problem.subjects, self.problem.k
        others = nearest_of_other_subjects(records, self.rows, subjects, seed, k - 1)
        members = np.append(others, seed)
        self.join(members, self.groups)
        self.groups += 1
        return members

    def join(self, members: Ints, group: int) -> None:
        """Give records to a group."""
        self.labels[members] = group
        self._sum = self._sum - self.problem.records[members].sum(axis=0)
        np.subtract.at(self._held, self.problem.subjects[members], 1)
        self._subjects = int(np.count_nonzero(self._held))
        self.rows = self.rows[self.labels[self.rows] < 0]

    def join_nearest(self) -> Ints:
        """Give every remaining record to the group with the nearest centroid; all labels."""
        records, grouped = self.problem.records, self.labels >= 0
        centroids = group_means(records[grouped], self.labels[grouped])
        for record in self.rows:
            self.labels[record] = nearest_centroid(records[record], centroids)
        self.rows = self.rows[:0]
        return self.labels

    def finished(self) -> Ints:
        """Make the rest a group of its own, if it holds k subjects; the group of each record."""
        if self.enough_for(1):
            self.join(self.rows, self.groups)
        else:
            self.join_nearest()
        self.tell()
        return self.labels

    def tell(self) -> None:
        """Say how many records have a group."""
        n = len(self.labels)
        self.problem.progress(self.task, n - len(self.rows), n)


def mended(problem: Problem, labels: Ints) -> Ints:
    """Let members of groups of fewer than k subjects join the nearest other group."""
    labels = dense(labels)
    whole = subjects_per_group(labels, problem.subjects) >= problem.k
    if not whole.any():
        return np.zeros_like(labels)
    remaining = Remaining(problem)
    remaining.labels = np.where(whole, np.cumsum(whole) - 1, -1)[labels]
    remaining.rows = np.flatnonzero(remaining.labels < 0)
    return dense(remaining.join_nearest())
