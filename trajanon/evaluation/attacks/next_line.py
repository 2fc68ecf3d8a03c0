"""The next line of a person: which one begins where the one before ended."""

from dataclasses import dataclass
from threading import Event

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats, Ints
from trajanon.common.workers import in_parts
from trajanon.evaluation.attacks.attack import TIED, Attack, Published, RowsPicked, Steps
from trajanon.trajectories.geodesy import metres_of_degrees
from trajanon.trajectories.times import HOUR, MINUTE

_EARLY = 10.0  # metres that count as much as a minute too early, or later
_LATE = 3.0
_SAME = 1e-6  # metres that are nothing but rounding
_LINES_NEAR = 200  # that begin nearest, of which the adversary chooses
_STEPS_PER_TASK = 1_000


@dataclass(frozen=True, slots=True)
class Ranks:
    """How the line of the next one ranks; mean chances, if ties are decided at random."""

    first: float
    among_three: float


def next_line(published: Published, steps: Steps) -> Attack:
    """Go from a known trajectory to the line that best goes on, and pick one of its rows.

    The next one begins where the last one ended and, where times are released, later. The adversary
    sets aside the line nearest to the known one.
    """
    _, step, line = ranked(published, steps)
    here = steps.here[step]
    rows = RowsPicked.of(published, step, steps.there[step], line)

    # The row of the known trip is no other one of the target's.
    rows.of_subject[line == published.labels[here]] = 0
    rates, line_rates = rows.chances(len(steps.here))
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


def ranked(
    published: Published, steps: Steps, *, by_line: bool = False
) -> tuple[Ranks, Ints, Ints]:
    """Rank the lines by how well they go on from each step, from a known trajectory or its line.

    Also returns the lines that rank first: pairs of step and line, (p,) each.
    """
    own_line = published.labels[steps.here]
    right_line = published.labels[steps.there]
    points = published.points
    times = published.times
    row = steps.here
    if by_line:
        points = published.lines
        times = published.line_times
        row = own_line
    elif published.against == "release":
        own_line = np.array([lines[0] for lines in published.nearest[steps.here]])

    # Times within a day do not tell what comes next on another day.
    arrival = None
    if times is not None and (steps.on_a_day or np.isinf(published.cycle)):
        arrival = times[row, -1]

    tree = cKDTree(in_metres(published.lines[:, 0], published.lines))
    ends = in_metres(points[row, -1], published.lines)
    ranks = np.arange(1, min(_LINES_NEAR, len(published.lines)) + 1)

    def ranks_of(rows: Ints, _: Event) -> tuple[Floats, Ints, Ints]:
        away, line = tree.query(ends[rows], k=ranks)
        if arrival is not None and published.line_times is not None:
            minutes = (published.line_times[line, 0] - arrival[rows, None]) / MINUTE
            late = _LATE * np.minimum(minutes, HOUR / MINUTE)
            away = np.hypot(away, np.where(minutes < 0.0, _EARLY * minutes, late))
        away[line == own_line[rows, None]] = np.inf

        least = away.min(axis=1, keepdims=True)
        step, place = np.nonzero(away <= least * (1.0 + TIED) + _SAME)

        # Ties are decided at random, so several lines share a place.
        is_right = line == right_line[rows, None]
        away_right = np.where(is_right, away, np.inf).min(axis=1, keepdims=True)
        tied = np.where(np.isfinite(away_right), TIED * away_right + _SAME, 0.0)
        nearer = (away < away_right - tied).sum(axis=1)
        alike = np.maximum((away <= away_right + tied).sum(axis=1) - nearer, 1)
        among = np.clip(np.array([[1], [3]]) - nearer, 0, alike) / alike
        return (among * np.isfinite(away_right[:, 0])).T, rows[step], line[step, place]

    parts = in_parts(ranks_of, np.arange(len(own_line)), _STEPS_PER_TASK)
    among, step, line = map(np.concatenate, zip(*parts, strict=True))
    return Ranks(*among.mean(axis=0).tolist()), step, line


def in_metres(points: Floats, lines: Floats) -> Floats:
    """Put points on the plane of some lines."""
    return np.asarray((points - lines[0, 0]) * metres_of_degrees(lines[..., 0].mean()))
