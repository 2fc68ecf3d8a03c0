"""Trajectories along the streets of a city that nobody lives in, as many as asked for.

Streets form a grid, and a few are avenues that most traffic takes. Who drives goes straight on at
most crossings; a position is a few metres off, and stays so for a while.
"""

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import DEGREE

POINTS, SPACING = 30, 50.0
"""Points of a trajectory, and metres between them."""

_STREETS, _BLOCK = 80, 125.0  # each way; metres between two crossings
_CENTRE = (40.4168, -3.7038)  # degrees; any city of this latitude
_TURNS = 0.15  # share of crossings
_OFF = 4.0  # metres, standard deviation across the street
_HELD = 0.9  # of what a position is off, at the next point
_EASTWARD, _NORTHWARD = np.array([1, 0, -1, 0]), np.array([0, 1, 0, -1])


def corridors(n: int, seed: int = 0, points: int = POINTS, spacing: float = SPACING) -> Floats:
    """Draw n ways: records of 60 numbers, lat1, lon1, ..., or so many points."""
    random = np.random.default_rng(seed)
    busy = random.pareto(1.2, _STREETS) + 0.05  # avenues, and streets hardly used
    busy *= np.exp(-(((np.arange(_STREETS) / _STREETS - 0.5) / 0.3) ** 2))
    busy /= busy.sum()
    heading = random.integers(0, 4, n)
    across = random.choice(_STREETS, n, p=busy)  # the street driven along
    along = random.choice(_STREETS, n, p=busy) + random.random(n) * 0.999
    lying = heading % 2 == 0
    column, row = np.where(lying, along, across), np.where(lying, across, along)
    off = random.normal(size=(2, n)) * _OFF
    held = _HELD ** (spacing / SPACING)
    ways = np.empty((n, points, 2))
    for number in range(points):
        ways[:, number, 0] = row * _BLOCK + off[0]
        ways[:, number, 1] = column * _BLOCK + off[1]
        off *= held
        off += random.normal(size=(2, n)) * (_OFF * np.sqrt(1.0 - held**2))
        _drive(random, busy, heading, column, row, spacing / _BLOCK)
    ways -= _STREETS * _BLOCK / 2
    ways[:, :, 0] /= DEGREE
    ways[:, :, 1] /= DEGREE * np.cos(np.radians(_CENTRE[0]))
    ways += _CENTRE
    return ways.reshape(n, -1)


def _drive(
    random: np.random.Generator,
    busy: Floats,
    heading: Ints,
    column: Floats,
    row: Floats,
    step: float,
) -> None:
    """Drive on, so many blocks; at a crossing some turn, rather into an avenue."""
    lying = heading % 2 == 0
    forward = np.where(heading < 2, 1.0, -1.0)
    place = np.where(lying, column, row)
    crossing = np.where(forward > 0, np.ceil(place), np.floor(place))
    ahead = np.abs(crossing - place)
    which = np.clip(crossing, 0, _STREETS - 1).astype(np.int64)
    drawn = random.random(len(heading))
    wish = _TURNS * np.minimum(2.0, busy[which] * _STREETS)
    turning = np.flatnonzero((ahead > 0.0) & (ahead <= step) & (drawn < wish))
    onward = (step * forward * lying, step * forward * ~lying)
    column += onward[0]
    row += onward[1]
    turned = (heading[turning] + random.choice([1, 3], len(turning))) % 4
    left = step - ahead[turning]
    was_lying = lying[turning]
    column[turning] = np.where(was_lying, crossing[turning], column[turning])
    row[turning] = np.where(was_lying, row[turning], crossing[turning])
    column[turning] += left * _EASTWARD[turned]
    row[turning] += left * _NORTHWARD[turned]
    heading[turning] = turned
