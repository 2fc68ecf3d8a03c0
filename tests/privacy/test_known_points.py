from dataclasses import replace
from typing import Any

import naive_attacks as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities
from numpy.typing import NDArray

from trajanon import workers
from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.privacy import known_points as attacks_with_points
from trajanon.privacy.attack import NOT_ALIKE, Attack, Published
from trajanon.privacy.known_points import known_points as guesses

STEP = 0.001
"""Degrees of latitude: 111 m."""

TOLERANCES = st.sampled_from([0.0, 50.0, 60.0, 130.0, 1e5, 1e9])


def street(*numbers: float) -> Floats:
    """A trajectory along a meridian, at these numbers of steps."""
    return np.array([[40.0 + STEP * number, -3.0] for number in numbers])


def alone(points: Floats, subjects: Any = None) -> Published:
    """Trajectories published as they are."""
    return Published(points, points, np.arange(len(points)), 2, subjects, "originals")


def known_points(*asked: Any, **options: Any) -> Attack:
    """The adversary who picks a row of any line that fits."""
    return guesses(*asked, **options).evenly


def is_the_slow_twin(
    city: Published, known: int, tolerance: float, order: bool, **options: Any
) -> None:
    found = guesses(city, known, tolerance=tolerance, order=order, **options)
    for form, nearest in zip(found, (False, True), strict=True):
        expected = naive.known_points(city, known, tolerance, order, nearest=nearest)
        np.testing.assert_allclose(told(form), expected, rtol=1e-12, atol=0.0)


def told(found: Attack) -> Floats:
    return np.column_stack([found.rates, found.line_rates, found.worst])


@given(cities(), TOLERANCES, st.booleans(), st.data())
def test_it_is_the_slow_twin(
    city: Published, tolerance: float, order: bool, data: st.DataObject
) -> None:
    known = data.draw(st.integers(1, 2))
    is_the_slow_twin(city, known, tolerance, order)
    is_the_slow_twin(city.originals, known, tolerance, order)
    for found in guesses(city.originals, known, tolerance=tolerance, order=order):
        assert (found.rates > 0.0).all(), "an original passes its own points, and none is nearer"


def test_who_takes_the_nearest_line_finds_more() -> None:
    """The own line passes within 45 m, another within 60; in order it is the other that fits."""
    points, back = street(0, 1, 2), street(2.4, 1.4, 0.4)
    beside = street(0.5, 1.5, 2.5)
    lines = np.array([back, beside])
    city = Published(np.array([points, beside]), lines, np.arange(2), 2)
    evenly, nearest = guesses(city, known=3, tolerance=60.0, sample=1)
    assert (evenly.rates[0], nearest.rates[0]) == (0.5, 1.0)
    assert guesses(city, known=3, tolerance=60.0, order=True, sample=1).nearest.rates[0] == 0.0
    assert (evenly.name, nearest.name) == ("3 known points", "3 known points, nearest")


@pytest.mark.parametrize("latitude", [-89.9, -60.0, 0.0, 89.9])
@pytest.mark.parametrize("longitude", [-179.9, 0.0, 179.9])
def test_metres_are_metres_anywhere(latitude: float, longitude: float) -> None:
    east = 111_320.0 * np.cos(np.radians(latitude))  # metres of a degree, nearly
    near, far = np.array([[0.0, 90.0 / east]]), np.array([[0.0, 110.0 / east]])
    here = np.array([[latitude, longitude]])
    points = np.array([here, here + near, here - far])
    found = known_points(alone(points), known=1, tolerance=100.0)
    assert found.rates.tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("latitude", [-80.0, 80.0])
def test_cells_are_wide_enough_where_degrees_are_narrow(latitude: float) -> None:
    """One trajectory is on the equator, where a degree is six times as wide."""
    north, east = [latitude, latitude, 0.0], [0.0, 90.0 / 19_394.0, 0.0]
    points = np.stack([north, east], axis=-1)[:, None]
    found = known_points(alone(points), known=1, tolerance=100.0)
    assert found.rates.tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("order", [False, True])
def test_choices_drawn_come_near_the_exact_mean(order: bool) -> None:
    random = np.random.default_rng(5)
    points = 40.0 + np.cumsum(random.normal(0.0, 0.001, (7, 6, 2)), axis=1)
    city = Published(points, points, np.arange(7), 2, np.arange(7) % 5)
    asked: dict[str, Any] = {"known": 3, "tolerance": 200.0, "order": order}
    exact = naive.known_points(city, 3, 200.0, order)
    drawn = known_points(city, **asked)
    assert drawn.sampled
    assert np.abs(drawn.rates - exact[:, 0]).max() < 0.05
    assert np.abs(drawn.line_rates - exact[:, 1]).max() < 0.05
    assert (drawn.worst <= exact[:, 2] + 1e-12).all()
    again, other = (known_points(city, **asked, seed=seed).rates for seed in (0, 1))
    np.testing.assert_array_equal(again, drawn.rates)
    assert (other != drawn.rates).any()


