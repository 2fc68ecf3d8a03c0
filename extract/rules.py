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
        straight line is no track: nothing longer is taken.
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

    def __post_init__(self) -> None:
        for name, unit in (("max_gap", "metres"), ("max_pause", "seconds")):
            if getattr(self, name) == math.inf:
                object.__setattr__(self, name, None)
            limit = getattr(self, name)
            self._check(name, limit is None or limit > 0.0, f"a positive number of {unit}")
        self._check("spacing", 0.01 <= self.spacing < 1e6, "a positive number of metres, from 0.01")
        self._check("points", 2 <= self.points <= 100_000, "at least 2, and at most 100,000")
        metres = "a number of metres, 0 or more, below 100,000"
        self._check("trim_ends", 0.0 <= self.trim_ends < 1e5, metres)
        for name in ("min_displacement", "max_fill"):
            self._check(name, 0.0 <= getattr(self, name) <= 1.0, "a share from 0 to 1")
        self._check("windows", self.windows in WINDOWS, " or ".join(WINDOWS))
        for name in ("per_trace", "max_per_subject", "limit"):
            number = getattr(self, name)
            self._check(name, number is None or number >= 1, "at least 1")
        if self.per_trace is not None and self.windows == "all":
            msg = (
                f"`per_trace={self.per_trace}` needs to know which windows of a trace: "
                "add `windows='first'`, or `windows='spread'`"
            )
            raise BadInput(msg)

    def _check(self, name: str, holds: bool, rule: str) -> None:
        if not holds:
            msg = f"`{name}` must be {rule} (got {getattr(self, name)!r})"
            raise BadInput(msg)

    @property
    def length(self) -> float:
        """Metres of track under one trajectory."""
        return self.spacing * (self.points - 1)

    @property
    def longest_hop(self) -> float:
        """Metres of a hop that ends no piece, at most."""
        return min(self.max_gap or _FARTHEST, _FARTHEST)
