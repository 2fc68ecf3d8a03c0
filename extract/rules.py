"""How traces are cut into trajectories."""

import math
from dataclasses import dataclass

from trajanon.errors import BadInput


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What a trajectory is, and where a track ends.

    Attributes
    ----------
    spacing
        Metres between the points of a trajectory, along the track.
    points
        Points of a trajectory.
    max_gap
        Metres; a longer hop between two fixes ends a piece. None for no limit.
    max_pause
        Seconds; a longer time between two fixes ends a piece.
    max_speed
        Metres a second; a hop of over 50 m that would need more ends a piece.
    max_per_subject
        Trajectories taken from one subject, the first ones; None for all.

    Raises
    ------
    BadInput
        If a value makes no sense.
    """

    spacing: float
    points: int = 30
    max_gap: float | None = 500.0
    max_pause: float = 300.0
    max_speed: float = 60.0
    max_per_subject: int | None = None

    def __post_init__(self) -> None:
        if self.max_gap == math.inf:
            object.__setattr__(self, "max_gap", None)
        if not 0.0 < self.spacing < 1e6:
            msg = f"--spacing must be a positive number of metres (got {self.spacing})"
            raise BadInput(msg)
        if not 2 <= self.points <= 100_000:
            msg = f"--points must be at least 2 (got {self.points}), at most 100,000"
            raise BadInput(msg)
        if self.max_gap is not None and not self.max_gap > 0.0:
            msg = f"--max-gap must be a positive number of metres (got {self.max_gap})"
            raise BadInput(msg)
        if self.max_per_subject is not None and self.max_per_subject < 1:
            msg = f"--max-per-subject must be at least 1 (got {self.max_per_subject})"
            raise BadInput(msg)

    @property
    def length(self) -> float:
        """Metres of track under one trajectory."""
        return self.spacing * (self.points - 1)
