"""Parts of the day: what they hold, and what is none."""

import numpy as np
import pytest

from trajanon.common.errors import BadInput
from trajanon.street_counts.day_parts import ALL_DAY, DayPart, day_parts, parts_of
from trajanon.trajectories.clock_and_time_zones import Clock


@pytest.mark.parametrize("text", ["7", "7-9,8-10", "9-25", "a-b", "", "24-3", "7-9,"])
def test_parts_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="hours"):
        day_parts(text)


CLOCK = Clock("of-day", "Europe/Vaduz", 300)
HOUR = 3_600.0


def test_a_part_may_go_on_over_midnight() -> None:
    (night,) = day_parts(" 22-6")
    assert night == DayPart(22, 6)
    assert night.label == "22-6"
    assert len(night.hours) == 8
    assert day_parts("0-24") == ALL_DAY
    assert sorted(DayPart(7, 7).hours) == list(range(24))
    assert sorted(hour for part in day_parts("22-6,6-22") for hour in part.hours) == list(range(24))


def test_a_moment_lies_in_the_part_of_its_hour_or_in_none() -> None:
    moments = np.array([7.0, 8.99, 9.0, 23.5, 26.0, np.nan]) * HOUR
    found = parts_of(moments, CLOCK, day_parts("23-3,7-9"))
    assert found.tolist() == [1, 1, -1, 0, 0, -1]


def test_the_whole_day_needs_no_clock_and_holds_every_moment() -> None:
    assert parts_of(np.array([5.0, np.nan]), None, ALL_DAY).tolist() == [0, 0]
    with pytest.raises(BadInput, match="this release has no hours"):
        parts_of(np.array([5.0]), None, day_parts("7-9"))
