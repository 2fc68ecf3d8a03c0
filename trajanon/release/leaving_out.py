"""Mends: groups that are as good as useless, or hide no place, are changed before a release."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.errors import TrajanonError
from trajanon.grouping.axes import principal_axes, turn
from trajanon.grouping.loss import group_means, standardise
from trajanon.grouping.partition import broken_promises, measured
from trajanon.release.released_lines import TrajectoryGroups
from trajanon.trajectories.displacements import displacement, lengths
from trajanon.trajectories.geodesy import EARTH, in_space
from trajanon.trajectories.times import search_columns
from trajanon.trajectories.trajectories import Trajectories

ONE_PLACE = 200.0
"""Metres between the ends of trips up to which they are in one place."""

MOST_LEFT_OUT = 0.01
"""Share of the trajectories that may be left out because their groups are too wide."""

_TRIED = 400  # exchanges with these, at most, for one place more
_NEAR = 64  # groups that one may exchange a member with, or be merged with
_AXES = 8  # in which near groups are looked for


class Surroundings(Protocol):
    """Public places and what lies near them, such as `trajanon.extract.hidden` reads."""

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points lie near one, (n,)."""


class Ends(NamedTuple):
    """Where trips begin and end, and how many places, 200 m apart, a group needs at each end."""

    points: Floats  # latitude and longitude of each end, (n, e, 2)
    free: Bools  # ends that are no place of anybody's: cut at the border, or public, (n, e)
    distinct: int  # places that a group needs

    def far(self, ones: Ints, others: Ints) -> Bools:
        """Tell which ends of some trips are in other places than those of others, (s, t, e)."""
        away = displacement(self.points[ones][:, None], self.points[others])
        return np.asarray((away > ONE_PLACE) | self.free[ones][:, None] | self.free[others])

    def apart(self, rows: Ints) -> list[list[int]]:
        """Tell for each end of each member which others end elsewhere, as bits of a number."""
        return [[_bits(row) for row in end] for end in self.far(rows, rows).transpose(2, 0, 1)]

    def missing(self, rows: Ints) -> list[int]:
        """Count the places that a group lacks at each end."""
        every = (1 << len(rows)) - 1
        return [self.distinct - _places(end, every, self.distinct) for end in self.apart(rows)]

    def lacking(self, labels: Ints) -> list[int]:
        """List the groups 0..g-1 that lack a place at an end."""
        maybe = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.bool_)
        last = np.cumsum(np.bincount(labels)) - 1
        for points, free in zip(self.points.transpose(1, 0, 2), self.free.T, strict=True):
            away = np.full(len(labels), np.inf)
            for _ in range(self.distinct):  # the member of each group that is farthest from others
                pick = np.lexsort((away, labels))[last]
                maybe |= away[pick] <= ONE_PLACE
                of = pick[labels]
                metres = displacement(points, points[of])
                metres[free | free[of]] = np.inf
                metres[pick] = 0.0
                np.minimum(away, metres, out=away)
        order = np.split(np.argsort(labels, kind="stable"), last[:-1] + 1)
        return [one for one in np.flatnonzero(maybe).tolist() if any(self.missing(order[one]))]


def _bits(row: Bools) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _places(far: Sequence[int], among: int, most: int) -> int:
    """Count members each far from all others, up to ``most``; sets of members are bits."""
    best = 0
    while among and best < most:
        one = among & -among
        among ^= one
        best = max(best, 1 + _places(far, among & far[one.bit_length() - 1], most - 1))
    return best


def ends_of(
    trajectories: Trajectories, distinct: int, public: Surroundings | None = None
) -> Ends | None:
    """Find where trips begin and end, or days; None of windows, which have no origin."""
    if trajectories.unit == "trajectory" or distinct < 2:
        return None
    points, free = trajectories.points[:, [0, -1]], ~trajectories.known_ends
    if public is not None:
        free = free | public.contains(*points.reshape(-1, 2).T).reshape(free.shape)
    return Ends(points, free, distinct)


def mend(
    groups: TrajectoryGroups, k: int, ends: Ends | None
) -> tuple[TrajectoryGroups, Bools, dict[str, Any]]:
    """Mend groups as `mended` does; also give which trajectories are left out, and the account."""
    since = perf_counter()
    whole, was = groups.trajectories, groups.partition
    records = standardise(*search_columns(whole, groups.timing))
    labels, account = mended(
        whole.points, records, was.labels, k, subjects=whole.subject, ends=ends
    )
    if np.array_equal(labels, was.labels):
        return groups, labels < 0, account
    kept, left = labels >= 0, whole
    if not kept.all():  # all runs stay, as the others would be a copy of nearly all
        left = replace(whole, tracks=None).take(kept)
        if (tracks := whole.tracks) is not None:
            here = replace(tracks, run=tracks.run[kept], start=tracks.start[kept])
            left = replace(left, tracks=here)
    found = measured(left.records, dense(labels[kept]), "mending", since)
    stages = (*was.stages, *found.stages)
    found = replace(found, path_length=was.path_length, stages=stages, stopped=was.stopped)
    return TrajectoryGroups(left, found, groups.key, groups.timing), ~kept, account


