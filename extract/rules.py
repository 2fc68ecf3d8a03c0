"""How traces are cut into trajectories."""

import math
from dataclasses import dataclass

from trajanon.errors import BadInput

WINDOWS = ("all", "first", "spread")
"""Which windows are taken; see `Rules.windows`."""


_FARTHEST = 1e6
"""Metres; a few wrong coordinates would else make gigabytes of straight lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What a trajectory is, where a track ends, and which windows are taken.

    Attributes
    ----------
    spacing
        Metres between the points of a trajectory, along the track.
    points
        Points of a trajectory.
    max_gap
        Metres; a longer hop between two fixes ends a piece. None for 1,000 km, over which a
        straight line is nobody's way: nothing longer is taken.
    max_pause
        Seconds; a longer time between two fixes ends a piece. None for no limit.
    max_speed
        Metres a second; a hop of over 50 m that would need more ends a piece.
    trim_ends
        Metres around the ends of a trace that are cut out, as `trajanon.extract.ends` describes; 0
        for none.
    min_displacement
        Net way of a trajectory as a share of its length, at least; receivers that stand still make
        length of their noise.
    max_fill
        Share of a trajectory's points that may lie farther than one spacing from both fixes of
        their hop, on a straight line that nobody recorded; 1 for all.
    windows
        "all"; or "first" or "spread" for `per_trace` of each trace, the first ones, or spread
        evenly along it. What the limits of a subject and in all take are the first ones too or,
        with "spread", spread evenly.
    per_trace
        Trajectories of one trace; None for 1 where only some are taken.
    max_per_subject
        Trajectories of one subject at most; None for all.
    limit
        Trajectories in all at most, as many of each subject as can be; None for all.
    subjects_exact
        Whether subjects whose names differ only in upper and lower case are different ones.

    Raises
    ------
    BadInput
        If a value makes no sense.
    """

    spacing: float
    points: int = 30
    max_gap: float | None = 500.0
    max_pause: float | None = 300.0
    max_speed: float = 60.0
    trim_ends: float = 0.0
    min_displacement: float = 0.0
    max_fill: float = 1.0
    windows: str = "all"
    per_trace: int | None = None
    max_per_subject: int | None = None
    limit: int | None = None
    subjects_exact: bool = False

    @property
    def longest_hop(self) -> float:
        """Metres of a hop that ends no piece, at most."""
        return min(self.max_gap or _FARTHEST, _FARTHEST)

    def __post_init__(self) -> None:
        for limit in ("max_gap", "max_pause"):
            if getattr(self, limit) == math.inf:
                object.__setattr__(self, limit, None)
        if not 0.01 <= self.spacing < 1e6:
            msg = f"--spacing must be a positive number of metres from 0.01 on (got {self.spacing})"
            raise BadInput(msg)
        if not 2 <= self.points <= 100_000:
            msg = f"--points must be at least 2 (got {self.points}), at most 100,000"
            raise BadInput(msg)
        for limit, unit in (("max_gap", "metres"), ("max_pause", "seconds")):
            value = getattr(self, limit)
            if value is not None and not value > 0.0:
                msg = (
                    f"--{limit.replace('_', '-')} must be a positive number of {unit} (got {value})"
                )
                raise BadInput(msg)
        if not 0.0 <= self.trim_ends < 1e5:
            msg = (
                "--trim-ends must be a number of metres, 0 or more, below 100,000 "
                f"(got {self.trim_ends})"
            )
            raise BadInput(msg)
        for name in ("min_displacement", "max_fill"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                msg = (
                    f"--{name.replace('_', '-')} is a share and must lie in 0..1 "
                    f"(got {getattr(self, name)})"
                )
                raise BadInput(msg)
        self._check_limits()

    def _check_limits(self) -> None:
        if self.windows not in WINDOWS:
            msg = f"--windows must be {', '.join(WINDOWS)} (got {self.windows!r})"
            raise BadInput(msg)
        for name in ("per_trace", "max_per_subject", "limit"):
            number = getattr(self, name)
            if number is not None and number < 1:
                msg = f"--{name.replace('_', '-')} must be at least 1 (got {number})"
                raise BadInput(msg)
        if self.per_trace is not None and self.windows == "all":
            msg = (
                f"--per-trace {self.per_trace} needs to know which windows of a trace: "
                "add --windows first, or --windows spread"
            )
            raise BadInput(msg)

    @property
    def length(self) -> float:
        """Metres of track under one trajectory."""
        return self.spacing * (self.points - 1)
