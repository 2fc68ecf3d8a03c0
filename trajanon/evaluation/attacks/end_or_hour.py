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
    by_line = ends_told(published)
    by_guess = ends_guessed(published, published.lines[:, -1])
    end = f"the end of a {unit} (to {metres(NEAR_END)})"
    knows = f"the first two thirds of a {unit}"
    if published.shows_hours:
        knows += " and when it was there"
    inferences = [Inferred(end, knows, float(by_line.mean()), float(by_guess.mean()))]

    if published.line_times is not None:
        by_line = departures_told(published)
        by_guess = departures_guessed(published, published.line_times[:, 0])
        knows = f"all places of a {unit}"
        rates = float(by_line.mean()), float(by_guess.mean())
        inferences.append(Inferred("the hour of departure", knows, *rates))
    return inferences


def ends_told(published: Published) -> Bools:
    """Mark the originals that end where the line nearest to two thirds of them shows, (n,).

    The line is moved, so it is tried in two ways: its end; and as far from the last known point as
    that is from the line's own point there. Where hours are published, it is the nearest with them,
    or without. The way that is right more often is marked.
    """
    points = published.points
    known = 2 * points.shape[1] // 3
    ways = list[Bools]()
    for published_as in published.ways_to_look:
        originals, lines = published_as.records(slice(known))
        _, line = cKDTree(lines).query(originals, workers=-1)

        end = published.lines[line, -1]
        rest_of_line = end - published.lines[line, known - 1]
        answers = (end, points[:, known - 1] + rest_of_line)
        ways += [displacement(points[:, -1], answer) <= NEAR_END for answer in answers]
    return max(ways, key=np.mean)


def ends_guessed(published: Published, ends: Floats) -> Bools:
    """Mark the originals that end near the best guess for all, (n,): where most ``ends`` are."""
    in_metres = published.in_metres(ends)
    ends_near = cKDTree(in_metres).query_ball_point(in_metres, NEAR_END, return_length=True)
    guess = ends[ends_near.argmax()]
    return np.asarray(displacement(published.points[:, -1], guess) <= NEAR_END)


def departures_told(published: Published) -> Bools:
    """Mark the originals that depart within an hour of the line nearest to their places, (n,).

    Lines without times are passed over, and no departure is found of originals without.
    """
    assert published.line_times is not None
    departures = published.line_times[:, 0]
    is_timed = np.isfinite(departures)
    _, line = nearest_line(published.points, published.lines[is_timed])
    return _depart_within_an_hour(published, departures[is_timed][line])


def departures_guessed(published: Published, departures: Floats) -> Bools:
    """Mark the originals that depart within an hour of the best guess for all, (n,).

    That is the departure within an hour of which most ``departures`` are, seconds of the release's
    clock; those that are not known, NaN, are passed over.
    """
    cycle = published.cycle
    in_order = np.sort(departures[np.isfinite(departures)])
    possible = np.unique(in_order)
    if np.isfinite(cycle):  # and those of the cycle before and after
        in_order = np.concatenate([in_order - cycle, in_order, in_order + cycle])
    not_later = np.searchsorted(in_order, possible + HOUR, "right")
    departures_within = not_later - np.searchsorted(in_order, possible - HOUR, "left")
    return _depart_within_an_hour(published, possible[departures_within.argmax()])


def _depart_within_an_hour(published: Published, answers: Floats) -> Bools:
    """Mark the originals that depart within an hour of the answer, or of that to each, (n,)."""
    assert published.times is not None
    seconds_off = np.abs(answers - published.times[:, 0])
    # Round a clock that restarts there are two ways from one time to another.
    return np.asarray(np.minimum(seconds_off, published.cycle - seconds_off) <= HOUR)
