"""Parts of the day, for each of which trips are counted separately."""

from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.trajectories.clock_and_time_zones import Clock

_HOURS_A_DAY = 24


class DayPart(NamedTuple):
    """Hours of the day from ``begin`` up to, but without, ``end``.

    A part that ends at or before its beginning goes on over midnight.

    >>> DayPart(7, 9).label, DayPart(22, 6).hours
    ('7-9', [22, 23, 0, 1, 2, 3, 4, 5])
    """

    begin: int
    end: int

    @property
    def label(self) -> str:
        """Return the part as users write it."""
        return f"{self.begin}-{self.end}"

    @property
    def hours(self) -> list[int]:
        """List the hours in the part, each by the number at which it begins, 0 to 23."""
        # Beyond midnight the hours go on as 24, 25, ..., so that a range can hold them.
        stop = self.end if self.end > self.begin else self.end + _HOURS_A_DAY
        return [hour % _HOURS_A_DAY for hour in range(self.begin, stop)]


ALL_DAY = (DayPart(0, _HOURS_A_DAY),)


def day_parts(text: str) -> tuple[DayPart, ...]:
    """Read parts of the day from a text.

    >>> day_parts("7-9,16-19")
    (DayPart(begin=7, end=9), DayPart(begin=16, end=19))

    Raises
    ------
    BadInput
        If a part is not two hours with a dash, an hour is above 24, or two parts share an hour.
    """
    parts = []
    for word in text.split(","):
        begin, dash, end = word.strip().partition("-")
        if not (dash and begin.isdecimal() and end.isdecimal()):
            raise BadInput(f"`hours` are parts of the day such as 7-9,9-16 (got {word.strip()!r})")

        part = DayPart(int(begin), int(end))
        if not (part.begin < _HOURS_A_DAY and part.end <= _HOURS_A_DAY):
            raise BadInput(f"`hours` are from 0 to {_HOURS_A_DAY} (got {word.strip()!r})")
        parts.append(part)

    hours = [hour for part in parts for hour in part.hours]
    if len({*hours}) < len(hours):
        raise BadInput(f"parts of `hours` must not share an hour (got {text!r})")

    return tuple(parts)


def parts_of(moments: Floats, clock: Clock | None, parts: tuple[DayPart, ...]) -> Ints:
    """Return the number of the part in which each moment lies, (n,); -1 for none.

    Moments are seconds of the release's clock, which is None where a release has no hours; one that
    is not known is NaN, and lies in no part but the whole day.
    """
    # A whole day needs no clock: every moment lies in it.
    if parts == ALL_DAY:
        return np.zeros(len(moments), np.int64)
    if clock is None:
        raise BadInput(
            "this release has no hours: anonymize it with `times='of-day'`, or leave out `hours`"
        )

    part_of_hour = np.full(_HOURS_A_DAY, -1)
    for number, part in enumerate(parts):
        part_of_hour[part.hours] = number
    is_known = np.isfinite(moments)
    hour = clock.hour(np.where(is_known, moments, 0.0))
    return np.where(is_known, part_of_hour[hour], -1)
