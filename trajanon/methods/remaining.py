"""Records still without a group, and the steps of every grouping by distance."""

from functools import cached_property

import numpy as np

from trajanon._kernels.mdav import nearest_centroid
from trajanon.arrays import Floats, Ints
from trajanon.loss import group_means
from trajanon.methods.leaves import Leaves
from trajanon.problem import Problem


class Remaining:
    """Records still without a group; the progress shows ``task``."""

    def __init__(self, problem: Problem, task: str = "") -> None:
        self.problem, self.task = problem, task
        self.labels = np.full(len(problem.records), -1, dtype=np.int64)
        self.count = len(problem.records)  # of remaining records
        self.groups = 0
        self._held = np.bincount(problem.subjects)
        self._subjects = int(np.count_nonzero(self._held))
        self._sum = problem.records.sum(axis=0)

    @cached_property
    def leaves(self) -> Leaves:
        """The remaining records, by place."""
        return Leaves(self.problem.records)

    def enough_for(self, groups: int) -> bool:
        """Whether there are k records for each of some groups, and k subjects."""
        return self.count >= groups * self.problem.k and self._subjects >= self.problem.k

    def centroid(self) -> Floats:
        """Mean of the remaining records."""
        return np.asarray(self._sum / self.count)

    def group_round(self, seed: int) -> Ints:
        """Group a record with its k - 1 nearest, each of another subject."""
        others = self.leaves.nearest(seed, self.problem.subjects, self.problem.k - 1)
        members = np.append(others, seed)
        self.join(members, self.groups)
        self.groups += 1
        return members

    def join(self, members: Ints, group: int) -> None:
        """Give records of different subjects to a group."""
        self.labels[members] = group
        self.leaves.take(members)
        self.count -= len(members)
        self._sum = self._sum - self.problem.records[members].sum(axis=0)
        whose = self.problem.subjects[members]
        self._held[whose] -= 1
        self._subjects -= int(np.count_nonzero(self._held[whose] == 0))

    def join_nearest(self) -> Ints:
        """Give every remaining record to the group with the nearest centroid; all labels."""
        records, grouped = self.problem.records, self.labels >= 0
        centroids = group_means(records[grouped], self.labels[grouped])
        for record in np.flatnonzero(~grouped):
            self.labels[record] = nearest_centroid(records[record], centroids)
        self.count = 0
        return self.labels

    def finished(self) -> Ints:
        """Make the rest a group of its own, if it holds k subjects; the group of each record."""
        if self.enough_for(1):
            self.labels[self.labels < 0] = self.groups
            self.count = 0
        else:
            self.join_nearest()
        self.tell()
        return self.labels

    def tell(self) -> None:
        """Say how many records have a group."""
        n = len(self.labels)
        self.problem.progress(self.task, n - self.count, n)
