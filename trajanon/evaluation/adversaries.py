"""What adversaries are shown of a release, and all that they try."""

from dataclasses import replace

from trajanon.arrays import Ints
from trajanon.files.report import Report, clock_in
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.originals import Matched
from trajanon.privacy.suite import attacks
from trajanon.settings import ReleaseSettings
from trajanon.timing import Timing
from trajanon.trajectories import Trajectories

SLID = ", as slid"
"""Ends the name of an attack from windows as slid."""


def timing_in(report: Report) -> Timing | None:
    """How the report says that times were released."""
    clock, told = clock_in(report), report.get("times")
    if clock is None or told is None:
        return None
    return Timing(clock, ReleaseSettings(minute_worth=told["minute_worth"]).minute_worth)


def published(
    kept: Trajectories, found: Matched, k: int, subjects: Ints | None, timing: Timing | None
) -> tuple[Published, Published | None]:
    """The release beside trajectories as they were cut, and as they slid, if they did."""
    as_cut = Published(
        kept.points, found.lines, found.labels, k, subjects, unit=kept.unit, own_row=found.own_row
    )
    if timing is not None:
        seconds, cycle = timing.seconds(kept), timing.clock.round
        as_cut = replace(as_cut, times=seconds, line_times=found.times, cycle=cycle)
    if found.slid is kept:
        return as_cut, None
    times = None if timing is None else timing.seconds(found.slid)
    return as_cut, replace(as_cut, points=found.slid.points, times=times)


def attacked(as_cut: Published, as_slid: Published | None) -> list[Attack]:
    """Run all attacks on the release, from windows as cut and as slid."""
    done = attacks(as_cut)
    if as_slid is None:
        return done
    return done + [
        replace(one, name=one.name + SLID, knows=f"{one.knows}, as windows slid")
        for one in attacks(as_slid)
    ]
