"""An adversary who holds other tracks: the targets, the tracks, and how lines are moved."""

from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.grouping.group_means import members_of_groups
from trajanon.grouping.k_promise import subjects_per_group

TARGETS_TRIED = 200
"""Targets that are attacked, drawn at random; all if there are fewer."""


class Noise:
    """What is added to means along a line: Gaussian, for a person's share of 1; and rounding."""

    def __init__(self, covariance: Floats, rounded: float) -> None:
        """Decompose a covariance, (m, m), beside the standard deviation of what rounding adds."""
        self._covariance = covariance
        self._rounded = rounded
        self._variances, self._axes = np.linalg.eigh(covariance)

    def whitened(self, offsets: Floats, share: float) -> Floats:
        """Turn what may be noise of a line, (..., m, c), into independent numbers of variance 1.

        ``share`` is the largest of one person in the line's mean; the noise of c axes is alike.
        """
        variances = self._variances.clip(0.0) * share**2 + self._rounded**2
        return np.asarray(self._axes.T @ offsets / np.sqrt(variances)[:, None])

    def covariance_times(self, factor: float, share: float) -> Floats:
        """Compute the covariance of a multiple of the noise, by its factor, (m, m)."""
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
    """All trajectories, (n, p, 2), and lines, (g, p, 2), in metres; and their seconds."""

    def __init__(self, published: Published) -> None:
        self.in_metres = published.in_metres
        self.points = published.in_metres(published.points)
        self.lines = published.in_metres(published.lines)
        self.labels = published.labels
        self.owners = published.owners
        self.group_sizes = published.group_sizes
        self.people = subjects_per_group(self.labels, renumbered(self.owners))  # of each line, (g,)
        self.times = published.times
        self.line_times = published.line_times

        records, lines = published.records(slice(None))
        self._records = records
        self._line_records = lines
        self._square_lengths = np.einsum("nf,nf->n", records, records)

        # The mean square of a member's distance from its line: of all its numbers; and of one, by
        # which others are divided, so it is never 0.
        self.member_squares = float(((records - lines[self.labels]) ** 2).sum(axis=1).mean())
        self.number_squares = max(self.member_squares / records.shape[1], 1.0)

    def squares(self, rows: Ints, line: int) -> Floats:
        """Compute the squared distances of trajectories from a line, summed up over points."""
        return np.asarray(((self._records[rows] - self._line_records[line]) ** 2).sum(axis=-1))

    def nearest(self, line: int, count: int) -> Ints:
        """Find the trajectories nearest to a line, nearest first: their row numbers."""
        # |x - y|² less |y|², without a large array of differences. The last digits are lost, so the
        # nearest are then put in order by exact distances.
        products = np.einsum("nf,f->n", self._records, self._line_records[line])
        distances = self._square_lengths - 2.0 * products
        count = min(count, len(distances))
        rows = np.argpartition(distances, count - 1)[:count]
        return np.asarray(rows[np.lexsort((rows, self.squares(rows, line)))])


def groups_drawn(labels: Ints, seed: int) -> list[Ints]:
    """Draw groups of any size, and the order of their members, row numbers: the first is hidden."""
    random = np.random.default_rng(seed)
    members = members_of_groups(labels)
    groups = targets_drawn(len(members), random)
    return [random.permutation(members[group]) for group in groups.tolist()]


def targets_drawn(count: int, random: np.random.Generator) -> Ints:
    """Draw the numbers of the targets that are tried, of 0 to ``count`` - 1."""
    return random.choice(count, min(count, TARGETS_TRIED), replace=False)
