"""Suppression: trajectories that cost most, and tight groups, are left out of a release."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon.antimeridian import refuse_groups_across
from trajanon.arrays import Bools, Floats, Ints, Metres
from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.files.release_lines import Grids, as_written, line_numbers
from trajanon.loss import loss_to, standardise
from trajanon.methods.remaining import mended
from trajanon.partition import Partition, check_enough, dense, measured
from trajanon.privacy.diversity import too_tight
from trajanon.privacy.outliers import outliers
from trajanon.problem import Problem
from trajanon.rounding import grids_of, time_shifts
from trajanon.settings import ReleaseSettings
from trajanon.snapping import RoadsToFollow, Snapped
from trajanon.timing import Timing, seen_by
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement, moved_to, summary


@dataclass(frozen=True, eq=False)
class TrajectoryGroups:
    """Trajectories and their groups, and the lines that are released of these."""

    trajectories: Trajectories
    partition: Partition  # its loss and its lines are of places alone
    digits: int | None  # decimals of a degree that are released; None: on the grid of each group
    timing: Timing | None = None  # of times that are released
    roads: RoadsToFollow | None = None  # on which released lines lie

    @cached_property
    def grids(self) -> Grids | None:
        """How each group's line is moved and written; None if all have so many decimals."""
        if self.digits is not None:
            return None
        points, partition = self.trajectories.points, self.partition
        lines, subjects = partition.lines(points), self.trajectories.subject
        return grids_of(points, lines, partition.labels, subjects)

    @cached_property
    def written(self) -> Floats:
        """The mean of each group as it is written where no roads are followed, (g, m, 2)."""
        refuse_groups_across(self.trajectories.points, self.partition.labels)
        means = self.partition.lines(self.trajectories.points)
        return as_written(means, self.digits, self.grids)

    @cached_property
    def laid(self) -> Snapped | None:
        """The same on roads; None if none are followed."""
        return None if self.roads is None else self.roads.lay(self.written)

    @property
    def to_roads(self) -> Floats:
        """Metres by which the points of each line were moved to roads, on average, (g,)."""
        return np.asarray(displacement(self.written, self.released).mean(axis=1))

    @property
    def released(self) -> Floats:
        """The line of each group as it is released, (g, m, 2)."""
        return self.written if self.laid is None else self.laid.lines

    @cached_property
    def time_shifts(self) -> Floats | None:
        """Seconds by which the times of each group's line are moved, (g,); None if none are."""
        if self.timing is None or self.grids is None:
            return None
        whole, labels, clock = self.trajectories, self.partition.labels, self.timing.clock
        return time_shifts(whole.points, self.timing.seconds(whole), labels, clock, whole.subject)

    @property
    def information_loss(self) -> float:
        """IL in percent of the lines as written, but of plain means as computed; of places."""
        if self.digits is not None:
            return self.partition.information_loss
        return loss_to(self.trajectories.points, self.released, self.partition.labels)

    @property
    def released_times(self) -> Floats | None:
        """The mean times of each group as they are written, (g, m); None if none are released."""
        if self.timing is None:
            return None
        return self.timing.released(self.trajectories, self.partition.labels, self.time_shifts)

    @cached_property
    def line_numbers(self) -> Ints:
        """Number the lines of groups as they are written, (g,); equal ones alike."""
        return line_numbers(self.released, self.released_times)

    @property
    def moved(self) -> Metres:
        """Metres from each trajectory's points to those of its released line, (n, m)."""
        return moved_to(self.trajectories.points, self.released, self.partition.labels)


class Found(NamedTuple):
    """What a search found: groups of trajectories as they were cut, and as they slid."""

    cut: TrajectoryGroups
    slid: TrajectoryGroups  # those of ``cut``, if nothing may slide


