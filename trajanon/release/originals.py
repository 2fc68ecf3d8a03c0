"""A release beside its originals and their report, of which one part is in memory at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.declared_options import ReleaseSettings
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.files.release_contents import clock_of, different_lines
from trajanon.files.release_formats import read_release, release_parts
from trajanon.files.trajectory_files import read_by_part, read_ends
from trajanon.grouping.k_promise import broken_promises, subjects_per_group
from trajanon.release.findings import clause_of
from trajanon.release.report import (
    NOT_TOGETHER,
    Report,
    digest_of,
    read_report,
    report_beside,
    report_path,
)
from trajanon.release.verdict import groups_below_k
from trajanon.trajectories.times import Timing
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

NO_SUBJECTS = (
    "these trajectories name no subjects, so people cannot be counted: check the release alone"
)


class Matched(NamedTuple):
    """A release with its originals.

    Groups with equal lines are one: the release does not distinguish them.
    """

    labels: Ints  # group of each original, (n,), numbered 0..g-1
    lines: Floats  # released latitude and longitude of each group, (g, m, 2)
    slid: Trajectories  # the originals where they were when they were averaged
    own_row: Bools  # whether each original has a row of its own, (n,); else its subject has one
    times: Floats | None = None  # released times of each group, (g, m), if there are any


def matched(trajectories: Trajectories, release: ReleasedTrajectories, report: Report) -> Matched:
    """Find each group's line in the release; its rows must be those of the report."""
    labels = report.groups_of_released
    require(len(labels) == len(trajectories))
    require(trajectories.points.shape[1:] == release.points.shape[1:])

    # Windows were averaged where they had slid to.
    slid = trajectories
    if report.alignment is not None:
        try:
            slid = trajectories.slid(np.array(report.alignment.starts, dtype=np.int64))
        except BadInput as error:
            raise BadInput(NOT_TOGETHER) from error
    times = None if report.clock is None else slid.times
    require(report.clock is None or times is not None)
    averaged = digest_of([slid.points], labels, None if times is None else [times])
    require(report.averaged in (None, averaged))

    require(clock_of(release) == report.clock)
    keys, copies, first = different_lines(release)
    line = lines_of_released(report, keys, copies)

    # Groups are numbered as they appear, and each has its line.
    labels, line_of_group = pd.factorize(line)
    lines = release.take(first[line_of_group])
    return Matched(labels, lines.points, slid, report.own_rows, lines.times)


def require(holds: object) -> None:
    """Refuse what does not belong together."""
    if not holds:
        raise BadInput(NOT_TOGETHER)


def timing_in(report: Report) -> Timing | None:
    """Return how the report says that times were released."""
    clock = report.clock
    times = report.times
    if clock is None or times is None:
        return None
    return Timing(clock, ReleaseSettings(minute_worth=times.minute_worth).minute_worth)


def lines_of_released(report: Report, keys: Ints, copies: Ints) -> Ints:
    """Find the line of each released trajectory, (n,), by the keys of the lines of a release, (l,).

    The lines must have as many copies, (l,), as the report has rows on them.
    """
    labels = report.groups_of_released
    require(len(report.line_keys) > labels.max())
    line = pd.Index(keys).get_indexer(np.array(report.line_keys)[labels]).astype(np.int64)
    require((line >= 0).all())

    rows = np.bincount(line[report.own_rows], minlength=len(keys))
    require(np.array_equal(rows, copies))
    return np.asarray(line)


def with_originals(
    path: Path,
    release: ReleasedTrajectories,
    k: int,
    trajectories: Trajectories,
    against: Sequence[Path],
) -> list[str]:
    """Count subjects of a release, read from a path, and compare it with earlier ones."""
    if trajectories.subject is None:
        raise BadInput(NO_SUBJECTS)
    subjects = dense(trajectories.subject)
    held = _held(path, release, trajectories)
    released = held.labels >= 0
    problems = too_few_people(held.labels[released], subjects[released], k)

    earlier = [_held(place, read_release(place), trajectories) for place in against]
    for place, earlier_held in zip(against, earlier, strict=True):
        problems += _moved_twice(held, earlier_held, place)
    return problems + _together([release.labels for release in (held, *earlier)], k, subjects)


