"""Figures of many as they are published: rounded so that sums tell nothing of one person."""

from collections.abc import Callable
from math import floor, inf, log10
from typing import NamedTuple

FEW = 30
"""Trajectories below which a figure is a range."""

HUNDREDTHS = 200
"""Cases of which a share is rounded to hundredths, and no finer."""

_PEOPLE_PER_STEP = 4.0
"""A step is as wide as what so many people add to a mean: several figures are published, and each
tells something of a person."""

_STEPS = (0.5, 1.0, 2.0, 5.0, 10.0)  # of each power of ten, and the neighbours of both ends


class Crowd(NamedTuple):
    """Of how many a figure is the mean; whoever knows all but one of them subtracts.

    A mean of n is rounded to a step of at least four n-ths of it: the one that is left may then be
    off by nothing or by four times the mean. Shares are rounded to four n-ths of 1.

    >>> from trajanon.common.number_text import metres
    >>> [Crowd(people).text(123.4, metres) for people in (1_000, 40, 8)]
    ['124 m', '120 m', '100 m to 200 m']
    >>> Crowd(40, shares=True).number(0.618), Crowd(8, shares=True).number(0.618)
    (0.6, [0.5, 0.75])
    """

    # How many trajectories there are, divided by how many of them are of one person at most;
    # infinity for the holder, who sees figures as they are.
    people: float
    shares: bool = False  # whether the figure is the mean of what is 0 or 1 of each

    def shares_of(self, part: float = 1.0) -> "Crowd":
        """Return the crowd of a share that was measured on a part of the trajectories."""
        people = min(self.people * part, HUNDREDTHS) if self.people < inf else inf
        return Crowd(people, shares=True)

    def bounds(self, value: float) -> tuple[float, float]:
        """Return the rounded figure twice, or its range."""
        if value <= 0.0 or self.people == inf:
            return value, value
        if self.people >= FEW:
            mean = 1.0 if self.shares else value
            _, step = _steps_around(mean * _PEOPLE_PER_STEP / self.people)
            rounded = round(round(value / step) * step, 12)  # 0.6, not 0.6000000000000001
            return rounded, rounded
        if self.shares:
            # A share of 1 is in the last quarter; errors can be more than all of the line's.
            quarter = (floor(4.0 * value) - (value == 1.0)) / 4.0
            return quarter, quarter + 0.25
        return _steps_around(value)

    def text(self, value: float, write: Callable[[float], str]) -> str:
        """Write the rounded figure, or its range.

        >>> Crowd(100, shares=True).text(0.02, "{:.0%}".format)
        'less than 5%'
        """
        low, high = self.bounds(value)
        # Only shares are rounded to 0: the step of another figure is smaller than the figure.
        if high == 0.0 and value > 0.0:
            _, step = _steps_around(_PEOPLE_PER_STEP / self.people)
            return f"less than {write(step)}"
        different_texts = dict.fromkeys([write(low), write(high)])
        return " to ".join(different_texts)

    def number(self, value: float) -> float | list[float]:
        """Return the rounded figure, or its range, ready for JSON."""
        low, high = self.bounds(value)
        return low if low == high else [low, high]


EXACT = Crowd(inf)
"""Figures as they are, for the holder."""


def rough_count(count: int) -> str:
    """Write a count of recordings to two digits, and to tens below a hundred.

    >>> rough_count(7), rough_count(34), rough_count(1_234)
    ('fewer than 10', 'some 30', 'some 1,200')
    """
    if count < 10:
        return "fewer than 10"
    step = max(10, 10 ** (len(str(count)) - 2))
    return f"some {round(count / step) * step:,}"


def _steps_around(value: float) -> tuple[float, float]:
    """Return the last of 1, 2, 5, 10, 20, 50 and so on below a value, and the first not below."""
    power = 10.0 ** floor(log10(value))
    # Rounding must not lift a value that is a step above it.
    not_below = [step * power >= value * (1.0 - 1e-12) for step in _STEPS[1:]]
    place = 1 + not_below.index(True)
    return _STEPS[place - 1] * power, _STEPS[place] * power