@given(cities(), TOLERANCES, st.booleans())
def test_where_one_choice_is_all_who_draws_is_the_slow_twin(
    city: Published, tolerance: float, order: bool
) -> None:
    known = city.points.shape[1]
    is_the_slow_twin(city, known, tolerance, order, sample=3)


def test_any_number_of_threads_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    points = 40.0 + random.normal(0.0, 0.01, (200, 5, 2))
    labels = np.arange(200) // 4
    lines = np.array([points[labels == group].mean(axis=0) for group in range(50)])
    city = Published(points, lines, labels, 2, np.arange(200) // 3)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(workers, "cores", lambda cores=cores: cores)
        found.append(told(known_points(city, known=2, tolerance=500.0)))
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize(
    "asked",
    [
        {"subjects": np.arange(3)},
        {"labels": np.array([0, 2])},
        {"labels": np.array([1, 1])},
        {"labels": np.array([-1, 1])},
        {"labels": np.array([0])},
        {"points": np.zeros((2, 4))},
        {"points": np.zeros((0, 2, 2))},
        {"points": np.full((2, 2, 2), np.nan)},
        {"lines": np.zeros((2, 3, 2))},
        {"own_row": np.ones(3, dtype=bool)},
    ],
)
def test_what_does_not_belong_together_is_refused(asked: dict[str, Any]) -> None:
    points = np.zeros((2, 2, 2))
    release: dict[str, Any] = {"points": points, "lines": points, "labels": np.arange(2), "k": 2}
    with pytest.raises(BadInput, match=NOT_ALIKE):
        Published(**release | asked)
    with pytest.raises(BadInput, match="k must be at least 2"):
        Published(**release | {"k": 1})


def test_an_account_holds_nothing_of_single_trajectories() -> None:
    points = np.array([street(0, 1)] * 3)
    found = known_points(Published(points, points[:1], np.zeros(3, int), 2), tolerance=5.0)
    assert found.account == {
        "name": "2 known points",
        "question": "singling out",
        "knows": "2 points of the target's trajectory, within 5 m",
        "against": "release",
        "k": 2,
        "targets": 3,
        "subjects": 3,
        "expected": pytest.approx(1 / 3),
        "worst_case": pytest.approx(1 / 3),
        "baseline": 0.5,
        "line_found": 1.0,
        "exposed": 0.0,
        "subjects_exposed": 0,
        "groups_at_fault": 0,
        "sampled": False,
    }


def test_what_is_above_1_in_k_is_counted() -> None:
    points = np.array([street(0, 1)] * 4)
    subjects = np.array([7, 7, 7, 9])
    released = known_points(Published(points, points[:1], np.zeros(4, int), 2, subjects))
    assert (released.exposed, released.at_fault.tolist()) == (0.75, [0])
    naked = known_points(alone(points, subjects))
    assert (naked.exposed, naked.at_fault.tolist()) == (0.75, [])
    none = np.empty(0)
    nobody = replace(naked, rates=none, worst=none, line_rates=none, targets=none.astype(int))
    assert nobody.expected == nobody.worst_case == nobody.exposed == 0.0
    assert nobody.account["subjects_exposed"] == 0


def test_subjects_may_be_any_values() -> None:
    random = np.random.default_rng(0)
    points = np.array([40.0, -3.0]) + random.normal(0, 0.01, (60, 5, 2))
    labels = np.repeat(np.arange(12), 5)
    released = np.array([points[labels == group].mean(axis=0) for group in range(12)])
    whose = random.integers(0, 20, 60)
    others: list[NDArray[Any]] = [whose - 10, whose + 0.5, whose.astype(str)]
    found = [
        known_points(Published(points, released, labels, 5, subjects), tolerance=500.0)
        for subjects in (whose, *others)
    ]
    assert found[0].worst.max() > 0.0
    for one in found[1:]:
        assert (one.worst == found[0].worst).all()
        assert (one.rates == found[0].rates).all()


def test_of_very_many_pairs_targets_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    points = 40.0 + np.cumsum(random.normal(0.0, 0.0006, (60, 5, 2)), axis=1)
    city = alone(points, np.arange(60) // 2)
    whole = known_points(city)
    monkeypatch.setattr(attacks_with_points, "_PAIRS", 60 * 20)
    monkeypatch.setattr(attacks_with_points, "_FEWEST", 2)
    some, others = known_points(city), known_points(city, seed=1)
    assert len(some.targets) == len(np.unique(some.targets)) == 20
    np.testing.assert_array_equal(told(some), told(whole)[some.targets])
    np.testing.assert_array_equal(told(known_points(city)), told(some))
    assert set(others.targets.tolist()) != set(some.targets.tolist())
    assert some.sampled
    assert not whole.sampled
    assert some.knows == f"{whole.knows}; tried on 20 of 60, drawn at random"
    assert some.account["targets"] == 20
    monkeypatch.setattr(attacks_with_points, "_PAIRS", 60)
    assert len(known_points(city).targets) == 2
