"""Inference: what the nearest line tells of a trajectory that is known in part."""

from typing import NamedTuple

import numpy as np

from trajanon.arrays import Bools, Floats
from trajanon.number_text import metres
from trajanon.privacy.attack import Published
from trajanon.privacy.membership import Lines
from trajanon.times import HOUR
from trajanon.utility.displacements import displacement

NEAR = 200.0
"""Metres from the true end within which a guess of it is right."""


class Inferred(NamedTuple):
    """How often the nearest line tells something of a trajectory that the adversary asks for."""

    name: str  # what he asks for
    knows: str  # what he knows of the trajectory
    told: float  # share of the trajectories for which the line answers right
    guess: float  # the same of the best answer for all


def inferred(published: Published) -> list[Inferred]:
    """Infer ends, and departures where times are released."""
    unit = published.unit
    ends = ends_told(published.points, published.lines)
    asked = [(f"its end to {metres(NEAR)}", f"the first two thirds of a {unit}", ends)]
    if published.times is not None and published.line_times is not None:
        both = published.times[:, 0], published.line_times[:, 0]
        hours = departures_told(published.points, published.lines, *both, published.cycle)
        asked.append(("its departure to an hour", f"all places of a {unit}", hours))
    return [
        Inferred(name, knows, *(float(each.mean()) for each in found))
        for name, knows, found in asked
    ]


def ends_told(points: Floats, lines: Floats) -> tuple[Bools, Bools]:
    """Whether the line nearest to the first two thirds of each, (n, m, 2), ends where it does.

    And whether the best place to guess for all does: the end near which most lines end.
    """
    known, ends = max(2 * points.shape[1] // 3, 1), lines[:, -1]
    _, line = Lines(lines[:, :known]).nearest(points[:, :known])
    busiest = Lines(ends[:, None]).within(ends[:, None], NEAR).argmax()
    right, guessed = (
        displacement(points[:, -1], guess) <= NEAR for guess in (ends[line], ends[busiest])
    )
    return right, guessed


def departures_told(
    points: Floats, lines: Floats, departures: Floats, of_lines: Floats, cycle: float
) -> tuple[Bools, Bools]:
    """Whether the line nearest to the places of each, (n, m, 2), departs within an hour of it.

    And whether the best departure to guess for all does: that within an hour of which most lines
    depart. Departures are seconds of a clock that begins anew after a cycle.
    """

    def within_an_hour(one: Floats, other: Floats) -> Bools:
        apart = np.abs(one - other)
        return np.minimum(apart, cycle - apart) <= HOUR

    _, line = Lines(lines).nearest(points)
    hours, lines_then = np.unique(of_lines, return_counts=True)
    busiest = hours[(within_an_hour(hours[:, None], hours) @ lines_then).argmax()]
    return within_an_hour(departures, of_lines[line]), within_an_hour(departures, busiest)
