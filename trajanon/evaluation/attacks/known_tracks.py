"""The frame of attacks by somebody who holds other tracks: targets, nearness, and errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.number_text import metres, percent, span
from trajanon.evaluation.attacks.attack import Published
from trajanon.evaluation.page.templates import words
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.trajectories.geodesy import metres_of_degrees

TRIED = 200
"""Targets that are attacked, drawn at random; all if there are fewer."""

_NOTHING = 1e-3  # metres or seconds, added to the error of lines that are off by nothing
_SAMPLES = 1_000  # of the bootstrap
_BOUNDS = np.array([0.05, 0.95])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of the targets tried, and its interval of 90 %."""

    value: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """Write a share with its interval."""
        return f"{percent(self.value)} ({percent(self.low, 2)} to {percent(self.high, 2)})"

    def beyond(self, guess: float) -> "Estimate":
        """Return how much more often than guessing something is right: 1 always, 0 no more."""
        shares = np.array([self.value, self.low, self.high])
        return Estimate(*((shares - guess) / (1.0 - guess)).clip(0.0, 1.0).tolist())


def share_of(successes: Bools) -> Estimate:
    """Estimate how often an attack succeeds, with the interval of Jeffreys."""
    tried = len(successes)
    right = int(successes.sum())
    low, high = betaincinv(right + 0.5, tried - right + 0.5, _BOUNDS).tolist()
    return Estimate(right / tried, low if right else 0.0, high if right < tried else 1.0)


def estimated(figure: Callable[..., Floats], *samples: Floats) -> Estimate:
    """Estimate a figure of samples, (t,), along their last axis; the bootstrap has one seed.

    Source: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7
    (1979).
    """
    tried = len(samples[0])
    drawn = np.random.default_rng(0).integers(0, tried, (_SAMPLES, tried))
    low, high = np.quantile(figure(*(sample[drawn] for sample in samples)), _BOUNDS).tolist()
    return Estimate(float(figure(*samples)), low, high)


def median(values: Floats) -> Floats:
    """Compute medians along the last axis."""
    return np.asarray(np.median(values, axis=-1))


def mean(values: Floats) -> Floats:
    """Compute means along the last axis."""
    return np.asarray(np.mean(values, axis=-1))


@dataclass(frozen=True, slots=True)
class Errors:
    """How far guesses are from the truth."""

    median: Estimate
    mean: Estimate


@dataclass(frozen=True)
class Guessed:
    """Errors of guesses at hidden trajectories, beside those of their released lines."""

    knows: str  # what the adversary knows and does, in words
    targets: int  # tried
    off: Mapping[str, Errors]  # by way of guessing, in metres or seconds
    line: Errors  # from the hidden trajectory to the line itself
    share: Estimate  # of the line's error that the best way leaves, of the medians
    mean_share: Estimate  # the same of the means
    timed: bool = False  # whether errors are seconds

    @classmethod
    def of(
        cls, knows: str, off: Mapping[str, Floats], line: Floats, *, timed: bool = False
    ) -> "Guessed":
        """Sum up the errors of each target, (t,)."""
        best = off[min(off, key=lambda way: float(median(off[way])))]

        def share(figure: Callable[[Floats], Floats]) -> Estimate:
            return estimated(lambda way, its: figure(way) / (figure(its) + _NOTHING), best, line)

        return cls(
            knows,
            targets=len(line),
            off={way: _errors(errors) for way, errors in off.items()},
            line=_errors(line),
            share=share(median),
            mean_share=share(mean),
            timed=timed,
        )

    @property
    def best(self) -> Errors:
        """Return the errors of the best way to guess."""
        return min(self.off.values(), key=lambda errors: errors.median.value)

    @property
    def words(self) -> str:
        """Describe the result in two sentences."""
        return words("guessed", found=self, written=span if self.timed else metres)


def _errors(values: Floats) -> Errors:
    return Errors(estimated(median, values), estimated(mean, values))


