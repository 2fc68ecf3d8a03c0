"""What adversaries are shown of a release."""

from dataclasses import replace

from trajanon.arrays import Ints
from trajanon.files.report import Report, clock_in
from trajanon.privacy.attack import Published
from trajanon.privacy.originals import Matched
from trajanon.settings import ReleaseSettings
from trajanon.timing import Timing
from trajanon.trajectories import Trajectories


def timing_in(report: Report) -> Timing | None:
    """How the report says that times were released."""
    clock, told = clock_in(report), report.get("times")
    if clock is None or told is None:
        return None
    return Timing(clock, ReleaseSettings(minute_worth=told["minute_worth"]).minute_worth)


def published(
    originals: Trajectories, found: Matched, k: int, subjects: Ints | None, timing: Timing | None
) -> Published:
    """The release beside what was averaged."""
    seen = Published(
        originals.points,
        found.lines,
        found.labels,
        k,
        subjects,
        unit=originals.unit,
        own_row=found.own_row,
    )
    if timing is None:
        return seen
    seconds, cycle = timing.seconds(originals), timing.clock.round
    return replace(seen, times=seconds, line_times=found.times, cycle=cycle)