def mended(
    points: Floats,
    records: Floats,
    labels: Ints,
    k: int,
    *,
    subjects: Ints | None = None,
    ends: Ends | None = None,
) -> tuple[Ints, dict[str, Any]]:
    """Mend groups 0..g-1: the group of each trajectory, -1 if left out, and an account for JSON."""
    own = np.arange(len(labels)) if subjects is None else subjects
    groups = _Groups(points, records, labels, k, own, ends)
    account = {"wide": groups.leave_out_wide(), "one_place": groups.part_ways()}
    kept = groups.labels >= 0
    numbers = np.unique(groups.labels[kept], return_inverse=True)[1]
    if broken_promises(numbers, own[kept], k):
        raise TrajanonError(f"mending left a group of fewer than {k}; please report it")
    return groups.labels, account


class _Groups:
    def __init__(
        self, points: Floats, records: Floats, labels: Ints, k: int, own: Ints, ends: Ends | None
    ) -> None:
        self.records, self.labels, self.k, self.own = records, labels.copy(), k, own
        self.ends, self.given = ends, labels
        self.middles, self.lengths = in_space(points.mean(axis=1)), lengths(points)
        self.wide: set[int] = set()
        # Of groups that another wants to exchange a member with: who is far from whom, and what
        # places they lack.
        self.looked_at: dict[int, tuple[list[list[int]], int]] = {}

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

    def _lacks(self, rows: Ints) -> int:
        """Count the places that a group lacks at all its ends together."""
        return 0 if self.ends is None or not len(rows) else sum(self.ends.missing(rows))

    def _keeps(self, rows: Ints) -> bool:
        """Whether a group has enough subjects, and is not too wide."""
        return len(set(self.own[rows].tolist())) >= self.k and not self._is_wide(rows)

    def _set(self, group: int, rows: Ints) -> None:
        self.members[group] = rows
        self.labels[rows] = group
        self.looked_at.pop(group, None)

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
        """Leave out the farthest members of a group, up to a limit; give their number."""
        rows = self.members[group]
        away, near = self._near(self.records[rows], group)
        order = np.argsort(away[:, 0], kind="stable")
        rest, near = rows[order], near[order]
        while self._is_wide(rest) and len(rows) - len(rest) < most:
            rest = rest[:-1]
        if self._is_wide(rest):
            return 0
        changed = {group: rest}
        if len(set(self.own[rest].tolist())) < self.k:
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
        """Find a near group for each trajectory: these groups then, and the trajectories placed."""
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
        """Exchange members of groups that lack a place at one of their ends."""
        if self.ends is None:
            return {"groups": 0, "exchanged": 0, "left": 0}
        kept = np.flatnonzero(self.labels >= 0)
        there = np.unique(self.labels[kept])
        of_kept = Ends(self.ends.points[kept], self.ends.free[kept], self.ends.distinct)
        lacking = of_kept.lacking(np.searchsorted(there, self.labels[kept]))
        offended, exchanged = there[lacking].tolist(), 0
        for group in offended:
            rows = self.members[group]
            if group in self.wide or not self._lacks(rows):
                continue
            middle = self.records[rows].mean(axis=0, keepdims=True)
            near = self._near(middle, group)[1][0].tolist()
            near = [other for other in near if len(self.members[other]) and other not in self.wide]
            mended = 0
            while self._lacks(self.members[group]):
                if (more := self._exchange(group, near)) is None:
                    self._merge(group, near)
                    break
                mended += more
            exchanged += mended
        left = sum(self._lacks(self.members[group]) > 0 for group in offended)
        return {"groups": len(offended), "exchanged": exchanged, "left": left}

    def _exchange(self, group: int, near: list[int]) -> int | None:
        """Exchange a member for one place more: how many groups that mends; None if none helps."""
        rows = self.members[group]
        if self.ends is None or not near:
            return None
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
        most, begin = self.ends.distinct, np.cumsum(sizes) - sizes
        inside, across = self.ends.apart(rows), self.ends.far(theirs, rows)
        lacked = np.array(self.ends.missing(rows))
        elsewhere = np.asarray(across.any(axis=1))[:, lacked > 0]
        cost[:, ~elsewhere.any(axis=1)] = np.inf

        def lacks(far: list[list[int]], size: int, out: int, into: Iterable[int]) -> int:
            """Count what a group lacks with a member less and one more, far from some others."""
            rest = (1 << size) - 1 ^ (1 << out)
            return sum(
                most - max(_places(end, rest, most), 1 + _places(end, rest & more, most - 1))
                for end, more in zip(far, into, strict=True)
            )

        for flat in np.argsort(cost, axis=None, kind="stable")[:_TRIED].tolist():
            mine, other = divmod(flat, len(theirs))
            if cost[mine, other] == np.inf:
                break
            left = lacks(inside, len(rows), mine, map(_bits, across[other].T))
            if left >= lacked.sum():
                continue
            number = int(group_of[other])
            before, first = self.members[near[number]], int(begin[number])
            if near[number] not in self.looked_at:
                self.looked_at[near[number]] = self.ends.apart(before), self._lacks(before)
            far, lacked_there = self.looked_at[near[number]]
            into = map(_bits, across[first : first + len(before), mine].T)
            there = lacks(far, len(before), other - first, into)
            one = np.append(np.delete(rows, mine), theirs[other])
            two = np.append(np.delete(before, other - first), rows[mine])
            if there <= lacked_there and self._keeps(one) and self._keeps(two):
                self._set(group, one)
                self._set(near[number], two)
                return int(left == 0) + int(there == 0 < lacked_there)
        return None

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
            if self._keeps(both) and not self._lacks(both):
                self._set(other, both)
                self.members[group] = rows[:0]
                return
