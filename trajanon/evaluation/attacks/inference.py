"""What lines show of people: who is in a release, and where they go on."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtri

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.number_text import metres
from trajanon.evaluation.attacks.attack import Published
from trajanon.evaluation.attacks.known_tracks import Estimate
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.geodesy import metres_of_degrees
from trajanon.trajectories.times import HOUR

_METRE = 1.0  # added to distances, as lines are rounded
_DRAWN = 1.0  # how much the variance of all counts beside a trajectory's own
_LEAST = 1e-6  # variance

Z = float(ndtri(0.95))
"""Standard errors on each side of the centre of an interval of 90 %."""


def nearest_line(points: Floats, lines: Floats) -> tuple[Floats, Ints]:
    """Find how far trajectories, (n, m, 2), are from their nearest lines, and which these are.

    Distances are root mean squares of metres over points.
    """
    scale = metres_of_degrees(lines[..., 0].mean()) / np.sqrt(lines.shape[1])
    records, targets = ((tracks * scale).reshape(len(tracks), -1) for tracks in (lines, points))
    away, line = cKDTree(records).query(targets, workers=-1)
    return away, line.astype(np.int64)


def told_apart(away: Floats, members: Bools, subjects: Ints) -> Estimate:
    """Estimate how often a member, by mask, is nearer than another; 0.5 if they are alike.

    Source: E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44 (1988); with subjects as
    clusters: N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53
    (1997).
    """
    inside = away[members]
    outside = away[~members]
    farther = 1.0 - _before(inside, outside)
    nearer = _before(outside, inside)
    auc = float(nearer.mean())

    squared_error = variance(farther, subjects[members]) + variance(nearer, subjects[~members])
    error = Z * float(np.sqrt(squared_error))
    return Estimate(auc, max(auc - error, 0.0), min(auc + error, 1.0))


class Shadows(NamedTuple):
    """How far trajectories are from releases of random halves of the subjects."""

    away: Floats  # from the nearest line of each release, in metres, (r, n)
    inside: Bools  # whether each trajectory is in it, (r, n); each in some, and not in others


def likely_members(away: Floats, shadows: Shadows, subjects: Ints) -> Floats:
    """Score subjects by how much likelier a release is, (n,) metres away, if they are members.

    Logarithms of the distances are normal, with a mean where a trajectory is inside and another
    where it is not, and a variance of its own that is drawn to that of all. Those of a subject are
    added up.

    Source: N. Carlini, S. Chien, M. Nasr, S. Song, A. Terzis, F. Tramèr, "Membership inference
    attacks from first principles", IEEE S&P 2022.
    """
    logs = np.log(shadows.away + _METRE)
    seen = np.log(away + _METRE)
    spread = np.zeros_like(seen)
    off = list[Floats]()
    for chosen in (~shadows.inside, shadows.inside):
        mean = np.average(logs, axis=0, weights=chosen)
        spread += (chosen * (logs - mean) ** 2).sum(axis=0)
        off.append((seen - mean) ** 2)
    spread = (spread + _DRAWN * spread.mean()) / ((1 + _DRAWN) * len(logs)) + _LEAST

    likelier = 0.5 * (off[0] - off[1]) / spread
    person = np.unique(subjects, return_inverse=True)[1]
    return np.asarray(np.bincount(person, likelier), dtype=np.float64)


def _before(values: Floats, among: Floats) -> Floats:
    """Compute for each value the share of others that are smaller; equal ones count half."""
    ordered = np.sort(among)
    left = np.searchsorted(ordered, values, "left")
    right = np.searchsorted(ordered, values, "right")
    return np.asarray((left + right) / (2.0 * len(among)))


def variance(values: Floats, clusters: Ints) -> float:
    """Estimate the variance of a mean of values that are alike within clusters.

    With a single cluster it is not known: 0.
    """
    sums = np.bincount(dense(clusters), values - values.mean())
    return float((sums**2).sum()) / len(values) ** 2 * len(sums) / max(len(sums) - 1, 1)


NEAR_END = 200.0
"""Metres from the true end within which a guess of it is right."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """How often the nearest line tells something of a trajectory that the adversary looks for."""

    name: str  # what the adversary asks for, as a noun
    knows: str  # what the adversary knows of the trajectory
    told: float  # share of the trajectories for which the line answers right
    guess: float  # the same of the best answer for all


def inferred(published: Published) -> list[Inferred]:
    """Infer ends, and departures where times are released."""
    unit = published.unit
    told, guessed = ends_told(published.points, published.lines)
    end = f"the end of a {unit} (to {metres(NEAR_END)})"
    knows = f"the first two thirds of a {unit}"
    inferences = [Inferred(end, knows, float(told.mean()), float(guessed.mean()))]

    if published.times is not None and published.line_times is not None:
        told, guessed = departures_told(
            published.points,
            published.lines,
            published.times[:, 0],
            published.line_times[:, 0],
            published.cycle,
        )
        knows = f"all places of a {unit}"
        rates = float(told.mean()), float(guessed.mean())
        inferences.append(Inferred("the hour of departure", knows, *rates))
    return inferences


def ends_told(points: Floats, lines: Floats) -> tuple[Bools, Bools]:
    """Mark where the line nearest to the first two thirds of each, (n, m, 2), ends where it does.

    And where the best place to guess for all does: the end near which most lines end.
    """
    known = max(2 * points.shape[1] // 3, 1)
    ends = lines[:, -1]
    _, line = nearest_line(points[:, :known], lines[:, :known])

    places = ends * metres_of_degrees(ends[:, 0].mean())
    busiest = cKDTree(places).query_ball_point(places, NEAR_END, return_length=True).argmax()
    told, guessed = (
        displacement(points[:, -1], guess) <= NEAR_END for guess in (ends[line], ends[busiest])
    )
    return told, guessed


def departures_told(
    points: Floats, lines: Floats, departures: Floats, of_lines: Floats, cycle: float
) -> tuple[Bools, Bools]:
    """Mark where the line nearest to the places of each, (n, m, 2), departs within an hour of it.

    And where the best departure to guess for all does: that within an hour of which most lines
    depart. Departures are seconds of a clock that restarts after a cycle.
    """
    _, line = nearest_line(points, lines)
    hours = np.unique(of_lines)
    around = np.sort(of_lines)
    if np.isfinite(cycle):  # and those of the cycle before and after
        around = np.concatenate([around - cycle, around, around + cycle])
    last = np.searchsorted(around, hours + HOUR, "right")
    busiest = hours[(last - np.searchsorted(around, hours - HOUR, "left")).argmax()]

    def within_an_hour(guess: Floats) -> Bools:
        apart = np.abs(guess - departures)
        return np.minimum(apart, cycle - apart) <= HOUR

    return within_an_hour(of_lines[line]), within_an_hour(busiest)
