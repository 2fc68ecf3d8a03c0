"""MDAV, V-MDAV, MD and CBFS: groups are formed round far records, of the records nearest to them.

The methods differ in which far record is next, and in whether a group may grow beyond k. What has
no group yet is kept by `Remaining`. Labels, (n,), number the group of each record from 0.
"""

from math import sqrt

import numpy as np

from trajanon._kernels.far_records import farthest_pair, nearest_to_group
from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.group_means import group_means
from trajanon.grouping.loss import sse
from trajanon.grouping.problem import Problem

_LEAST_SHARE_PACKED = 0.75
"""Share of the packed records that remain, below which these are packed again."""


class Remaining:
    """Records that have no group yet, and the groups formed so far.

    To find near and far ones fast, the remaining records are copied side by side ("packed"). Those
    that get a group stay among the copies, but count as infinitely far, or near, until a quarter of
    the copies are such: then the rest is packed again.
    """

    def __init__(self, problem: Problem, task: str = "") -> None:
        records = problem.records
        self.problem = problem
        self.task = task  # as the progress calls it
        self.labels = np.full(len(records), -1, dtype=np.int64)  # -1 for those without a group
        self.count = len(records)  # records without a group
        self.groups = 0  # formed so far
        self._records_of_subject = np.bincount(problem.subjects)  # without a group, by subject
        self._subject_count = int(np.count_nonzero(self._records_of_subject))
        self._sum = records.sum(axis=0)  # of the records without a group, (p,)
        self._all_equal = False  # whether they are known to be equal

        self._largest_norm = sqrt((records**2).sum(axis=1).max())
        self._epsilon = float(np.finfo(records.dtype).eps)
        self._pack()

    def _pack(self) -> None:
        """Copy the remaining records side by side: their rows, subjects and numbers."""
        self._rows = self.rows
        self._subjects = self.problem.subjects[self._rows]
        records = self.problem.records[self._rows]
        self._minus_twice = np.ascontiguousarray(-2.0 * records.T)  # (p, packed)

        # Squared norms, (packed,). Where near records are looked for, those that got a group since
        # are infinitely far; where far ones are, infinitely near.
        self._norms_if_near = (records**2).sum(axis=1)
        self._norms_if_far = self._norms_if_near.copy()

    @property
    def rows(self) -> Ints:
        """Return the rows of the remaining records, rising."""
        return np.flatnonzero(self.labels < 0)

    def enough_for(self, groups: int) -> bool:
        """Return whether k records for each of so many groups, and k subjects, are left."""
        return self.count >= groups * self.problem.k and self._subject_count >= self.problem.k

    def centroid(self) -> Floats:
        """Return the mean of the remaining records."""
        return np.asarray(self._sum / self.count)

    def farthest(self, point: Floats) -> int:
        """Find the remaining record farthest from a point, (p,), the first of equals."""
        # |x - y|² less |y|² of all records x and the point y, by one product: fast, but rounded.
        # Those that may be the farthest are then measured exactly, as ties decide which groups are
        # formed.
        rounded = point @ self._minus_twice
        rounded += self._norms_if_far
        candidates = (rounded >= rounded.max() - self._rounding(point)).nonzero()[0]
        squares = self._exact_squares(candidates, point)
        self._all_equal |= len(candidates) == self.count and not squares.any()
        return int(self._rows[candidates[squares.argmax()]])

    def nearest_of_other_subjects(self, centre: int, count: int) -> Ints:
        """Find the ``count`` records nearest to one, the centre, each of another subject.

        Of equals the first one is taken.
        """
        # As in `farthest`, rounded first.
        point = self.problem.records[centre]
        rounded = point @ self._minus_twice
        rounded += self._norms_if_near

        # A subject may have several of the nearest: then twice as many are looked at.
        looked_at = count
        while True:
            looked_at = min(2 * looked_at, self.count)
            limit = np.partition(rounded, looked_at - 1)[looked_at - 1] + self._rounding(point)
            candidates = (rounded <= limit).nonzero()[0]
            nearest_first = np.argsort(self._exact_squares(candidates, point), kind="stable")
            nearest = candidates[nearest_first[:looked_at]]

            record_of_subject: dict[int, int] = {}
            subjects = self._subjects[nearest].tolist()
            for subject, record in zip(subjects, self._rows[nearest].tolist(), strict=True):
                record_of_subject.setdefault(subject, record)
            record_of_subject.pop(int(self.problem.subjects[centre]), None)

            if len(record_of_subject) >= count or looked_at == self.count:
                return np.array(list(record_of_subject.values())[:count], dtype=np.int64)

    def _rounding(self, point: Floats) -> float:
        """Bound the difference of two squared distances that rounding may put in wrong order."""
        longest = self._largest_norm + sqrt(point @ point)
        # Each of the p products and some sums is off by half an epsilon, of either distance.
        return 4.0 * (len(point) + 4) * self._epsilon * longest**2

    def _exact_squares(self, places: Ints, point: Floats) -> Floats:
        """Square the distances from packed records, by their places, to a point, exactly."""
        if self._all_equal:
            return np.zeros(len(places))
        difference = self.problem.records[self._rows[places]]
        difference -= point
        difference *= difference
        return np.asarray(difference.sum(axis=1))

    def form_group(self, seed: int) -> Ints:
        """Make a group of a record and its k - 1 nearest, of k subjects; return its members."""
        near = self.nearest_of_other_subjects(seed, self.problem.k - 1)
        members = np.append(near, seed)
        self.join(members, self.groups)
        self.groups += 1
        return members

    def join(self, members: Ints, group: int) -> None:
        """Put records of different subjects into a group: they remain no longer."""
        self.labels[members] = group
        self.count -= len(members)
        # Subtracted, not added up again: MDAV asks for the centroid of the rest after each group.
        self._sum = self._sum - self.problem.records[members].sum(axis=0)

        subjects = self.problem.subjects[members]
        self._records_of_subject[subjects] -= 1
        self._subject_count -= int(np.count_nonzero(self._records_of_subject[subjects] == 0))

        places = np.searchsorted(self._rows, members)
        self._norms_if_near[places] = np.inf
        self._norms_if_far[places] = -np.inf
        if self.count < _LEAST_SHARE_PACKED * len(self._rows):
            self._pack()

    def join_nearest_groups(self) -> Ints:
        """Put each remaining record into the group with the nearest centroid; return all labels."""
        records = self.problem.records
        has_group = self.labels >= 0
        centroids = group_means(records[has_group], self.labels[has_group])
        for record in self.rows:
            squares = ((centroids - records[record]) ** 2).sum(axis=1)
            self.labels[record] = int(squares.argmin())

        self.count = 0
        return self.labels

    def group_rest(self) -> Ints:
        """Make one group of the rest if it has k subjects, or share it out; return all labels."""
        if self.enough_for(1):
            self.labels[self.rows] = self.groups
            self.count = 0
        else:
            self.join_nearest_groups()
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
    remaining = Remaining(problem, "Grouping by MDAV")
    while remaining.enough_for(3):
        seed = remaining.farthest(remaining.centroid())
        remaining.form_group(seed)
        # With subjects, the first group may leave fewer than k of them.
        if remaining.enough_for(1):
            opposite = remaining.farthest(problem.records[seed])
            remaining.form_group(opposite)
        remaining.report()

    if remaining.enough_for(2):
        remaining.form_group(remaining.farthest(remaining.centroid()))
    return remaining.group_rest()


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
    remaining = Remaining(problem, "Grouping by maximum distance")
    radius = np.sqrt(((records - records.mean(axis=0)) ** 2).sum(axis=1))
    outer_first = np.argsort(-radius, kind="stable")

    # Of each record: the one farthest from it when that was last searched, and how far it was.
    # `farthest_pair` fills them in, and searches again only where they no longer hold.
    opposite = np.full(len(records), -1, dtype=np.int64)
    reach = np.full(len(records), np.inf)

    while remaining.enough_for(2):
        outer_first = outer_first[remaining.labels[outer_first] < 0]
        pair = farthest_pair(records, outer_first, radius, opposite, reach, remaining.labels)
        for seed in pair:
            # The second of the pair may have joined the group of the first.
            if remaining.enough_for(2) and remaining.labels[seed] < 0:
                remaining.form_group(int(seed))
        remaining.report()
    return remaining.group_rest()


