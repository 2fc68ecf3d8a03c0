"""A trip guessed by the others of its person, who repeat their ways or do not; a slow twin."""

from dataclasses import replace

import naive_verification as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streets_walked import SCALE, grouped, walked

from trajanon.common.arrays import Floats
from trajanon.evaluation.attacks.other_trips import other_trips
from trajanon.evaluation.attacks.published_lines import Published


def repeated(seed: int, apart: float, people: int = 40) -> Published:
    """Three trips of each person, so many metres apart."""
    points = walked(seed, people, 8)
    away = np.random.default_rng(seed).normal(0.0, apart, (2, people, 1, 2)) / SCALE
    three: Floats = np.concatenate([points, *(points + away)])
    return replace(grouped(three, 4), subjects=np.tile(np.arange(people), 3))


@settings(deadline=None)
@given(seed=st.integers(0, 9_999))
def test_it_is_the_slow_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    city = replace(grouped(walked(seed, 12, 5), 3), subjects=random.integers(0, 5, 12))
    several = [row for row in range(12) if (city.owners == city.owners[row]).sum() > 1]
    off, habit, lines = np.median([naive.other_trip(city, row) for row in several], axis=0)
    found = other_trips(city)
    assert found is not None
    assert found.targets == len(several)
    assert found.off["nearest"].median.value == pytest.approx(off)
    assert found.off["habit"].median.value == pytest.approx(habit)
    assert found.line.median.value == pytest.approx(lines)


def test_those_who_repeat_their_ways_are_found_and_others_are_not() -> None:
    commuters, others = other_trips(repeated(1, 10.0)), other_trips(repeated(1, 2_000.0))
    assert commuters is not None
    assert others is not None
    assert commuters.share.high < 0.3
    assert others.share.low > 0.8


def test_where_nobody_has_several_nothing_is_tried() -> None:
    assert other_trips(grouped(walked(1, 12, 5), 3)) is None
