"""What an adversary sees of a release, and how often an attack succeeds, beside 1/k."""

from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.inputs import Json
from trajanon.common.workers import in_parts
from trajanon.grouping.loss import principal_axes, turn
from trajanon.release.originals import Matched
from trajanon.release.report import Report
from trajanon.trajectories.days import day_numbers
from trajanon.trajectories.geodesy import metres_of_degrees
from trajanon.trajectories.times import HOUR, MINUTE, departure_days
from trajanon.trajectories.trajectories import Trajectories

_FIELDS_OF_ACCOUNT = (
    *("name", "question", "knows", "against", "expected", "worst_case", "baseline"),
    *("line_found", "exposed", "sampled"),
)

QUESTIONS = ("singling out", "linkability", "inference")
"""What the Article 29 Working Party asks of anonymised data (Opinion 05/2014)."""

TIED = 1e-9
"""Distances that differ by less, as a share, are equal but for rounding."""

_EARLY = 10.0  # metres that count as much as a minute too early, or later
_LATE = 3.0
_SAME = 1e-6  # metres that are nothing but rounding
_LINES_NEAR = 200  # that begin nearest, of which the adversary chooses
_STEPS_PER_TASK = 1_000

_ROUNDING_OF_DISTANCES = 1e-12  # a smaller distance, in standard deviations or metres, is 0
_ROUNDING_OF_CHANCES = 1e-9  # a chance that exceeds 1/k by less is 1/k


@dataclass(frozen=True, slots=True)
class Ranks:
    """How the line of the next one ranks; mean chances, if ties are decided at random."""

    first: float
    among_three: float


class NextLines(NamedTuple):
    """Lines that go on from a trajectory, by how well: how the right one ranks, and the best."""

    ranks: Ranks
    step: Ints  # of each pair of a step and a line that ranks first, (p,)
    line: Ints


class Steps(NamedTuple):
    """Steps from a trajectory to the next of the same person, which is on another line, (s,)."""

    here: Ints  # the trajectory of each step
    there: Ints  # the next one
    on_a_day: bool  # whether both are always of one day


