"""Two known points of a trip, perhaps with their hours: an attack by the lines that pass both.

Shapes: n originals, g lines, p points of a trajectory.
"""

from dataclasses import replace
from threading import Event

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints
from trajanon.common.threads_and_dask import in_parts
from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.published_lines import TIED, Published
from trajanon.trajectories.clock_and_time_zones import HOUR, MINUTE
from trajanon.trajectories.geodesy import in_space

NEAR_POINT = 100.0
"""A line passes a known point if any of its points is this near, in metres."""

# Lines are means, and moved: many are so far from where their people were, and when.
_FAR_POINT = 500.0  # metres
_FAR_IN_TIME = 3.0 * HOUR

_MOST_TARGETS = 400  # originals that are attacked; of more, these are drawn
_TARGETS_PER_TASK = 20
_ROUNDING_OF_SQUARES = 1e-6  # square metres


def two_points(published: Published) -> Attack:
    """Attack by two points: the better of lines within 100 m of each, and within 500 m."""
    return _better(known_points(published), known_points(published, tolerance=_FAR_POINT))


def two_points_and_hours(published: Published) -> Attack:
    """Attack likewise by points and hours: within 100 m and an hour, or 500 m and three hours."""
    near = known_points(published, time_tolerance=HOUR)
    far = known_points(published, time_tolerance=_FAR_IN_TIME, tolerance=_FAR_POINT)
    return _better(near, far)


def _better(near: Attack, far: Attack) -> Attack:
    """Return the attack that finds more; each target is at worst found by either."""
    best = max(near, far, key=lambda attack: attack.expected)
    return replace(best, worst=np.maximum(near.worst, far.worst))


def known_points(
    published: Published,
    *,
    time_tolerance: float = np.inf,
    tolerance: float = NEAR_POINT,
    seed: int = 0,
) -> Attack:
    """Attack originals by every two of their points; of more than 400 originals, 400 are drawn.

    The adversary knows both points, and considers the lines that have a point within ``tolerance``
    metres of each, at a time at most ``time_tolerance`` seconds from when the target was there. Of
    these the line is chosen with the smallest sum of squared distances, and of it a random row.

    Points known to a place and an hour are those of de Montjoye et al. (Scientific Reports 3,
    2013); pairs of points are tried by Pellungrini et al. (ACM TIST 9, 2018).
    """
    targets = np.arange(len(published.points))
    if np.isfinite(time_tolerance) and published.times is not None:
        # Nobody knows the hours of an original without times.
        targets = np.flatnonzero(np.isfinite(published.times).any(axis=1))

    is_sample = len(targets) > _MOST_TARGETS
    if is_sample:
        drawn = np.random.default_rng(seed).choice(len(targets), _MOST_TARGETS, replace=False)
        targets = np.sort(targets[drawn])

    points_of_lines = cKDTree(in_space(published.lines.reshape(-1, 2)))

    def chances_of_targets(part: Ints, _: Event) -> Floats:
        """Attack a part of the targets: the three chances of each, (targets, 3)."""
        chances = []
        for target in part.tolist():
            line, square_metres = _passing_lines(
                published, points_of_lines, target, tolerance, time_tolerance
            )
            chances.append(_chances_by_pairs(published, target, line, square_metres))
        return np.array(chances)

    parts = in_parts(chances_of_targets, targets, _TARGETS_PER_TASK)
    rates, line_rates, worst = np.concatenate(parts).T

    name = "2 known points"
    knows = f"2 points of a person's {published.unit}"
    within = f"within {tolerance:g} m"
    if np.isfinite(time_tolerance):
        name = f"{name} and their hours"
        knows = f"{knows}, and when it was there"
        within += f" and {time_tolerance / MINUTE:g} min"
    knows = f"{knows}, {within}"
    return Attack(name, knows, published, targets, rates, line_rates, worst, sampled=is_sample)


def _passing_lines(
    published: Published,
    points_of_lines: cKDTree,
    target: int,
    tolerance: float,
    time_tolerance: float,
) -> tuple[Ints, Floats]:
    """Find the lines that pass any point of a target, and how near they come to each of its points.

    The latter are squared metres, (p, lines), infinite where a line does not pass the point. The
    tree holds the points of all lines, one line after another.
    """
    # Pairs of a point of the target and a point of a line.
    points = cKDTree(in_space(published.points[target]))
    near = points.sparse_distance_matrix(points_of_lines, tolerance, output_type="ndarray")
    point = near["i"]
    line_point = near["j"]
    metres = near["v"]

    # Without a tolerance times are not asked for: some may not be known.
    asks_for_hours = np.isfinite(time_tolerance)
    if asks_for_hours and published.times is not None and published.line_times is not None:
        line_times = published.line_times.ravel()
        seconds = np.abs(line_times[line_point] - published.times[target, point])

        # A clock that begins again each day or week may have done so in between.
        if np.isfinite(published.cycle):
            seconds %= published.cycle
            seconds = np.minimum(seconds, published.cycle - seconds)

        # The hours of a line without times are not known, and do not rule it out.
        in_time = ~(seconds > time_tolerance)
        point = point[in_time]
        line_point = line_point[in_time]
        metres = metres[in_time]

    # The least distance of each line, at its place in the list of lines, from each point.
    lines, place = np.unique(line_point // published.lines.shape[1], return_inverse=True)
    square_metres = np.full((points.n, len(lines)), np.inf)
    np.minimum.at(square_metres.reshape(-1), point * len(lines) + place, metres**2)
    return lines, square_metres


def _chances_by_pairs(
    published: Published, target: int, line: Ints, square_metres: Floats
) -> list[float]:
    """Attack a target by each pair of its points, with the lines that pass any of these.

    ``square_metres`` is what `_passing_lines` returns. Returned: the mean chance of a row of the
    target's subject, the mean chance of a row of the target's line, and the highest chance of a row
    of the subject.
    """
    rows = published.row_counts[line]
    owner = np.full(len(line), published.owners[target])
    rows_of_subject = published.rows_held(owner, line)
    rows_of_line = rows * (line == published.labels[target])

    points = len(square_metres)
    counts_of_pairs = [np.zeros((3, 0))]  # of rows of lines passing both points: as named below
    for point in range(points - 1):
        # Of pairs of this point and a later one, (pairs, lines); finite where a line passes both.
        sums = square_metres[point] + square_metres[point + 1 :]
        least = sums.min(axis=1, initial=np.inf, keepdims=True)

        # Lines that tie but for rounding are all candidates. Count their rows for each pair.
        is_candidate = (sums <= least * (1.0 + TIED) + _ROUNDING_OF_SQUARES) & np.isfinite(sums)
        pair, candidate = np.nonzero(is_candidate)
        counts = np.array(
            [
                np.bincount(pair, rows_counted[candidate], points - 1 - point)
                for rows_counted in (rows, rows_of_subject, rows_of_line)
            ],
            np.float64,
        )
        counts_of_pairs.append(counts[:, counts[0] > 0])

    # Pairs that no line passes have no chance, but count in the means.
    all_rows, of_subject, of_line = np.hstack(counts_of_pairs)
    pairs = points * (points - 1) / 2
    rates = of_subject / all_rows
    return [rates.sum() / pairs, (of_line / all_rows).sum() / pairs, rates.max(initial=0.0)]
