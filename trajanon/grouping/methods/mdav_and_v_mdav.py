"""Groups round far records and their nearest: MDAV, MD, V-MDAV and CBFS."""

from math import sqrt

import numpy as np

from trajanon._kernels.far_records import farthest_pair, nearest_to_group
from trajanon.common.arrays import Floats, Ints
from trajanon.common.method_parameters import VMdavParameters
from trajanon.grouping.loss import group_means, sse
from trajanon.grouping.problem import Problem

_PACKED = 0.75
"""Share of the places with a record that remains, below which the others are left out."""


class Remaining:
    """Records still without a group; the progress shows ``task``."""

    def __init__(self, problem: Problem, task: str = "") -> None:
        records = problem.records
        self.problem = problem
        self.task = task
        self.labels = np.full(len(records), -1, dtype=np.int64)
        self.count = len(records)
        self.groups = 0
        self._records_of_subject = np.bincount(problem.subjects)
        self._subjects = int(np.count_nonzero(self._records_of_subject))
        self._sum = records.sum(axis=0)
        self._are_equal = False  # once it is known of those that remain

        self._radius = sqrt((records**2).sum(axis=1).max())
        self._epsilon = float(np.finfo(records.dtype).eps)
        self._pack()

    def _pack(self) -> None:
        """Copy the remaining records to where they stand together."""
        self._rows = self.rows
        self._subject_of = self.problem.subjects[self._rows]
        records = self.problem.records[self._rows]
        self._minus_twice = np.ascontiguousarray(-2.0 * records.T)

        # Those that leave are infinitely far for who looks near, and the other way round.
        self._squares = (records**2).sum(axis=1)
        self._squares_if_far = self._squares.copy()

    @property
    def rows(self) -> Ints:
        """Return the remaining records, in their order."""
        return np.flatnonzero(self.labels < 0)

    def enough_for(self, groups: int) -> bool:
        """Return whether k records for each of some groups, and k subjects, are left."""
        return self.count >= groups * self.problem.k and self._subjects >= self.problem.k

    def centroid(self) -> Floats:
        """Return the mean of the remaining records."""
        return np.asarray(self._sum / self.count)

    def farthest(self, point: Floats) -> int:
        """Find the remaining record farthest from a point, the first of equals."""
        # |x - y|² less |y|², by one product with all records: fast, but rounded. Those that may be
        # the farthest are then measured exactly, as ties decide which groups are formed.
        away = point @ self._minus_twice
        away += self._squares_if_far
        candidates = (away >= away.max() - self._rounding(point)).nonzero()[0]
        distances = self._distances(candidates, point)
        self._are_equal |= len(candidates) == self.count and not distances.any()
        return int(self._rows[candidates[distances.argmax()]])

    def nearest_of_other_subjects(self, centre: int, count: int) -> Ints:
        """Find the nearest records of other subjects, one of each, the first of equals."""
        point = self.problem.records[centre]
        away = point @ self._minus_twice
        away += self._squares

        # A subject may have several of the nearest: then look at more of them.
        looked_at = count
        while True:
            looked_at = min(2 * looked_at, self.count)
            limit = np.partition(away, looked_at - 1)[looked_at - 1] + self._rounding(point)
            candidates = (away <= limit).nonzero()[0]
            by_distance = np.argsort(self._distances(candidates, point), kind="stable")
            nearest = candidates[by_distance[:looked_at]]

            record_of: dict[int, int] = {}
            subjects = self._subject_of[nearest].tolist()
            for subject, record in zip(subjects, self._rows[nearest].tolist(), strict=True):
                record_of.setdefault(subject, record)
            record_of.pop(int(self.problem.subjects[centre]), None)

            if len(record_of) >= count or looked_at == self.count:
                return np.array(list(record_of.values())[:count], dtype=np.int64)

    def _rounding(self, point: Floats) -> float:
        """Bound by how much two distances by a product of matrices may be in the wrong order."""
        reach = self._radius + sqrt(point @ point)
        return 4.0 * (len(point) + 4) * self._epsilon * reach**2

    def _distances(self, places: Ints, point: Floats) -> Floats:
        """Square the distances of remaining records to a point, to the last digit."""
        if self._are_equal:
            return np.zeros(len(places))
        away = self.problem.records[self._rows[places]]
        away -= point
        away *= away
        return np.asarray(away.sum(axis=1))

    def group_round(self, seed: int) -> Ints:
        """Group a record with its k - 1 nearest, each of another subject."""
        near = self.nearest_of_other_subjects(seed, self.problem.k - 1)
        members = np.append(near, seed)
        self.join(members, self.groups)
        self.groups += 1
        return members

    def join(self, members: Ints, group: int) -> None:
        """Put records of different subjects into a group."""
        self.labels[members] = group
        self.count -= len(members)
        # Subtracted, not added up again: MDAV asks for the centroid of the rest after each group.
        self._sum = self._sum - self.problem.records[members].sum(axis=0)

        subjects = self.problem.subjects[members]
        self._records_of_subject[subjects] -= 1
        self._subjects -= int(np.count_nonzero(self._records_of_subject[subjects] == 0))

        places = np.searchsorted(self._rows, members)
        self._squares[places] = np.inf
        self._squares_if_far[places] = -np.inf
        if self.count < _PACKED * len(self._rows):
            self._pack()

    def join_nearest(self) -> Ints:
        """Put every remaining record into the group with the nearest centroid; all labels."""
        records = self.problem.records
        grouped = self.labels >= 0
        centroids = group_means(records[grouped], self.labels[grouped])
        for record in self.rows:
            away = ((centroids - records[record]) ** 2).sum(axis=1)
            self.labels[record] = int(away.argmin())

        self.count = 0
        return self.labels

    def finished(self) -> Ints:
        """Make the rest a group of its own, if it holds k subjects; the group of each record."""
        if self.enough_for(1):
            self.labels[self.rows] = self.groups
            self.count = 0
        else:
            self.join_nearest()
        self.report()
        return self.labels

    def report(self) -> None:
        """Report how many records have a group."""
        n = len(self.labels)
        self.problem.progress(self.task, n - self.count, n)