@dataclass(frozen=True, eq=False)
class Published:
    """Lines as published, and the originals behind them, which only the holder knows."""

    points: Floats  # the originals, (n, p, 2), latitude and longitude in degrees
    lines: (
        Floats  # the lines, (g, p, 2); in the release each stands once for every row of its group
    )
    labels: Ints  # the line that stands for each original, (n,), 0..g-1
    k: int  # the group size promised
    subjects: Ints | None = None  # of each original, (n,); None: each has a subject of its own
    against: str = "release"  # or ``originals``
    times: Floats | None = None  # of the originals: seconds of the release's clock, (n, p)
    line_times: Floats | None = None  # of the lines, (g, p); None: no times are published
    cycle: float = np.inf  # seconds after which the release's clock restarts
    unit: str = "trajectory"  # what an original is called
    own_row: Bools | None = None  # whether each original has a row of its own; None: all have
    copies: Ints | None = None  # rows of each line, (g,); None: one for each original with a row
    steps: Steps | None = None  # None: there are none

    @cached_property
    def sizes(self) -> Ints:
        """Count the trajectories behind each line, (g,)."""
        return np.bincount(self.labels)

    @cached_property
    def of_rows(self) -> Ints:
        """List the originals that have a row of their own, line by line, (r,)."""
        order = np.argsort(self.labels, kind="stable")
        return order if self.own_row is None else order[self.own_row[order]]

    @cached_property
    def rows(self) -> Ints:
        """Count the released rows of each line, (g,)."""
        if self.copies is not None:
            return self.copies
        return np.bincount(self.labels[self.of_rows], minlength=len(self.lines))

    @property
    def owners(self) -> Ints:
        """Return the subject that each original counts for, (n,)."""
        return np.arange(len(self.points)) if self.subjects is None else self.subjects

    @cached_property
    def _rows_of_pairs(self) -> tuple[Ints, Ints, Ints]:
        """Return all subjects; the pairs of a subject and a line, as numbers; the rows of each."""
        subjects, number = np.unique(self.owners, return_inverse=True)
        pair = number * len(self.lines) + self.labels
        return subjects, *np.unique(pair[self.of_rows], return_counts=True)

    def rows_held(self, subject: Ints, line: Ints) -> Ints:
        """Count the rows that each subject has on the line beside it, (q,)."""
        subjects, pairs, rows = self._rows_of_pairs
        pair = np.searchsorted(subjects, subject) * len(self.lines) + line

        # A pair without rows is not among `pairs`.
        place = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
        return np.asarray(rows[place] * (pairs[place] == pair))

    @cached_property
    def nearest(self) -> NDArray[np.object_]:
        """Find the lines at the smallest distance from each original: a list for each, (n,).

        Both are records here, standardised by the means and deviations of the originals; see
        `loss.standardise`.
        """
        # The mean of numbers far from zero loses digits, so the first original is subtracted.
        originals, lines = (
            points.reshape(len(points), -1) - self.points[:1].reshape(1, -1)
            for points in (self.points, self.lines)
        )
        mean = originals.mean(axis=0)
        deviation = np.sqrt(((originals - mean) ** 2).sum(axis=0) / max(len(originals) - 1, 1))
        divisor = np.where(deviation > 0.0, deviation, np.inf)  # a constant column counts 0
        originals = (originals - mean) / divisor
        lines = (lines - mean) / divisor

        # Distances are the same along principal axes, and the search is faster there.
        axes = principal_axes(originals)
        return nearest_of(turn(originals, axes), turn(lines, axes))

    @cached_property
    def next_lines(self) -> NextLines:
        """Rank the lines by how well they go on from the known trajectory of each step."""
        assert self.steps is not None
        own_line = self.labels[self.steps.here]
        if self.against == "release":
            own_line = np.array([lines[0] for lines in self.nearest[self.steps.here]])
        return self._ranked(self.steps, self.points, self.times, self.steps.here, own_line)

    @cached_property
    def next_lines_by_line(self) -> NextLines:
        """Rank the lines by how well they go on from the line of each step."""
        assert self.steps is not None
        own_line = self.labels[self.steps.here]
        return self._ranked(self.steps, self.lines, self.line_times, own_line, own_line)

    def _ranked(
        self, steps: Steps, points: Floats, times: Floats | None, row: Ints, own_line: Ints
    ) -> NextLines:
        """Rank the lines for each step, which is from a row of the points, but its own line."""
        right_line = self.labels[steps.there]

        # Times within a day do not tell what comes next on another day.
        arrival = None
        if times is not None and (steps.on_a_day or np.isinf(self.cycle)):
            arrival = times[row, -1]

        tree = cKDTree(in_metres(self.lines[:, 0], self.lines))
        ends = in_metres(points[row, -1], self.lines)
        ranks = np.arange(1, min(_LINES_NEAR, len(self.lines)) + 1)

        def ranks_of(rows: Ints, _: Event) -> tuple[Floats, Ints, Ints]:
            away, line = tree.query(ends[rows], k=ranks)
            if arrival is not None and self.line_times is not None:
                minutes = (self.line_times[line, 0] - arrival[rows, None]) / MINUTE
                late = _LATE * np.minimum(minutes, HOUR / MINUTE)
                away = np.hypot(away, np.where(minutes < 0.0, _EARLY * minutes, late))
            away[line == own_line[rows, None]] = np.inf

            least = away.min(axis=1, keepdims=True)
            step, place = np.nonzero(away <= least * (1.0 + TIED) + _SAME)

            # Ties are decided at random, so several lines share a place.
            is_right = line == right_line[rows, None]
            away_right = np.where(is_right, away, np.inf).min(axis=1, keepdims=True)
            tied = np.where(np.isfinite(away_right), TIED * away_right + _SAME, 0.0)
            nearer = (away < away_right - tied).sum(axis=1)
            alike = np.maximum((away <= away_right + tied).sum(axis=1) - nearer, 1)
            among = np.clip(np.array([[1], [3]]) - nearer, 0, alike) / alike
            return (among * np.isfinite(away_right[:, 0])).T, rows[step], line[step, place]

        parts = in_parts(ranks_of, np.arange(len(own_line)), _STEPS_PER_TASK)
        among, step, line = map(np.concatenate, zip(*parts, strict=True))
        return NextLines(Ranks(*among.mean(axis=0).tolist()), step, line)

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


