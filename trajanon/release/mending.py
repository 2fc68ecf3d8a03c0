"""Mends: groups that are too wide, or begin or end in one place, are changed before a release."""

from dataclasses import replace
from functools import cached_property
from time import perf_counter

import msgspec
import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.errors import TrajanonError
from trajanon.grouping.different_ends import Ends, merge_lacking, span
from trajanon.grouping.k_promise import broken_promises
from trajanon.grouping.loss import group_means, principal_axes, standardise, turn
from trajanon.grouping.partition import measured
from trajanon.release.report import GroupsInOnePlace, Mended, WideGroups
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.release.worst_groups import without_worst
from trajanon.trajectories.distances import lengths
from trajanon.trajectories.geodesy import in_space
from trajanon.trajectories.times import search_columns

MOST_LEFT_OUT = 0.01
"""Share of the trajectories that may be left out because their groups are too wide."""

_NEAR = 64  # groups that a member may join
_AXES = 8  # in which near groups are looked for


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
        ends=plan.ends_of(trajectories),
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
    groups = _Groups(points, records, labels, k, people)
    wide = groups.leave_out_wide()
    labels = groups.labels
    left_in = np.flatnonzero(labels >= 0)
    one_place = GroupsInOnePlace()

    if ends is not None:
        ends = ends.take(left_in)
        of_group, group = np.unique(labels[left_in], return_inverse=True)
        merged = merge_lacking(records[left_in], group, ends)
        labels[left_in] = of_group[merged]
        one_place = GroupsInOnePlace(len(ends.lacking(group)), len(ends.lacking(dense(merged))))

    if broken_promises(dense(labels[left_in]), people[left_in], k):
        raise TrajanonError(f"mending left a group of fewer than {k}; please report it")
    return labels, Mended(wide, one_place)


class _Groups:
    """Groups of trajectories while they are mended."""

    def __init__(self, points: Floats, records: Floats, labels: Ints, k: int, people: Ints) -> None:
        self.records = records
        self.labels = labels.copy()
        self.labels_before = labels
        self.k = k
        self.people = people
        self.middles = in_space(points.mean(axis=1))
        self.lengths = lengths(points)
        self.wide: set[int] = set()

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

        # The others stay in the order of their distance.
        own_group_last = np.argsort(near == group, axis=1, kind="stable")
        away = np.take_along_axis(away, own_group_last, axis=1)
        near = np.take_along_axis(near, own_group_last, axis=1)
        return away, near[:, : max(count - 1, 0)]

    def _is_wide(self, rows: Ints) -> bool:
        return bool(span(self.middles[rows]) > self.lengths[rows].max(initial=0.0))

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
        spans = {group: span(self.middles[self.members[group]]) for group in may_be_wide}
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
        if len(np.unique(self.people[rest])) < self.k:
            changed, rest = self._joined(rest, near)
        left_out = len(rows) - len(rest)
        if left_out > limit:
            return 0

        self.wide.discard(group)
        self.labels[rows] = -1
        self.members[group] = rows[:0]
        self.members |= changed
        for changed_group, members in changed.items():
            self.labels[members] = changed_group
        return left_out

    def _joined(self, rows: Ints, near: Ints) -> tuple[dict[int, Ints], Ints]:
        """Find a near group for each trajectory: these groups then, and the trajectories placed."""
        grown: dict[int, Ints] = {}
        placed = np.zeros(len(rows), dtype=np.bool_)
        for place, row in enumerate(rows):
            # Those who joined before it are members, too: together they may be too wide.
            for group in near[place].tolist():
                members = grown.get(group, self.members[group])
                joined = np.append(members, row)
                if len(members) and group not in self.wide and not self._is_wide(joined):
                    grown[group] = joined
                    placed[place] = True
                    break
        return grown, rows[placed]
