"""Two known points of a trip, perhaps with their hours: an attack by the line nearest to both.

Shapes: n originals, g lines, p known points of a trajectory, m points of a line.
"""

from itertools import combinations
from threading import Event

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.threads_and_dask import in_parts
from trajanon.evaluation.attacks.attack import Attack, chances_of_rows
from trajanon.evaluation.attacks.published_lines import TIED, Published, metres_for_hours

_MOST_TARGETS = 400  # originals that are attacked; of more, these are drawn
_MOST_POINTS = 10  # of a target, of which any two may be known; of more, these, evenly spread
_TARGETS_PER_TASK = 20
_ROUNDING_OF_SQUARES = 1e-6  # square metres


def two_points(published: Published, *, with_hours: bool = False) -> Attack:
    """Attack originals by pairs of their points; of more than 400 originals, 400 are drawn.

    The adversary knows both points, and which was passed first, or when. Each line is as far as two
    of its points are that follow in this order, by the sum of squared distances; of the nearest
    line a random row is picked.

    Points known to a place and an hour are those of de Montjoye et al. (Scientific Reports 3,
    2013); pairs of points are tried by Pellungrini et al. (ACM TIST 9, 2018).
    """
    targets = np.arange(len(published.points))
    if with_hours and published.times is not None:
        # Nobody knows the hours of an original without times.
        targets = np.flatnonzero(np.isfinite(published.times).any(axis=1))

    is_sample = len(targets) > _MOST_TARGETS
    if is_sample:
        drawn = np.random.default_rng(0).choice(len(targets), _MOST_TARGETS, replace=False)
        targets = np.sort(targets[drawn])

    points = published.points.shape[1]
    known = np.arange(points)
    if points > _MOST_POINTS:
        known = np.linspace(0, points - 1, _MOST_POINTS).round().astype(np.int64)
        is_sample = True
    tracks = published.in_metres(published.points[:, known])
    # Lines last, as sums over them are then several times faster: (2, m, g).
    lines = np.ascontiguousarray(published.in_metres(published.lines).T)

    def chances_of_targets(part: Ints, _: Event) -> Floats:
        """Attack a part of the targets: the three chances of each, (targets, 3)."""
        chances = []
        for target in part.tolist():
            places = tracks[target, :, :, None, None]
            squares = np.array([((lines - place) ** 2).sum(axis=0) for place in places])
            if with_hours:
                squares += _squares_for_hours(published, target, known)
            chances.append(_chances_by_pairs(published, target, squares))
        return np.array(chances)

    parts = in_parts(chances_of_targets, targets, _TARGETS_PER_TASK)
    rates, line_rates, worst = np.concatenate(parts).T

    name = "2 known points"
    knows = f"2 points of a person's {published.unit} and "
    if with_hours:
        name = f"{name} and their hours"
        knows += "when it was there"
    else:
        knows += "which comes first"
    return Attack(name, knows, published, targets, rates, line_rates, worst, sampled=is_sample)


def _squares_for_hours(published: Published, target: int, known: Ints) -> Floats:
    """Turn the time from known points of a target to points of lines into squared metres.

    They are (p, m, g).
    """
    assert published.times is not None
    assert published.line_times is not None
    seconds = published.line_times.T - published.times[target, known, None, None]

    # A clock that begins again each day or week may have done so in between.
    if np.isfinite(published.cycle):
        seconds -= published.cycle * np.rint(seconds / published.cycle)

    # The hours of a line without times are not known, and do not rule it out.
    return metres_for_hours(np.nan_to_num(seconds)) ** 2


def _chances_by_pairs(published: Published, target: int, squares: Floats) -> list[float]:
    """Attack a target by each pair of its known points.

    ``squares`` are the squared distances of these from the points of lines, (p, m, g). Returned:
    the mean chance of a row of the target's subject, the mean chance of a row of the target's line,
    and the highest chance of a row of the subject.
    """
    # From each point of a line on, the least square.
    least_ahead = np.minimum.accumulate(squares[:, ::-1], axis=1)[:, ::-1]
    sums = np.array(
        [
            (squares[first] + least_ahead[second]).min(axis=0)
            for first, second in combinations(range(len(squares)), 2)
        ]
    )
    # Lines that tie but for rounding are all nearest: (pairs, g).
    least = sums.min(axis=1, keepdims=True)
    is_nearest = sums <= least * (1.0 + TIED) + _ROUNDING_OF_SQUARES

    pair, line = np.nonzero(is_nearest)
    original = np.full(len(sums), target)
    rates, line_rates = chances_of_rows(published, pair, original[pair], line)
    return [float(rates.mean()), float(line_rates.mean()), float(rates.max())]
