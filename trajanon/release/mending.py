"""Mends: groups that are too wide, or begin or end in one place, are changed before a release."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import NamedTuple

import msgspec
import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.errors import TrajanonError
from trajanon.grouping.axes import principal_axes, turn
from trajanon.grouping.k_promise import broken_promises
from trajanon.grouping.loss import group_means, standardise
from trajanon.grouping.partition import measured
from trajanon.release.plan import Surroundings
from trajanon.release.report import GroupsInOnePlace, Mended, WideGroups, WorstGroups
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.trajectories.distances import displacement, lengths
from trajanon.trajectories.geodesy import EARTH, in_space
from trajanon.trajectories.times import search_columns
from trajanon.trajectories.trajectories import Trajectories

ONE_PLACE = 200.0
"""Metres between the ends of trips up to which they are in one place."""

MOST_LEFT_OUT = 0.01
"""Share of the trajectories that may be left out because their groups are too wide."""

_EXCHANGES_TRIED = 400  # at most, for one place more
_NEAR = 64  # groups that one may exchange a member with, or be merged with
_AXES = 8  # in which near groups are looked for

FarMembers = list[frozenset[int]]
"""Of each member of a group, the numbers of the members whose trips end elsewhere."""


class Ends(NamedTuple):
    """Where trips begin and end, and how many places, 200 m apart, a group needs at each end."""

    points: Floats  # latitude and longitude of each end, (n, e, 2)
    free: Bools  # ends that are no place of anybody's: cut at the border, or public, (n, e)
    distinct: int  # places that a group needs

    def far(self, rows: Ints, others: Ints) -> Bools:
        """Find the ends of trips that are in other places than those of others, (s, t, e)."""
        metres = displacement(self.points[rows][:, None], self.points[others])
        return np.asarray((metres > ONE_PLACE) | self.free[rows][:, None] | self.free[others])

    def far_members(self, rows: Ints) -> list[FarMembers]:
        """List for each end which members of a group are far from each member."""
        return [_numbers_in_rows(far) for far in self.far(rows, rows).transpose(2, 0, 1)]

    def missing(self, rows: Ints) -> list[int]:
        """Count the places that a group lacks at each end."""
        members = range(len(rows))
        return [
            self.distinct - largest_clique(far, members, self.distinct)
            for far in self.far_members(rows)
        ]

    def lacking(self, labels: Ints) -> list[int]:
        """List the groups 0..g-1 that lack a place at an end."""
        last = np.cumsum(np.bincount(labels)) - 1
        members = np.split(np.argsort(labels, kind="stable"), last[:-1] + 1)

        # A group lacks none where each member that is picked, always the one farthest from those
        # picked before, is in another place than these. Only the other groups are searched.
        may_lack = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.bool_)
        for points, free in zip(self.points.transpose(1, 0, 2), self.free.T, strict=True):
            nearest = np.full(len(labels), np.inf)  # metres to the nearest that was picked
            for _ in range(self.distinct):
                picked = np.lexsort((nearest, labels))[last]
                may_lack |= nearest[picked] <= ONE_PLACE

                picked_of_group = picked[labels]
                metres = displacement(points, points[picked_of_group])
                metres[free | free[picked_of_group]] = np.inf
                metres[picked] = 0.0
                np.minimum(nearest, metres, out=nearest)
        return [
            group
            for group in np.flatnonzero(may_lack).tolist()
            if any(self.missing(members[group]))
        ]


def largest_clique(far: FarMembers, candidates: Iterable[int], limit: int) -> int:
    """Return how many candidates are far from each other at most, counted up to ``limit``.

    Those who are far from each other are a clique of the graph in which members far apart are
    joined: a largest one is found by trying, for each candidate in turn, the cliques that it makes
    with candidates behind it, until no larger one can follow.

    Source: Carraghan, Pardalos (Operations Research Letters 9, 1990), "An exact algorithm for the
    maximum clique problem".
    """
    waiting = sorted(candidates)
    largest = 0
    for place, member in enumerate(waiting):
        if largest >= min(limit, len(waiting) - place):
            break
        joining = far[member].intersection(waiting[place + 1 :])
        largest = max(largest, 1 + largest_clique(far, joining, limit - 1))
    return largest


def _numbers_in_rows(flags: Bools) -> list[frozenset[int]]:
    """List the true numbers of each row."""
    return [frozenset(np.flatnonzero(row).tolist()) for row in flags]


def ends_of(
    trajectories: Trajectories, distinct: int, public: Surroundings | None = None
) -> Ends | None:
    """Find where trips begin and end, or days; None of windows, which have no origin."""
    if trajectories.unit == "trajectory" or distinct < 2:
        return None

    points = trajectories.points[:, [0, -1]]
    free = ~trajectories.known_ends
    if public is not None:
        free = free | public.contains(*points.reshape(-1, 2).T).reshape(free.shape)
    return Ends(points, free, distinct)


def mend(groups: TrajectoryGroups, k: int) -> TrajectoryGroups:
    """Mend groups as `mended` does, and note what was mended, and who is left out."""
    since = perf_counter()
    plan = groups.plan
    trajectories = groups.trajectories
    before = groups.partition

    records = standardise(*search_columns(trajectories, plan.timing))
    labels, account = mended(
        trajectories.points,
        records,
        before.labels,
        k,
        subjects=trajectories.subject,
        ends=ends_of(trajectories, plan.release.distinct_ends, plan.public_places),
    )
    if plan.release.leave_out:
        labels, worst = without_worst(trajectories.points, labels, plan.release.leave_out / 100.0)
        account = msgspec.structs.replace(account, worst=worst)
    groups = replace(groups, mended=account)
    if np.array_equal(labels, before.labels):
        return groups

    left_in = labels >= 0
    rest = trajectories
    if not left_in.all():
        # All runs stay, as the others would be a copy of nearly all.
        rest = replace(trajectories, tracks=None).take(left_in)
        if (tracks := trajectories.tracks) is not None:
            starts = replace(tracks, run=tracks.run[left_in], start=tracks.start[left_in])
            rest = replace(rest, tracks=starts)

    after = measured(rest.records, dense(labels[left_in]), "mending", since)
    after = replace(
        after,
        path_length=before.path_length,
        stages=(*before.stages, *after.stages),
        stopped=before.stopped,
    )
    return replace(groups, trajectories=rest, partition=after, left_out=~left_in)


def without_worst(points: Floats, labels: Ints, share: float) -> tuple[Ints, WorstGroups]:
    """Leave out whole groups, farthest from their means first, up to a share of trajectories.

    Return the group of each trajectory, -1 if left out, and what that takes away. At least one
    group stays.
    """
    left_in = np.flatnonzero(labels >= 0)
    group = dense(labels[left_in])
    means = group_means(points[left_in].reshape(len(left_in), -1), group)
    away = displacement(points[left_in], means.reshape(-1, *points.shape[1:])[group]).mean(axis=1)
    sizes = np.bincount(group)
    farthest = np.argsort(-np.bincount(group, away) / sizes, kind="stable")[:-1]
    worst = farthest[np.cumsum(sizes[farthest]) <= share * len(labels) + 1e-9]

    is_worst = np.isin(group, worst)
    metres = lengths(points[left_in])
    longest = metres >= np.quantile(metres, 0.9)
    shorter = metres <= np.median(metres)
    labels = labels.copy()
    labels[left_in[is_worst]] = -1
    return labels, WorstGroups(
        groups=len(worst),
        trajectories=int(is_worst.sum()),
        longest=int((longest & is_worst).sum()),
        of_longest=int(longest.sum()),
        shorter=int((shorter & is_worst).sum()),
        of_shorter=int(shorter.sum()),
        metres=int(metres[is_worst].sum()),
        of_metres=int(metres.sum()),
    )


def mended(
    points: Floats,
    records: Floats,
    labels: Ints,
    k: int,
    *,
    subjects: Ints | None = None,
    ends: Ends | None = None,
) -> tuple[Ints, Mended]:
    """Mend groups 0..g-1: the group of each trajectory, -1 if left out, and how many."""
    people = np.arange(len(labels)) if subjects is None else subjects
    groups = _Groups(points, records, labels, k, people, ends)
    account = Mended(groups.leave_out_wide(), groups.part_ways())

    left_in = groups.labels >= 0
    if broken_promises(dense(groups.labels[left_in]), people[left_in], k):
        raise TrajanonError(f"mending left a group of fewer than {k}; please report it")
    return groups.labels, account


class _Groups:
    """Groups of trajectories while they are mended."""

    def __init__(
        self, points: Floats, records: Floats, labels: Ints, k: int, people: Ints, ends: Ends | None
    ) -> None:
        self.records = records
        self.labels = labels.copy()
        self.labels_before = labels
        self.k = k
        self.people = people
        self.ends = ends
        self.middles = in_space(points.mean(axis=1))
        self.lengths = lengths(points)
        self.wide: set[int] = set()
        # Of groups that another wants to exchange a member with: who is far from whom, and what
        # places they lack.
        self._ends_of_group: dict[int, tuple[list[FarMembers], int]] = {}

    @cached_property
    def members(self) -> dict[int, Ints]:
        """List the trajectories of each group; a group that was merged has none."""
        order = np.argsort(self.labels_before, kind="stable")
        behind = np.cumsum(np.bincount(self.labels_before))
        return dict(enumerate(np.split(order, behind[:-1])))

    @cached_property
    def _tree(self) -> tuple[cKDTree, Floats]:
        means = group_means(self.records, self.labels_before)
        axes = principal_axes(means)[:, :_AXES]
        return cKDTree(turn(means, axes)), axes

    def _near(self, records: Floats, group: int) -> tuple[Floats, Ints]:
        """Find groups near records, (s, p), but for their own: how far, and which, (s, c)."""
        tree, axes = self._tree
        count = min(_NEAR + 1, tree.n)
        away, near = tree.query(turn(records, axes), k=range(1, count + 1))

        own_group_last = np.argsort(near == group, axis=1, kind="stable")
        away = np.take_along_axis(away, own_group_last, axis=1)
        near = np.take_along_axis(near, own_group_last, axis=1)
        return away, near[:, : max(count - 1, 0)]

    def _span(self, rows: Ints) -> float:
        """Measure how far apart the middles of the two farthest are, in metres."""
        middles = self.middles[rows]
        farthest = [np.linalg.norm(middles - middle, axis=1).max() for middle in middles]
        chord = float(max(farthest, default=0.0))
        return 2.0 * EARTH * float(np.arcsin(min(chord / (2.0 * EARTH), 1.0)))

    def _is_wide(self, rows: Ints) -> bool:
        return bool(self._span(rows) > self.lengths[rows].max(initial=0.0))

    def _lacks(self, rows: Ints) -> int:
        """Count the places that a group lacks at all its ends together."""
        return 0 if self.ends is None or not len(rows) else sum(self.ends.missing(rows))

    def _keeps_k(self, rows: Ints) -> bool:
        return len(set(self.people[rows].tolist())) >= self.k

    def _is_fine(self, rows: Ints) -> bool:
        """Return whether a group has enough people, and is not too wide."""
        return self._keeps_k(rows) and not self._is_wide(rows)

    def _set(self, group: int, rows: Ints) -> None:
        self.members[group] = rows
        self.labels[rows] = group
        self._ends_of_group.pop(group, None)

    def leave_out_wide(self) -> WideGroups:
        """Leave out the farthest members of groups that are too wide, the widest first."""
        # No two are farther apart than twice the farthest is from the middle of all.
        labels = self.labels_before
        off = self.middles - group_means(self.middles, labels)[labels]
        radius, longest = np.zeros((2, int(labels.max()) + 1))
        np.maximum.at(radius, labels, np.linalg.norm(off, axis=1))
        np.maximum.at(longest, labels, self.lengths)

        # An arc is longer than a chord.
        may_be_wide = np.flatnonzero(np.pi * radius > longest).tolist()
        spans = {group: self._span(self.members[group]) for group in may_be_wide}
        self.wide = {group for group in may_be_wide if spans[group] > longest[group]}

        groups = len(self.wide)
        limit = int(MOST_LEFT_OUT * len(self.labels) + 1e-9)
        left_out = 0
        for group in sorted(self.wide, key=lambda group: (-spans[group], group)):
            left_out += self._narrow(group, limit - left_out)

        left = len(self.wide)
        return WideGroups(groups=groups - left, trajectories=left_out, left=left)

    def _narrow(self, group: int, limit: int) -> int:
        """Leave out the farthest members of a group, up to a limit; return their number."""
        rows = self.members[group]
        away, near = self._near(self.records[rows], group)
        order = np.argsort(away[:, 0], kind="stable")
        rest = rows[order]
        near = near[order]
        while self._is_wide(rest) and len(rows) - len(rest) < limit:
            rest = rest[:-1]
        if self._is_wide(rest):
            return 0

        # Where fewer than k people are left, these join other groups, if they can.
        changed = {group: rest}
        if not self._keeps_k(rest):
            changed, rest = self._joined(rest, near)
        left_out = len(rows) - len(rest)
        if left_out > limit:
            return 0

        self.wide.discard(group)
        self.labels[rows] = -1
        self.members[group] = rows[:0]
        for changed_group, members in changed.items():
            self._set(changed_group, members)
        return left_out

    def _joined(self, rows: Ints, near: Ints) -> tuple[dict[int, Ints], Ints]:
        """Find a near group for each trajectory: these groups then, and the trajectories placed."""
        grown: dict[int, Ints] = {}
        placed = np.zeros(len(rows), dtype=np.bool_)
        for place, row in enumerate(rows):
            for group in near[place].tolist():
                members = grown.get(group, self.members[group])
                joined = np.append(members, row)
                if len(members) and group not in self.wide and not self._is_wide(joined):
                    grown[group] = joined
                    placed[place] = True
                    break
        return grown, rows[placed]

    def part_ways(self) -> GroupsInOnePlace:
        """Exchange members of groups that lack a place at one of their ends."""
        if self.ends is None:
            return GroupsInOnePlace()

        left_in = np.flatnonzero(self.labels >= 0)
        groups, labels = np.unique(self.labels[left_in], return_inverse=True)
        ends = Ends(self.ends.points[left_in], self.ends.free[left_in], self.ends.distinct)
        lacking = groups[ends.lacking(labels)].tolist()

        exchanged = 0
        for group in lacking:
            # An exchange of another group may have mended this one.
            rows = self.members[group]
            if group in self.wide or not self._lacks(rows):
                continue
            middle = self.records[rows].mean(axis=0, keepdims=True)
            near = [
                neighbour
                for neighbour in self._near(middle, group)[1][0].tolist()
                if len(self.members[neighbour]) and neighbour not in self.wide
            ]
            exchanged += self._mend_ends(group, near)

        left = sum(self._lacks(self.members[group]) > 0 for group in lacking)
        return GroupsInOnePlace(groups=len(lacking), exchanged=exchanged, left=left)

    def _mend_ends(self, group: int, near: list[int]) -> int:
        """Exchange members until a group lacks no place, or merge it; count the groups mended."""
        mended = 0
        while self._lacks(self.members[group]):
            mended_by_one = self._exchange(group, near)
            if mended_by_one is None:
                self._merge(group, near)
                break
            mended += mended_by_one
        return mended

    def _exchange(self, group: int, near: list[int]) -> int | None:
        """Exchange a member for one place more: how many groups that mends; None if none helps."""
        ends = self.ends
        if ends is None or not near:
            return None

        rows = self.members[group]
        members_of_near = [self.members[neighbour] for neighbour in near]
        sizes = np.array([len(members) for members in members_of_near])
        first = np.cumsum(sizes) - sizes
        others = np.concatenate(members_of_near)
        number_of = np.repeat(np.arange(len(near)), sizes)

        # Of use are only those who end elsewhere than a member, at an end where a place lacks.
        lacked = np.array(ends.missing(rows))
        far = ends.far(others, rows)
        helps = np.asarray(far.any(axis=1))[:, lacked > 0].any(axis=1)
        cost = self._costs_of_exchange(rows, others, number_of, sizes)
        cost[:, ~helps] = np.inf

        far_members = ends.far_members(rows)
        for exchange in np.argsort(cost, axis=None, kind="stable")[:_EXCHANGES_TRIED].tolist():
            leaving, joining = divmod(exchange, len(others))
            if cost[leaving, joining] == np.inf:
                break
            lacks_then = self._lacks_after(far_members, leaving, far[joining])
            if lacks_then >= lacked.sum():
                continue

            number = int(number_of[joining])
            neighbour = near[number]
            neighbours = members_of_near[number]
            place = joining - int(first[number])
            if neighbour not in self._ends_of_group:
                known = ends.far_members(neighbours), self._lacks(neighbours)
                self._ends_of_group[neighbour] = known
            far_neighbours, neighbour_lacks = self._ends_of_group[neighbour]
            far_from_leaving = far[first[number] : first[number] + len(neighbours), leaving]
            neighbour_lacks_then = self._lacks_after(far_neighbours, place, far_from_leaving)

            own_then = np.append(np.delete(rows, leaving), others[joining])
            neighbours_then = np.append(np.delete(neighbours, place), rows[leaving])
            if (
                neighbour_lacks_then <= neighbour_lacks
                and self._is_fine(own_then)
                and self._is_fine(neighbours_then)
            ):
                self._set(group, own_then)
                self._set(neighbour, neighbours_then)
                return int(lacks_then == 0) + int(neighbour_lacks_then == 0 < neighbour_lacks)
        return None

    def _costs_of_exchange(self, rows: Ints, others: Ints, number_of: Ints, sizes: Ints) -> Floats:
        """Compute what exchanging each member for each of others adds to the SSE, (s, t)."""
        middle = self.records[rows].mean(axis=0)
        x = self.records[rows] - middle
        y = self.records[others] - middle
        from_means = y - group_means(y, number_of)[number_of]

        xx = (x**2).sum(axis=1)[:, None]
        yy = (y**2).sum(axis=1)
        xy = np.einsum("ik,jk->ij", x, y)
        along = xy - xx - (y * from_means).sum(axis=1) + np.einsum("ik,jk->ij", x, from_means)
        shares = 2.0 - 1.0 / len(rows) - 1.0 / sizes[number_of]
        return np.asarray(2.0 * along + (xx + yy - 2.0 * xy) * shares)

    def _lacks_after(self, far_members: list[FarMembers], leaving: int, far_from_new: Bools) -> int:
        """Count the places that a group lacks with a member less, and a new one far from some."""
        assert self.ends is not None
        distinct = self.ends.distinct
        lacks = 0
        for far, far_at_end in zip(far_members, _numbers_in_rows(far_from_new.T), strict=True):
            rest = set(range(len(far))) - {leaving}
            without = largest_clique(far, rest, distinct)
            with_new = 1 + largest_clique(far, rest & far_at_end, distinct - 1)
            lacks += distinct - max(without, with_new)
        return lacks

    def _merge(self, group: int, near: list[int]) -> None:
        """Merge a group with the near one with which that costs least, and is fine."""
        rows = self.members[group]
        middle = self.records[rows].mean(axis=0)

        def cost(neighbour: int) -> float:
            neighbours = self.members[neighbour]
            share = len(rows) * len(neighbours) / (len(rows) + len(neighbours))
            away = self.records[neighbours].mean(axis=0) - middle
            return share * float((away**2).sum())

        for neighbour in sorted(near, key=cost):
            both = np.append(self.members[neighbour], rows)
            if self._is_fine(both) and not self._lacks(both):
                self._set(neighbour, both)
                self.members[group] = rows[:0]
                return
