"""Published lines as an adversary sees them, and the originals that only the holder knows.

Shapes: n originals, g lines, p points of a trajectory. Points are latitude and longitude, degrees.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.grouping.principal_axes import principal_axes, turn
from trajanon.release.originals import Matched
from trajanon.release.report import Report
from trajanon.trajectories.clock_and_time_zones import MINUTE, departure_days
from trajanon.trajectories.days_as_records import day_numbers
from trajanon.trajectories.geodesy import metres_of_degrees
from trajanon.trajectories.trajectories import Trajectories

LineLists = NDArray[np.object_]
"""For each original, (n,), the list of the lines that the adversary chooses from."""

TIED = 1e-9
"""Distances that differ by less, as a share, are equal but for rounding."""

_ROUNDING_OF_DISTANCES = 1e-12  # a smaller distance, in standard deviations or metres, is 0

# Metres that count as much as a minute between a trajectory and a line. Both are about what lines
# are moved by; from 3 to 5, attacks find as much.
_METRES_PER_MINUTE = 4.0


class Steps(NamedTuple):
    """Steps from a trajectory to the next of the same person, which is on another line, (s,)."""

    here: Ints  # row number of the trajectory where each step begins
    there: Ints  # that of the next trajectory
    on_a_day: bool  # whether both are always of one day


@dataclass(frozen=True, eq=False)
class Published:
    """Lines as published, and the originals behind them, which only the holder knows."""

    points: Floats  # the originals, (n, p, 2)
    # Each stands in the release once for every row of its group, (g, p, 2).
    lines: Floats
    labels: Ints  # number of the line that stands for each original, (n,), 0..g-1
    k: int  # the group size promised
    subjects: Ints | None = None  # of each original, (n,); None: each has a subject of its own
    against: str = "release"  # what is attacked; or ``originals``
    # Of the originals: seconds of the release's clock, (n, p), NaN of one without times.
    times: Floats | None = None
    # Of the lines, (g, p), NaN of one without times; None: no times are published.
    line_times: Floats | None = None
    cycle: float = np.inf  # seconds after which the release's clock restarts; infinite: never
    unit: str = "trajectory"  # what an original is called
    own_row: Bools | None = None  # whether each original has a row of its own; None: all have
    copies: Ints | None = None  # rows of each line, (g,); None: one for each original with a row
    steps: Steps | None = None  # None: no person is followed from line to line
    nameless: Bools | None = None  # originals of recordings without a name, (n,); None: not known

    @cached_property
    def group_sizes(self) -> Ints:
        """Count the originals behind each line, (g,)."""
        return np.bincount(self.labels)

    @cached_property
    def row_counts(self) -> Ints:
        """Count the released rows of each line, (g,)."""
        if self.copies is not None:
            return self.copies
        return np.bincount(self._labels_of_rows, minlength=len(self.lines))

    @property
    def _labels_of_rows(self) -> Ints:
        """Return the line of each original that has a row of its own, (r,)."""
        return self.labels if self.own_row is None else self.labels[self.own_row]

    @property
    def owners(self) -> Ints:
        """Return the subject that each original counts for, (n,)."""
        return np.arange(len(self.points)) if self.subjects is None else self.subjects

    @cached_property
    def _rows_of_pairs(self) -> tuple[Ints, Ints, Ints]:
        """Return all subjects; the pairs of a subject and a line that have rows; the rows of each.

        A pair is one number, rising: that of its subject times the number of lines, plus its line.
        """
        subjects, subject_number = np.unique(self.owners, return_inverse=True)
        pair = subject_number * len(self.lines) + self.labels
        pairs_of_rows = pair if self.own_row is None else pair[self.own_row]
        return subjects, *np.unique(pairs_of_rows, return_counts=True)

    def rows_held(self, subject: Ints, line: Ints) -> Ints:
        """Count the rows that each subject has on the line beside it, (q,)."""
        subjects, pairs, row_counts = self._rows_of_pairs
        pair = np.searchsorted(subjects, subject) * len(self.lines) + line

        # A pair without rows is not among `pairs`.
        place = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
        return np.asarray(row_counts[place] * (pairs[place] == pair))

    def in_metres(self, points: Floats) -> Floats:
        """Turn points, (..., 2), into metres on the plane around the lines."""
        degrees = points - self.lines[0, 0]
        return np.asarray(degrees * metres_of_degrees(self.lines[..., 0].mean()))

    @property
    def shows_hours(self) -> bool:
        """Check whether hours are published, and known of all: then adversaries know them, too."""
        return all(
            times is not None and bool(np.isfinite(times).all())
            for times in (self.times, self.line_times)
        )

    @cached_property
    def ways_to_look(self) -> list["Published"]:
        """Return the release as it is and, if it shows hours, without them: hours may mislead."""
        return [self, replace(self, line_times=None)] if self.shows_hours else [self]

    def records(self, chosen: slice | list[int]) -> tuple[Floats, Floats]:
        """Return the chosen points of originals and of lines as records, (n, c) and (g, c).

        They are in metres; the hours of these points are in them where hours are published.
        """
        records = []
        for tracks, times in ((self.points, self.times), (self.lines, self.line_times)):
            record = self.in_metres(tracks[:, chosen]).reshape(len(tracks), -1)
            if self.shows_hours:
                assert times is not None
                record = np.hstack([record, metres_for_hours(times[:, chosen])])
            records.append(record)
        return records[0], records[1]

    @cached_property
    def nearest(self) -> LineLists:
        """Find the lines at the smallest distance from each original, in all places and hours."""
        whole = slice(None)
        originals, lines = self.records(whole) if self.shows_hours else self._standardised
        # Distances are the same along principal axes, and the search is faster there.
        axes = principal_axes(originals)
        return lines_nearest_to(turn(originals, axes), turn(lines, axes))

    @property
    def _standardised(self) -> tuple[Floats, Floats]:
        """Standardise originals and lines by the means and deviations of the originals.

        See `standardised_records.standardise`.
        """
        # The mean of numbers far from zero loses digits, so the first original is subtracted.
        originals, lines = (
            points.reshape(len(points), -1) - self.points[:1].reshape(1, -1)
            for points in (self.points, self.lines)
        )
        mean = originals.mean(axis=0)
        # A single original has a deviation of 0.
        deviation = np.sqrt(((originals - mean) ** 2).sum(axis=0) / max(len(originals) - 1, 1))
        divisor = np.where(deviation > 0.0, deviation, np.inf)  # a constant column counts 0
        return (originals - mean) / divisor, (lines - mean) / divisor

    @property
    def originals(self) -> "Published":
        """Return the originals as if they were published: each a group of one."""
        return replace(
            self,
            lines=self.points,
            labels=np.arange(len(self.points)),
            against="originals",
            line_times=self.times,
            own_row=None,
            copies=None,
        )


def metres_for_hours(seconds: Floats) -> Floats:
    """Turn seconds between a trajectory and a line into the metres that count as much."""
    return np.asarray(seconds * (_METRES_PER_MINUTE / MINUTE))


def published(matched: Matched, report: Report) -> Published:
    """Return what an adversary sees of a release, beside the trajectories that were averaged."""
    originals = matched.slid
    seen = Published(
        points=originals.points,
        lines=matched.lines,
        labels=matched.labels,
        k=report.k,
        subjects=None if originals.subject is None else renumbered(originals.subject),
        nameless=originals.nameless,
        unit=originals.unit,
        own_row=matched.own_row,
        steps=people_steps(originals, matched.labels),
    )

    timing = report.timing
    if timing is None:
        return seen
    seconds = timing.seconds(originals)
    return replace(seen, times=seconds, line_times=matched.times, cycle=timing.clock.period)


def people_steps(trajectories: Trajectories, labels: Ints) -> Steps | None:
    """Find the steps from a trajectory to its subject's next, where that is on another line.

    The next is by departure, or by the order of the file if times are not known. If days are known
    and any day has such a step, only steps within a day are returned. None if there is no step.
    Recordings without a name may be of several people, and have none.
    """
    subjects = trajectories.subject
    if subjects is None:
        return None

    in_time = np.arange(len(labels))
    if trajectories.times is not None:
        in_time = np.argsort(trajectories.times[:, 0], kind="stable")

    # Steps stay within a chain: first within the days of a subject, if known, then within all. Each
    # numbering of chains, (n,), stands by whether its chains are of one day.
    chains = {False: subjects}
    days = departure_days(trajectories)
    if days is not None:
        chains = {True: day_numbers(subjects, days)} | chains

    for on_a_day, chain in chains.items():
        by_chain = in_time[np.argsort(chain[in_time], kind="stable")]
        here = by_chain[:-1]
        there = by_chain[1:]
        is_step = (chain[here] == chain[there]) & (labels[here] != labels[there])
        if trajectories.nameless is not None:
            is_step &= ~trajectories.nameless[here]
        if is_step.any():
            return Steps(here[is_step], there[is_step], on_a_day)
    return None


def lines_nearest_to(originals: Floats, lines: Floats) -> LineLists:
    """Find the lines, (g, c), nearest to each original, (n, c): all that are equally near."""
    tree = cKDTree(lines)
    nearest_distance, _ = tree.query(originals, workers=-1)
    radius = nearest_distance * (1.0 + TIED) + _ROUNDING_OF_DISTANCES
    return np.asarray(tree.query_ball_point(originals, radius, workers=-1))


def nearest_line(points: Floats, lines: Floats) -> tuple[Floats, Ints]:
    """Find how far trajectories, (n, p, 2), are from their nearest lines, and which: both (n,).

    Distances are root mean squares of metres over points.
    """
    scale = metres_of_degrees(lines[..., 0].mean()) / np.sqrt(lines.shape[1])
    records, targets = ((tracks * scale).reshape(len(tracks), -1) for tracks in (lines, points))
    metres_away, line = cKDTree(records).query(targets, workers=-1)
    return metres_away, line.astype(np.int64)
