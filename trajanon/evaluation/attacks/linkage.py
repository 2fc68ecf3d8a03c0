"""Attacks by what is known of a target: all of it, two points, its ends, or the trip before."""

from threading import Event

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints
from trajanon.common.workers import in_parts
from trajanon.evaluation.attacks.attack import Attack, Published, chances_of_rows, nearest_of
from trajanon.trajectories.geodesy import in_space
from trajanon.trajectories.times import HOUR

NEAR_POINT = 100.0
"""Metres within which a line passes a known point."""

_TARGETS = 400  # at most, drawn at random
_TARGETS_PER_TASK = 20


def nearest_record(published: Published) -> Attack:
    """Link each original to the released row nearest to it, as the papers do.

    The adversary knows the whole of the target's trajectory, takes the released rows at the
    smallest Euclidean distance of the standardised records, and picks one.
    """
    knows = f"a person's whole {published.unit}"
    return _picked("nearest record", knows, published, published.nearest)


def nearest_ends(published: Published) -> Attack:
    """Link each original to the released row with the two ends nearest to its own.

    The adversary knows where the target's trajectory begins and where it ends, however far the
    lines begin and end from there, and takes the rows at the smallest sum of the two squared
    distances, through the Earth.
    """
    ends, line_ends = (
        np.hstack([in_space(tracks[:, end]) for end in (0, -1)])
        for tracks in (published.points, published.lines)
    )
    knows = f"both ends of a person's {published.unit}"
    return _picked("both ends, nearest", knows, published, nearest_of(ends, line_ends))


def _picked(name: str, knows: str, published: Published, lines: NDArray[np.object_]) -> Attack:
    """Pick a row of the lines found for each original, lists, (n,)."""
    n = len(published.points)
    original = np.repeat(np.arange(n), [len(found) for found in lines])
    line = np.concatenate(lines).astype(np.int64)
    rates, line_rates = chances_of_rows(published, original, original, line)
    return Attack(name, knows, published, np.arange(n), rates, line_rates, worst=rates)


def known_points(
    published: Published, *, hour: float = np.inf, tolerance: float = NEAR_POINT, seed: int = 0
) -> Attack:
    """Attack with each two points of each original trajectory; of many, some are drawn.

    The adversary picks a row of the line nearest to both, by the sum of squared distances, among
    those with a point within ``tolerance`` metres of each; with an ``hour``, if it is there within
    so many seconds of the time known.

    Points known to a place and an hour are those of de Montjoye et al. (Scientific Reports 3,
    2013); pairs of points are tried by Pellungrini et al. (ACM TIST 9, 2018).
    """
    n = len(published.points)
    targets = np.arange(n)
    if n > _TARGETS:
        drawn = np.random.default_rng(seed).choice(n, _TARGETS, replace=False)
        targets = np.sort(drawn)
    tree = cKDTree(in_space(published.lines.reshape(-1, 2)))

    def pairs_tried(rows: Ints, _: Event) -> Floats:
        chances = []
        for target in rows.tolist():
            line, away = _passing(published, tree, target, tolerance, hour)
            chances.append(_pairs_tried(published, target, line, away))
        return np.array(chances)

    parts = in_parts(pairs_tried, targets, _TARGETS_PER_TASK)
    rates, line_rates, worst = np.concatenate(parts).T

    name = "2 known points"
    knows = f"2 points of a person's {published.unit}"
    within = f"within {tolerance:g} m"
    if np.isfinite(hour):
        name = f"{name} and their hours"
        knows = f"{knows}, and when it was there"
        within += f" and {hour / 60.0:g} min"
    knows = f"{knows}, {within}"
    return Attack(name, knows, published, targets, rates, line_rates, worst, len(targets) < n)


def _pairs_tried(published: Published, target: int, line: Ints, away: Floats) -> list[float]:
    """Compute the mean chance of a row of the target's subject, of its line, and the highest."""
    of_subject = published.rows_held(published.owners[[target] * len(line)], line)
    rows = published.rows[line]
    counts = rows, of_subject, rows * (line == published.labels[target])

    points = len(away)
    chances = [np.zeros((3, 0))]
    for point in range(points - 1):
        sums = away[point] + away[point + 1 :]
        least = sums.min(axis=1, initial=np.inf, keepdims=True)
        second, nearest = np.nonzero((sums <= least * (1.0 + 1e-9) + 1e-6) & np.isfinite(sums))
        picked = np.array(
            [np.bincount(second, count[nearest], points - 1 - point) for count in counts]
        )
        chances.append(picked[:, picked[0] > 0])

    of_all, of_subject, of_line = np.hstack(chances)
    pairs = points * (points - 1) / 2
    rates = of_subject / of_all
    return [rates.sum() / pairs, (of_line / of_all).sum() / pairs, rates.max(initial=0.0)]


def next_line(published: Published) -> Attack:
    """Go from a known trajectory to the line that best goes on, and pick one of its rows.

    The next one begins where the last one ended and, where times are released, later. The adversary
    sets aside the line nearest to the known one.
    """
    steps = published.steps
    assert steps is not None
    _, step, line = published.next_lines
    known_line = published.labels[steps.here[step]]
    rates, line_rates = chances_of_rows(published, step, steps.there[step], line, known_line)
    return Attack(
        f"next {published.unit}",
        f"a {published.unit} of the same person, and looks for one that begins where it ends",
        published,
        steps.there,
        rates,
        line_rates,
        worst=rates,
        question="linkability",
    )


def attacks(published: Published) -> list[Attack]:
    """Run every attack on a release; on the originals those that find more than themselves.

    Where there are times, also one that knows the hours of what it knows, to an hour.
    """
    tried = [nearest_ends(published)]
    if published.against == "release":
        tried = [nearest_record(published), known_points(published), *tried]
        if published.times is not None and published.line_times is not None:
            tried.append(known_points(published, hour=HOUR))
    if published.steps is not None:
        tried.append(next_line(published))
    return tried


def _passing(
    published: Published, tree: cKDTree, target: int, tolerance: float, hour: float
) -> tuple[Ints, Floats]:
    """Find lines that pass a point of a target, and squared metres to each of its points, (p, g).

    The tree holds the points of all lines, one line after another.
    """
    points = cKDTree(in_space(published.points[target]))
    near = points.sparse_distance_matrix(tree, tolerance, output_type="ndarray")
    point = near["i"]
    line_point = near["j"]
    metres = near["v"]
    if published.times is not None and published.line_times is not None:
        late = np.abs(published.line_times.ravel()[line_point] - published.times[target, point])
        if np.isfinite(published.cycle):
            late %= published.cycle
            late = np.minimum(late, published.cycle - late)
        in_time = late <= hour
        point = point[in_time]
        line_point = line_point[in_time]
        metres = metres[in_time]

    lines, place = np.unique(line_point // published.lines.shape[1], return_inverse=True)
    away = np.full((points.n, len(lines)), np.inf)
    np.minimum.at(away.reshape(-1), point * len(lines) + place, metres**2)
    return lines, away
