"""Mends: groups that are too wide, or begin or end in one place, are changed before a release."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from time import perf_counter

import msgspec
import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.parameters_of_single_methods import MicroaggregateSettings
from trajanon.grouping.different_ends import Ends, merge_groups_lacking_places, span
from trajanon.grouping.group_means import group_means, members_of_groups
from trajanon.grouping.k_promise import check_kept
from trajanon.grouping.partition import measured
from trajanon.grouping.principal_axes import principal_axes, turn
from trajanon.grouping.problem import whole_problem
from trajanon.grouping.refinements.descent import descend
from trajanon.grouping.sliding.alignment import MANY
from trajanon.grouping.sliding.off_recording_ends import slid_off_ends
from trajanon.grouping.standardised_records import standardise
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.report import GroupsInOnePlace, Mended, WideGroups
from trajanon.release.worst_groups import leave_out_worst
from trajanon.trajectories.distances import lengths
from trajanon.trajectories.geodesy import in_space
from trajanon.trajectories.search_columns import search_columns
from trajanon.trajectories.trajectories import Trajectories

MOST_LEFT_OUT = 0.01
"""Share of the trajectories that may be left out because their groups are too wide."""

_NEAR_GROUPS = 64  # that a trajectory may join
_AXES = 8  # principal axes of the means, along which near groups are looked for


def mend(groups: TrajectoryGroups, k: int) -> TrajectoryGroups:
    """Mend groups as `mend_labels` does, leave out the worst, and note who is left out."""
    since = perf_counter()
    plan = groups.plan
    trajectories = groups.trajectories
    before = groups.partition

    trajectories, labels, windows_in_one_place = moved_off_ends(groups, k)
    labels, mended = mend_labels(
        trajectories.points,
        lambda: standardise(*search_columns(trajectories, plan.timing)),
        labels,
        k,
        subjects=trajectories.subject,
        ends=plan.ends_of(trajectories),
    )
    one_place = mended.one_place + windows_in_one_place
    mended = msgspec.structs.replace(mended, one_place=one_place)
    if plan.release.leave_out:
        labels, worst = leave_out_worst(trajectories.points, labels, plan.release.leave_out / 100.0)
        mended = msgspec.structs.replace(mended, worst=worst)
    groups = replace(groups, mended=mended)
    if np.array_equal(labels, before.labels) and trajectories is groups.trajectories:
        return groups

    is_released = labels >= 0
    released = trajectories
    if not is_released.all():
        # Runs of those left out stay, too: to drop them would copy nearly all points.
        released = replace(trajectories, tracks=None).take(is_released)
        if (tracks := trajectories.tracks) is not None:
            windows = replace(tracks, run=tracks.run[is_released], start=tracks.start[is_released])
            released = replace(released, tracks=windows)

    # The loss is of coordinates alone, also where the search compared departures.
    after = measured(released.records, renumbered(labels[is_released]), "mending", since)
    after = replace(
        after,
        path_length=before.path_length,
        stages=(*before.stages, *after.stages),
        stopped=before.stopped,
    )
    return replace(groups, trajectories=released, partition=after, left_out=~is_released)


def moved_off_ends(groups: TrajectoryGroups, k: int) -> tuple[Trajectories, Ints, GroupsInOnePlace]:
    """Move windows whose line shows where all of their recordings begin, or end.

    They slide away from there, if they may. Groups without room are merged with others. What that
    costs is regained by exchanges between groups, unless there are many windows: this would take
    longer than it is worth. Also returned are the new labels, (n,), and how many groups were in one
    place and are mended, or of how many that is not known.
    """
    plan = groups.plan
    trajectories = groups.trajectories
    labels = groups.partition.labels
    ends = plan.ends_of(trajectories)
    if ends is None:
        is_unknown = trajectories.unit == "trajectory" and trajectories.tracks is None
        unknown = int(labels.max()) + 1 if is_unknown else 0
        return trajectories, labels, GroupsInOnePlace(unknown=unknown)

    lacking = len(ends.groups_lacking_places(labels))
    if ends.window_ends is None or not lacking:
        return trajectories, labels, GroupsInOnePlace()

    if plan.release.align:
        trajectories = slid_off_ends(trajectories, labels, ends)
        ends = plan.ends_of(trajectories)
        assert ends is not None

    records = standardise(*search_columns(trajectories, plan.timing))
    merged = merge_groups_lacking_places(records, labels, ends)
    has_merged = not np.array_equal(merged, labels)
    if has_merged:
        labels = renumbered(merged)
    if has_merged and len(labels) < MANY:
        people = np.arange(len(labels)) if trajectories.subject is None else trajectories.subject
        settings = MicroaggregateSettings(seed=plan.secret_search.seed)
        problem = whole_problem(records, renumbered(people), k, settings, ends=ends.seen_by_moves())
        labels = descend(problem, labels)
    left = len(ends.groups_lacking_places(labels))
    return trajectories, labels, GroupsInOnePlace(groups=lacking - left)


def mend_labels(
    points: Floats,
    search_records: Callable[[], Floats],
    labels: Ints,
    k: int,
    *,
    subjects: Ints | None = None,
    ends: Ends | None = None,
) -> tuple[Ints, Mended]:
    """Leave out what is far from its group, and merge groups that begin or end in one place.

    ``points`` are (n, m, 2), in degrees. ``search_records`` computes, if they are needed, the
    columns that the search compares, each with a spread of 1 in these trajectories, (n, p). Return
    the group of each trajectory, -1 if left out, and how many groups were mended. ``ends`` is where
    trajectories begin and end, and at how many places those of a group must; None asks for nothing.
    """
    people = np.arange(len(labels)) if subjects is None else subjects
    groups = _WideGroups(points, search_records, labels, k, people)
    wide_at_first, left_out = groups.narrow_all()
    labels = groups.labels
    rows = np.flatnonzero(labels >= 0)

    in_one_place = GroupsInOnePlace()
    if ends is not None:
        ends = ends.take(rows)
        group_numbers, group = np.unique(labels[rows], return_inverse=True)
        if lacking := len(ends.groups_lacking_places(group)):
            merged = merge_groups_lacking_places(groups.records[rows], group, ends)
            labels[rows] = group_numbers[merged]
            left = len(ends.groups_lacking_places(renumbered(merged)))
            in_one_place = GroupsInOnePlace(groups=lacking, left=left)

    check_kept(renumbered(labels[rows]), people[rows], k, "mending")
    left = groups.still_wide(labels)
    wide = WideGroups(groups=wide_at_first - left, trajectories=left_out, left=left)
    return labels, Mended(wide, in_one_place)


class _WideGroups:
    """Groups of trajectories while members that are far from all others are left out.

    A group is too wide if its members lie farther apart than the longest of them is long.
    """

    def __init__(
        self,
        points: Floats,
        search_records: Callable[[], Floats],
        labels: Ints,
        k: int,
        people: Ints,
    ) -> None:
        """Begin with groups 0..g-1 as they are."""
        self.labels = labels.copy()  # as they become, (n,): -1 if left out
        self._labels_before = labels
        self._search_records = search_records
        self._k = k
        self._people = people  # number of the person behind each trajectory, (n,)
        self._middles = in_space(points.mean(axis=1))  # metres from the middle of the Earth, (n, 3)
        self._lengths = lengths(points)  # metres, (n,)
        self._wide: set[int] = set()  # groups that are still too wide

    @cached_property
    def records(self) -> Floats:
        """Return the columns that the search compares, standardised, (n, p)."""
        return self._search_records()

    @cached_property
    def _members(self) -> dict[int, Ints]:
        """List the rows of each group, as they become; a group that was dissolved has none."""
        return dict(enumerate(members_of_groups(self._labels_before)))

    @cached_property
    def _tree(self) -> tuple[cKDTree, Floats]:
        """Return a tree of the groups' means, as they were at first, and its axes, (p, a)."""
        means = group_means(self.records, self._labels_before)
        axes = principal_axes(means)[:, :_AXES]
        return cKDTree(turn(means, axes)), axes

    def _near_groups(self, rows: Ints, own_group: int) -> tuple[Floats, Ints]:
        """Find the groups near these rows, (s,), but their own: how far they are, and which.

        Both have the nearest first: distances of records, (s, c + 1), and groups, (s, c). The last
        distance is that of the group that was taken out, so that there is one even without others.
        """
        tree, axes = self._tree
        count = min(_NEAR_GROUPS + 1, tree.n)
        away, near = tree.query(turn(self.records[rows], axes), k=range(1, count + 1))

        # The others stay in the order of their distance.
        own_group_last = np.argsort(near == own_group, axis=1, kind="stable")
        away = np.take_along_axis(away, own_group_last, axis=1)
        near = np.take_along_axis(near, own_group_last, axis=1)
        return away, near[:, : count - 1]

    def _is_wide(self, rows: Ints) -> bool:
        """Check whether a group of these rows would be too wide."""
        return bool(span(self._middles[rows]) > self._lengths[rows].max(initial=0.0))

    def narrow_all(self) -> tuple[int, int]:
        """Leave out members of groups that are too wide, the widest group first.

        Return how many groups were too wide, and how many members were left out.
        """
        # No two members are farther apart than twice the farthest is from the middle of all.
        labels = self._labels_before
        off_middle = self._middles - group_means(self._middles, labels)[labels]
        # Of each group, in metres: its farthest member from its middle, and its longest trajectory.
        radius, longest = np.zeros((2, int(labels.max()) + 1))
        np.maximum.at(radius, labels, np.linalg.norm(off_middle, axis=1))
        np.maximum.at(longest, labels, self._lengths)

        # Spans are arcs on the Earth, and at most pi / 2 times as long as the chord, 2 radius.
        may_be_wide = np.flatnonzero(np.pi * radius > longest).tolist()
        spans = {group: span(self._middles[self._members[group]]) for group in may_be_wide}
        self._wide = {group for group in may_be_wide if spans[group] > longest[group]}

        wide_at_first = len(self._wide)
        # Far less than a trajectory is added, as the share is no exact float.
        limit = int(MOST_LEFT_OUT * len(self.labels) + 1e-9)
        left_out = 0
        for group in sorted(self._wide, key=lambda group: (-spans[group], group)):
            left_out += self._narrow(group, limit - left_out)
        return wide_at_first, left_out

    def still_wide(self, labels: Ints) -> int:
        """Count the groups that are too wide still, also after mergers, (n,).

        Mergers make no group too wide, and one with a longer trip may join a group that is.
        """
        return sum(self._is_wide(np.flatnonzero(labels == group)) for group in self._wide)

    def _narrow(self, group: int, limit: int) -> int:
        """Leave out the members farthest from all other groups, up to a limit; return their number.

        Nothing changes if that does not make it narrow enough.
        """
        rows = self._members[group]
        away, near = self._near_groups(rows, group)
        # Those far from all other groups go first: whoever is near one could join it, if fewer
        # than k people stay.
        most_company_first = np.argsort(away[:, 0], kind="stable")
        stay = rows[most_company_first]
        near = near[most_company_first]
        while self._is_wide(stay) and len(rows) - len(stay) < limit:
            stay = stay[:-1]
        if self._is_wide(stay):
            return 0

        # Where fewer than k people are left, these join other groups, if they can.
        changed = {group: stay}
        if len(np.unique(self._people[stay])) < self._k:
            changed, stay = self._joined_to_near_groups(stay, near)
        left_out = len(rows) - len(stay)
        if left_out > limit:
            return 0

        self._wide.discard(group)
        self.labels[rows] = -1
        self._members[group] = rows[:0]
        self._members |= changed
        for changed_group, members in changed.items():
            self.labels[members] = changed_group
        return left_out

    def _joined_to_near_groups(self, rows: Ints, near: Ints) -> tuple[dict[int, Ints], Ints]:
        """Find for each row the nearest group that it does not make too wide.

        ``near`` are the groups near each row, (s, c). Return the rows of the groups that grow, and
        the rows that found one.
        """
        grown: dict[int, Ints] = {}
        has_joined = np.zeros(len(rows), dtype=np.bool_)
        for place, row in enumerate(rows):
            # Those who joined before it are members, too: together they may be too wide.
            for group in near[place].tolist():
                members = grown.get(group, self._members[group])
                joined = np.append(members, row)
                if len(members) and group not in self._wide and not self._is_wide(joined):
                    grown[group] = joined
                    has_joined[place] = True
                    break
        return grown, rows[has_joined]
