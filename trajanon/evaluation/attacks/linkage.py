"""Attacks by what is known of a target: all of it, its ends, two points, or the trip before.

Shapes: n originals, g lines, p points of a trajectory.
"""

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
"""A line passes a known point if any of its points is this near, in metres."""

_MOST_TARGETS = 400  # originals that are attacked by known points; of more, these are drawn
_TARGETS_PER_TASK = 20


def nearest_record(published: Published) -> Attack:
    """Link each original to the released row nearest to it, as the papers do.

    The adversary knows the whole of the target's trajectory, finds the released rows at the
    smallest Euclidean distance of the standardised records, and picks one of these at random.
    """
    knows = f"a person's whole {published.unit}"
    return _pick_row("nearest record", knows, published, published.nearest)


def nearest_ends(published: Published) -> Attack:
    """Link each original to the released row with the two ends nearest to its own.

    The adversary knows where the target's trajectory begins and where it ends, finds the rows with
    the smallest sum of the two squared distances, and picks one of these at random. Distances are
    straight, through the Earth, and have no limit.
    """
    ends, line_ends = (
        np.hstack([in_space(tracks[:, end]) for end in (0, -1)])
        for tracks in (published.points, published.lines)
    )
    knows = f"both ends of a person's {published.unit}"
    return _pick_row("both ends, nearest", knows, published, nearest_of(ends, line_ends))


def _pick_row(name: str, knows: str, published: Published, lines: NDArray[np.object_]) -> Attack:
    """Attack every original by a random row of its candidates: a list of lines for each, (n,)."""
    n = len(published.points)

    # Pairs of an original and a candidate line.
    original = np.repeat(np.arange(n), [len(candidates) for candidates in lines])
    line = np.concatenate(lines).astype(np.int64)
    rates, line_rates = chances_of_rows(published, original, original, line)
    return Attack(name, knows, published, np.arange(n), rates, line_rates, worst=rates)


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
    n = len(published.points)
    targets = np.arange(n)
    if n > _MOST_TARGETS:
        drawn = np.random.default_rng(seed).choice(n, _MOST_TARGETS, replace=False)
        targets = np.sort(drawn)

    tree = cKDTree(in_space(published.lines.reshape(-1, 2)))

    def chances_of_targets(part: Ints, _: Event) -> Floats:
        """Attack a part of the targets: the three chances of each, (targets, 3)."""
        chances = []
        for target in part.tolist():
            line, away = _passing_lines(published, tree, target, tolerance, time_tolerance)
            chances.append(_chances_by_pairs(published, target, line, away))
        return np.array(chances)

    parts = in_parts(chances_of_targets, targets, _TARGETS_PER_TASK)
    rates, line_rates, worst = np.concatenate(parts).T

    name = "2 known points"
    knows = f"2 points of a person's {published.unit}"
    within = f"within {tolerance:g} m"
    if np.isfinite(time_tolerance):
        name = f"{name} and their hours"
        knows = f"{knows}, and when it was there"
        within += f" and {time_tolerance / 60.0:g} min"
    knows = f"{knows}, {within}"
    return Attack(name, knows, published, targets, rates, line_rates, worst, len(targets) < n)


def _chances_by_pairs(published: Published, target: int, line: Ints, away: Floats) -> list[float]:
    """Attack a target by each pair of its points, with the lines that pass any of these.

    ``away`` holds squared metres from each point to each of these lines, infinite where one does
    not pass it. Returned: the mean chance of a row of the target's subject, the mean chance of a
    row of the target's line, and the highest chance of a row of the subject.
    """
    rows = published.rows[line]
    rows_of_subject = published.rows_held(published.owners[[target] * len(line)], line)
    rows_of_line = rows * (line == published.labels[target])
    kinds_of_rows = rows, rows_of_subject, rows_of_line

    points = len(away)
    counts = [np.zeros((3, 0))]
    for point in range(points - 1):
        # Of pairs of this point and a later one; finite where a line passes both.
        sums = away[point] + away[point + 1 :]
        least = sums.min(axis=1, initial=np.inf, keepdims=True)

        # Lines that tie but for rounding are all candidates. Count their rows for each pair.
        pair, nearest = np.nonzero((sums <= least * (1.0 + 1e-9) + 1e-6) & np.isfinite(sums))
        later_points = points - 1 - point
        of_kinds = [np.bincount(pair, kind[nearest], later_points) for kind in kinds_of_rows]
        counts_of_pairs = np.array(of_kinds, np.float64)
        counts.append(counts_of_pairs[:, counts_of_pairs[0] > 0])

    # Pairs that no line passes have no chance, but count in the means.
    all_candidates, of_subject, of_line = np.hstack(counts)
    pairs = points * (points - 1) / 2
    rates = of_subject / all_candidates
    return [rates.sum() / pairs, (of_line / all_candidates).sum() / pairs, rates.max(initial=0.0)]


def next_line(published: Published) -> Attack:
    """Attack a person's next trajectory by the line that goes on best from a known one.

    The next trajectory begins near where the known one ended and, if times are released, later. The
    adversary rules out the line nearest to the known trajectory, and picks a random row of the line
    that goes on best.
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
    """Run every attack on a release; on originals, only the two that are of use there.

    Who knows a whole trajectory, or points of it, would find each original as itself. If times are
    released, the attack by known points is run twice: without times, and with times known to an
    hour.
    """
    tried = [nearest_ends(published)]
    if published.against == "release":
        tried = [nearest_record(published), known_points(published), *tried]
        if published.times is not None and published.line_times is not None:
            tried.append(known_points(published, time_tolerance=HOUR))
    if published.steps is not None:
        tried.append(next_line(published))
    return tried


def _passing_lines(
    published: Published, tree: cKDTree, target: int, tolerance: float, time_tolerance: float
) -> tuple[Ints, Floats]:
    """Find the lines that pass any point of a target, and how near they come to each of its points.

    The latter are squared metres, (p, lines), infinite where a line does not pass the point. The
    tree holds the points of all lines, one line after another.
    """
    # Pairs of a point of the target and a point of a line.
    points = cKDTree(in_space(published.points[target]))
    near = points.sparse_distance_matrix(tree, tolerance, output_type="ndarray")
    point = near["i"]
    line_point = near["j"]
    metres = near["v"]

    if published.times is not None and published.line_times is not None:
        line_times = published.line_times.ravel()
        seconds = np.abs(line_times[line_point] - published.times[target, point])
        # A clock that begins again each day or week may have done so in between.
        if np.isfinite(published.cycle):
            seconds %= published.cycle
            seconds = np.minimum(seconds, published.cycle - seconds)

        in_time = seconds <= time_tolerance
        point = point[in_time]
        line_point = line_point[in_time]
        metres = metres[in_time]

    # The least distance of each line, at its place in the list of lines, from each point.
    lines, place = np.unique(line_point // published.lines.shape[1], return_inverse=True)
    away = np.full((points.n, len(lines)), np.inf)
    np.minimum.at(away.reshape(-1), point * len(lines) + place, metres**2)
    return lines, away
