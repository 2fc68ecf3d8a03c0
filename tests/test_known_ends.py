import naive_attacks as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.known_points import known_ends

TOLERANCES = st.sampled_from([0.0, 50.0, 60.0, 130.0, 1e5])


def told(found: Attack) -> Floats:
    np.testing.assert_array_equal(found.worst, found.rates)
    return np.column_stack([found.rates, found.line_rates])


@given(cities(), TOLERANCES)
def test_against_a_release_it_is_the_slow_twin(city: Published, tolerance: float) -> None:
    for form, nearest in zip(known_ends(city, tolerance=tolerance), (False, True), strict=True):
        expected = naive.known_ends(city, tolerance, nearest=nearest)
        np.testing.assert_allclose(told(form), expected)


@given(cities(), TOLERANCES)
def test_against_the_originals_it_is_the_slow_twin(city: Published, tolerance: float) -> None:
    found = known_ends(city.originals, tolerance=tolerance)
    for form, nearest in zip(found, (False, True), strict=True):
        expected = naive.known_ends(city.originals, tolerance, nearest=nearest)
        np.testing.assert_allclose(told(form), expected)


def test_by_hand() -> None:
    """From 0 to 9 two ways, back from 9 to 0, and from 0 to 5."""
    north = np.array([[0, 4, 9], [0, 7, 9], [9, 4, 0], [0, 4, 5]])
    points = np.stack([40.0 + 0.01 * north, 0.0 * north], axis=-1)
    found = known_ends(Published(points, points, np.arange(len(points)), 2), tolerance=10.0).evenly
    assert found.rates.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert found.name == "both ends"
    assert found.account["exposed"] == 0.5


def test_both_ends_at_one_place() -> None:
    north = np.array([[0, 4, 0], [0, 7, 0], [0, 4, 5]])
    points = np.stack([40.0 + 0.01 * north, 0.0 * north], axis=-1)
    found = known_ends(Published(points, points, np.arange(len(points)), 2), tolerance=10.0).evenly
    assert found.rates.tolist() == [0.5, 0.5, 1.0]


def test_a_tolerance_that_is_no_length_is_refused() -> None:
    points = np.zeros((2, 2, 2))
    with pytest.raises(BadInput, match="tolerance must be 0 metres or more"):
        known_ends(Published(points, points, np.arange(2), 2), tolerance=-1.0)
