"""Parts of the day, in which trips are counted apart."""

from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.trajectories.times import Clock

_HOURS = 24


class DayPart(NamedTuple):
    """Hours of the day from ``begin`` on and before ``end``; over midnight if the end is less.

    >>> DayPart(7, 9).label, DayPart(22, 6).hours
    ('7-9', [22, 23, 0, 1, 2, 3, 4, 5])
    """

    begin: int
    end: int

    @property
    def label(self) -> str:
        """How the part is written."""
        return f"{self.begin}-{self.end}"

    @property
    def hours(self) -> list[int]:
        """The hours in it."""
        last = self.end + _HOURS * (self.end <= self.begin)
        return [hour % _HOURS for hour in range(self.begin, last)]


ALL_DAY = (DayPart(0, _HOURS),)


def day_parts(text: str) -> tuple[DayPart, ...]:
    """Read parts of the day.

    >>> day_parts("7-9,16-19")
    (DayPart(begin=7, end=9), DayPart(begin=16, end=19))

    Raises
    ------
    BadInput
        If a part is no two hours, or two parts share an hour.
    """
    parts = []
    for word in text.split(","):
        begin, dash, end = word.strip().partition("-")
        if not (dash and begin.isdecimal() and end.isdecimal()):
            raise BadInput(f"`hours` are parts of the day such as 7-9,9-16 (got {word.strip()!r})")
        parts.append(DayPart(int(begin), int(end)))
        if not (parts[-1].begin < _HOURS and parts[-1].end <= _HOURS):
            raise BadInput(f"`hours` are from 0 to {_HOURS} (got {word.strip()!r})")

    hours = [hour for part in parts for hour in part.hours]
    if len({*hours}) < len(hours):
        raise BadInput(f"parts of `hours` must not share an hour (got {text!r})")
    return tuple(parts)


def parts_of(moments: Floats, clock: Clock | None, parts: tuple[DayPart, ...]) -> Ints:
    """Number the part in which each moment lies; -1 for none."""
    if parts == ALL_DAY:
        return np.zeros(len(moments), np.int64)
    if clock is None:
        raise BadInput(
            "this release has no hours: anonymize it with `times='of-day'`, or leave out `hours`"
        )

    part_of_hour = np.full(_HOURS, -1)
    for number, part in enumerate(parts):
        part_of_hour[part.hours] = number
    return np.asarray(part_of_hour[clock.hour(moments)])
