"""Nearest rows and nearest ends: as slow twins find them."""

from dataclasses import replace

import naive_attacks as naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities, timed_cities

from trajanon.common.arrays import Floats
from trajanon.evaluation.attacks.nearest_record_or_ends import nearest_ends, nearest_record
from trajanon.evaluation.attacks.published_lines import Published


def told(city: Published) -> Floats:
    found = nearest_record(city)
    np.testing.assert_array_equal(found.worst, found.rates)
    return np.column_stack([found.rates, found.line_rates])


@given(st.one_of(cities(most=9), timed_cities()))
def test_it_is_the_slow_twin(city: Published) -> None:
    np.testing.assert_allclose(told(city), naive.nearest_record(city), rtol=1e-12)


@given(st.one_of(cities(), timed_cities()))
def test_by_ends_it_is_the_slow_twin(city: Published) -> None:
    found = nearest_ends(city)
    both = np.column_stack([found.rates, found.line_rates])
    np.testing.assert_allclose(both, naive.nearest_ends(city))


def test_nearest_ends_are_found_however_far() -> None:
    lines = np.array([[[40.0, 0.0], [41.0, 9.0], [40.5, 0.0]], [[40.2, 0.0]] * 3])
    points = lines + 0.01
    points[:, 1] += 5.0  # nothing is known of the way between
    found = nearest_ends(Published(points, lines, np.arange(2), 2))
    assert found.rates.tolist() == [1.0, 1.0]
    assert found.name == "both ends, nearest"


def test_it_is_the_slow_twin_where_nothing_coincides() -> None:
    random = np.random.default_rng(4)
    points = 40.0 + np.cumsum(random.normal(0.0, 0.001, (60, 6, 2)), axis=1)
    labels = np.arange(60) % 13
    lines = np.array([points[labels == group].mean(axis=0) for group in range(13)])
    city = Published(points, lines, labels, 2, np.arange(60) // 4)
    found = told(city)
    np.testing.assert_allclose(found, naive.nearest_record(city), rtol=1e-12)
    assert 0.0 < found[:, 1].mean() < 1.0


def test_released_hours_are_known_of_what_is_known() -> None:
    """Two people go one way at two hours; lines stay on the way, and are 100 m off along it."""
    points = np.array([[[40.0, -3.0], [40.01, -3.0]]] * 2)
    times = np.array([[0.0, 600.0], [7_200.0, 7_800.0]])
    lines = points + np.array([[[0.001, 0.0]], [[0.0, 0.0]]])
    seen = Published(points, lines, np.arange(2), 2, times=times, line_times=times + 60.0)
    for attack in (nearest_record(seen), nearest_ends(seen)):
        assert attack.rates.tolist() == [1.0, 1.0]
        assert attack.knows.endswith(" and when it was there")
    # Hours of lines that not all have are not known.
    some = replace(seen, line_times=times + np.array([[np.nan], [0.0]]))
    for attack in (nearest_record(some), nearest_ends(some)):
        assert attack.expected == 0.5
        assert not attack.knows.endswith(" and when it was there")


def test_one_subject_is_always_found() -> None:
    points = np.random.default_rng(0).normal(40.0, 0.1, (4, 3, 2))
    labels = np.array([0, 0, 1, 1])
    lines = np.array([points[:2].mean(axis=0), points[2:].mean(axis=0)])
    found = nearest_record(Published(points, lines, labels, 2, np.full(4, -7)))
    assert found.rates.tolist() == [1.0] * 4
    assert found.exposed == 1.0


def test_far_from_the_origin_nothing_is_lost() -> None:
    """Metres apart at 180 degrees: squares of degrees would not tell them apart."""
    points = 179.0 + np.array([0.0, 1e-7, 5e-7, 6e-7])[:, None, None] * np.ones((3, 2))
    lines = np.array([points[:2].mean(axis=0), points[2:].mean(axis=0)])
    found = nearest_record(Published(points, lines, np.array([0, 0, 1, 1]), 2))
    np.testing.assert_allclose(found.rates, 1 / 2)
