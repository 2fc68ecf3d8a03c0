"""Trajectories that are left out of a release, because asked for."""

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
from trajanon.microaggregation import check_enough
from trajanon.partition import Partition, dense, measured
from trajanon.privacy.diversity import too_tight
from trajanon.privacy.outliers import outliers
from trajanon.problem import Problem
from trajanon.trajectories import Trajectories
from trajanon.utility import moved_to, summary


class Grouped(NamedTuple):
    """Trajectories, their groups, and the decimals of a degree that are released."""

    trajectories: Trajectories
    partition: Partition
    digits: int

    @property
    def released(self) -> Floats:
        """The mean of each group as it is written, shape (g, m, 2)."""
        return rounded(self.partition.lines(self.trajectories.points), self.digits)


class Suppression(NamedTuple):
    """What is to be left out."""

    share: float  # of the trajectories, those that cost most: 0 or more, below 1
    radius: float  # metres: groups all of whose members stay within so far of their line

    def check(self) -> None:
        """Refuse what makes no sense."""
        if not 0.0 <= self.share < 1.0:
            msg = (
                f"--suppress must be a share of the trajectories from 0 % to below "
                f"100 % (got {self.share:.4g})"
            )
            raise BadInput(msg)
        if not 0.0 <= self.radius < np.inf:
            msg = f"--min-radius must be metres, 0 or more (got {self.radius})"
            raise BadInput(msg)


def costly(grouped: Grouped, share: float, k: int, *, counts_subjects: bool) -> Bools:
    """Choose the trajectories without which least is lost, shape (n,)."""
    trajectories, partition, _ = grouped
    return outliers(
        trajectories.points,
        partition.labels,
        share,
        k=k,
        subjects=trajectories.subject if counts_subjects else None,
    )


def regrouped(
    before: tuple[Grouped, Grouped],
    out: Bools,
    k: int,
    search: Callable[[Trajectories], tuple[Grouped, Grouped]],
    *,
    counts_subjects: bool,
) -> tuple[Grouped, Grouped] | None:
    """Group those that are kept: anew, or in the groups there are.

    The first of the two by which those that are kept lose less than before; None if neither does.
    After Ctrl-C, the groups there are in any case.
    """
    cut, aligned = before

    def there() -> tuple[Grouped, Grouped]:
        left = without(aligned, out, k, counts_subjects=counts_subjects)
        if aligned.trajectories is cut.trajectories:
            return left, left
        return without(cut, out, k, counts_subjects=counts_subjects), left

    if aligned.partition.stopped:
        return there()
    try:
        anew = search(cut.trajectories.take(~out))
        if _gains(aligned, ~out, anew[1]):
            return anew
        cut_left, left = there()
    except (TooFewRecords, TooFewSubjects):
        return None
    if anew[1].partition.stopped:
        stopped = replace(left.partition, stopped=True)
        return cut_left, left._replace(partition=stopped)
    return (cut_left, left) if _gains(aligned, ~out, left) else None


def _gains(before: Grouped, kept: Bools, after: Grouped) -> bool:
    """Whether those kept are moved less than before, and lose less, on average."""
    was, now = _moved(before)[kept], _moved(after)
    return bool(now.mean() < was.mean() and (now**2).mean() < (was**2).mean())


def _moved(grouped: Grouped) -> Floats:
    trajectories, partition, _ = grouped
    return moved_to(trajectories.points, grouped.released, partition.labels)


def without_tight_groups(grouped: Grouped, radius: float) -> tuple[Grouped, Bools]:
    """Leave out groups so tight that their line is as good as any member."""
    since = perf_counter()
    trajectories, partition, _ = grouped
    tight = np.zeros(len(partition.sizes), dtype=np.bool_)
    for lines in (partition.lines(trajectories.points), grouped.released):
        tight |= too_tight(trajectories.points, partition.labels, lines, radius)
    if tight.all():
        msg = (
            f"all groups lie within {radius:g} m, and nothing would be released: lower "
            "--min-radius, or raise -k"
        )
        raise BadInput(msg)
    out = tight[partition.labels]
    if not out.any():
        return grouped, out
    left = trajectories.take(~out)
    return _measured(left, grouped, dense(partition.labels[~out]), since), out


def without(grouped: Grouped, out: Bools, k: int, *, counts_subjects: bool) -> Grouped:
    """Leave trajectories out of groups that nobody searches anew.

    Where a group then holds too few, its other members join the nearest group.
    """
    since = perf_counter()
    left, labels = grouped.trajectories.take(~out), grouped.partition.labels[~out]
    subjects = np.arange(len(left))
    if counts_subjects and left.subject is not None:
        subjects = dense(left.subject)
    check_enough(len(left), subjects, k, counted=counts_subjects)
    problem = Problem(records=loss.standardise(left.records), subjects=subjects, k=k)
    labels = mended(problem, labels)
    return _measured(left, grouped, labels, since)


def _measured(left: Trajectories, before: Grouped, labels: Ints, since: float) -> Grouped:
    """Measure the groups of what is left."""
    found = measured(left.records, labels, "suppression", since)
    stages = (*before.partition.stages, *found.stages)
    path, stopped = before.partition.path_length, before.partition.stopped
    changed = replace(found, stages=stages, path_length=path, stopped=stopped)
    return Grouped(left, changed, before.digits)


def account(
    suppression: Suppression, costly: Bools, tight: Bools, before: Grouped | None, declined: int
) -> dict[str, Any] | None:
    """Tell what was left out, ready for JSON."""
    if suppression == (0.0, 0.0):
        return None
    without = None
    if before is not None:
        moved = _moved(before)
        without = {
            "information_loss": before.partition.information_loss,
            "displacement": summary(moved),
            "displacement_of_others": summary(moved[~costly]),
        }
    return {
        "share": suppression.share,
        "min_radius": suppression.radius,
        "outliers": int(costly.sum()),
        "declined": declined,
        "in_tight_groups": int(tight.sum()),
        "with_outliers": without,
        "rows": np.flatnonzero(costly | tight).tolist(),
    }