def published(matched: Matched, report: Report) -> Published:
    """Return what an adversary sees of a release, beside the trajectories that were averaged."""
    originals = matched.slid
    subjects = None if originals.subject is None else dense(originals.subject)
    seen = Published(
        originals.points,
        matched.lines,
        matched.labels,
        report.k,
        subjects,
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
    """
    subjects = trajectories.subject
    if subjects is None:
        return None

    order = np.arange(len(labels))
    if trajectories.times is not None:
        order = np.argsort(trajectories.times[:, 0], kind="stable")

    # Steps stay within a chain: first within the days of a subject, if known, then within all.
    chains = {False: subjects}
    days = departure_days(trajectories)
    if days is not None:
        chains = {True: day_numbers(subjects, days)} | chains

    for on_a_day, chain in chains.items():
        by_chain = order[np.argsort(chain[order], kind="stable")]
        here = by_chain[:-1]
        there = by_chain[1:]
        is_step = (chain[here] == chain[there]) & (labels[here] != labels[there])
        if is_step.any():
            return Steps(here[is_step], there[is_step], on_a_day)
    return None


def in_metres(points: Floats, lines: Floats) -> Floats:
    """Put points on the plane of some lines."""
    return np.asarray((points - lines[0, 0]) * metres_of_degrees(lines[..., 0].mean()))


def nearest_of(originals: Floats, lines: Floats) -> NDArray[np.object_]:
    """Find the lines nearest to each original, all that are equally near: a list for each, (n,)."""
    tree = cKDTree(lines)
    nearest_distance, _ = tree.query(originals, workers=-1)
    radius = nearest_distance * (1.0 + TIED) + _ROUNDING_OF_DISTANCES
    return np.asarray(tree.query_ball_point(originals, radius, workers=-1))


def chances_of_rows(
    published: Published, target: Ints, original: Ints, line: Ints, known: Ints | None = None
) -> tuple[Floats, Floats]:
    """Compute each target's chance of a row of its subject, and of a row of its line, (t,).

    Pairs of a target, from 0 on, and a line that it may be on, (p,): one of the rows of these lines
    is picked at random. The target is an original. A row of the subject on the line that is
    ``known`` to be another of its trajectories is no success.
    """
    rows = published.rows[line]
    of_subject = published.rows_held(published.owners[original], line)
    if known is not None:
        of_subject[line == known] = 0
    of_line = rows * (line == published.labels[original])

    picked, of_subject, of_line = (
        np.bincount(target, count) for count in (rows, of_subject, of_line)
    )
    return of_subject / picked, of_line / picked


@dataclass(frozen=True, eq=False)
class Attack:
    """How well an adversary finds the targets.

    The adversary is left with several published rows that look the same, and picks one at random.
    """

    name: str  # of the attack
    knows: str  # what the adversary knows, in words
    published: Published  # a release, or the originals as if they were published
    targets: Ints  # the trajectories attacked, (t,)
    rates: Floats  # for each target, the chance that the row picked is of its subject, (t,)
    line_rates: Floats  # the chance that the row lies on the line of the target's group, (t,)
    worst: Floats  # `rates`, if the adversary knows what betrays the target most, (t,)
    sampled: bool = False  # whether a sample of the targets, or of what may be known, was tried
    question: str = "singling out"  # of the QUESTIONS, the one that this answers

    @property
    def against(self) -> str:
        """Return ``release`` or ``originals``, whichever is attacked."""
        return self.published.against

    @property
    def baseline(self) -> float:
        """Return the chance in a group of k rows of different subjects: 1/k."""
        return 1.0 / self.published.k

    @property
    def expected(self) -> float:
        """Compute the mean chance over the targets; 0 without targets."""
        return _mean(self.rates)

    @property
    def worst_case(self) -> float:
        """Find the highest chance against any target; 0 without targets."""
        return float(self.worst.max(initial=0.0))

    @property
    def line_found(self) -> float:
        """Compute the mean chance that the row picked lies on the line of the target's group."""
        return _mean(self.line_rates)

    @property
    def above(self) -> Bools:
        """Mark the targets whose worst chance is above 1/k, (t,)."""
        return self.worst > self.baseline + _ROUNDING_OF_CHANCES

    @property
    def exposed(self) -> float:
        """Compute the share of the targets with a worst chance above 1/k."""
        return _mean(self.above.astype(np.float64))

    @property
    def account(self) -> dict[str, Json]:
        """Return what JSON holds: nothing of single trajectories."""
        account = {name: getattr(self, name) for name in _FIELDS_OF_ACCOUNT}
        return account | {"k": self.published.k, "targets": len(self.targets)}


def _mean(values: Floats) -> float:
    """Compute a mean; 0 of nothing."""
    return float(values.mean()) if len(values) else 0.0
