"""Membership: whether the distance to the nearest released line tells who is in a release."""

from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtri

from trajanon.arrays import Bools, Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.partition import dense
from trajanon.tracks import STEPS, Tracks
from trajanon.workers import in_parts

Z = float(ndtri(0.975))
"""Standard errors on each side of what an interval of 95 % is about."""

_AT_ONCE = 500  # trajectories that a thread looks up
_COARSE = 4 * STEPS  # steps between the starts on a run that are tried first


class Auc(NamedTuple):
    """How often a member lies nearer than somebody who is not; 0.5 where it cannot be told."""

    auc: float
    low: float  # the interval of 95 %
    high: float


class Lines:
    """Released lines, to which the nearest is looked up: root mean square of metres over points."""

    def __init__(self, lines: Floats) -> None:
        self._scale = metres_of_degrees(lines[..., 0].mean())
        self._tree = cKDTree(self._records(lines))

    def _records(self, points: Floats) -> Floats:
        metres: Floats = points * (self._scale / np.sqrt(points.shape[1]))
        return metres.reshape(len(points), -1)

    def nearest(self, points: Floats) -> tuple[Floats, Ints]:
        """How far each of some trajectories, (n, m, 2), is from its nearest line, and which."""

        def looked_up(rows: Ints, _: Event) -> Floats:
            return np.stack(self._tree.query(self._records(points[rows])))

        found = np.hstack(in_parts(looked_up, np.arange(len(points)), _AT_ONCE))
        return found[0], found[1].astype(np.int64)

    def within(self, points: Floats, radius: float) -> Ints:
        """Count the trajectories within some metres of each line, (g,)."""
        tree = cKDTree(self._records(points))
        return np.asarray(tree.query_ball_point(self._tree.data, radius, return_length=True))

    def from_runs(self, tracks: Tracks, m: int) -> Floats:
        """How far each run's nearest window of m points is from any line, at all its starts, (r,).

        A window a step later is at most the run's longest hop from the one before. So between two
        starts none is nearer than half of what both distances exceed the hops between them; where
        that is farther than the nearest found, none is tried.
        """
        last = np.diff(tracks.first) - STEPS * (m - 1) - 1
        hops = np.linalg.norm(np.diff(tracks.points[:], axis=0) * self._scale, axis=1)
        hops[tracks.first[1:-1] - 1] = 0.0  # from run to run
        hop = np.maximum.reduceat(np.append(hops, 0.0), tracks.first[:-1])

        def away(run: Ints, start: Ints) -> Floats:
            def looked_up(rows: Ints, _: Event) -> Floats:
                places = (tracks.first[run] + start)[rows, None] + STEPS * np.arange(m)
                return self.nearest(tracks.points[places])[0]

            return np.concatenate(in_parts(looked_up, np.arange(len(run)), _AT_ONCE))

        tried = -(-last // _COARSE) + 1
        run = np.repeat(np.arange(len(last)), tried)
        place = np.arange(len(run)) - np.repeat(np.cumsum(tried) - tried, tried)
        start = np.minimum(_COARSE * place, last[run])
        found, least = away(run, start), np.full(len(last), np.inf)
        np.minimum.at(least, run, found)
        both = np.flatnonzero(run[1:] == run[:-1])
        run, ends = run[both], np.stack([start[both], start[both + 1]])
        at_ends = np.stack([found[both], found[both + 1]])
        while True:
            apart = ends[1] - ends[0]
            open_ = (apart > 1) & (at_ends.sum(axis=0) - hop[run] * apart < 2.0 * least[run])
            run, ends, at_ends = run[open_], ends[:, open_], at_ends[:, open_]
            if not len(run):
                return least
            middle = ends.sum(axis=0) // 2
            found = away(run, middle)
            np.minimum.at(least, run, found)
            ends = np.hstack([[ends[0], middle], [middle, ends[1]]])
            at_ends = np.hstack([[at_ends[0], found], [found, at_ends[1]]])
            run = np.tile(run, 2)


def told_apart(away: Floats, members: Bools, subjects: Ints) -> Auc:
    """Compare the distances of members, by mask, with those of the others, all of them.

    Source: E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44 (1988); with subjects as
    clusters: N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53
    (1997).
    """
    inside, outside = away[members], away[~members]
    farther = 1.0 - _before(inside, outside)
    nearer = _before(outside, inside)
    auc = float(nearer.mean())
    spread = variance(farther, subjects[members]) + variance(nearer, subjects[~members])
    error = Z * float(np.sqrt(spread))
    return Auc(auc, max(auc - error, 0.0), min(auc + error, 1.0))


def _before(values: Floats, among: Floats) -> Floats:
    """For each value the share of others that are smaller; equal ones count half."""
    ordered = np.sort(among)
    both = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.add(*both) / (2.0 * len(among))


def variance(values: Floats, clusters: Ints) -> float:
    """Estimate the variance of a mean of values that are alike within clusters.

    Where there is one cluster, nothing is known of it: 0.
    """
    sums = np.bincount(dense(clusters), values - values.mean())
    return float((sums**2).sum()) / len(values) ** 2 * len(sums) / max(len(sums) - 1, 1)