def too_few_people(lines: Ints, subjects: Ints, k: int) -> list[str]:
    """Report the lines, (n,), that stand for fewer than k different subjects, (n,)."""
    people = broken_promises(lines, subjects, k)
    if not people:
        return []
    sizes = np.bincount(lines)
    small = int((sizes < k).sum())
    lack = groups_below_k(k, "trajectory", len(sizes), trajectories=small, people=people)
    return [clause_of(lack)] if lack else []


class _Held(NamedTuple):
    """A release as its holder knows it."""

    labels: Ints  # line of each original, or of its day, (n,); -1 where left out
    lines: Floats  # (g, m, 2)
    moved_by: tuple[str | None, float | None]  # the key's fingerprint, and the public width


def _held(path: Path, release: ReleasedTrajectories, trajectories: Trajectories) -> _Held:
    """Find the line of each original, or of its day."""
    report = read_report(path)
    try:
        days, day = report.days_of(trajectories)  # or each trajectory itself
        released = report.released(len(days))
        groups = matched(days.take(released), release, report)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error

    line_of_day = np.full(len(days), -1)
    line_of_day[released] = groups.labels
    lines = np.where(day < 0, -1, line_of_day[day])
    return _Held(lines, groups.lines, (report.key_fingerprint, report.width))


def _moved_twice(release: _Held, earlier: _Held, place: Path) -> list[str]:
    """Count the groups that both releases hold, moved by two keys: their mean is nearer."""
    if release.moved_by == earlier.moved_by or release.lines.shape[1:] != earlier.lines.shape[1:]:
        return []

    in_both = (release.labels >= 0) & (earlier.labels >= 0)
    pairs = np.column_stack([release.labels, earlier.labels])[in_both]
    pairs, shared = np.unique(pairs, axis=0, return_counts=True)
    line, earlier_line = pairs.T

    # A group is in both if the members that it shares are all that it has.
    sizes = np.bincount(release.labels[release.labels >= 0])
    earlier_sizes = np.bincount(earlier.labels[earlier.labels >= 0])
    is_same = (shared == sizes[line]) & (shared == earlier_sizes[earlier_line])
    moved = (release.lines[line] != earlier.lines[earlier_line]).any(axis=(1, 2))
    count = int((is_same & moved).sum())
    if not count:
        return []
    are = number_of(count, "group is", "groups are")
    return [
        f"{are} also in {place}, moved by another key or width: both lines together are nearer to "
        "the members than one, so publish one of the two releases only; with your one key it "
        "would be the same line"
    ]


def _together(releases: Sequence[Ints], k: int, subjects: Ints) -> list[str]:
    """Count the trajectories that releases together hide among fewer than k subjects.

    Anyone who knows the groups of a trajectory in several releases narrows it down to the members
    that they have in common.
    """
    if len(releases) == 1:
        return []
    labels = np.column_stack(releases)
    rows = np.flatnonzero((labels >= 0).any(axis=1))
    labels = labels[rows]
    owners = subjects[rows]

    cell = np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1)
    common = subjects_per_group(cell, owners)[cell]
    several = (labels >= 0).sum(axis=1) > 1

    problems = []
    below_k = int((common[several] < k).sum())
    if below_k:
        alone = several & (common == 1)
        people = number_of(len(np.unique(owners[alone])), "subject")
        problems.append(
            f"together with earlier releases, {below_k} of {several.sum()} trajectories are in "
            f"groups that have fewer than {k} different subjects in common; {alone.sum()} of them "
            f"have no other subject's beside them ({people})"
        )

    below_k = int((common[~several] < k).sum())
    if below_k:
        problems.append(
            f"{number_of(below_k, 'trajectory is', 'trajectories are')} in a group of one release "
            f"and left out of others together with fewer than {k} different subjects: the "
            "difference of the releases may tell where they went"
        )
    return problems


