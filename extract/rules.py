"""How traces are cut into trajectories."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput

Limit = float | Literal["auto"] | None
"""A limit that is found from the data if it is "auto"; None for no limit."""

JITTER = 50.0  # metres; a shorter hop is never too fast
LEAST_GAP, LEAST_PAUSE = 2_000.0, 300.0  # metres and seconds of the limits that are found
_LENGTH_OF_TRIPS = 500.0  # metres

_FARTHEST = 1e6
"""Metres; a few wrong coordinates would else make gigabytes of straight lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What a trajectory is, and where a track ends.

    Without a spacing, each whole trip is a trajectory, with points at equal shares of its way; with
    one, trajectories are windows, pieces of one length.

    Attributes
    ----------
    spacing
        Metres between the points of a window, along the track; None for whole trips, as
        `trajanon.extract.trips` describes them.
    per_recording
        Windows of one recording at most, spread evenly along it; None for all, end to end. A
        single one may slide to any run of its recording.
    min_length
        Metres; a shorter trip is left out. None for 500 of trips; of windows it says nothing.
    points
        Points of a trajectory.
    max_gap
        Metres; a longer hop between two fixes ends a piece, and leaves a trip out. "auto" finds it
        from the data, as `trajanon.extract.limits` describes. None for 1,000 km, over which a
        straight line is no track: nothing longer is taken.
    max_pause
        Seconds; a longer time between two fixes ends a piece, or a trip. "auto" finds it from the
        data. None for no limit.
    max_speed
        Metres a second; a hop of over 50 m that would need more ends a piece, and leaves a trip
        out. A single fix to and from which two such hops lead is left out instead. None for no
        limit.
    trim_ends
        Metres around the ends of a trace that are cut out, as `trajanon.extract.ends` describes; 0
        for none.
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
    A window of 30 points, 100 m apart, needs a track of 2,900 m:

    >>> from trajanon.extract import Rules
    >>> rules = Rules(spacing=100)
    >>> rules.length, rules.trips
    (2900.0, False)
    >>> Rules().trips
    True
    """

    spacing: float | None = None
    per_recording: int | None = 1
    min_length: float | None = None
    points: int = 30
    max_gap: Limit = "auto"
    max_pause: Limit = "auto"
    max_speed: float | None = 60.0
    trim_ends: float = 0.0
    max_per_subject: int | None = None
    subjects_exact: bool = False

    def __post_init__(self) -> None:
        if self.spacing is not None:
            holds = 0.01 <= self.spacing < 1e6
            self._check("spacing", holds, "a positive number of metres, from 0.01")
            if self.min_length is not None:
                raise BadInput(
                    f"`min_length={self.min_length:g}` is for whole trips: all windows have one "
                    "length, so leave out `min_length`, or `spacing`"
                )
        elif self.per_recording != 1:
            raise BadInput(
                f"`per_recording={self.per_recording or 'all'}` is for windows: add `windows`, or "
                "leave it out"
            )
        else:
            if self.min_length is None:
                object.__setattr__(self, "min_length", _LENGTH_OF_TRIPS)
            length = self.min_length or 0.0
            self._check("min_length", 0.0 <= length < 1e6, "a number of metres, 0 or more")
        for name, unit in (
            ("max_gap", "metres"),
            ("max_pause", "seconds"),
            ("max_speed", "metres a second"),
        ):
            if getattr(self, name) == math.inf:
                object.__setattr__(self, name, None)
            limit = getattr(self, name)
            holds = limit is None or (not isinstance(limit, str) and limit > 0.0)
            holds |= limit == "auto" and name != "max_speed"
            self._check(name, holds, f"a positive number of {unit}")
        self._check("points", 2 <= self.points <= 100_000, "at least 2, and at most 100,000")
        metres = "a number of metres, 0 or more, below 100,000"
        self._check("trim_ends", 0.0 <= self.trim_ends < 1e5, metres)
        for name in ("per_recording", "max_per_subject"):
            number = getattr(self, name)
            self._check(name, number is None or number >= 1, "at least 1")

    def _check(self, name: str, holds: bool, rule: str) -> None:
        if not holds:
            raise BadInput(f"`{name}` must be {rule} (got {getattr(self, name)!r})")

    @property
    def trips(self) -> bool:
        """Whether trajectories are whole trips, and no windows."""
        return self.spacing is None

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
        gap = LEAST_GAP if self.max_gap == "auto" else self.max_gap
        return min(float(gap or _FARTHEST), _FARTHEST)

    @property
    def longest_pause(self) -> float:
        """Seconds between two fixes that end no piece, at most."""
        pause = LEAST_PAUSE if self.max_pause == "auto" else self.max_pause
        return float(pause or np.inf)
