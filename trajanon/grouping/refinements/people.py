"""Groups of which people are averaged: records move to where the mean of people is nearer."""

from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.workers import in_parts
from trajanon.grouping.axes import leading_axes, turn
from trajanon.grouping.loss import group_means, sums_of_products
from trajanon.grouping.neighbours import DETAIL, nearest_points
from trajanon.grouping.partition import member_weights, subjects_per_group

_NEAR = 16  # groups that a record may move to
_TINY = 1e-9  # of the sum of all squares: a gain below it is rounding
_ROWS_PER_BATCH = 10_000


def nearer_to_people(records: Floats, labels: Ints, subjects: Ints, k: int) -> Ints:
    """Move records, one by one, to near groups that lose less to the mean of their people.

    The search counts records, so one person with many records in a group holds its mean near them.
    Where all records of a person count together as one, some of them may be nearer to another
    group. Looked at are groups that hold somebody several times; each keeps k different subjects.
    """
    from scipy.spatial import cKDTree

    subjects, labels = dense(subjects), dense(labels)
    several = subjects_per_group(labels, subjects) < np.bincount(labels)
    if not several.any():
        return labels
    products = sums_of_products(records)
    tiny = _TINY * float(products.trace())
    records = turn(records, leading_axes(products, DETAIL * float(products.trace())))
    tree = cKDTree(group_means(records, labels, member_weights(labels, subjects)))
    near = nearest_points(tree, records, min(_NEAR, tree.n))[1]
    changed = np.ones(tree.n, dtype=np.bool_)
    while changed.any():
        held = _Held.of(records, labels, subjects)
        size, people = held.sums[:, :2].T
        own = held.of_person(labels, subjects)[0]
        may_leave = (people < size)[labels] & ((people[labels] > k) | (own > 1))
        rows = np.flatnonzero(may_leave & (changed[labels] | changed[near].any(axis=1)))
        gains = held.gains(rows, records, labels, subjects, near)
        best = gains.argmax(axis=1)
        group, gain = near[rows, best], gains.max(axis=1)
        changed[:] = False
        for move in np.argsort(-gain, kind="stable")[: int((gain > tiny).sum())]:
            both = [labels[rows[move]], group[move]]
            if not changed[both].any():  # since its gain was computed
                changed[both] = True
                labels[rows[move]] = group[move]
    return labels


class _Held(NamedTuple):
    """What groups hold, and what they hold of each person."""

    sums: (
        Floats  # of each group: records, people, squares, records' and people's sums, (g, 3 + 2 p)
    )
    keys: Ints  # a number for each group and person in it, rising, (q,)
    number: Ints  # of the person's records, (q,)
    total: Floats  # of these, (q, p)

    @classmethod
    def of(cls, records: Floats, labels: Ints, subjects: Ints) -> "_Held":
        """Sum up records."""
        pairs = labels * len(subjects) + subjects
        keys, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
        number = np.bincount(pair)
        total, squares = _added(records, pair), np.bincount(pair, (records**2).sum(axis=1))
        means = total / number[:, None]
        of_person = np.column_stack([number, np.ones(len(keys)), squares, total, means])
        return cls(_added(of_person, labels[first]), keys, number, total)

    def of_person(self, groups: Ints, subjects: Ints) -> tuple[Ints, Floats]:
        """Count a person's records in a group, and sum them; nothing where there are none."""
        keys = groups * int(self.number.sum()) + subjects
        place = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        there = self.keys[place] == keys
        return self.number[place] * there, self.total[place] * there[:, None]

    def gains(
        self, rows: Ints, records: Floats, labels: Ints, subjects: Ints, near: Ints
    ) -> Floats:
        """Compute what moving each record to each near group gains, (n, c)."""
        lost = _lost(self.sums)

        def risen(groups: Ints, some: Ints, sign: int) -> Floats:
            """Compute by how much the loss of each group rises if a record joins it, or leaves."""
            number, total = self.of_person(groups, subjects[some])
            moved, after = sign * records[some], number + sign
            before = total / np.maximum(number, 1)[:, None]
            behind = (total + moved) / np.maximum(after, 1)[:, None]
            people, squares = (after > 0) * 1.0 - (number > 0), (moved**2).sum(axis=1)
            signs = np.full(len(some), float(sign))
            change = [signs, people, signs * squares, moved, behind - before]
            return np.asarray(_lost(self.sums[groups] + np.column_stack(change)) - lost[groups])

        def of_batch(some: Ints, _: Event) -> Floats:
            joined = np.column_stack([risen(groups, some, 1) for groups in near[some].T])
            gains = -joined - risen(labels[some], some, -1)[:, None]
            gains[near[some] == labels[some, None]] = -np.inf
            return np.asarray(gains)

        return np.concatenate(in_parts(of_batch, rows, _ROWS_PER_BATCH))


def _added(rows: Floats, labels: Ints) -> Floats:
    """Add up the rows of each group."""
    return np.asarray(np.bincount(labels)[:, None] * group_means(rows, labels))


def _lost(sums: Floats) -> Floats:
    """Compute from sums of groups their squared distances to the mean of their people, (g,)."""
    size, people, squares = sums[:, :3].T
    total, means = np.hsplit(sums[:, 3:], 2)
    middle = means / people[:, None]
    return np.asarray(squares + size * (middle**2).sum(axis=1) - 2.0 * (middle * total).sum(axis=1))
