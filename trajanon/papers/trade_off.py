"""What hours cost in metres: by the worth of a minute, and within slots of the day."""

from typing import Any, NamedTuple

import numpy as np

from trajanon.anonymization import anonymize_trajectories
from trajanon.arrays import Floats
from trajanon.errors import TooFewRecords, TooFewSubjects
from trajanon.files.report import checked, released_of
from trajanon.perturbation import perturbed_times
from trajanon.privacy.originals import matched
from trajanon.progress import Progress, silent
from trajanon.settings import ReleaseSettings
from trajanon.times import BEGINS, HOUR, MINUTE, Timing, timing_of
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement
from trajanon.utility.usefulness import time_errors

MINUTE_WORTHS = (0.5, 1.0, 2.0, 3.0, 5.0, 9.0, 20.0)
SLOTS = (4, 1)  # hours

KEY = bytes(32)
"""A key that repeats what is measured: nothing of it is published."""


class HoursCost(NamedTuple):
    """What groups lose, if they are released with their mean times of the day."""

    minute_worth: float | None  # metres of a minute in the search; None if it sees places alone
    slot_hours: int | None  # of slots of the day, each searched by itself; None if of none
    trajectories: int  # in groups
    displacement_mean: float  # metres
    displacement_median: float
    departure_mean: float  # minutes that it is off by
    departure_median: float
    duration_mean: float
    duration_median: float


class _Errors(NamedTuple):
    moved: Floats  # metres, (n, m)
    departure: Floats  # seconds, (n,)
    duration: Floats


def hours_costs(
    trajectories: Trajectories, k: int, *, progress: Progress = silent
) -> list[HoursCost]:
    """Group by places alone, with several worths of a minute, and within slots of the day.

    Slots with too few for a group are left out.
    """
    timing = timing_of(trajectories, ReleaseSettings(times="of-day"))
    assert timing is not None
    departure = timing.seconds(trajectories)[:, 0]
    ways: list[tuple[float | None, int | None]] = [(None, None)]
    ways += [(worth, None) for worth in MINUTE_WORTHS] + [(None, hours) for hours in SLOTS]
    costs = []
    for done, (worth, hours) in enumerate(ways):
        note = "places alone" if worth is None else f"a minute worth {worth:g} m"
        progress("groups", done, len(ways), note if hours is None else f"slots of {hours} h")
        slot = (departure - BEGINS) // (HOUR * (hours or 24))
        found = []
        for one in np.unique(slot):
            try:
                found.append(_errors(trajectories.take(slot == one), k, timing, worth))
            except (TooFewRecords, TooFewSubjects):
                if hours is None:
                    raise
        if found:
            together = _Errors(*map(np.concatenate, zip(*found, strict=True)))
            costs.append(_cost(worth, hours, together))
    return costs


def _errors(trajectories: Trajectories, k: int, timing: Timing, worth: float | None) -> _Errors:
    """Measure how far each trajectory is from the line and the times of its group."""
    how: dict[str, Any] = {}
    if worth is not None:
        clock = timing.clock
        how = {"times": clock.times, "timezone": clock.timezone, "minute_worth": worth}
    release = anonymize_trajectories(trajectories, k, key=KEY, **how)
    if release.report["stopped"]:
        raise KeyboardInterrupt
    report = checked(release.report)
    found = matched(released_of(trajectories, report), release.trajectories, report)
    moved = displacement(found.slid.points, found.lines[found.labels])
    slid, seconds = found.slid, timing.seconds(found.slid)
    times = perturbed_times(slid.points, seconds, found.labels, timing.clock, KEY, slid.subject)
    return _Errors(moved, *time_errors(seconds, times[found.labels]))


def _cost(worth: float | None, hours: int | None, errors: _Errors) -> HoursCost:
    each = errors.moved, errors.departure / MINUTE, errors.duration / MINUTE
    middles = [float(middle(one)) for one in each for middle in (np.mean, np.median)]
    return HoursCost(worth, hours, len(errors.departure), *middles)
