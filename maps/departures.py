"""Departures by hour, as the page and the figures count them."""

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.number_text import span
from trajanon.times import DAY, Clock

_HOURS = 24


def hours_of(clock: Clock, times: Floats) -> Ints:
    """Number the hour in which each departs: that of the day, or from Monday on of the week."""
    departure = times[:, 0]
    hour = clock.hour(departure)
    if clock.times == "of-week":
        hour += _HOURS * (departure // DAY % 7).astype(np.int64)
    return hour


def by_hour(clock: Clock, hours: Ints, sizes: Ints | None = None) -> list[int]:
    """Count departures in each hour; a line counts for all originals, or rows, of its group."""
    slots = _HOURS * (7 if clock.times == "of-week" else 1)
    counts: list[int] = np.bincount(hours, sizes, slots).astype(np.int64).tolist()
    return counts


def told(clock: Clock, times: Floats) -> list[str]:
    """Say of each when it departs, and how long it takes."""
    ends = times[:, [0, -1]].tolist()
    return [f"{clock.text(departure)}, {span(arrival - departure)}" for departure, arrival in ends]


def in_words(clock: Clock) -> str:
    """Say what the hours are, and what the times in the release."""
    hours = {
        "of-day": "Hours of the day",
        "of-week": "Hours of the week",
        "date": "Hours of the day, of all dates",
    }[clock.times]
    means = f"Released times are means of groups, rounded to {span(clock.step)}."
    return f"{hours}, local time ({clock.timezone}). {means}"
