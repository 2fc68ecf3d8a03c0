"""Times of trajectories in a release, and what the search sees of them: the departure."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.clock import Clock, zone_of
from trajanon.errors import BadInput
from trajanon.geodesy import radii
from trajanon.loss import HEAVIEST, group_means
from trajanon.settings import ReleaseSettings
from trajanon.tracks import Tracks
from trajanon.trajectories import Trajectories
from trajanon.utility import summary
from trajanon.utility.times import time_errors

MINUTE = 60.0  # seconds
_OF_TIMES = ("minute_worth", "time_step", "timezone")


@dataclass(frozen=True, slots=True)
class Timing:
    """How times are released, and how much the departure counts in the search."""

    clock: Clock
    minute_worth: float  # metres at every point that a minute between departures counts as

    def seconds(self, trajectories: Trajectories) -> Floats:
        """Count the times of trajectories by the clock, (n, m)."""
        assert trajectories.times is not None
        return self.clock.of(trajectories.times)

    def seen(self, trajectories: Trajectories) -> tuple[Floats, Floats]:
        """The columns that the search sees, (n, 2 m + 1), the departure last; and their weights."""
        records, departure = trajectories.records, self.seconds(trajectories)[:, :1]
        seen = np.hstack([records, departure])
        spread = (seen - seen[:1]).std(axis=0, ddof=1)
        middle = trajectories.points.mean(axis=0)
        weight = departure_weight(middle, spread, self.minute_worth)
        return seen, np.append(np.ones(records.shape[1]), weight)

    def released(
        self, trajectories: Trajectories, labels: Ints, shifts: Floats | None = None
    ) -> Floats:
        """The mean times of each group, moved by so many seconds, (g,), as written, (g, m)."""
        means = group_means(self.seconds(trajectories), labels)
        return self.clock.rounded(means if shifts is None else means + shifts[:, None])

    def errors(self, seconds: Floats, released: Floats) -> dict[str, Floats]:
        """How far released departures and durations are from the true ones, in seconds, (n,)."""
        departed, took = time_errors(seconds, released)
        return {"departure_error": departed, "duration_error": took}

    def cost(self, trajectories: Trajectories, released: Floats) -> dict[str, Any]:
        """Tell how times are released, and how far those of each, (n, m), are off; for JSON."""
        errors = self.errors(self.seconds(trajectories), released)
        return {**self.account, **{name: summary(each) for name, each in errors.items()}}

    @property
    def account(self) -> dict[str, Any]:
        """How times are released, ready for JSON."""
        clock = self.clock
        return {
            "times": clock.times,
            "timezone": clock.timezone,
            "step": clock.step,
            "minute_worth": self.minute_worth,
        }

    def departures(self, tracks: Tracks) -> Floats:
        """Count when whoever is at a point of the tracks departs, by the clock, (t,)."""
        assert tracks.times is not None
        return self.clock.of(tracks.times[:, None])[:, 0]


def seen_by(trajectories: Trajectories, timing: Timing | None) -> tuple[Floats, Floats | None]:
    """What the search sees: the records, or these and the departure; and weights, if there are."""
    return (trajectories.records, None) if timing is None else timing.seen(trajectories)


def departure_weight(middle: Floats, spread: Floats, minute_worth: float) -> float:
    """Weigh the departure beside coordinates, all of them standardised.

    A minute between two departures then adds to their squared distance what a displacement of
    ``minute_worth`` metres at every point adds, in any direction: half of it to the north, half to
    the east. ``middle`` is the mean place of each point, degrees, (m, 2), and ``spread`` the
    standard deviation of each column that the search sees, in degrees and seconds, (2 m + 1,).
    """
    degree = np.radians(np.column_stack(radii(np.radians(middle[:, 0])))).ravel()  # in metres
    metres = spread[:-1] * degree
    if not metres.any():  # all go the same way: hours alone tell them apart
        return 1.0
    squares = (minute_worth / metres[metres > 0.0]) ** 2
    return min(float(0.5 * squares.sum() * (spread[-1] / MINUTE) ** 2), HEAVIEST)


def timing_of(trajectories: Trajectories, settings: ReleaseSettings) -> Timing | None:
    """Tell how times shall be released; None if they shall not."""
    if settings.times is None:
        refuse_without_times(settings)
        return None
    times, tracks = trajectories.times, trajectories.tracks
    asked = f"`times='{settings.times}'`"
    if "times" in trajectories.provenance:
        raise BadInput(of_a_release(asked))
    unknown = len(trajectories) if times is None else int(np.isnan(times[:, 0]).sum())
    if times is None or unknown:
        raise BadInput(without_times(asked, unknown, len(trajectories)))
    if settings.align and tracks is not None and tracks.times is None:
        raise BadInput(tracks_without_times(asked))
    if still := int((times[:, -1] <= times[:, 0]).sum()):
        raise BadInput(clock_stands(asked, still, len(trajectories)))
    zone = settings.timezone
    if zone is None:
        zone = zone_of(*trajectories.points.mean(axis=(0, 1)))
    clock = Clock(settings.times, zone, settings.time_step)
    departures = clock.rounded(clock.of(times)[:, 0])
    if np.ptp(departures) == 0.0:
        raise BadInput(one_departure(asked, clock, float(departures[0])))
    return Timing(clock, settings.minute_worth)


def refuse_without_times(settings: ReleaseSettings) -> None:
    """Refuse options of times where none are released."""
    for name in _OF_TIMES:
        value = getattr(settings, name)
        if value != getattr(ReleaseSettings, name):
            msg = f"`{name}={value!r}` is for releases with times: add `times='of-day'`"
            raise BadInput(msg)


def without_times(asked: str, unknown: int, of_all: int) -> str:
    """Say that times are missing."""
    return (
        f"{asked} needs times, and {unknown:,} of {of_all:,} have none: leave traces without times "
        "out with trajanon extract --untimed reject, or release without times"
    )


def tracks_without_times(asked: str) -> str:
    """Say that windows could not keep their times where they slide."""
    return f"{asked} needs tracks with times: extract again, or keep windows with `align=False`"


def of_a_release(asked: str) -> str:
    """Say that times do not count from 1970."""
    return (
        f"{asked} needs the times of originals, and these are the times of a release: name what "
        "trajanon extract wrote"
    )


def clock_stands(asked: str, still: int, of_all: int) -> str:
    """Say that clocks stood still."""
    return (
        f"{asked} needs times that go on, and {still:,} of {of_all:,} bear one time from start to "
        "end: leave them out, or release without times"
    )


def one_departure(asked: str, clock: Clock, departure: float) -> str:
    """Say that all depart at once."""
    return (
        f"{asked} would tell nothing: all depart at {clock.text(departure)}, within "
        f"{clock.step} s; lower `time_step`, or release without times"
    )
