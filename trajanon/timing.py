"""Times of trajectories in a release, and what the search sees of them: the departure."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trajanon.arrays import Floats
from trajanon.clock import Clock, zone_of
from trajanon.errors import BadInput
from trajanon.geodesy import radii
from trajanon.loss import HEAVIEST
from trajanon.number_text import number_of
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

    def hours(self, times: Floats) -> Counter[float]:
        """Count the lines that depart in each hour, by when it begins."""
        hours, lines = np.unique(self.clock.whole_hour(times[:, 0]), return_counts=True)
        return Counter(dict(zip(hours.tolist(), lines.tolist(), strict=True)))

    def alone(self, hours: Counter[float]) -> dict[str, Any]:
        """Name the hours in which one line alone departs, and count all, ready for JSON."""
        of_one = [self.clock.text(hour) for hour, lines in sorted(hours.items()) if lines == 1]
        return {"hours": of_one, "of": len(hours)}

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
    times, tracks, n = trajectories.times, trajectories.tracks, len(trajectories)
    timing = timing_asked_for(
        settings,
        trajectories.provenance,
        unknown=n if times is None else int(np.isnan(times[:, 0]).sum()),
        of_all=n,
        bare_tracks=settings.align and tracks is not None and tracks.times is None,
        middle=lambda: trajectories.points.mean(axis=(0, 1)),
    )
    if timing is not None and times is not None:
        departures = timing.clock.of(times)[:, 0]
        still = int((times[:, -1] <= times[:, 0]).sum())
        refuse_one_time(timing.clock, still, n, departures.min(), departures.max())
    return timing


def timing_asked_for(
    settings: ReleaseSettings,
    provenance: Mapping[str, Any],
    *,
    unknown: int = 0,
    of_all: int = 0,
    bare_tracks: bool,
    middle: Callable[[], Floats],
) -> Timing | None:
    """Make the timing that was asked for, or refuse it; ``unknown`` of all have no times."""
    if settings.times is None:
        for name in _OF_TIMES:
            value = getattr(settings, name)
            if value != getattr(ReleaseSettings, name):
                raise BadInput(
                    f"`{name}={value!r}` is for releases with times: add `times='of-day'`"
                )
        return None
    asked = f"`times='{settings.times}'`"
    if "times" in provenance:
        raise BadInput(
            f"{asked} needs the times of originals, and these are the times of a release: name "
            "what trajanon extract wrote"
        )
    if unknown:
        raise BadInput(without_times(asked, unknown, of_all))
    if bare_tracks:
        raise BadInput(
            f"{asked} needs tracks with times: extract again, or keep windows with `align=False`"
        )
    zone = settings.timezone
    if zone is None:
        zone = zone_of(*middle())
    return Timing(Clock(settings.times, zone, settings.time_step), settings.minute_worth)


def without_times(asked: str, unknown: int, of_all: int) -> str:
    """Say that times are missing."""
    have = number_of(unknown, f"of {of_all:,} has", f"of {of_all:,} have")
    return (
        f"{asked} needs times, and {have} none: leave traces without times "
        "out with trajanon extract --untimed reject, or release without times"
    )


def refuse_one_time(clock: Clock, still: int, of_all: int, first: float, last: float) -> None:
    """Refuse clocks that stood still, and departures, from first to last, that are one."""
    asked = f"`times='{clock.times}'`"
    if still:
        bear = number_of(still, f"of {of_all:,} bears", f"of {of_all:,} bear")
        raise BadInput(
            f"{asked} needs times that go on, and {bear} one time from start "
            "to end: leave them out, or release without times"
        )
    first, last = clock.rounded(np.array([first, last])).tolist()
    if first == last:
        raise BadInput(
            f"{asked} would tell nothing: all depart at {clock.text(first)}, within "
            f"{clock.step} s; lower `time_step`, or release without times"
        )