GAMMAS = tuple(step / 20 for step in range(41))  # 0, 0.05, ..., 2, for V-MDAV to choose from


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
    gamma = problem.settings.gamma
    if gamma is not None:
        return v_mdav_with_gamma(problem, gamma)

    labels_by_gamma = {gamma: v_mdav_with_gamma(problem, gamma) for gamma in GAMMAS}
    sse_by_gamma = {gamma: sse(problem.records, labels_by_gamma[gamma]) for gamma in GAMMAS}
    best = min(GAMMAS, key=sse_by_gamma.__getitem__)
    problem.log.chosen["gamma"] = best
    return labels_by_gamma[best]


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
    return v_mdav_with_gamma(problem, 0.0)


def v_mdav_with_gamma(problem: Problem, gamma: float) -> Ints:
    """Group as V-MDAV does, with one gamma."""
    records = problem.records
    remaining = Remaining(problem, "Grouping by V-MDAV")
    centroid = records.mean(axis=0)
    while remaining.enough_for(1):
        members = remaining.form_group(remaining.farthest(centroid))

        # The group grows by e, the remaining record nearest to it, while that is much nearer to the
        # group than to all other remaining records. Both distances are squared.
        while gamma > 0.0 and remaining.count and len(members) < 2 * problem.k - 1:
            rows = remaining.rows
            e, to_group = nearest_to_group(records, rows, members)
            _, to_others = nearest_to_group(records, rows[rows != e], np.array([e]))
            if to_group >= gamma * gamma * to_others:
                break
            members = np.append(members, e)
            remaining.join(members[-1:], remaining.groups - 1)
        remaining.report()
    return remaining.join_nearest_groups()
