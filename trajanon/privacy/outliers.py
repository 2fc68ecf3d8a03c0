"""The records that cost a partition most, and may be left out of a release."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import numpy as np
from scipy.spatial import cKDTree

from trajanon.arrays import Bools, Floats, Ints
from trajanon.axes import principal_axes, turn
from trajanon.errors import BadInput
from trajanon.loss import group_means, standardise
from trajanon.neighbours import nearest_points
from trajanon.partition import dense

_NOTHING = 1e-12  # a gain below this is rounding


def outliers(
    points: Floats, labels: Ints, share: float, *, k: int = 1, subjects: Ints | None = None
) -> Bools:
    """Choose the records without which least is lost, as `in_order` ranks them.

    The ranking takes the groups as they are. What suppression really gains is the loss after the
    remaining records are grouped anew.

    Examples
    --------
    >>> outliers(np.array([[0.0], [1.0], [9.0], [20.0]]), np.array([0, 0, 0, 0]), 0.25)
    array([False, False, False,  True])
    """
    if not 0.0 <= share < 1.0:
        msg = f"share must lie at 0 or above, and below 1 (got {share})"
        raise BadInput(msg)
    n = len(points)
    if labels.shape != (n,):
        msg = f"labels must be one group for each of the {n} records"
        raise BadInput(msg)
    left_out = np.zeros(n, dtype=bool)
    many = int(share * n + 1e-9)  # 0.29 of 100 is 29, though 0.29 * 100 is less
    for rows in in_order(points, labels, many, k=k, subjects=subjects):
        left_out[rows] = True
    return left_out


def in_order(
    points: Floats, labels: Ints, most: int, *, k: int, subjects: Ints | None
) -> Iterator[Ints]:
    """Yield sets of records that gain most for each record, at most ``most`` records in all.

    Candidates are, in each group: each record, the records of each subject, and the one, two, ...
    records that are farthest from all other groups, up to the whole group.
    """
    if most < 1:
        return
    records = standardise(points.reshape(len(points), -1))
    # Where the first few coordinates tell most of a distance, a tree is fast.
    records = turn(records, principal_axes(records))
    labels = dense(labels)
    own = np.arange(len(labels)) if subjects is None else dense(subjects)
    away = _away(records, labels)
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(labels))[:-1])

    def best(group: int, most: int) -> tuple[float, int, list[int]] | None:
        rows = members[group]
        choice = _best(records[rows], own[rows], away[rows], k, most)
        if choice is None:
            return None
        gain, which = choice
        return -gain, group, rows[which].tolist()

    heap = [found for group in range(len(members)) if (found := best(group, most))]
    heapify(heap)
    while heap and most > 0:
        _, group, chosen = heappop(heap)
        if len(chosen) <= most:
            rows = np.array(chosen)
            members[group] = np.setdiff1d(members[group], rows)
            most -= len(chosen)
            yield rows
        if most > 0 and (found := best(group, most)):
            heappush(heap, found)


def _away(records: Floats, labels: Ints) -> Floats:
    """Measure squared distances to the nearest mean of another group, shape (n,)."""
    means = group_means(records, labels)
    away, which = nearest_points(cKDTree(means), records, 2)
    other = np.where(which[:, 0] == labels, away[:, 1], away[:, 0])
    # With one group there is none to go to: that costs more than all there is to lose.
    squared: Floats = np.fmin(other**2, records.size)
    return squared


def _best(
    records: Floats, subjects: Ints, away: Floats, k: int, most: int
) -> tuple[float, Ints] | None:
    """Find the members of a group that gain most for each; None if none gain."""
    s = len(records)
    if s == 0:
        return None
    records = records - records.mean(axis=0)
    farthest = np.argsort(-away, kind="stable")
    _, who, count = np.unique(subjects, return_inverse=True, return_counts=True)
    by_subject, first = np.argsort(who, kind="stable"), np.cumsum(count) - count

    def out(values: Floats) -> Floats:
        """Sum up what is left out: nothing, then for each candidate."""
        each = values[by_subject]
        return np.concatenate(
            [
                np.zeros_like(values[:1]),
                values,
                np.cumsum(values[farthest], axis=0),
                np.add.reduceat(each, first, axis=0),
            ]
        )

    seen = np.zeros(s, dtype=np.int64)  # whether a subject is new, the nearest first
    seen[np.unique(who[farthest[::-1]], return_index=True)[1]] = 1
    u, sizes, squares = len(count), out(np.ones(s)), (records**2).sum(axis=1)
    # What each rest of the group loses, filled up to k subjects or in other groups.
    left = np.maximum(s - sizes, 1.0)
    different = np.concatenate(
        [[u], u - (count[who] == 1), np.append(np.cumsum(seen)[-2::-1], 0), np.full(u, u - 1)]
    )
    rest_away = np.maximum(away.sum() - out(away), 0.0)
    sse = squares.sum() - out(squares) - (out(records) ** 2).sum(axis=1) / left
    missing = np.maximum(k - different, 0)
    lost = np.minimum(np.maximum(sse, 0.0) + missing * rest_away / left, rest_away)
    gain = (lost[0] - lost[1:]) / sizes[1:]
    gain[sizes[1:] > most] = -np.inf
    best = int(np.argmax(gain))
    if gain[best] <= _NOTHING:
        return None
    if best < s:
        return float(gain[best]), np.array([best])
    if best < 2 * s:
        return float(gain[best]), farthest[: best - s + 1]
    return float(gain[best]), np.flatnonzero(who == best - 2 * s)
