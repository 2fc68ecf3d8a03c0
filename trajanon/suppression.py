"""Suppression: trajectories that cost most, and tight groups, are left out of a release."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon import loss
from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.files.release_lines import rounded
from trajanon.methods.remaining import mended
from trajanon.partition import Partition, check_enough, dense, measured
from trajanon.privacy.diversity import too_tight
from trajanon.privacy.outliers import outliers
from trajanon.problem import Problem
from trajanon.settings import ReleaseSettings
from trajanon.trajectories import Trajectories
from trajanon.utility import moved_to, summary


class TrajectoryGroups(NamedTuple):
    """Trajectories and their groups, and the lines that are released of these."""

    trajectories: Trajectories
    partition: Partition
    digits: int  # decimals of a degree that are released

    @property
    def released(self) -> Floats:
        """The mean of each group as it is written, shape (g, m, 2)."""
        return rounded(self.partition.lines(self.trajectories.points), self.digits)

    @property
    def moved(self) -> Floats:
        """Metres from each trajectory's points to those of its released line, on average, (n,)."""
        return moved_to(self.trajectories.points, self.released, self.partition.labels)


class Found(NamedTuple):
    """What a search found: groups of trajectories as they were cut, and as they slid."""

    cut: TrajectoryGroups
    slid: TrajectoryGroups  # those of ``cut``, if nothing may slide


def without_costly(
    found: Found,
    share: float,
    k: int,
    subjects: Ints | None,
    search: Callable[[Trajectories, Ints | None], Found],
) -> tuple[Found, Bools, int]:
    """Leave out at most a share of the trajectories: those without which least is lost.

    The others are grouped anew. If they do not lose less by it, nothing is left out. Returns what
    was found, who is left out, shape (n,), and how many were not because nothing was gained.
    """
    groups = found.slid
    points, labels = groups.trajectories.points, groups.partition.labels
    out = outliers(points, labels, share, k=k, subjects=subjects)
    if not out.any():
        return found, out, 0
    others = _regrouped(found, ~out, k, None if subjects is None else subjects[~out], search)
    if others is None:
        return found, np.zeros_like(out), int(out.sum())
    return others, out, 0


def _regrouped(
    found: Found,
    kept: Bools,
    k: int,
    subjects: Ints | None,
    search: Callable[[Trajectories, Ints | None], Found],
) -> Found | None:
    """Group those that are kept anew, or else leave the others out of the groups as they are.

    Takes the first of the two by which those that are kept lose less than before; None if neither
    does. After Ctrl-C takes the groups as they are, whatever they lose.
    """
    cut, slid = found

    def shrunk() -> Found:
        left = _shrunk(slid, kept, k, subjects)
        if slid.trajectories is cut.trajectories:
            return Found(left, left)
        return Found(_shrunk(cut, kept, k, subjects), left)

    if slid.partition.stopped:
        return shrunk()
    try:
        anew = search(cut.trajectories.take(kept), subjects)
        if _gains(slid, kept, anew.slid):
            return anew
        old = shrunk()
    except (TooFewRecords, TooFewSubjects):
        return None
    if anew.slid.partition.stopped:
        stopped = replace(old.slid.partition, stopped=True)
        return old._replace(slid=old.slid._replace(partition=stopped))
    return old if _gains(slid, kept, old.slid) else None


def _gains(before: TrajectoryGroups, kept: Bools, after: TrajectoryGroups) -> bool:
    """Whether those kept are moved less than before, and lose less, on average."""
    was, now = before.moved[kept], after.moved
    return bool(now.mean() < was.mean() and (now**2).mean() < (was**2).mean())


def _shrunk(
    groups: TrajectoryGroups, kept: Bools, k: int, subjects: Ints | None
) -> TrajectoryGroups:
    """Leave trajectories out of groups; members of a group that then is too small join others."""
    since = perf_counter()
    left, labels = groups.trajectories.take(kept), groups.partition.labels[kept]
    own = np.arange(len(left)) if subjects is None else dense(subjects)
    check_enough(len(left), k, None if subjects is None else int(own.max()) + 1)
    problem = Problem(records=loss.standardise(left.records), subjects=own, k=k)
    labels = mended(problem, labels)
    return _remeasured(left, groups, labels, since)


def without_tight_groups(groups: TrajectoryGroups, radius: float) -> tuple[TrajectoryGroups, Bools]:
    """Leave out groups so tight that their line is as good as any member; 0 m leaves out none."""
    since = perf_counter()
    trajectories, partition, _ = groups
    tight = np.zeros(len(partition.sizes), dtype=np.bool_)
    if radius > 0.0:
        for lines in (partition.lines(trajectories.points), groups.released):
            tight |= too_tight(trajectories.points, partition.labels, lines, radius)
    if tight.all():
        msg = (
            f"all groups lie within {radius:g} m, and nothing would be released: lower "
            "`min_radius`, or raise `k`"
        )
        raise BadInput(msg)
    out = tight[partition.labels]
    if not out.any():
        return groups, out
    labels = dense(partition.labels[~out])
    return _remeasured(trajectories.take(~out), groups, labels, since), out


def _remeasured(
    left: Trajectories, before: TrajectoryGroups, labels: Ints, since: float
) -> TrajectoryGroups:
    found, was = measured(left.records, labels, "suppression", since), before.partition
    partition = replace(
        was,
        labels=labels,
        centroids=found.centroids,
        sse=found.sse,
        sst=found.sst,
        stages=(*was.stages, *found.stages),
    )
    return TrajectoryGroups(left, partition, before.digits)


def suppression_account(
    costly: Bools, tight: Bools, before: TrajectoryGroups, settings: ReleaseSettings, declined: int
) -> dict[str, Any] | None:
    """Tell what was left out, and what was lost before, ready for JSON."""
    if settings.suppress == settings.min_radius == 0.0:
        return None
    with_outliers = None
    if costly.any():
        with_outliers = {
            "information_loss": before.partition.information_loss,
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
