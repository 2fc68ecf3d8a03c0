"""How traces are cut into trajectories."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput

WINDOWS = ("all", "first", "spread")
"""Which windows are taken; see `Rules.windows`."""


Gap = float | Literal["auto"] | None
"""Metres of the longest hop; None for no limit."""

JITTER = 50.0  # metres; a shorter hop is never too fast
_GAP, _GAP_OF_TRIPS = 500.0, 2_000.0  # metres; between two fixes of a minute, cars drive 2 km
_LENGTH_OF_TRIPS = 500.0  # metres

_FARTHEST = 1e6
"""Metres; a few wrong coordinates would else make gigabytes of straight lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What a trajectory is, where a track ends, and which windows are taken.

    Attributes
    ----------
    spacing
        Metres between the points of a trajectory, along the track; None, and only None, with
        `trips`.
    trips
        Whether each trip is one trajectory, as `trajanon.extract.trips` describes, with points at
        equal shares of its way; otherwise trajectories are windows.
    min_length
        Metres; a shorter trip is left out. None for 500 with `trips`, without which it says
        nothing.
    points
        Points of a trajectory.
    max_gap
        Metres; a longer hop between two fixes ends a piece, and leaves a trip out. "auto" for 500,
        or 2,000 with `trips`. None for 1,000 km, over which a straight line is no track: nothing
        longer is taken.
    max_pause
        Seconds; a longer time between two fixes ends a piece, or a trip. None for no limit.
    max_speed
        Metres a second; a hop of over 50 m that would need more ends a piece, and leaves a trip
        out. A single fix to and from which two such hops lead is left out instead. None for no
        limit.
    trim_ends
        Metres around the ends of a trace that are cut out, as `trajanon.extract.ends` describes; 0
        for none.
    windows
        "all"; or "first" or "spread" for `per_trace` windows, or trips, of each trace, the first
        ones, or spread evenly along it. What the limit of a subject takes are the first ones too
        or, with "spread", spread evenly.
    per_trace
        Trajectories of one trace; None for 1 where only some are taken.
    max_per_subject
        Trajectories of one subject at most; None for all.
    subjects_exact
        Whether subjects whose names differ only in upper and lower case are different ones.

    Raises
    ------
    BadInput
        If a value makes no sense.

    Examples
    --------
    30 points, 100 m apart, need a track of 2,900 m. Trips may have longer hops:

    >>> from trajanon.extract import Rules
    >>> rules = Rules(spacing=100)
    >>> rules.length, rules.longest_hop
    (2900.0, 500.0)
    >>> Rules(trips=True).longest_hop
    2000.0
    """

    spacing: float | None = None
    trips: bool = False
    min_length: float | None = None
    points: int = 30
    max_gap: Gap = "auto"
    max_pause: float | None = 300.0
    max_speed: float | None = 60.0
    trim_ends: float = 0.0
    windows: str = "all"
    per_trace: int | None = None
    max_per_subject: int | None = None
    subjects_exact: bool = False

    def __post_init__(self) -> None:
        if self.max_gap == "auto":
            object.__setattr__(self, "max_gap", _GAP_OF_TRIPS if self.trips else _GAP)
        if self.trips:
            self._check_trips()
        elif self.min_length is not None:
            raise BadInput(f"`min_length={self.min_length:g}` is for whole trips: add `trips=True`")
        elif self.spacing is None:
            raise BadInput(
                "say how many metres lie between the points of a trajectory, `spacing=100`, or "
                "take whole trips, `trips=True`"
            )
        else:
            holds = 0.01 <= self.spacing < 1e6
            self._check("spacing", holds, "a positive number of metres, from 0.01")
        for name, unit in (
            ("max_gap", "metres"),
            ("max_pause", "seconds"),
            ("max_speed", "metres a second"),
        ):
            if getattr(self, name) == math.inf:
                object.__setattr__(self, name, None)
            limit = getattr(self, name)
            holds = limit is None or (not isinstance(limit, str) and limit > 0.0)
            self._check(name, holds, f"a positive number of {unit}")
        self._check("points", 2 <= self.points <= 100_000, "at least 2, and at most 100,000")
        metres = "a number of metres, 0 or more, below 100,000"
        self._check("trim_ends", 0.0 <= self.trim_ends < 1e5, metres)
        self._check("windows", self.windows in WINDOWS, " or ".join(WINDOWS))
        for name in ("per_trace", "max_per_subject"):
            number = getattr(self, name)
            self._check(name, number is None or number >= 1, "at least 1")
        if self.per_trace is not None and self.windows == "all":
            raise BadInput(
                f"`per_trace={self.per_trace}` needs to know which windows of a trace: "
                "add `windows='first'`, or `windows='spread'`"
            )

    def _check_trips(self) -> None:
        if self.spacing is not None:
            raise BadInput(
                f"`spacing={self.spacing:g}` is for windows: the points of a trip lie at equal "
                "shares of its way, so leave out `spacing` or `trips`"
            )
        if self.min_length is None:
            object.__setattr__(self, "min_length", _LENGTH_OF_TRIPS)
        length = self.min_length or 0.0
        self._check("min_length", 0.0 <= length < 1e6, "a number of metres, 0 or more")

    def _check(self, name: str, holds: bool, rule: str) -> None:
        if not holds:
            raise BadInput(f"`{name}` must be {rule} (got {getattr(self, name)!r})")

    @property
    def length(self) -> float:
        """Metres of track under one trajectory; of trips, the fewest."""
        return float(self.min_length or (self.spacing or 0.0) * (self.points - 1))

    def too_fast(self, metres: Floats, seconds: Floats) -> Bools:
        """Tell which hops would need more than the highest speed; without times, none."""
        # Within a second, noise looks like speed.
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = metres / seconds
        return np.asarray((metres > JITTER) & (speed > (self.max_speed or np.inf)))

    @property
    def longest_hop(self) -> float:
        """Metres of a hop that ends no piece, at most."""
        return min(float(self.max_gap or _FARTHEST), _FARTHEST)