def mdav(problem: Problem) -> Ints:
    """Group records round the farthest ones, k at a time ("classic" MDAV).

    While 3k records remain: the record farthest from their centroid takes its k - 1 nearest, then
    the record farthest from that one does. Of 2k to 3k - 1 the farthest from the centroid takes its
    k - 1 nearest; the last k to 2k - 1 are one group.

    With subjects, a record takes the nearest record of each of the k - 1 nearest other subjects.
    What remains when fewer than k subjects do joins the groups with the nearest centroids, so a
    group may then be larger than 2k - 1.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented microaggregation for
    statistical disclosure control"; the variant without its final reassignment.

    Examples
    --------
    The mean is 15.4. Farthest from it is 1, which takes 5; farthest from 1 is 26, which takes 23.
    Of the other four, 8 is farthest from their mean, and takes 17:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="mdav", refine="none").labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    left = Remaining(problem, "Grouping by MDAV")
    while left.enough_for(3):
        seed = left.farthest(left.centroid())
        left.group_round(seed)
        if left.enough_for(1):
            left.group_round(left.farthest(problem.records[seed]))
        left.report()

    if left.enough_for(2):
        left.group_round(left.farthest(left.centroid()))
    return left.finished()


def md(problem: Problem) -> Ints:
    """Group records round the two farthest from each other, k at a time.

    While 2k records remain: of the two remaining records with the greatest distance, one takes its
    k - 1 nearest, then the other does, if the first has left it. The last k to 2k - 1 are one
    group; where subjects leave fewer than k of them, they join the groups with the nearest
    centroids.

    References
    ----------
    "Maximum Distance" of Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented
    microaggregation for statistical disclosure control".

    Examples
    --------
    The two farthest from each other are 1 and 26; of those left, 8 and 22. Each takes its nearest:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="md", refine="none").labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    records = problem.records
    left = Remaining(problem, "Grouping by maximum distance")
    radius = np.sqrt(((records - records.mean(axis=0)) ** 2).sum(axis=1))
    outer_first = np.argsort(-radius, kind="stable")

    # Of each record: the farthest one that was found last, and how far it was.
    opposite = np.full(len(records), -1, dtype=np.int64)
    reach = np.full(len(records), np.inf)

    while left.enough_for(2):
        outer_first = outer_first[left.labels[outer_first] < 0]
        pair = farthest_pair(records, outer_first, radius, opposite, reach, left.labels)
        for seed in pair:
            if left.enough_for(2) and left.labels[seed] < 0:
                left.group_round(int(seed))
        left.report()
    return left.finished()


GAMMAS = tuple(step / 20 for step in range(41))  # 0, 0.05, ..., 2


def v_mdav(problem: Problem) -> Ints:
    """Group records round the farthest ones, k to 2k - 1 at a time.

    The record farthest from the centroid of all records takes its k - 1 nearest. Then the record e
    nearest to the group joins while its distance to the nearest member is below gamma times that to
    the nearest other record without a group, up to 2k - 1 records. What remains when fewer than k
    do joins the groups with the nearest centroids, so a group may then be larger. If no gamma is
    named, the one of 41 from 0 to 2 that loses least is taken.

    References
    ----------
    Solanas, Martínez-Ballesté (2006), "V-MDAV: a multivariate microaggregation with
    variable group size". Maya-López, thesis (URV 2023), section 4.3.1, reports the best of
    several gamma from 0 to 2 (its footnote 3), without their step.

    Examples
    --------
    The group of 1 and 5 grows by 8, and that of 26 and 23 by 22:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="v-mdav", refine="none").labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """
    gamma = problem.parameters_of(VMdavParameters).gamma
    if gamma is not None:
        return grown(problem, gamma)

    labels_of = {gamma: grown(problem, gamma) for gamma in GAMMAS}
    lost = {gamma: sse(problem.records, labels) for gamma, labels in labels_of.items()}
    best = min(GAMMAS, key=lost.__getitem__)
    problem.log.chosen["gamma"] = best
    return labels_of[best]


def cbfs(problem: Problem) -> Ints:
    """Group records round those farthest from the centroid of all, k at a time.

    This is V-MDAV with gamma 0: the centroid is computed once, and groups never grow.

    References
    ----------
    Laszlo, Mukherjee (2005), "Minimum spanning tree partitioning algorithm for
    microaggregation".

    Examples
    --------
    The mean is 15.4. Farthest from it is 1, then 26, then 8; each takes its nearest:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="cbfs", refine="none").labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    return grown(problem, 0.0)


def grown(problem: Problem, gamma: float) -> Ints:
    """Group as V-MDAV does, with one gamma."""
    records = problem.records
    left = Remaining(problem, "Grouping by V-MDAV")
    centroid = records.mean(axis=0)
    while left.enough_for(1):
        members = left.group_round(left.farthest(centroid))
        while gamma > 0.0 and left.count and len(members) < 2 * problem.k - 1:
            rows = left.rows
            near, inside = nearest_to_group(records, rows, members)
            others = rows[rows != near]
            _, outside = nearest_to_group(records, others, np.array([near]))
            # Both distances are squared.
            if inside >= gamma * gamma * outside:
                break
            members = np.append(members, near)
            left.join(members[-1:], left.groups - 1)
        left.report()
    return left.join_nearest()
