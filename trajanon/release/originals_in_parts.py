"""A release beside its report and originals, of which one part is in memory at a time."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.errors import BadInput
from trajanon.files.release_contents import line_keys
from trajanon.files.release_formats import read_release, release_parts
from trajanon.files.trajectory_files import read_by_part, read_ends
from trajanon.release.originals import NO_SUBJECTS, lines_of_released, require, too_few_people
from trajanon.release.release_check import Findings, check
from trajanon.release.report import NOT_TOGETHER, Report, digest_of, report_beside, report_path
from trajanon.trajectories.subjects import Nameless
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories


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
        keys, first, copies = np.unique(
            line_keys(rows.points, rows.times), return_index=True, return_counts=True
        )
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


def report_of(release: Path) -> Report | None:
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


def check_folders(
    release: Path, k: int, originals: Path, report: Report, *, subjects_exact: bool
) -> tuple[Findings, Nameless]:
    """Check a release as `trajanon.check` does, and count the subjects behind each line.

    Also returns how many recordings have no name.
    """
    findings = check(release, k)
    rows = rows_on_lines(originals, report, released_lines(release), subjects_exact=subjects_exact)
    if rows.ends.subject is None:
        raise BadInput(NO_SUBJECTS)
    subjects = dense(rows.ends.subject[rows.released])
    faults = too_few_people(dense(rows.line), subjects, k)
    findings = replace(findings, problems=[*findings.problems, *faults], answered="people")
    return findings, rows.ends.origin.source.unnamed