class Noise:
    """What is added to means along a line: Gaussian, for a person's share of 1; and rounding."""

    def __init__(self, covariance: Floats, rounded: float) -> None:
        """Decompose a covariance, (m, m), beside the standard deviation of what rounding adds."""
        self._covariance = covariance
        self._rounded = rounded
        self._sizes, self._axes = np.linalg.eigh(covariance)

    def whitened(self, values: Floats, share: float) -> Floats:
        """Turn what may be noise, (..., m, c), into independent numbers of variance 1."""
        sizes = self._sizes.clip(0.0) * share**2 + self._rounded**2
        return np.asarray(self._axes.T @ values / np.sqrt(sizes)[:, None])

    def times(self, factor: float, share: float) -> Floats:
        """Compute the covariance of so many times the noise, (m, m)."""
        rounding = self._rounded**2 * np.eye(len(self._covariance))
        return np.asarray(factor**2 * (share**2 * self._covariance + rounding))


class Movement(NamedTuple):
    """How lines are moved, as everybody may know; but not by which numbers."""

    places: Noise  # on each axis, in metres
    shares: Floats  # of each line: the largest share of one person in its mean, (g,)
    times: Noise | None = None  # in seconds; None where no times are released
    people: Ints | None = None  # whose trajectories count together as one, (n,); None: none do

    def of(self, rows: Ints, lines: Ints) -> "Movement":
        """Return the movement of these trajectories and lines alone."""
        people = None if self.people is None else self.people[rows]
        return self._replace(shares=self.shares[lines], people=people)


class KnownTracks:
    """All trajectories and lines, in metres, and seconds where times are released.

    How far trajectories lie from their lines on average is published, so the adversary knows what
    a second counts beside a metre.
    """

    def __init__(self, published: Published) -> None:
        self.origin = published.lines[0, 0]
        self.scale = metres_of_degrees(published.lines[..., 0].mean())
        self.points = self.in_metres(published.points)
        self.lines = self.in_metres(published.lines)
        self.labels = published.labels
        self.owners = published.owners
        self.sizes = published.sizes
        self.people = subjects_per_group(self.labels, dense(self.owners))
        self.times = published.times
        self.line_times = published.line_times

        records = self.points.reshape(len(self.points), -1)
        lines = self.lines.reshape(len(self.lines), -1)
        if self.times is not None and self.line_times is not None:
            off = np.sqrt(((records - lines[self.labels]) ** 2).mean())
            late = np.sqrt(((self.times - self.line_times[self.labels]) ** 2).mean())
            pace = max(off, 1.0) / max(late, 1.0)
            records = np.hstack([records, pace * self.times])
            lines = np.hstack([lines, pace * self.line_times])
        self._records = records
        self._line_records = lines
        self._norms = np.einsum("nf,nf->n", records, records)

        # The squares of a member's distance from its line: of all its numbers, and of one.
        self.member_squares = float(((records - lines[self.labels]) ** 2).sum(axis=1).mean())
        self.spread = max(self.member_squares / records.shape[1], 1.0)

    def in_metres(self, points: Floats) -> Floats:
        """Put points on the plane of the lines."""
        return np.asarray((points - self.origin) * self.scale)

    def squares(self, rows: Ints, line: int) -> Floats:
        """Compute the squared distances of trajectories from a line, summed up over points."""
        return np.asarray(((self._records[rows] - self._line_records[line]) ** 2).sum(axis=-1))

    def nearest(self, line: int, count: int) -> Ints:
        """Find the trajectories nearest to a line, nearest first."""
        # Without a large array of differences; the last digits are lost, and those are in order.
        away = self._norms - 2.0 * np.einsum("nf,f->n", self._records, self._line_records[line])
        count = min(count, len(away))
        rows = np.argpartition(away, count - 1)[:count]
        return np.asarray(rows[np.lexsort((rows, self.squares(rows, line)))])


def groups_drawn(labels: Ints, seed: int) -> list[Ints]:
    """Draw groups of any size, and the order of their members: the first is hidden."""
    random = np.random.default_rng(seed)
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    chosen = drawn(len(members), random)
    return [random.permutation(members[group]) for group in chosen.tolist()]


def drawn(count: int, random: np.random.Generator) -> Ints:
    """Draw the targets that are tried, of so many."""
    return random.choice(count, min(count, TRIED), replace=False)
