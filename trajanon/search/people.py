"""Groups of which people are averaged: records move to where the mean of people is nearer."""

from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.axes import leading_axes, turn
from trajanon.loss import group_means, sums_of_products
from trajanon.neighbours import DETAIL, nearest_points
from trajanon.partition import dense, member_weights, subjects_per_group
from trajanon.workers import in_parts

_NEAR = 16  # groups that a record may move to
_TINY = 1e-9  # of the largest square of a record: a gain below it is rounding
_ROWS_PER_BATCH = 10_000


def nearer_to_people(records: Floats, labels: Ints, subjects: Ints, k: int) -> Ints:
    """Move records, one by one, to near groups that lose less to the mean of their people.

    The search counts records, so one person with many records in a group holds its mean near them.
    Where all records of a person count together as one, some of them may be nearer to another
    group. Looked at are groups that hold somebody several times; each keeps k different subjects.
    """
    subjects, labels = dense(subjects), dense(labels)
    if (subjects_per_group(labels, subjects) == np.bincount(labels)).all():
        return labels
    products = sums_of_products(records)
    records = turn(records, leading_axes(products, DETAIL * float(products.trace())))
    near = _near_groups(records, labels, subjects)
    tiny = _TINY * float((records**2).sum(axis=1).max())
    changed = np.ones(int(labels.max()) + 1, dtype=np.bool_)
    while changed.any():
        held = _Held.of(records, labels, subjects)
        looked_at = changed[labels] | changed[near].any(axis=1)
        rows = np.flatnonzero(looked_at & held.may_leave(labels, subjects, k))
        group, gain = held.best_groups(rows, records, labels, subjects, near)
        changed[:] = False
        for move in np.argsort(-gain, kind="stable")[: int((gain > tiny).sum())]:
            both = [labels[rows[move]], group[move]]
            if not changed[both].any():  # since its gain was computed
                changed[both] = True
                labels[rows[move]] = group[move]
    return labels


class _Sums(NamedTuple):
    """Sums over groups, from which follows what they lose to the mean of their people."""

    sizes: Ints  # how many records, (g,)
    squares: Floats  # of all numbers of the records, (g,)
    total: Floats  # of the records, (g, p)
    people: Ints  # how many, (g,)
    means: Floats  # sum of the mean record of each person, (g, p)

    def take(self, groups: Ints) -> "_Sums":
        """Take some groups."""
        return _Sums(
            self.sizes[groups],
            self.squares[groups],
            self.total[groups],
            self.people[groups],
            self.means[groups],
        )

    @property
    def lost(self) -> Floats:
        """Sum the squared distances of the records to the mean of the people, (g,)."""
        middle = self.means / np.maximum(self.people, 1)[:, None]
        across = (middle * self.total).sum(axis=1)
        return np.asarray(self.squares + self.sizes * (middle**2).sum(axis=1) - 2.0 * across)

    def changed(self, records: Floats, sign: int, count: Ints, total: Floats) -> "_Sums":
        """Let a record join each group (1) or leave it (-1), which held so many of its person."""
        after, moved = count + sign, sign * records
        before = total / np.maximum(count, 1)[:, None]
        behind = (total + moved) / np.maximum(after, 1)[:, None]
        behind[after == 0] = 0.0
        return _Sums(
            self.sizes + sign,
            self.squares + sign * (records**2).sum(axis=1),
            self.total + moved,
            self.people + (after > 0) - (count > 0),
            self.means + behind - before,
        )


class _Held(NamedTuple):
    """What groups hold, and what they hold of each person."""

    sums: _Sums
    keys: Ints  # a number for each group and person in it, rising, (q,)
    number: Ints  # of the person's records, (q,)
    total: Floats  # of these, (q, p)

    @classmethod
    def of(cls, records: Floats, labels: Ints, subjects: Ints) -> "_Held":
        """Sum up records."""
        keys, first, pair, count = np.unique(
            labels * len(subjects) + subjects,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        means, group = group_means(records, pair), labels[first]
        people = np.bincount(group)
        sizes = np.bincount(labels)
        sums = _Sums(
            sizes,
            np.asarray(np.bincount(labels, (records**2).sum(axis=1))),
            sizes[:, None] * group_means(records, labels),
            people,
            people[:, None] * group_means(means, group),
        )
        return cls(sums, keys, count, count[:, None] * means)

    def of_people(self, groups: Ints, subjects: Ints) -> tuple[Ints, Floats]:
        """Count a person's records in a group, and sum them; nothing where there are none."""
        keys = groups * self.sums.sizes.sum() + subjects
        place = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        there = self.keys[place] == keys
        return self.number[place] * there, self.total[place] * there[:, None]

    def may_leave(self, labels: Ints, subjects: Ints, k: int) -> Bools:
        """Tell which records groups with somebody several times can lose."""
        several = self.sums.people < self.sums.sizes
        count, _ = self.of_people(labels, subjects)
        return np.asarray(several[labels] & ((self.sums.people[labels] > k) | (count > 1)))

    def best_groups(
        self, rows: Ints, records: Floats, labels: Ints, subjects: Ints, near: Ints
    ) -> tuple[Ints, Floats]:
        """Find the near group to which each record moves best, and what that gains."""

        def best(some: Ints, _: Event) -> tuple[Ints, Floats]:
            here, moved, people = labels[some], records[some], subjects[some]
            left = self.sums.take(here).changed(moved, -1, *self.of_people(here, people))
            gains = np.empty((len(some), near.shape[1]))
            for rank, there in enumerate(near[some].T):
                joined = self.sums.take(there).changed(moved, 1, *self.of_people(there, people))
                gains[:, rank] = lost[there] - joined.lost
            gains += (lost[here] - left.lost)[:, None]
            gains[near[some] == here[:, None]] = -np.inf
            rank = gains.argmax(axis=1)
            return near[some, rank], gains.max(axis=1)

        lost = self.sums.lost
        found = in_parts(best, rows, _ROWS_PER_BATCH)
        groups, gains = zip(*found, strict=True)
        return np.concatenate(groups), np.concatenate(gains)


def _near_groups(records: Floats, labels: Ints, subjects: Ints) -> Ints:
    """Find the groups whose means of people are nearest to each record, (n, c)."""
    from scipy.spatial import cKDTree

    tree = cKDTree(group_means(records, labels, member_weights(labels, subjects)))
    return nearest_points(tree, records, min(_NEAR, tree.n))[1]
