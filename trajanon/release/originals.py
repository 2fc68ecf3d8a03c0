"""A release beside its originals: which original is on which line, and whether they match."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.files.release_contents import clock_of
from trajanon.files.release_formats import read_release, release_parts
from trajanon.files.rounding_order_and_keys_of_lines import different_lines
from trajanon.files.trajectory_files import read_by_part, read_ends
from trajanon.release.report import NOT_TOGETHER, Report, digest_of
from trajanon.release.report_files import report_beside, report_path
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories


class Matched(NamedTuple):
    """A release with those originals that it was made of.

    Groups with equal lines are one: the release does not distinguish them.
    """

    labels: Ints  # group of each original, (n,), numbered 0..g-1
    lines: Floats  # released line of each group, (g, m, 2), in degrees
    slid: Trajectories  # the originals where they were when they were averaged
    own_row: Bools  # whether each original has a row of its own, (n,); else its subject has one
    times: Floats | None = None  # released times of each group, (g, m), if there are any


def matched(trajectories: Trajectories, release: ReleasedTrajectories, report: Report) -> Matched:
    """Find each original's line in the release; refuse what does not belong together."""
    labels = report.groups_of_released
    _require_match(len(labels) == len(trajectories))
    _require_match(trajectories.points.shape[1:] == release.points.shape[1:])

    # Windows were averaged where they had slid to.
    slid = trajectories
    if report.alignment is not None:
        try:
            slid = trajectories.slid(np.array(report.alignment.starts, dtype=np.int64))
        except BadInput as error:
            raise BadInput(NOT_TOGETHER) from error
    times = None if report.clock is None else slid.times
    _require_match(report.clock is None or times is not None)
    digest = digest_of([slid.points], labels, None if times is None else [times])
    _require_match(report.averaged in (None, digest))  # shards have none

    _require_match(clock_of(release) == report.clock)
    keys, copies, first_rows = different_lines(release)
    line = lines_of_released(report, keys, copies)

    # Groups with equal lines become one, and are numbered as they appear.
    group, line_of_group = pd.factorize(line)
    lines = release.take(first_rows[line_of_group])
    return Matched(group, lines.points, slid, report.own_rows, lines.times)


def _require_match(condition: object) -> None:
    """Refuse originals, release and report that do not belong together."""
    if not condition:
        raise BadInput(NOT_TOGETHER)


def lines_of_released(report: Report, keys: Ints, copies: Ints) -> Ints:
    """Find the line of each released trajectory, (n,), among the lines of a release.

    ``keys`` are those of the lines, (l,). The lines must have as many ``copies``, (l,), as the
    report has rows on them.
    """
    labels = report.groups_of_released
    _require_match(len(report.line_keys) > labels.max())  # every group has a line
    key_of_released = np.array(report.line_keys)[labels]
    index = pd.Index(keys)
    _require_match(index.is_unique)  # a part that stands twice in a folder has lines again
    line = index.get_indexer(key_of_released).astype(np.int64)
    _require_match((line >= 0).all())

    rows_on_line = np.bincount(line[report.own_rows], minlength=len(keys))
    _require_match(np.array_equal(rows_on_line, copies))
    return np.asarray(line)


# Releases whose originals are read part by part.


class LineSummaries(NamedTuple):
    """What is known of each different line of a release, in the order of its parts.

    Places are latitude and longitude in degrees.
    """

    keys: Ints  # (l,)
    copies: Ints  # rows of each, (l,)
    ends: Floats  # first and last points, (l, 2, 2)
    middles: Floats  # means of their points, (l, 2)
    corners: Floats  # least and greatest latitude and longitude of each part, (parts, 2, 2)


def lines_by_part(release: Path) -> Iterator[tuple[Ints, Ints, ReleasedTrajectories]]:
    """Read the different lines of a release, a file or a folder, part by part.

    Yield of each part the keys of its lines, (l,), how many rows each has, (l,), and the lines.
    """
    for path in release_parts(release) if release.is_dir() else [release]:
        rows = read_release(path)
        keys, copies, first_rows = different_lines(rows)
        yield keys, copies, rows.take(first_rows)


def line_summaries(release: Path) -> LineSummaries:
    """Read a release part by part, and keep of each line what is needed of all at once."""
    parts = []
    for keys, copies, lines in lines_by_part(release):
        points = lines.points
        corners = np.stack([points.min(axis=(0, 1)), points.max(axis=(0, 1))])
        # In the order of the fields.
        parts.append((keys, copies, points[:, [0, -1]], points.mean(axis=1), corners[None]))
    return LineSummaries(*map(np.concatenate, zip(*parts, strict=True)))


def matching_report(release: Path) -> Report | None:
    """Read the report beside a release, if there is one; refuse that of another release."""
    report = report_beside(release)
    if report is None:
        return None

    keys_and_copies = [(keys, copies) for keys, copies, _ in lines_by_part(release)]
    keys, copies = map(np.concatenate, zip(*keys_and_copies, strict=True))
    try:
        lines_of_released(report, keys, copies)
    except BadInput as error:
        raise BadInput(
            f"{report_path(release)} is the report of another release than {release}: move it away "
            "to judge the file alone, or run trajanon anonymize again"
        ) from error
    return report


class RowsOnLines(NamedTuple):
    """The originals of a folder, beside their release: a of them, and n that are released."""

    ends: Trajectories  # their first and last points, (a, 2, 2), with times, subjects and traces
    run: Ints | None  # the run of each, (a,), if they are windows
    released: Bools  # which of them are released, (a,)
    line: Ints  # number of the line of each released one, as `lines_by_part` yields them, (n,)
    own_row: Bools  # whether each released one has a row of its own in the release, (n,)


def can_be_read_by_part(report: Report) -> bool:
    """Check whether originals can be compared with a report one by one.

    Days are put together of many trips. The digest of a table of windows, which folders of shards
    do not have, is of where all of them had slid to.
    """
    has_days = report.choice is not None and report.choice.most is not None
    return not has_days and (report.averaged is None or report.alignment is None)


def rows_on_lines(
    originals: Path, report: Report, lines: LineSummaries, *, subjects_exact: bool
) -> RowsOnLines:
    """Find the line of each original; refuse originals, release and report that differ."""
    ends, run = read_ends(originals, subjects_exact=subjects_exact)
    labels = report.groups_of_released
    released = report.released(len(ends))

    line = lines_of_released(report, lines.keys, lines.copies)
    if report.averaged is not None:
        _require_match(report.averaged == _digest_by_part(originals, report, released, labels))
    return RowsOnLines(ends, run, released, line, report.own_rows)


def _digest_by_part(originals: Path, report: Report, released: Bools, labels: Ints) -> str:
    """Compute the digest of what was averaged, part by part, as `digest_of` does of all."""

    def released_values(column: int) -> Iterator[Floats]:
        """Yield the points of released originals, which are column 0, or their times, column 1."""
        begin = 0
        for part in read_by_part(originals):
            values = part[column]
            if values is None:
                raise BadInput(NOT_TOGETHER)
            end = begin + len(values)
            yield values[released[begin:end]]
            begin = end

    times = None if report.clock is None else released_values(1)
    return digest_of(released_values(0), labels, times)
