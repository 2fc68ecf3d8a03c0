"""The end of a trip, or its hour, as the nearest line shows it to somebody who knows the rest.

Shapes: n originals, g lines, p points of a trajectory.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats
from trajanon.common.number_text import metres
from trajanon.evaluation.attacks.published_lines import Published, nearest_line
from trajanon.trajectories.clock_and_time_zones import HOUR
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.geodesy import metres_of_degrees

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
    by_line, by_guess = ends_told(published.points, published.lines)
    end = f"the end of a {unit} (to {metres(NEAR_END)})"
    knows = f"the first two thirds of a {unit}"
    inferences = [Inferred(end, knows, float(by_line.mean()), float(by_guess.mean()))]

    if published.times is not None and published.line_times is not None:
        by_line, by_guess = departures_told(
            published.points,
            published.lines,
            published.times[:, 0],
            published.line_times[:, 0],
            published.cycle,
        )
        knows = f"all places of a {unit}"
        rates = float(by_line.mean()), float(by_guess.mean())
        inferences.append(Inferred("the hour of departure", knows, *rates))
    return inferences


def ends_told(points: Floats, lines: Floats) -> tuple[Bools, Bools]:
    """Mark the originals, (n, p, 2), that end where the line nearest to two thirds of them shows.

    The line is moved, so it is tried in two ways: its end; and as far from the last known point as
    that is from the line's own point there. The way that is right more often is marked. And those
    that end where the best place to guess for all is: the end near which most lines end. Both marks
    are (n,).
    """
    known = max(2 * points.shape[1] // 3, 1)  # points; at least the first one
    _, line = nearest_line(points[:, :known], lines[:, :known])

    ends = lines[:, -1]
    in_metres = ends * metres_of_degrees(ends[:, 0].mean())
    ends_near = cKDTree(in_metres).query_ball_point(in_metres, NEAR_END, return_length=True)
    guess = ends[ends_near.argmax()]
    rest_of_line = ends[line] - lines[line, known - 1]
    by_end, by_rest, by_guess = (
        displacement(points[:, -1], answer) <= NEAR_END
        for answer in (ends[line], points[:, known - 1] + rest_of_line, guess)
    )
    return max(by_end, by_rest, key=np.mean), by_guess


def departures_told(
    points: Floats, lines: Floats, departures: Floats, line_departures: Floats, cycle: float
) -> tuple[Bools, Bools]:
    """Mark the originals, (n, p, 2), that depart within an hour of the line nearest to them.

    And those that depart within an hour of the best departure to guess for all: that within an hour
    of which most lines depart. Both marks are (n,). Departures, (n,) and (g,), are seconds of a
    clock that restarts after a cycle, which is infinite if it never does. Lines without times, NaN,
    are passed over.
    """
    is_timed = np.isfinite(line_departures)
    line_departures = line_departures[is_timed]
    _, line = nearest_line(points, lines[is_timed])

    possible = np.unique(line_departures)
    in_order = np.sort(line_departures)
    if np.isfinite(cycle):  # and those of the cycle before and after
        in_order = np.concatenate([in_order - cycle, in_order, in_order + cycle])
    not_later = np.searchsorted(in_order, possible + HOUR, "right")
    lines_within = not_later - np.searchsorted(in_order, possible - HOUR, "left")
    guess = possible[lines_within.argmax()]

    def within_an_hour(answers: Floats) -> Bools:
        seconds_off = np.abs(answers - departures)
        # Round a clock that restarts there are two ways from one time to another.
        return np.minimum(seconds_off, cycle - seconds_off) <= HOUR

    return within_an_hour(line_departures[line]), within_an_hour(guess)
