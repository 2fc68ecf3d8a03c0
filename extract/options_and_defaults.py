"""The options of extraction: their defaults, checks and help; no library is loaded."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict

from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import Checked, option, whole_number, with_help

Limit = float | Literal["auto"] | None  # found from the data if it is "auto"; None for no limit

SERVER = "https://api.openstreetmap.org"
MAX_PAGES = 100

LEAST_GAP, LEAST_PAUSE = 2_000.0, 300.0  # metres and seconds of the limits that are found
_LENGTH_OF_TRIPS = 500.0  # metres
_FARTHEST = 1e6  # metres; a few wrong coordinates would else make gigabytes of straight lines


@with_help
@dataclass(frozen=True, kw_only=True)
class Rules(Checked):
    """What a trajectory is, and where a track ends.

    Without a spacing, each whole trip is a trajectory, with points at equal shares of its way; with
    one, trajectories are windows, pieces of one length.

    Attributes
    ----------
    spacing
        Metres between the points of windows. They lie along the track; None for whole trips, as
        `trajanon.extract.trips` describes them.
    per_recording
        Windows to take from each recording: 1, or all that fit. None stands for all. A single one
        may slide to any run of its recording.
    min_length
        Leave out trips shorter than this many metres. None for 500 of trips; of windows it says
        nothing.
    points
        Number of points of a trajectory.
    max_gap
        Longest gap between two points, in metres: a longer one ends a track, or leaves a trip out;
        auto: found from the data; none: 1,000 km. `trajanon.extract.limits_from_data` describes how
        it is found. Over more than 1,000 km a straight line is no track.
    max_pause
        Longest pause, in seconds or such as 5min: a longer one ends a track or trip; auto: found
        from the data; none: no limit. In Python, seconds.
    max_speed
        Highest speed, in metres per second: a faster hop ends a track, or leaves a trip out; a
        single stray point is dropped; none: no limit. Hops of up to 50 m are never too fast.
    trim_ends
        Cut off at least this many metres at both ends of each part of a trace, from stop to stop.
        How, `trajanon.extract.hidden_homes_and_ends` describes; 0 for nothing.
    subjects_exact
        Take names of subjects as they are. Otherwise those that differ only in case, blanks,
        punctuation at the ends or the writing of a number are one subject's.

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

    spacing: float | None = option(None, shown="that of the city", least=0.01, most=1_000_000)
    per_recording: int | None = option(1, least=1, most=1)
    min_length: float | None = option(None, shown=f"{_LENGTH_OF_TRIPS:g}", least=0, most=1_000_000)
    points: int = option(30, least=2, most=100_000)
    max_gap: Limit = option("auto", unit="metres", least=0.001)
    max_pause: Limit = option("auto", unit="seconds", least=0.001)
    max_speed: float | None = option(60.0, unit="metres a second", least=0.001)
    trim_ends: float = option(0.0, least=0, most=100_000)
    subjects_exact: bool = option(False)

    def __post_init__(self) -> None:
        if self.spacing is None and self.per_recording != 1:
            option_said = f"`per_recording={self.per_recording or 'all'}`"
            raise BadInput(f"{option_said} is for windows: add `windows`, or leave it out")
        if self.per_recording not in (1, None):
            way_out = "must be 1, or all, which is None in Python"
            raise BadInput(f"`per_recording` {way_out} (got {self.per_recording!r})")
        for name in ("max_gap", "max_pause", "max_speed"):
            if getattr(self, name) == math.inf:
                object.__setattr__(self, name, None)
        super().__post_init__()

        if self.spacing is not None and self.min_length is not None:
            option_said = f"`min_length={self.min_length:g}` is for whole trips"
            raise BadInput(f"{option_said}: leave out `min_length`, or `spacing`")
        if self.trips and self.min_length is None:
            object.__setattr__(self, "min_length", _LENGTH_OF_TRIPS)

    @property
    def trips(self) -> bool:
        """Return whether trajectories are whole trips, and no windows."""
        return self.spacing is None

    @property
    def length(self) -> float:
        """Metres of track under one trajectory; of trips, the fewest."""
        return float(self.min_length or (self.spacing or 0.0) * (self.points - 1))

    @property
    def longest_hop(self) -> float:
        """Metres of a hop that ends no piece, at most."""
        gap = LEAST_GAP if self.max_gap == "auto" else self.max_gap
        return min(float(gap or _FARTHEST), _FARTHEST)

    @property
    def longest_pause(self) -> float:
        """Seconds between two fixes that end no piece, at most."""
        pause = LEAST_PAUSE if self.max_pause == "auto" else self.max_pause
        return float(pause or math.inf)


@with_help
@dataclass(kw_only=True)
class SourceOptions:
    """How sources are read.

    Attributes
    ----------
    columns
        Columns of tables: id=...,lat=...,lon=...,time=...,subject=..., nested ones as vehicle.id;
        date (the day of a time of day), zone (of local times), gps_seconds and gps_week, order
        (numbers points), part (a piece of an id), place (both coordinates), lat_sign and lon_sign,
        valid, visible, outlier; subject=none if no column names a person, subject=folder or
        subject=track if each folder, GPX track or Placemark is one; id=file if each file is a
        recording; nameless=different if each recording without a name is of another person. In
        Python, names by role.
    untimed
        Traces without timestamps: accept (keep the order of the file) or reject. The server's
        points without times have no order, and are always left out.
    jobs
        Number of processes; each reads one file at a time. The result is the same.
    api_url
        Address of the server with the OSM API.
    max_pages
        Download at most this many pages of 5,000 points.

    Examples
    --------
    `extract` and `extract_to` take these options by name:

    >>> from trajanon.extract import SourceOptions
    >>> SourceOptions(jobs=2).untimed
    'accept'
    """

    columns: Mapping[str, str] | None = option(None)
    untimed: str = option("accept")
    jobs: int = option(1)
    api_url: str = option(SERVER)
    max_pages: int = option(MAX_PAGES)

    def __post_init__(self) -> None:
        if self.untimed not in ("accept", "reject"):
            raise BadInput(f"`untimed` must be accept or reject (got {self.untimed!r})")
        for name in ("jobs", "max_pages"):
            checked_count(name, getattr(self, name))
        refuse_other_columns(self.columns)


def checked_count(name: str, value: object) -> int:
    """Return a whole number of at least 1, the value of an option; refuse anything else."""
    number = whole_number(value)
    if number is None:
        raise BadInput(f"`{name}` must be a whole number (got {value!r})")
    if number < 1:
        raise BadInput(f"`{name}` must be at least 1 (got {number})")
    return number


def refuse_other_columns(columns: object) -> None:
    """Refuse columns that are no names by role."""
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise BadInput(f"`columns` must be names by role: {{'id': 'ride'}} (got {columns!r})")
    for role, name in columns.items():
        if not isinstance(name, str):
            raise BadInput(f"`columns` must name {role} by a text (got {name!r})")


class ExtractKeywords(TypedDict, total=False):
    """The fields of `Rules` and `SourceOptions`, as keywords that a type checker sees."""

    spacing: float | None
    per_recording: int | None
    min_length: float | None
    points: int
    max_gap: Limit
    max_pause: Limit
    max_speed: float | None
    trim_ends: float
    subjects_exact: bool
    columns: Mapping[str, str] | None
    untimed: str
    jobs: int
    api_url: str
    max_pages: int
