"""What a release and earlier ones of the same trajectories show together, for their holder."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.release.originals import matched
from trajanon.release.report import Report
from trajanon.release.report_files import read_report
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories


class LinesForHolder(NamedTuple):
    """A release as its holder knows it."""

    path: Path
    report: Report
    labels: Ints  # line of each original, or of its day, (n,); -1 where left out
    points: Floats  # of each line, (g, m, 2), in degrees
    times: Floats | None  # of each line, (g, m), in seconds, if times are released


def lines_for_holder(
    path: Path, release: ReleasedTrajectories, trajectories: Trajectories
) -> LinesForHolder:
    """Find the line of each original, or of its day, in a release that was read from a path."""
    report = read_report(path)
    try:
        days, day_of_trip = report.days_of(trajectories)  # or each trajectory itself
        is_released = report.released(len(days))
        groups = matched(days.take(is_released), release, report)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error

    line_of_day = np.full(len(days), -1)
    line_of_day[is_released] = groups.labels
    # A trip in no day has the day -1, and must not get the line of the last one.
    labels = np.where(day_of_trip < 0, -1, line_of_day[day_of_trip])
    return LinesForHolder(path, report, labels, groups.lines, groups.times)


def problems_together(
    release: LinesForHolder, earlier: Sequence[LinesForHolder], k: int, subjects: Ints
) -> list[str]:
    """Report what a release and earlier ones show together; ``subjects`` are numbers, (n,)."""
    problems = [problem for before in earlier for problem in _moved_twice(release, before)]
    labels_by_release = [lines.labels for lines in (release, *earlier)]
    return problems + _too_few_in_common(labels_by_release, k, subjects)


def _moved_twice(release: LinesForHolder, earlier: LinesForHolder) -> list[str]:
    """Report the groups that both releases hold, moved in two ways.

    The mean of two lines that were moved differently is nearer to the members than one of them. A
    group is moved differently by another key or width, and where its members count differently in
    the mean, or slid elsewhere.
    """
    # Lines of different numbers of points have no mean that is plainly nearer.
    if release.points.shape[1:] != earlier.points.shape[1:]:
        return []

    in_both = (release.labels >= 0) & (earlier.labels >= 0)
    pairs = np.column_stack([release.labels, earlier.labels])[in_both]
    pairs, shared_members = np.unique(pairs, axis=0, return_counts=True)
    line, earlier_line = pairs.T

    # A group is in both releases if the members that its two lines share are all that they have.
    sizes = np.bincount(release.labels[release.labels >= 0])
    earlier_sizes = np.bincount(earlier.labels[earlier.labels >= 0])
    has_no_others = shared_members == sizes[line]
    had_no_others = shared_members == earlier_sizes[earlier_line]
    differs = _differ(release, line, earlier, earlier_line)
    count = int((has_no_others & had_no_others & differs).sum())
    if not count:
        return []
    are = number_of(count, "group is", "groups are")
    return [
        f"{are} also in {earlier.path}, moved differently: both lines together are nearer to the "
        "members than one, so publish one of the two releases only"
    ]


def _differ(
    release: LinesForHolder, line: Ints, earlier: LinesForHolder, earlier_line: Ints
) -> Bools:
    """Mark the pairs of lines, (p,), whose places or times were moved differently."""
    report = release.report
    before = earlier.report
    differ = (release.points[line] != earlier.points[earlier_line]).any(axis=(1, 2))
    is_moved_alike = (report.key_fingerprint, report.width) == (
        before.key_fingerprint,
        before.width,
    )
    if is_moved_alike and (report.roads is None) != (before.roads is None):
        # Lines of one release lie on roads, by which nothing more is known.
        differ[:] = False

    clock = report.clock
    clock_before = before.clock
    if release.times is None or earlier.times is None or clock is None or clock_before is None:
        return np.asarray(differ)
    # The same times, rounded to two steps, are half of both apart at most.
    seconds = np.abs(release.times[line] - earlier.times[earlier_line]).max(axis=1)
    rounding = (clock.step + clock_before.step) / 2.0
    is_same_clock = (clock.times, clock.timezone) == (clock_before.times, clock_before.timezone)
    return np.asarray(differ | (seconds > rounding) | (not is_same_clock))


def _too_few_in_common(labels_by_release: Sequence[Ints], k: int, subjects: Ints) -> list[str]:
    """Count the trajectories that releases together hide among fewer than k subjects.

    Anyone who knows the lines of a trajectory in several releases narrows it down to the members
    that they have in common. Lines and subjects are numbers of each trajectory, (n,).
    """
    if len(labels_by_release) == 1:
        return []
    labels = np.column_stack(labels_by_release)
    in_any_release = np.flatnonzero((labels >= 0).any(axis=1))
    labels = labels[in_any_release]
    owners = subjects[in_any_release]

    # Trajectories of one cell are on the same lines in all releases, or left out of the same.
    cell = np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1)
    in_common = subjects_per_group(cell, owners)[cell]
    in_several = (labels >= 0).sum(axis=1) > 1

    problems = []
    below_k = int((in_common[in_several] < k).sum())
    if below_k:
        is_alone = in_several & (in_common == 1)
        people = number_of(len(np.unique(owners[is_alone])), "subject")
        problems.append(
            f"together with earlier releases, {below_k} of {in_several.sum()} trajectories are in "
            f"groups that have fewer than {k} different subjects in common; {is_alone.sum()} of "
            f"them have no other subject's beside them ({people})"
        )

    below_k = int((in_common[~in_several] < k).sum())
    if below_k:
        problems.append(
            f"{number_of(below_k, 'trajectory is', 'trajectories are')} in a group of one release "
            f"and left out of others together with fewer than {k} different subjects: the "
            "difference of the releases may tell where they went"
        )
    return problems