# Releases whose originals are read part by part.


class ReleasedLines(NamedTuple):
    """What is known of each different line of a release, in the order of its parts."""

    keys: Ints  # (l,)
    copies: Ints  # rows of each, (l,)
    ends: Floats  # first and last points, (l, 2, 2)
    middles: Floats  # (l, 2)
    corners: Floats  # least and greatest latitude and longitude of each part, (parts, 2, 2)


def lines_by_part(release: Path) -> Iterator[tuple[Ints, Ints, ReleasedTrajectories]]:
    """Read the lines of a release, a file or a folder, part by part: keys, copies, and lines."""
    for path in release_parts(release) if release.is_dir() else [release]:
        rows = read_release(path)
        keys, copies, first = different_lines(rows)
        yield keys, copies, rows.take(first)


def released_lines(release: Path) -> ReleasedLines:
    """Read what is known of each line of a release."""
    of_parts = []
    for keys, copies, lines in lines_by_part(release):
        points = lines.points
        corners = np.stack([points.min(axis=(0, 1)), points.max(axis=(0, 1))])
        of_parts.append((keys, copies, points[:, [0, -1]], points.mean(axis=1), corners[None]))
    columns = zip(*of_parts, strict=True)
    return ReleasedLines(*map(np.concatenate, columns))


def matching_report(release: Path) -> Report | None:
    """Read the report beside a release, if there is one; refuse that of another release."""
    report = report_beside(release)
    if report is None:
        return None

    rows = 0
    keys = set[int]()
    for part_keys, copies, _ in lines_by_part(release):
        rows += int(copies.sum())
        keys.update(part_keys.tolist())
    if rows != report.own_rows.sum() or keys != set(report.line_keys):
        raise BadInput(
            f"{report_path(release)} is the report of another release than {release}: move it away "
            "to judge the file alone, or run trajanon anonymize again"
        )
    return report


class RowsOnLines(NamedTuple):
    """What is known of the rows of a folder, beside a release."""

    ends: Trajectories  # first and last points of all rows, (a, 2, 2), with times and subjects
    run: Ints | None  # of all rows, (a,), if they are windows
    released: Bools  # which of all rows are released, (a,)
    line: Ints  # of each released row, among all that `lines_by_part` yields, (n,)
    own_row: Bools  # whether each of these has a row of its own in the release, (n,)


def can_be_read_by_part(report: Report) -> bool:
    """Check whether rows can be compared with a report one by one.

    Days are put together of many rows. Windows of a table that was in memory as a whole are
    compared where they had slid to.
    """
    days = report.choice is not None and report.choice.most is not None
    return not days and (report.averaged is None or report.alignment is None)


def rows_on_lines(
    originals: Path, report: Report, lines: ReleasedLines, *, subjects_exact: bool
) -> RowsOnLines:
    """Find the line of each row; refuse originals, release and report that differ."""
    ends, run = read_ends(originals, subjects_exact=subjects_exact)
    labels = report.groups_of_released
    released = report.released(len(ends))

    line = lines_of_released(report, lines.keys, lines.copies)
    if report.averaged is not None:
        require(report.averaged == _digest(originals, report, released, labels))
    return RowsOnLines(ends, run, released, line, report.own_rows)


def _digest(originals: Path, report: Report, released: Bools, labels: Ints) -> str:
    """Compute the digest of what was averaged, part by part."""

    def released_of(column: int) -> Iterator[Floats]:
        begin = 0
        for part in read_by_part(originals):
            values = part[column]
            if values is None:
                raise BadInput(NOT_TOGETHER)
            end = begin + len(values)
            yield values[released[begin:end]]
            begin = end

    times = None if report.clock is None else released_of(1)
    return digest_of(released_of(0), labels, times)
