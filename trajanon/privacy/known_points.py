"""An adversary who knows two points of the target's trajectory, and perhaps their hours."""

from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import in_space
from trajanon.privacy.attack import Attack, Published
from trajanon.workers import in_parts

NEAR = 100.0
"""Metres within which a line passes a known point."""

_TARGETS = 400  # at most, drawn at random
_AT_ONCE = 20  # targets of a part


class Guesses(NamedTuple):
    """Two adversaries who know the same, and come to the same lines."""

    evenly: Attack  # picks a row of any of them
    nearest: Attack  # picks a row of the one that passes nearest


def known_points(
    published: Published, *, hour: float = np.inf, tolerance: float = NEAR, seed: int = 0
) -> Guesses:
    """Attack with each two points of each original trajectory; of many, some are drawn.

    A released line is compatible if it has a point within ``tolerance`` metres of each; with an
    ``hour``, if it is there within so many seconds of the time known. The nearest line is that with
    the smallest sum of squared distances to both.

    Without tolerance, and against the originals, this is the measure of location attacks in
    Pellungrini et al. (ACM TIST 9, 2018); they take the worst choice. Points known to a place and
    an hour are those of de Montjoye et al. (Scientific Reports 3, 2013).
    """
    n = len(published.points)
    targets = np.arange(n)
    if n > _TARGETS:
        drawn = np.random.default_rng(seed).choice(n, _TARGETS, replace=False)
        targets = np.sort(drawn)
    tree = cKDTree(in_space(published.lines.reshape(-1, 2)))

    def passing(target: int) -> tuple[Ints, Floats]:
        """Lines that pass a point of a target, and squared metres to each of its points, (p, g)."""
        points = cKDTree(in_space(published.points[target]))
        near = points.sparse_distance_matrix(tree, tolerance, output_type="ndarray")
        point, at, metres = near["i"], near["j"], near["v"]
        if published.times is not None and published.line_times is not None:
            late = np.abs(published.line_times.ravel()[at] - published.times[target, point])
            if np.isfinite(published.cycle):
                late %= published.cycle
                late = np.minimum(late, published.cycle - late)
            point, at, metres = (each[late <= hour] for each in (point, at, metres))
        line, passed = at // published.lines.shape[1], np.zeros(len(published.lines), np.bool_)
        passed[line] = True
        line, place = np.flatnonzero(passed), (np.cumsum(passed) - 1)[line]
        away = np.full((points.n, len(line)), np.inf)
        np.minimum.at(away.reshape(-1), point * len(line) + place, metres**2)
        return line, away

    def some(rows: Ints, _: Event) -> Floats:
        return np.array([_chances(published, one, *passing(one)) for one in rows.tolist()])

    found = np.concatenate(in_parts(some, targets, _AT_ONCE))
    name, knows = "2 known points", f"2 points of the target's {published.unit}"
    within = f"within {tolerance:g} m"
    if np.isfinite(hour):
        name, knows = f"{name} and their hours", f"{knows}, and when it was there"
        within += f" and {hour / 60.0:g} min"
    knows = f"{knows}, {within}"
    if len(targets) < n:
        knows += f"; tried on {len(targets):,} of {n:,}, drawn at random"
    evenly, nearest = (
        Attack(name + how, knows, published, targets, rates, line_rates, worst, len(targets) < n)
        for how, (rates, line_rates, worst) in (("", found[:, 0].T), (", nearest", found[:, 1].T))
    )
    return Guesses(evenly, nearest)


def _chances(published: Published, target: int, line: Ints, away: Floats) -> Floats:
    """Mean chance of a row of the target's subject, of its line, and the highest, (2, 3).

    First of somebody who picks among all lines that pass both points, then among the nearest.
    """
    points = len(away)
    passes, chances = np.isfinite(away), np.zeros((2, 3))
    own, _ = published.held(published.owners[[target] * len(line)], line)
    rows = published.rows[line]
    counts = np.stack([rows, own, rows * (line == published.labels[target])]).astype(np.float64)
    evenly = counts[:, None] * passes @ passes.T.astype(np.float64)
    nearest = np.zeros_like(evenly)
    for point in range(points - 1):
        sums = away[point] + away[point + 1 :]
        least = sums.min(axis=1, initial=np.inf, keepdims=True)
        other, found = np.nonzero(
            sums <= np.where(np.isfinite(least), least * (1.0 + 1e-9) + 1e-6, -1.0)
        )
        for count, into in zip(counts, nearest, strict=True):
            into[point, point + 1 :] = np.bincount(other, count[found], points - 1 - point)
    pairs = np.triu_indices(points, 1)
    for chance, every in zip(chances, (evenly, nearest), strict=True):
        of_all, mine, home = every[:, *pairs][:, evenly[1][pairs] > 0]
        if len(of_all):
            chance[:] = (mine / of_all).sum(), (home / of_all).sum(), (mine / of_all).max()
    chances[:, :2] /= len(pairs[0])
    return chances
