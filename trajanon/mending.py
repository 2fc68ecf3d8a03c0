"""Mends: groups that are as good as useless, or hide no place, are changed before a release."""

from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from trajanon.arrays import Bools, Floats, Ints
from trajanon.axes import principal_axes, turn
from trajanon.errors import TrajanonError
from trajanon.geodesy import EARTH, in_space
from trajanon.loss import group_means, standardise
from trajanon.partition import broken_promises, dense, measured
from trajanon.privacy.inference import ends_in_places
from trajanon.released_lines import TrajectoryGroups
from trajanon.times import search_columns
from trajanon.trajectories import Trajectories
from trajanon.utility.displacements import lengths

MOST_LEFT_OUT = 0.01
"""Share of the trajectories that may be left out because their groups are too wide."""

_NEAR = 64  # groups that one may exchange a member with, or be merged with
_AXES = 8  # in which near groups are looked for


def mend(groups: TrajectoryGroups, k: int) -> tuple[TrajectoryGroups, Bools, dict[str, Any]]:
    """Mend groups as `mended` does; also give who was left out, (n,), and the account."""
    since = perf_counter()
    whole, was = groups.trajectories, groups.partition
    records = standardise(*search_columns(whole, groups.timing))
    places = places_of(whole, whole.unit)
    labels, account = mended(
        whole.points, records, was.labels, k, subjects=whole.subject, places=places
    )
    if np.array_equal(labels, was.labels):
        return groups, labels < 0, account
    out = labels < 0
    left = whole.take(~out) if out.any() else whole
    found = measured(left.records, dense(labels[~out]), "mending", since)
    stages = (*was.stages, *found.stages)
    found = replace(found, path_length=was.path_length, stages=stages, stopped=was.stopped)
    return TrajectoryGroups(left, found, groups.key, groups.timing), out, account


def places_of(trajectories: Trajectories, unit: str) -> Ints | None:
    """Number the places where trips begin and end, (n, 2).

    Where a window begins and ends, nobody came from or went to: there are none.
    """
    if unit != "trip":
        return None
    return ends_in_places(trajectories.points, trajectories.true_ends)


def mended(
    points: Floats,
    records: Floats,
    labels: Ints,
    k: int,
    *,
    subjects: Ints | None = None,
    places: Ints | None = None,
) -> tuple[Ints, dict[str, Any]]:
    """Mend groups 0..g-1; give the group of each trajectory, and an account ready for JSON.

    A group is too wide if members are farther apart than the longest of them is long. Its farthest
    ones are left out, with the label -1; if too few are left, these join near groups.

    A group in which all begin, or all end, in one place exchanges a member with a near group, the
    pair that costs least, or is merged with one. ``places`` are numbers of both, (n, 2); without,
    places do not matter. No group that was fine is made worse.
    """
    own = np.arange(len(labels)) if subjects is None else subjects
    groups = _Groups(points, records, labels, k, own, places)
    account = {"wide": groups.leave_out_wide(), "one_place": groups.part_ways()}
    kept = groups.labels >= 0
    numbers = np.unique(groups.labels[kept], return_inverse=True)[1]
    if broken_promises(numbers, own[kept], k):
        raise TrajanonError(f"mending left a group of fewer than {k}; please report it")
    return groups.labels, account


