"""The lines of a release that may be counted on, with the trips and the times of each."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.files.release_contents import clock_of, line_numbers
from trajanon.files.release_formats import read_release
from trajanon.release.originals_in_parts import report_of
from trajanon.release.release import Release
from trajanon.release.release_check import check
from trajanon.release.report import Report, checked, report_beside
from trajanon.release.verdict import verdict
from trajanon.trajectories.times import Clock
from trajanon.trajectories.trajectories import ReleasedTrajectories, TrajectoryRows

_COARSE = 120  # seconds; a clock with smaller steps says well enough how long a line takes
_DURATIONS = np.exp(np.linspace(-1.2, 1.2, 25))  # times the expected one
_SPREAD = 0.3  # of the logarithm of real to expected durations, as lines of cabs have it
_UNEVEN = 30.0  # seconds that a line may be ahead of even progress, or behind
_LEAST_ROOM = -500.0  # so that no likelihood is exactly 0


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedLines:
    """The different lines of a release, with the trips that each stands for."""

    points: Floats  # (n, m, 2)
    trips: Ints  # rows of each: where people are known, each of them once, (n,)
    times: Floats | None = None  # (n, m)
    clock: Clock | None = None
    attribution: str | None = None
    k: int | None = None  # different people behind each line, at least; None where not known

    @classmethod
    def of(cls, release: ReleasedTrajectories, k: int | None = None) -> "ReleasedLines":
        """Select each line of a release once."""
        line = line_numbers(release.points, release.times)
        first = np.unique(line, return_index=True)[1]

        return cls(
            points=release.points[first],
            trips=np.bincount(line),
            times=None if release.times is None else release.times[first],
            clock=clock_of(release),
            attribution=release.attribution,
            k=k,
        )

    def likely_seconds(self, expected: Floats) -> Floats:
        """Estimate how long lines take, (n,), where each is expected to take so many seconds.

        Times that are rounded to five minutes leave much room. So each duration is tried from a
        third up to three times the expected one, spent evenly along the line: it is the likelier,
        the nearer to expected it is, and the more moments of departure would be written like this.
        """
        assert self.times is not None
        plain = self.times[:, -1] - self.times[:, 0]
        if self.clock is None or self.clock.step < _COARSE:
            return plain

        share_of_way = np.linspace(0.0, 1.0, self.times.shape[1])
        likely = np.zeros(len(expected))
        likelihoods = np.zeros(len(expected))
        for times_expected in _DURATIONS:
            seconds = times_expected * expected
            departs = self.times - seconds[:, None] * share_of_way
            room = (self.clock.step - np.ptp(departs, axis=1)) / _UNEVEN
            prior = np.exp(-0.5 * (np.log(times_expected) / _SPREAD) ** 2)
            likelihood = prior * np.logaddexp(0.0, np.maximum(room, _LEAST_ROOM))
            likely += likelihood * seconds
            likelihoods += likelihood
        likely /= likelihoods

        # Rounding makes no line longer or shorter on the whole, so neither may this.
        return np.asarray(likely * ((self.trips @ plain) / max(self.trips @ likely, 1.0)))

    def batch(self, begin: int, size: int) -> "ReleasedLines":
        """Select a number of lines from one on."""
        lines = slice(begin, begin + size)
        times = None if self.times is None else self.times[lines]
        return ReleasedLines(self.points[lines], self.trips[lines], times, self.clock)


def lines_to_count(release: ReleasedLines | Release | str | os.PathLike[str]) -> ReleasedLines:
    """Return the lines of a release that `check` does not refuse; refuse originals."""
    if isinstance(release, ReleasedLines):
        return release
    if isinstance(release, TrajectoryRows):
        raise BadInput("pass the Release that anonymize made, or the path of a released file")

    problems = check(release, k=2).problems
    if isinstance(release, Release):
        report: Report | None = checked(release.report)
    else:
        report = report_beside(Path(release)) if problems else report_of(Path(release))
    if report is not None:
        judged = verdict(report, problems)
        problems = [] if judged else [sentence.rstrip(".") for sentence in judged.sentences]
    if problems:
        name = "this release" if isinstance(release, Release) else release
        raise BadInput(f"{name} is not a release to count on: {problems[0]}")

    # Only the holder's report says whether k is of people.
    k = report.k if report is not None and report.counted == "subjects" else None
    rows = release.trajectories if isinstance(release, Release) else read_release(release)
    return ReleasedLines.of(rows, k)


def times_at(times: Floats | None, line: Ints, place: Floats) -> Floats:
    """Compute when lines are at places on them, in points from the first; NaN without times."""
    if times is None:
        return np.full(len(line), np.nan)
    before = np.minimum(place.astype(np.int64), times.shape[1] - 2)
    then = times[line, before]
    after = times[line, before + 1]
    return np.asarray(then + (place - before) * (after - then))
