"""Records that cost a partition most and may be left out, and groups too wide to be of use."""

from collections.abc import Iterator
from heapq import heappop, heappush
from math import ceil, floor, log10
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from trajanon.arrays import Bools, Floats, Ints
from trajanon.axes import principal_axes, turn
from trajanon.geodesy import EARTH, in_space
from trajanon.loss import group_means, means_and_variances, sse_of_groups
from trajanon.partition import dense, subjects_per_group
from trajanon.utility.displacements import lengths

_MOST_LEFT_OUT = 0.2  # of the trajectories: more is no suppression
_ALIKE = 0.1  # of the widest group's span
_NOTHING = 1e-12  # a gain below this is rounding
_ROUNDING = 1.000001  # times a loss: more than rounding can make of it


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
    left_out = np.zeros(len(points), dtype=np.bool_)
    many = int(share * len(points) + 1e-9)  # 0.29 of 100 is 29, though 0.29 * 100 is less
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
    given, labels = points.reshape(len(points), -1), dense(labels)
    mean, variance = means_and_variances(given)
    spread = np.sqrt(variance)
    means = (group_means(given, labels) - mean) / spread
    # Where the first few coordinates tell most of a distance, a tree is fast.
    axes = principal_axes(means)
    others = cKDTree(turn(means, axes))
    own = np.arange(len(labels)) if subjects is None else dense(subjects)
    members = _members(labels)

    def away(group: int, records: Floats) -> Floats:
        """Measure squared distances to the nearest mean of another group."""
        far, which = others.query(turn(records, axes), k=range(1, 3))
        other = np.where(which[:, 0] == group, far[:, 1], far[:, 0])
        # With one group there is none to go to: that costs more than all there is to lose.
        return np.asarray(np.fmin(other**2, given.size))

    # No group of k subjects gains more than it loses now, but for rounding. So a group is looked at
    # only when none that was looked at gains as much as it might.
    might = _ROUNDING * sse_of_groups(given, labels, spread)
    might[subjects_per_group(labels, own) < k] = np.inf
    waiting = np.argsort(might).tolist()
    heap: list[tuple[float, int, list[int]]] = []

    def look_at(group: int, most: int) -> None:
        rows = members[group]
        records = (given[rows] - mean) / spread
        gain, which = _best(records, own[rows], away(group, records), k, most)
        if gain > _NOTHING:
            heappush(heap, (-gain, group, rows[which].tolist()))

    while most > 0:
        while waiting and (not heap or might[waiting[-1]] >= -heap[0][0]):
            look_at(waiting.pop(), most)
        if not heap:
            return
        _, group, chosen = heappop(heap)
        if len(chosen) <= most:
            rows = np.array(chosen)
            members[group] = np.setdiff1d(members[group], rows)
            most -= len(chosen)
            yield rows
        if most > 0:
            look_at(group, most)


def _best(records: Floats, subjects: Ints, away: Floats, k: int, most: int) -> tuple[float, Ints]:
    """Find the members of a group that gain most for each, and that gain."""
    s = len(records)
    if s == 0:
        return 0.0, np.empty(0, dtype=np.int64)
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
    if best < s:
        which = np.array([best])
    elif best < 2 * s:
        which = farthest[: best - s + 1]
    else:
        which = np.flatnonzero(who == best - 2 * s)
    return float(gain[best]), which


def wide_groups(
    points: Floats, labels: Ints, k: int, subjects: Ints | None, *, counts_subjects: bool = True
) -> dict[str, Any] | None:
    """Sum up the groups wider than their longest member, ready for JSON; None if there is none."""
    length = lengths(points)
    middles = in_space(points.mean(axis=1))

    def span(rows: Ints) -> float:
        far = [np.linalg.norm(middles[rows] - one, axis=1).max() for one in middles[rows]]
        chord = float(max(far, default=0.0))
        return 2.0 * EARTH * float(np.arcsin(min(chord / (2.0 * EARTH), 1.0)))

    members = _members(labels)
    # No two are farther apart than twice the farthest is from the middle of all.
    off = np.linalg.norm(middles - group_means(middles, labels)[labels], axis=1)
    radius, longest = np.zeros((2, len(members)))
    np.maximum.at(radius, labels, off)
    np.maximum.at(longest, labels, length)
    maybe = np.flatnonzero(np.pi * radius > longest)  # an arc is longer than a chord
    spans = {int(group): span(members[group]) for group in maybe}
    wide = {group: metres for group, metres in spans.items() if metres > longest[group]}
    if not wide:
        return None
    own = np.arange(len(points))
    if counts_subjects and subjects is not None:
        own = subjects
    widest = max(wide.values())
    left = {group for group, metres in wide.items() if metres >= _ALIKE * widest}
    out = np.zeros(len(points), dtype=np.bool_)
    for rows in in_order(points, labels, int(_MOST_LEFT_OUT * len(points)), k=k, subjects=own):
        out[rows] = True
        group = int(labels[rows[0]])
        if group in left:
            rest = members[group][~out[members[group]]]
            if len(np.unique(own[rest])) < k or span(rest) <= length[rest].max():
                left.remove(group)
        if not left:
            break
    many = int(out.sum())
    return {
        "groups": len(wide),
        "span": widest,
        "trajectories": None if left else many,
        "subjects": None if left or subjects is None else len(np.unique(subjects[out])),
        "share": None if left else _rounded_up(many / len(points)),
    }


def _members(labels: Ints) -> list[Ints]:
    """The records of each group."""
    ends = np.cumsum(np.bincount(labels))
    return np.split(np.argsort(labels, kind="stable"), ends[:-1])


def _rounded_up(share: float) -> float:
    """Round a share up to two digits, so that all of it is left out."""
    unit = 10.0 ** (floor(log10(share)) - 1)
    return round(ceil(share / unit - 1e-9) * unit, 12)