class _Groups:
    def __init__(
        self, points: Floats, records: Floats, labels: Ints, k: int, own: Ints, places: Ints | None
    ) -> None:
        self.records, self.labels, self.k, self.own = records, labels.copy(), k, own
        self.places, self.given = places, labels
        self.middles, self.lengths = in_space(points.mean(axis=1)), lengths(points)
        self.wide: set[int] = set()

    @cached_property
    def members(self) -> dict[int, Ints]:
        """The trajectories of each group; a group that was merged has none."""
        order, ends = np.argsort(self.given, kind="stable"), np.cumsum(np.bincount(self.given))
        return dict(enumerate(np.split(order, ends[:-1])))

    @cached_property
    def _tree(self) -> tuple[cKDTree, Floats]:
        means = group_means(self.records, self.given)
        axes = principal_axes(means)[:, :_AXES]
        return cKDTree(turn(means, axes)), axes

    def _near(self, records: Floats, group: int) -> tuple[Floats, Ints]:
        """Find groups near records, (s, p), but for their own: how far, and which, (s, c)."""
        tree, axes = self._tree
        many = min(_NEAR + 1, tree.n)
        away, which = tree.query(turn(records, axes), k=range(1, many + 1))
        order = np.argsort(which == group, axis=1, kind="stable")  # its own last
        away, which = (np.take_along_axis(each, order, axis=1) for each in (away, which))
        return away, which[:, : max(many - 1, 0)]

    def _span(self, rows: Ints) -> float:
        """Measure how far apart the middles of the two farthest are, in metres."""
        far = [np.linalg.norm(self.middles[rows] - one, axis=1).max() for one in self.middles[rows]]
        chord = float(max(far, default=0.0))
        return 2.0 * EARTH * float(np.arcsin(min(chord / (2.0 * EARTH), 1.0)))

    def _is_wide(self, rows: Ints) -> bool:
        return bool(self._span(rows) > self.lengths[rows].max(initial=0.0))

    def _in_one_place(self, rows: Ints) -> Bools:
        """Tell whether all begin in one place, and whether all end in one."""
        if self.places is None:
            return np.zeros(2, dtype=np.bool_)
        return np.asarray((self.places[rows] == self.places[rows[0]]).all(axis=0))

    def _has_enough(self, rows: Ints) -> bool:
        return len(set(self.own[rows].tolist())) >= self.k

    def _is_fine(self, rows: Ints) -> bool:
        return (
            not self._in_one_place(rows).any()
            and self._has_enough(rows)
            and not self._is_wide(rows)
        )

    def _set(self, group: int, rows: Ints) -> None:
        self.members[group] = rows
        self.labels[rows] = group

    def leave_out_wide(self) -> dict[str, int]:
        """Leave out the farthest members of groups that are too wide, the widest first."""
        # No two are farther apart than twice the farthest is from the middle of all.
        off = self.middles - group_means(self.middles, self.given)[self.given]
        radius, longest = np.zeros((2, int(self.given.max()) + 1))
        np.maximum.at(radius, self.given, np.linalg.norm(off, axis=1))
        np.maximum.at(longest, self.given, self.lengths)
        maybe = np.flatnonzero(np.pi * radius > longest).tolist()  # an arc is longer than a chord
        spans = {group: self._span(self.members[group]) for group in maybe}
        self.wide = {group for group in maybe if spans[group] > longest[group]}
        groups, most = len(self.wide), int(MOST_LEFT_OUT * len(self.labels) + 1e-9)
        left_out = 0
        for group in sorted(self.wide, key=lambda group: (-spans[group], group)):
            left_out += self._narrow(group, most - left_out)
        left = len(self.wide)
        return {"groups": groups - left, "trajectories": left_out, "left": left}

    def _narrow(self, group: int, most: int) -> int:
        """Leave out the farthest members of a group, at most so many; how many these are."""
        rows = self.members[group]
        away, near = self._near(self.records[rows], group)
        order = np.argsort(away[:, 0], kind="stable")
        rest, near = rows[order], near[order]
        while self._is_wide(rest) and len(rows) - len(rest) < most:
            rest = rest[:-1]
        if self._is_wide(rest):
            return 0
        changed = {group: rest}
        if not self._has_enough(rest):
            changed, rest = self._joined(rest, near)
        if len(rows) - len(rest) > most:
            return 0
        self.wide.discard(group)
        self.labels[rows] = -1
        self.members[group] = rows[:0]
        for each, others in changed.items():
            self._set(each, others)
        return len(rows) - len(rest)

    def _joined(self, rows: Ints, near: Ints) -> tuple[dict[int, Ints], Ints]:
        """Find a near group for each trajectory; who then is in these, and who found one."""
        grown: dict[int, Ints] = {}
        found = np.zeros(len(rows), dtype=np.bool_)
        for place, row in enumerate(rows):
            for other in near[place].tolist():
                there = grown.get(other, self.members[other])
                joined = np.append(there, row)
                if len(there) and other not in self.wide and not self._is_wide(joined):
                    grown[other], found[place] = joined, True
                    break
        return grown, rows[found]

    def part_ways(self) -> dict[str, int]:
        """Exchange members of groups in which all begin, or all end, in one place."""
        offended, exchanged = self._offended(), 0
        for group in offended:
            rows = self.members[group]
            if len(rows) == 0 or group in self.wide or not self._in_one_place(rows).any():
                continue
            middle = self.records[rows].mean(axis=0, keepdims=True)
            near = self._near(middle, group)[1][0].tolist()
            near = [other for other in near if len(self.members[other]) and other not in self.wide]
            if mended := self._exchange(group, near):
                exchanged += mended
            else:
                self._merge(group, near)
        left = sum(
            len(rows) > 0 and bool(self._in_one_place(rows).any())
            for rows in map(self.members.__getitem__, offended)
        )
        return {"groups": len(offended), "exchanged": exchanged, "left": left}

    def _offended(self) -> list[int]:
        """Find groups in which all begin, or all end, in one place."""
        if self.places is None:
            return []
        kept = np.flatnonzero(self.labels >= 0)
        labels = self.labels[kept]
        first = np.full(int(self.given.max()) + 1, -1)
        first[labels[::-1]] = kept[::-1]
        other = self.places[kept] != self.places[first[labels]]
        one = [first >= 0 for _ in range(2)]
        for end in range(2):
            one[end][labels[other[:, end]]] = False
        return list(np.flatnonzero(one[0] | one[1]).tolist())

    def _exchange(self, group: int, near: list[int]) -> int:
        """Exchange a member with a near group so that both are fine; how many that mends, if any.

        Replacing x by y in a group of s about a mean changes its SSE by 2 d (x - mean) + d d (1 -
        1 / s), with d = y - x; and so for the other group.
        """
        rows = self.members[group]
        if self.places is None or not near:
            return 0
        theirs = np.concatenate([self.members[other] for other in near])
        sizes = np.array([len(self.members[other]) for other in near])
        group_of = np.repeat(np.arange(len(near)), sizes)
        middle = self.records[rows].mean(axis=0)
        x, y = self.records[rows] - middle, self.records[theirs] - middle
        off = y - group_means(y, group_of)[group_of]
        dot = "ik,jk->ij"
        xx, yy, xy = (x**2).sum(axis=1)[:, None], (y**2).sum(axis=1), np.einsum(dot, x, y)
        along = xy - xx - (y * off).sum(axis=1) + np.einsum(dot, x, off)
        cost = 2.0 * along + (xx + yy - 2.0 * xy) * (2.0 - 1.0 / len(rows) - 1.0 / sizes[group_of])
        ends = self._in_one_place(rows)
        cost[:, (self.places[theirs] == self.places[rows[0]])[:, ends].any(axis=1)] = np.inf
        for flat in np.argsort(cost, axis=None, kind="stable").tolist():
            mine, other = divmod(flat, len(theirs))
            if cost[mine, other] == np.inf:
                break
            taken = near[group_of[other]]
            one = np.append(np.delete(rows, mine), theirs[other])
            before = self.members[taken]
            two = np.append(before[before != theirs[other]], rows[mine])
            if self._is_fine(one) and self._is_fine(two):
                self._set(group, one)
                self._set(taken, two)
                return 1 + int(self._in_one_place(before).any())
        return 0

    def _merge(self, group: int, near: list[int]) -> None:
        """Merge a group with the near one with which that costs least, and is fine."""
        rows = self.members[group]
        middle = self.records[rows].mean(axis=0)

        def cost(other: int) -> float:
            theirs = self.members[other]
            share = len(rows) * len(theirs) / (len(rows) + len(theirs))
            return share * float(((self.records[theirs].mean(axis=0) - middle) ** 2).sum())

        for other in sorted(near, key=cost):
            both = np.append(self.members[other], rows)
            if self._is_fine(both):
                self._set(other, both)
                self.members[group] = rows[:0]
                return
