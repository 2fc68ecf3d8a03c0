import naive_attacks as naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities

from trajanon.arrays import Floats
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.known_points import known_ends

TOLERANCES = st.sampled_from([0.0, 50.0, 60.0, 130.0, 1e5])


def told(found: Attack) -> Floats:
    np.testing.assert_array_equal(found.worst, found.rates)
    return np.column_stack([found.rates, found.line_rates])


@given(cities(), TOLERANCES)
def test_it_is_the_slow_twin(city: Published, tolerance: float) -> None:
    for seen in (city, city.originals):
        for form, nearest in zip(known_ends(seen, tolerance=tolerance), (False, True), strict=True):
            expected = naive.known_ends(seen, tolerance, nearest=nearest)
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
