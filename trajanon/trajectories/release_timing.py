"""How times are released, and how much departures count in the search.

Times are counted and rounded by a clock: see ``clock_and_time_zones``. What the search compares is
in ``search_columns``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.search_and_release_options import ReleaseSettings
from trajanon.trajectories.clock_and_time_zones import Clock, zone_of
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.tracks import Tracks
from trajanon.trajectories.trajectories import Trajectories


@dataclass(frozen=True, slots=True)
class Timing:
    """How times are released, and how much the departure counts in the search.

    Times are counted and rounded by a clock: see ``clock_and_time_zones``.
    """

    clock: Clock
    minute_worth: float  # metres, at every point, that count as much as a minute of departures

    def seconds(self, trajectories: Trajectories) -> Floats:
        """Return the times of trajectories by the clock, (n, m)."""
        assert trajectories.times is not None
        return self.clock.seconds(trajectories.times)

    def hours_alone(self, times: Floats) -> tuple[list[str], int]:
        """Name the hours in which one line alone departs, and count all with departures.

        ``times`` are of lines, by the clock, (l, m).
        """
        hours, lines_in_hour = np.unique(self.clock.begin_of_hour(times[:, 0]), return_counts=True)
        return [*map(self.clock.text, hours[lines_in_hour == 1].tolist())], len(hours)

    def departures(self, tracks: Tracks) -> Floats:
        """Return when windows depart, by this clock, that begin at each point of tracks, (t,)."""
        assert tracks.times is not None
        return self.clock.seconds(tracks.times[:, None])[:, 0]


class EndsSeen(NamedTuple):
    """What is known of the departures and arrivals of trajectories."""

    unknown: int  # trajectories without times
    still: int  # trajectories that end when they begin
    departures: Floats  # of those with times, or of a sample, in seconds since 1970 UTC

    @classmethod
    def of(cls, ends: Floats) -> "EndsSeen":
        """Count departures and arrivals, (n, 2): seconds since 1970 UTC, NaN where unknown."""
        departure, arrival = ends.T
        is_unknown = np.isnan(departure)
        is_still = arrival <= departure
        return cls(int(is_unknown.sum()), int(is_still.sum()), departure[~is_unknown])


def timing_of(trajectories: Trajectories, settings: ReleaseSettings) -> Timing | None:
    """Make the timing that was asked for, or refuse it; None if times are not released."""
    tracks = trajectories.tracks
    times = trajectories.times
    if settings.align and tracks is not None and tracks.times is None:
        times = None  # windows slide to where no times are known
    ends = None if times is None else EndsSeen.of(times[:, [0, -1]])
    return timing_for(settings, trajectories.origin, len(trajectories), ends, trajectories.points)


def timing_for(
    settings: ReleaseSettings, origin: Provenance, n: int, ends: EndsSeen | None, places: Floats
) -> Timing | None:
    """Make the timing of n trajectories, or refuse it, from what is known of their ends.

    The time zone is that of the middle of ``places``, (..., 2), in degrees. None if times are not
    released.
    """
    if settings.times is None:
        _refuse_settings_of_times(settings)
        return None

    option = f"`times='{settings.times}'`"
    if origin.times is not None:
        raise BadInput(
            f"{option} needs the times of originals, and these are the times of a release: name "
            "what trajanon extract wrote"
        )
    unknown = n if ends is None else ends.unknown
    if ends is None or unknown:
        have = number_of(unknown, f"of {n:,} has", f"of {n:,} have")
        raise BadInput(
            f"{option} needs times, and {have} none: leave traces without times "
            "out with trajanon extract --untimed reject, or release without times"
        )
    if ends.still:
        bear = number_of(ends.still, f"of {n:,} bears", f"of {n:,} bear")
        raise BadInput(
            f"{option} needs times that go on, and {bear} one time from start "
            "to end: leave them out, or release without times"
        )

    zone = zone_of(places) if settings.timezone is None else settings.timezone
    clock = Clock(settings.times, zone, settings.time_step)
    departures = clock.rounded(clock.seconds(ends.departures[:, None])[:, 0])  # as of one point
    if departures.min() == departures.max():
        raise BadInput(
            f"{option} would show nothing: all depart at {clock.text(departures[0])}, within "
            f"{clock.step} s; lower `time_step`, or release without times"
        )
    return Timing(clock, settings.minute_worth)


def _refuse_settings_of_times(settings: ReleaseSettings) -> None:
    """Refuse settings that mean nothing in a release without times."""
    for name in ("minute_worth", "time_step", "timezone"):
        value = getattr(settings, name)
        is_for_days = name == "timezone" and settings.days is not None
        if value != getattr(ReleaseSettings, name) and not is_for_days:
            raise BadInput(f"`{name}={value!r}` is for releases with times: add `times='of-day'`")


def time_errors(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Measure how far departures and durations are off, (n,) each, in seconds.

    Both are times by a clock, (n, m), of which one before midnight and one after are a day apart.
    """
    departure_errors: Floats = np.abs(released[:, 0] - original[:, 0])
    return departure_errors, np.abs(durations(released) - durations(original))


def durations(seconds: Floats) -> Floats:
    """Measure how long trips take, (n,)."""
    return seconds[:, -1] - seconds[:, 0]
