"""Tracks for tests, laid out in metres; measured without the code under test."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from pyproj import Geod

from trajanon.common.arrays import Floats
from trajanon.extract.points import Points, batch
from trajanon.extract.trace import Trace

GEOD = Geod(ellps="WGS84")
START = (40.4, -3.7)

Leg = tuple[float, float]
"""Azimuth in degrees and metres."""


def trace(
    fixes: Sequence[tuple[float, float]],
    seconds: Sequence[float] | None = None,
    *,
    name: str = "one",
    subject: str | None = None,
) -> Trace:
    """A recording of (lat, lon) fixes; untimed without seconds."""
    lat, lon = np.array(fixes, dtype=np.float64).reshape(-1, 2).T.copy()
    time = np.full(len(fixes), np.nan)
    if seconds is not None:
        time = np.array(seconds, dtype=np.float64)
    return Trace(name, subject, lat, lon, time)


def line(
    metres: Sequence[float],
    seconds: Sequence[float] | None = None,
    *,
    start: tuple[float, float] = START,
    azimuth: float = 90.0,
    name: str = "one",
    subject: str | None = None,
) -> Trace:
    """A recording with fixes at so many metres from its start, on one geodesic."""
    lat, lon = start
    fixes = [start]
    for distance in metres:
        east, north, _ = GEOD.fwd(lon, lat, azimuth, distance)
        fixes.append((north, east))
    return trace(fixes[1:], seconds, name=name, subject=subject)


def bent(legs: Sequence[Leg], *, start: tuple[float, float] = START, name: str = "one") -> Trace:
    """A recording with a fix at each bend of a way."""
    fixes = [start]
    for azimuth, metres in legs:
        lat, lon = fixes[-1]
        east, north, _ = GEOD.fwd(lon, lat, azimuth, metres)
        fixes.append((north, east))
    return trace(fixes, name=name)


def points(*traces: Trace) -> Points:
    """Traces side by side, as the steps of cleaning take them."""
    return batch(traces)


def pieces(of: Points) -> list[int]:
    """How many points each piece has."""
    _, sizes = np.unique(of.piece, return_counts=True)
    return [int(size) for size in sizes]


def distance(one: Floats, other: Floats) -> float:
    """Metres between two places (lat, lon)."""
    return float(GEOD.inv(one[1], one[0], other[1], other[0])[2])


def walk(fixes: Floats, spacing: float) -> Floats:
    """The slow twin of resampling: a place every so many metres along a polyline."""
    places = [fixes[0]]
    to_go = spacing
    for here, there in pairwise(fixes):
        azimuth, _, length = GEOD.inv(here[1], here[0], there[1], there[0])
        done = 0.0
        while length - done >= to_go - spacing * 1e-6:
            done += to_go
            lon, lat, _ = GEOD.fwd(here[1], here[0], azimuth, min(done, length))
            places.append(np.array([lat, lon]))
            to_go = spacing
        to_go -= length - done
    return np.array(places)
