"""The lines of a release that may be counted on, with the trips and the times of each."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.files.release_contents import clock_of
from trajanon.files.release_formats import read_release
from trajanon.files.rounding_order_and_keys_of_lines import line_numbers
from trajanon.release.originals import matching_report
from trajanon.release.release import Release
from trajanon.release.release_check import check
from trajanon.release.release_words import who_is_counted
from trajanon.release.report import Report
from trajanon.release.report_files import checked, report_beside
from trajanon.release.verdict import verdict
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import ReleasedTrajectories, TrajectoryRows


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedLines:
    """The different lines of a release, with the trips that each stands for."""

    points: Floats  # latitude and longitude, degrees, (n, m, 2)
    trips: Ints  # rows of each: where people are known, each of them once, (n,)
    times: Floats | None = None  # at each point, seconds of the clock, (n, m)
    clock: Clock | None = None  # None for originals, whose times are not rounded
    attribution: str | None = None
    k: int | None = None  # different people behind each line, at least; None where not known
    counted: str = "people"  # whom k counts: recordings, if the source names nobody
    headline: str | None = None  # the verdict on the release; None where not known

    @classmethod
    def distinct(
        cls, release: ReleasedTrajectories, k: int | None = None, counted: str = "people"
    ) -> "ReleasedLines":
        """Select each line of a release once."""
        line_of_row = line_numbers(release.points, release.times)
        first = np.unique(line_of_row, return_index=True)[1]

        return cls(
            points=release.points[first],
            trips=np.bincount(line_of_row),
            times=None if release.times is None else release.times[first],
            clock=clock_of(release),
            attribution=release.attribution,
            k=k,
            counted=counted,
        )

    @property
    def seconds(self) -> Floats:
        """Compute how long lines take, (n,); NaN of a line without times."""
        assert self.times is not None
        times = self.times
        from_first_to_last = times[:, -1] - times[:, 0]
        if self.clock is None:
            return from_first_to_last

        # Times are rounded, so they stay for some hops of a line and then rise by a step. From the
        # middle of the first such rise up to the middle of the last one, they are less rough.
        n, m = times.shape
        row = np.arange(n)
        rises = np.diff(times, axis=1) > 0.0
        first_rise = rises.argmax(axis=1)
        last_rise = m - 2 - rises[:, ::-1].argmax(axis=1)
        hops_between = last_rise - first_rise
        middle = 0.5 * (times[:, 1:] + times[:, :-1])
        seconds_between = middle[row, last_rise] - middle[row, first_rise]
        of_whole_line = seconds_between * (m - 1) / np.maximum(hops_between, 1)

        # A line with one rise alone has nothing between.
        smooth = np.where(hops_between > 0, of_whole_line, from_first_to_last)
        # But on the whole too short, as differences from first to last are not.
        too_short = np.nansum(from_first_to_last) / max(np.nansum(smooth), 1.0)
        return np.asarray(smooth * too_short)


def lines_to_count(release: ReleasedLines | Release | str | os.PathLike[str]) -> ReleasedLines:
    """Return the lines of a release that `check` does not refuse; refuse originals."""
    if isinstance(release, ReleasedLines):
        return release
    if isinstance(release, TrajectoryRows):
        raise BadInput("pass the Release that anonymize made, or the path of a released file")

    headline = None
    problems = check(release, k=2).problems
    if isinstance(release, Release):
        report: Report | None = checked(release.report)
    else:
        report = report_beside(Path(release)) if problems else matching_report(Path(release))
    if report is not None:
        judged = verdict(report, problems)
        headline = judged.headline
        problems = [] if judged else [sentence.rstrip(".") for sentence in judged.sentences]
    if problems:
        name = "this release" if isinstance(release, Release) else release
        raise BadInput(f"{name} is not a release to count on: {problems[0]}")

    # Only the holder's report says whether k is of people.
    rows = release.trajectories if isinstance(release, Release) else read_release(release)
    if report is None or report.counted != "subjects":
        return replace(ReleasedLines.distinct(rows), headline=headline)
    lines = ReleasedLines.distinct(rows, report.k, who_is_counted(report))
    return replace(lines, headline=headline)


def times_at(times: Floats | None, line: Ints, place: Floats) -> Floats:
    """Compute when lines are at places on them, in points from the first; NaN without times.

    ``times`` are those of all lines, (n, m); ``line`` and ``place`` have an entry for each place.
    """
    if times is None:
        return np.full(len(line), np.nan)
    point_before = np.minimum(place.astype(np.int64), times.shape[1] - 2)
    before = times[line, point_before]
    after = times[line, point_before + 1]
    return np.asarray(before + (place - point_before) * (after - before))
