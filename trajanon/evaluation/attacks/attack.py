"""What an adversary sees, and what an attack achieves beside what k-anonymity promises."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.grouping.axes import principal_axes, turn
from trajanon.grouping.k_promise import check_k
from trajanon.release.originals import Matched, timing_in
from trajanon.release.people_left import cells_of
from trajanon.release.report import Report
from trajanon.trajectories.times import departure_days
from trajanon.trajectories.trajectories import Trajectories

_AS_THEY_ARE = (
    *("name", "question", "knows", "against", "expected", "worst_case", "baseline"),
    *("line_found", "exposed", "sampled"),
)
"""What an account repeats."""

QUESTIONS = ("singling out", "linkability", "inference")
"""What the Article 29 Working Party asks of anonymised data (Opinion 05/2014)."""

_ROUNDING = 1e-9  # a chance that exceeds 1/k by less is 1/k
TIED = 1e-9
"""Distances that differ by less, as a share, are equal but for rounding."""
_SAME = 1e-12  # a distance of 0 but for rounding, in standard deviations or metres


class Steps(NamedTuple):
    """From trajectories to the next of the same person, (s,)."""

    here: Ints
    there: Ints  # which is on another line
    on_a_day: bool  # whether it is also of the same day


@dataclass(frozen=True, eq=False)
class Published:
    """Lines as published, and what the holder knows of them."""

    points: Floats  # the originals, (n, p, 2), latitude and longitude in degrees
    lines: Floats  # what is published, (g, p, 2); each once for every row of its group
    labels: Ints  # the line that stands for each original, (n,), 0..g-1
    k: int  # the group size promised
    subjects: Ints | None = None  # of each original, (n,); None: each has a subject of its own
    against: str = "release"  # or ``originals``
    times: Floats | None = None  # seconds of the release's clock at each point, (n, p)
    line_times: Floats | None = None  # those published, (g, p); None: no times are
    cycle: float = np.inf  # seconds after which that clock restarts
    unit: str = "trajectory"  # what an original is called
    own_row: Bools | None = None  # whether each original has a row of its own; None: all have
    copies: Ints | None = None  # rows of each line, (g,); None: one for each original with a row
    steps: Steps | None = None  # to the next of the same person; None: there are none

    def __post_init__(self) -> None:
        check_k(self.k)

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
    def _on_lines(self) -> tuple[Any, Ints, Ints]:
        """Number pairs of a subject and a line; return subjects, pairs, and the rows of each."""
        names, number = np.unique(self.owners, return_inverse=True)
        pair = number * len(self.lines) + self.labels
        return names, *np.unique(pair[self.of_rows], return_counts=True)

    def held(self, subject: Any, line: Ints) -> Ints:
        """Count the rows that subjects have on lines, (q,)."""
        names, pairs, rows = self._on_lines
        pair = np.searchsorted(names, subject) * len(self.lines) + line
        place = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
        return np.asarray(rows[place] * (pairs[place] == pair))

    @cached_property
    def nearest(self) -> Any:
        """Find the lines at the smallest distance from each original, exactly: lists, (n,).

        Both as records, by the means and deviations of the originals; see `loss.standardise`.
        """
        # About the first original first, for the mean of numbers far from zero loses digits.
        originals, lines = (
            tracks.reshape(len(tracks), -1) - self.points[:1].reshape(1, -1)
            for tracks in (self.points, self.lines)
        )
        mean = originals.mean(axis=0)
        spread = np.sqrt(((originals - mean) ** 2).sum(axis=0) / max(len(originals) - 1, 1))
        unit = np.where(spread > 0.0, spread, np.inf)  # a constant column counts 0

        originals = (originals - mean) / unit
        lines = (lines - mean) / unit
        axes = principal_axes(originals)
        return nearest_of(turn(originals, axes), turn(lines, axes))

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
    """Return what an adversary sees of a release, with the trajectories that were averaged."""
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
    timing = timing_in(report)
    if timing is None:
        return seen
    seconds = timing.seconds(originals)
    return replace(seen, times=seconds, line_times=matched.times, cycle=timing.clock.round)


def people_steps(trajectories: Trajectories, labels: Ints) -> Steps | None:
    """Go from each trajectory to the next of its subject on that day, or at all.

    By departure, or in the order of the file where times are not known. It must be on another line.
    None where no person is on two.
    """
    subjects = trajectories.subject
    if subjects is None:
        return None
    order = np.arange(len(labels))
    if trajectories.times is not None:
        order = np.argsort(trajectories.times[:, 0], kind="stable")

    cells = {False: subjects}
    days = departure_days(trajectories)
    if days is not None:
        cells = {True: cells_of(subjects, days)} | cells
    for on_a_day, cell in cells.items():
        by_cell = order[np.argsort(cell[order], kind="stable")]
        here = by_cell[:-1]
        there = by_cell[1:]
        goes_on = (cell[here] == cell[there]) & (labels[here] != labels[there])
        if goes_on.any():
            return Steps(here[goes_on], there[goes_on], on_a_day)
    return None


def nearest_of(originals: Floats, lines: Floats) -> Any:
    """Find the rows of the second at the smallest distance from each of the first: lists, (n,)."""
    tree = cKDTree(lines)
    away, _ = tree.query(originals, workers=-1)
    return tree.query_ball_point(originals, away * (1.0 + TIED) + _SAME, workers=-1)


class RowsPicked(NamedTuple):
    """Rows of lines from which an adversary picks one for each target, (p,)."""

    target: Ints
    rows: Ints  # of the line
    of_subject: Ints  # those of them that are the target's subject's
    of_line: Ints  # those of them that lie on the target's line

    @classmethod
    def of(cls, published: Published, target: Ints, original: Ints, line: Ints) -> "RowsPicked":
        """Count the rows of pairs of a target, which is an original, and a line."""
        rows = published.rows[line]
        of_subject = published.held(published.owners[original], line)
        return cls(target, rows, of_subject, rows * (line == published.labels[original]))

    def chances(self, targets: int) -> tuple[Floats, Floats]:
        """Compute for each target the chance of its subject's rows, and of its line's, (t,)."""
        picked, of_subject, of_line = (
            np.bincount(self.target, count, targets)
            for count in (self.rows, self.of_subject, self.of_line)
        )
        return of_subject / picked, of_line / picked


@dataclass(frozen=True, eq=False)
class Attack:
    """How well an adversary finds the targets.

    The adversary arrives at some published rows that look the same, and picks one at random.
    """

    name: str  # of the attack
    knows: str  # what the adversary knows, in words
    published: (
        Published  # what the adversary sees: a release, or the originals as if they were published
    )
    targets: Ints  # the trajectories attacked, (t,)
    rates: Floats  # for each target, the chance that the row picked is of its subject, (t,)
    line_rates: Floats  # the chance that the row lies on the line of the target's group, (t,)
    worst: Floats  # the same as `rates`, for what betrays the target most, (t,)
    sampled: bool = False  # whether only some targets, or some of what may be known, were tried
    question: str = "singling out"  # which of the QUESTIONS this answers

    @property
    def against(self) -> str:
        """Return ``release``, or ``originals`` for what publishing these would give away."""
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
        return self.worst > self.baseline + _ROUNDING

    @property
    def exposed(self) -> float:
        """Compute the share of the targets with a worst chance above 1/k."""
        return _mean(self.above.astype(np.float64))

    @property
    def account(self) -> dict[str, Any]:
        """Return what JSON holds: nothing of single trajectories."""
        repeated = {name: getattr(self, name) for name in _AS_THEY_ARE}
        return repeated | {"k": self.published.k, "targets": len(self.targets)}


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