def without_costly(
    found: Found, share: float, k: int, search: Callable[[Trajectories], Found]
) -> tuple[Found, Bools, int]:
    """Leave out at most a share of the trajectories: those without which least is lost.

    The others are grouped anew, or stay in the groups as they are: the first of the two by which
    they lose less than before. If neither does, nothing is left out; after Ctrl-C the groups are
    taken as they are, whatever they lose. Returns what was found, who is left out, shape (n,), and
    how many were not because nothing was gained.
    """
    cut, slid = found
    points, labels = slid.trajectories.points, slid.partition.labels
    out = outliers(points, labels, share, k=k, subjects=slid.trajectories.subject)
    if not out.any():
        return found, out, 0
    try:
        if slid.partition.stopped:
            return _shrunk(found, ~out, k), out, 0
        anew = search(cut.trajectories.take(~out))
        if _gains(slid, ~out, anew.slid):
            return anew, out, 0
        old = _shrunk(found, ~out, k)
        if anew.slid.partition.stopped:
            stopped = replace(old.slid.partition, stopped=True)
            return old._replace(slid=replace(old.slid, partition=stopped)), out, 0
        if _gains(slid, ~out, old.slid):
            return old, out, 0
    except (TooFewRecords, TooFewSubjects):
        pass  # the others are too few for a group
    return found, np.zeros_like(out), int(out.sum())


def _gains(before: TrajectoryGroups, kept: Bools, after: TrajectoryGroups) -> bool:
    """Whether those kept are moved less than before, and lose less, on average."""
    was, now = (far.astype(np.float64) for far in (before.moved[kept], after.moved))
    return bool(now.mean() < was.mean() and (now**2).mean() < (was**2).mean())


def _shrunk(found: Found, kept: Bools, k: int) -> Found:
    """Leave trajectories out of groups; members of a group that then is too small join others."""

    def shrunk(groups: TrajectoryGroups) -> TrajectoryGroups:
        since = perf_counter()
        left = groups.trajectories.take(kept)
        own = np.arange(len(left)) if left.subject is None else dense(left.subject)
        check_enough(len(left), k, None if left.subject is None else int(own.max()) + 1)
        seen = standardise(*seen_by(left, groups.timing))
        problem = Problem(records=seen, subjects=own, k=k)
        return _remeasured(left, groups, mended(problem, groups.partition.labels[kept]), since)

    slid = shrunk(found.slid)
    stayed = found.slid.trajectories is found.cut.trajectories
    return Found(slid if stayed else shrunk(found.cut), slid)


def without_tight_groups(groups: TrajectoryGroups, radius: float) -> tuple[TrajectoryGroups, Bools]:
    """Leave out groups so tight that their line is as good as any member; 0 m leaves out none."""
    since = perf_counter()
    trajectories, partition = groups.trajectories, groups.partition
    tight = np.zeros(len(partition.sizes), dtype=np.bool_)
    if radius > 0.0:
        for lines in (partition.lines(trajectories.points), groups.released):
            tight |= too_tight(trajectories.points, partition.labels, lines, radius)
    if tight.all():
        raise BadInput(f"all groups lie within {radius:g} m: lower `min_radius`, or raise `k`")
    out = tight[partition.labels]
    if not out.any():
        return groups, out
    labels = dense(partition.labels[~out])
    return _remeasured(trajectories.take(~out), groups, labels, since), out


def _remeasured(
    left: Trajectories, before: TrajectoryGroups, labels: Ints, since: float
) -> TrajectoryGroups:
    found, was = measured(left.records, labels, "suppression", since), before.partition
    stages = (*was.stages, *found.stages)
    found = replace(found, path_length=was.path_length, stages=stages, stopped=was.stopped)
    return TrajectoryGroups(left, found, before.digits, before.timing)


def suppression_account(
    costly: Bools, tight: Bools, before: TrajectoryGroups, settings: ReleaseSettings, declined: int
) -> dict[str, Any] | None:
    """Tell what was left out, and what was lost before, ready for JSON."""
    if settings.suppress == settings.min_radius == 0.0:
        return None
    with_outliers = None
    if costly.any():
        with_outliers = {
            "information_loss": before.information_loss,
            "displacement": summary(before.moved),
            "displacement_of_others": summary(before.moved[~costly]),
        }
    return {
        "share": settings.suppress,
        "min_radius": settings.min_radius,
        "outliers": int(costly.sum()),
        "declined": declined,
        "in_tight_groups": int(tight.sum()),
        "with_outliers": with_outliers,
        "rows": np.flatnonzero(costly | tight).tolist(),
    }
