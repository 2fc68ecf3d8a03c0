"""Groups of which people are averaged: records move to where the mean of people is nearer."""

from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.workers import in_parts
from trajanon.grouping.axes import leading_axes, turn
from trajanon.grouping.k_promise import member_weights, subjects_per_group
from trajanon.grouping.loss import group_means, sums_of_products
from trajanon.grouping.neighbours import DETAIL, nearest_points

_NEAR = 16  # groups that a record may move to
_TINY = 1e-9  # of the sum of all squares: a gain below it is rounding
_RECORDS_PER_BATCH = 10_000


def nearer_to_people(records: Floats, labels: Ints, subjects: Ints, k: int) -> Ints:
    """Move records, one by one, to near groups that lose less to the mean of their people.

    The search counts records, so one person with many records in a group holds its mean near them.
    Where all records of a person count together as one, some of them may be nearer to another
    group. Looked at are groups that hold somebody several times; each keeps k different subjects.
    """
    from scipy.spatial import cKDTree

    subjects = dense(subjects)
    labels = dense(labels)
    if not (subjects_per_group(labels, subjects) < np.bincount(labels)).any():
        return labels  # nobody is in a group several times

    products = sums_of_products(records)
    squares = float(products.trace())
    records = turn(records, leading_axes(products, DETAIL * squares))
    tree = cKDTree(group_means(records, labels, member_weights(labels, subjects)))
    _, near = nearest_points(tree, records, min(_NEAR, tree.n))

    changed = np.ones(tree.n, dtype=np.bool_)
    while changed.any():
        held = _Held.of(records, labels, subjects)
        rows = _records_to_look_at(held, labels, subjects, k, changed, near)
        gains = held.gains(rows, records, labels, subjects, near)
        target = near[rows, gains.argmax(axis=1)]
        gain = gains.max(axis=1)

        # The best moves first; a gain holds until one of its groups has changed.
        changed[:] = False
        worth_it = int((gain > _TINY * squares).sum())
        for move in np.argsort(-gain, kind="stable")[:worth_it]:
            both = [labels[rows[move]], target[move]]
            if not changed[both].any():
                changed[both] = True
                labels[rows[move]] = target[move]
    return labels


def _records_to_look_at(
    held: "_Held", labels: Ints, subjects: Ints, k: int, changed: Bools, near: Ints
) -> Ints:
    """List records that their group can spare, where it or a near group has changed."""
    size, people = held.sums[:, :2].T
    of_person, _ = held.of_person(labels, subjects)
    has_several = (people < size)[labels]
    may_leave = has_several & ((people[labels] > k) | (of_person > 1))
    return np.flatnonzero(may_leave & (changed[labels] | changed[near].any(axis=1)))


class _Held(NamedTuple):
    """What groups hold, and what they hold of each person."""

    # Of each group: its records, people and squares, and the sums of its records and of the means
    # of its people, (g, 3 + 2 p).
    sums: Floats
    keys: Ints  # a number for each group and person in it, rising, (q,)
    number: Ints  # of the person's records, (q,)
    total: Floats  # of these, (q, p)

    @classmethod
    def of(cls, records: Floats, labels: Ints, subjects: Ints) -> "_Held":
        """Sum up records."""
        pairs = labels * len(subjects) + subjects
        keys, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
        number = np.bincount(pair)
        total = _added(records, pair)
        squares = np.bincount(pair, (records**2).sum(axis=1))
        means = total / number[:, None]
        of_persons = np.column_stack([number, np.ones(len(keys)), squares, total, means])
        return cls(_added(of_persons, labels[first]), keys, number, total)

    def of_person(self, groups: Ints, subjects: Ints) -> tuple[Ints, Floats]:
        """Count a person's records in a group, and sum them; nothing where there are none."""
        keys = groups * int(self.number.sum()) + subjects
        place = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        is_there = self.keys[place] == keys
        return self.number[place] * is_there, self.total[place] * is_there[:, None]

    def gains(
        self, rows: Ints, records: Floats, labels: Ints, subjects: Ints, near: Ints
    ) -> Floats:
        """Compute what moving each record to each near group gains, (n, c)."""
        lost = _lost(self.sums)

        def rise(groups: Ints, movers: Ints, sign: int) -> Floats:
            """Compute by how much a group's loss rises if a record joins it (1), or leaves (-1)."""
            number, total = self.of_person(groups, subjects[movers])
            number_then = number + sign
            moved = sign * records[movers]
            mean = total / np.maximum(number, 1)[:, None]
            mean_then = (total + moved) / np.maximum(number_then, 1)[:, None]

            one_record = np.full(len(movers), float(sign))
            people = (number_then > 0) * 1.0 - (number > 0)
            squares = sign * (moved**2).sum(axis=1)
            change = np.column_stack([one_record, people, squares, moved, mean_then - mean])
            return np.asarray(_lost(self.sums[groups] + change) - lost[groups])

        def gains_of_part(movers: Ints, _: Event) -> Floats:
            joined = np.column_stack([rise(groups, movers, 1) for groups in near[movers].T])
            gains = -joined - rise(labels[movers], movers, -1)[:, None]
            gains[near[movers] == labels[movers, None]] = -np.inf
            return np.asarray(gains)

        return np.concatenate(in_parts(gains_of_part, rows, _RECORDS_PER_BATCH))


def _added(rows: Floats, labels: Ints) -> Floats:
    """Add up the rows of each group."""
    return np.asarray(np.bincount(labels)[:, None] * group_means(rows, labels))


def _lost(sums: Floats) -> Floats:
    """Compute from sums of groups their squared distances to the mean of their people, (g,)."""
    size, people, squares = sums[:, :3].T
    total, means = np.hsplit(sums[:, 3:], 2)
    middle = means / people[:, None]
    return np.asarray(squares + size * (middle**2).sum(axis=1) - 2.0 * (middle * total).sum(axis=1))
