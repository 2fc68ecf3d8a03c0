"""Originals, and rows of a release of any program, as an audit takes them.

Shapes: n recordings, m points of each at equal shares of the way, v points in the file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories


@dataclass(frozen=True, slots=True, eq=False)
class Recordings:
    """Originals, or rows of a release, as a file holds them."""

    points: Floats  # at equal shares of the way, (n, m, 2)
    times: Floats | None  # seconds at each, (n, m), NaN of one without times; None: none has any
    names: Sequence[str]  # what the file calls each, (n,)
    vertices: Floats  # all points of the file, (v, 2)
    first: Ints  # where those of each begin, and where the last ends, (n + 1,)
    clock: Clock | None = None  # what the times count from; None: 1970

    @classmethod
    def of(cls, trips: Trajectories | ReleasedTrajectories, clock: Clock | None) -> "Recordings":
        """Return trajectories as recordings named by their numbers."""
        n, m = trips.points.shape[:2]
        times = trips.times
        return cls(
            points=trips.points,
            times=None if times is None or np.isnan(times).all() else times,
            names=[str(number) for number in range(n)],
            vertices=trips.points.reshape(-1, 2),
            first=np.arange(n + 1) * m,
            clock=clock,
        )


class Originals(NamedTuple):
    """The originals, and how a release may name them."""

    trips: Trajectories
    recordings: Recordings
    names: Sequence[Sequence[str]]  # a list for each way of naming them: the name of each, (n,)
