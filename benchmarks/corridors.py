"""Trajectories along the streets of a made-up city, as many as asked for.

Streets form a grid, and a few are avenues that most traffic takes. Who drives goes straight on at
most crossings; a position is a few metres off, and stays so for a while.
"""

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.trajectories.geodesy import METRES_PER_DEGREE

POINTS = 30  # of a trajectory
SPACING = 50.0  # metres between them

_STREETS = 80  # each way
_BLOCK = 125.0  # metres between two crossings
_CENTRE = (40.4168, -3.7038)  # degrees; any city of this latitude
_SHARE_OF_TURNS = 0.15  # at crossings
_METRES_OFF = 4.0  # standard deviation of a position
_KEPT = 0.9  # of what a position is off, at the next point


def corridors(n: int, seed: int = 0, points: int = POINTS) -> Floats:
    """Draw n ways of so many points: records of numbers lat1, lon1, ..."""
    random = np.random.default_rng(seed)

    # Which share of the traffic each street has: avenues, and streets hardly used; more in the
    # middle.
    traffic = random.pareto(1.2, _STREETS) + 0.05
    traffic *= np.exp(-(((np.arange(_STREETS) / _STREETS - 0.5) / 0.3) ** 2))
    traffic /= traffic.sum()

    # Places are in blocks: east and north, (2, n). Everybody starts on a street.
    heading = random.integers(0, 4, n)  # east, north, west, south
    street = random.choice(_STREETS, n, p=traffic)
    along = random.choice(_STREETS, n, p=traffic) + random.random(n) * 0.999  # within a block
    is_to_east_or_west = heading % 2 == 0
    east = np.where(is_to_east_or_west, along, street)
    north = np.where(is_to_east_or_west, street, along)
    place = np.array([east, north])

    metres_off = random.normal(size=(2, n)) * _METRES_OFF
    ways = np.empty((n, points, 2))
    for number in range(points):
        ways[:, number] = (place[::-1] * _BLOCK + metres_off).T
        metres_off *= _KEPT
        metres_off += random.normal(size=(2, n)) * (_METRES_OFF * np.sqrt(1.0 - _KEPT**2))
        _drive(random, traffic, heading, place, SPACING / _BLOCK)

    # From metres north and east of a corner to degrees around the centre.
    ways -= _STREETS * _BLOCK / 2
    ways /= METRES_PER_DEGREE * np.array([1.0, np.cos(np.radians(_CENTRE[0]))])
    ways += _CENTRE
    return ways.reshape(n, -1)


def _drive(
    random: np.random.Generator, traffic: Floats, heading: Ints, place: Floats, step: float
) -> None:
    """Drive on by ``step``, a share of a block, which changes ``place`` and ``heading``.

    At a crossing some turn, rather into an avenue: at most twice as many as into a mean street.
    """
    everyone = np.arange(len(heading))
    axis = heading % 2
    forward = np.where(heading < 2, 1.0, -1.0)
    position = place[axis, everyone]  # along the street
    crossing = np.where(forward > 0, np.ceil(position), np.floor(position))
    distance = np.abs(crossing - position)

    street_across = np.clip(crossing, 0, _STREETS - 1).astype(np.int64)
    wish = _SHARE_OF_TURNS * np.minimum(2.0, traffic[street_across] * _STREETS)
    reaches_crossing = (distance > 0.0) & (distance <= step)
    turns = reaches_crossing & (random.random(len(heading)) < wish)
    place[axis, everyone] = np.where(turns, crossing, position + step * forward)

    # Who turns drives the rest of the step along the other street.
    turning = np.flatnonzero(turns)  # left or right
    new_heading = (heading[turning] + random.choice([1, 3], len(turning))) % 4
    rest = step - distance[turning]
    place[new_heading % 2, turning] += rest * np.where(new_heading < 2, 1.0, -1.0)
    heading[turning] = new_heading
