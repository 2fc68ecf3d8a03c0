"""Trajectories along the streets of a made-up city, as many as asked for.

Streets form a grid, and a few are avenues that most traffic takes. Who drives goes straight on at
most crossings; a position is a few metres off, and stays so for a while.
"""

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.trajectories.geodesy import DEGREE

POINTS, SPACING = 30, 50.0  # points of a trajectory, and metres between them

_STREETS, _BLOCK = 80, 125.0  # each way; metres between two crossings
_CENTRE = (40.4168, -3.7038)  # degrees; any city of this latitude
_TURNS = 0.15  # share of crossings
_OFF = 4.0  # metres, standard deviation across the street
_HELD = 0.9  # of what a position is off, at the next point


def corridors(n: int, seed: int = 0, points: int = POINTS) -> Floats:
    """Draw n ways of some points: records of numbers lat1, lon1, ..."""
    random = np.random.default_rng(seed)
    busy = random.pareto(1.2, _STREETS) + 0.05  # avenues, and streets hardly used
    busy *= np.exp(-(((np.arange(_STREETS) / _STREETS - 0.5) / 0.3) ** 2))
    busy /= busy.sum()
    heading = random.integers(0, 4, n)  # east, north, west, south
    across = random.choice(_STREETS, n, p=busy)  # the street driven along
    along = random.choice(_STREETS, n, p=busy) + random.random(n) * 0.999
    lying = heading % 2 == 0
    place = np.array([np.where(lying, along, across), np.where(lying, across, along)])
    off = random.normal(size=(2, n)) * _OFF
    ways = np.empty((n, points, 2))
    for number in range(points):
        ways[:, number] = (place[::-1] * _BLOCK + off).T
        off *= _HELD
        off += random.normal(size=(2, n)) * (_OFF * np.sqrt(1.0 - _HELD**2))
        _drive(random, busy, heading, place, SPACING / _BLOCK)
    ways -= _STREETS * _BLOCK / 2
    ways /= DEGREE * np.array([1.0, np.cos(np.radians(_CENTRE[0]))])
    ways += _CENTRE
    return ways.reshape(n, -1)


def _drive(
    random: np.random.Generator, busy: Floats, heading: Ints, place: Floats, step: float
) -> None:
    """Drive on, some share of a block; at a crossing some turn, rather into an avenue."""
    everyone, axis = np.arange(len(heading)), heading % 2
    forward = np.where(heading < 2, 1.0, -1.0)
    here = place[axis, everyone]
    crossing = np.where(forward > 0, np.ceil(here), np.floor(here))
    ahead = np.abs(crossing - here)
    which = np.clip(crossing, 0, _STREETS - 1).astype(np.int64)
    wish = _TURNS * np.minimum(2.0, busy[which] * _STREETS)
    turns = (ahead > 0.0) & (ahead <= step) & (random.random(len(heading)) < wish)
    turning = np.flatnonzero(turns)
    place[axis, everyone] = np.where(turns, crossing, here + step * forward)
    turned = (heading[turning] + random.choice([1, 3], len(turning))) % 4
    place[turned % 2, turning] += (step - ahead[turning]) * np.where(turned < 2, 1.0, -1.0)
    heading[turning] = turned
