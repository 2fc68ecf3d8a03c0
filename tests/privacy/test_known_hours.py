"""Adversaries who also know the hour of what they know."""

from dataclasses import replace
from typing import Any

import naive_attacks as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities, timed_cities

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.privacy import known_points as attack
from trajanon.privacy.attack import NOT_ALIKE, Attack, Published
from trajanon.privacy.linkage import attacks

HOUR, DAY, WEEK = 3_600.0, 86_400.0, 604_800.0


def known_points(*asked: Any, **options: Any) -> Attack:
    """The adversary who picks a row of any line that fits."""
    return attack.known_points(*asked, **options).evenly


def known_ends(*asked: Any, **options: Any) -> Attack:
    return attack.known_ends(*asked, **options).evenly


def told(found: Attack) -> Floats:
    return np.column_stack([found.rates, found.line_rates, found.worst])


def one_way(*departures: float, cycle: float = np.inf) -> Published:
    """Trips along one street, ten minutes long, published as they are."""
    points = np.tile([[40.0, -3.0], [40.0, -2.99]], (len(departures), 1, 1))
    times = np.array(departures)[:, None] + [0.0, 600.0]
    own = np.arange(len(departures))
    return Published(
        points, points, own, 2, own, "originals", times=times, line_times=times, cycle=cycle
    )


@given(
    timed_cities(),
    st.sampled_from([0.0, 60.0, 130.0, 1e9]),
    st.sampled_from([0.0, 1_800.0, HOUR, 1e9]),
    st.booleans(),
    st.integers(1, 2),
)
def test_it_is_the_slow_twin(
    city: Published, tolerance: float, hour: float, order: bool, known: int
) -> None:
    for seen in (city, city.originals):
        points = attack.known_points(seen, known, tolerance=tolerance, order=order, hour=hour)
        both_ends = attack.known_ends(seen, tolerance=tolerance, hour=hour)
        for found, ends, nearest in zip(points, both_ends, (False, True), strict=True):
            expected = naive.known_points(seen, known, tolerance, order, hour, nearest=nearest)
            np.testing.assert_allclose(told(found), expected, rtol=1e-12, atol=0.0)
            expected = naive.known_ends(seen, tolerance, hour, nearest=nearest)
            rates = np.column_stack([ends.rates, ends.line_rates])
            np.testing.assert_allclose(rates, expected, rtol=1e-12, atol=0.0)


@given(timed_cities(), st.booleans())
def test_where_one_choice_is_all_who_draws_is_the_slow_twin(city: Published, order: bool) -> None:
    known = city.points.shape[1]
    found = known_points(city, known, tolerance=130.0, order=order, hour=HOUR, sample=3)
    expected = naive.known_points(city, known, 130.0, order, HOUR)
    np.testing.assert_allclose(told(found), expected, rtol=1e-12, atol=0.0)


@given(timed_cities(), st.integers(1, 3), st.booleans())
def test_who_asks_for_no_hour_finds_what_he_found_without_times(
    city: Published, known: int, order: bool
) -> None:
    known = min(known, city.points.shape[1])
    without = replace(city, times=None, line_times=None, cycle=np.inf)
    found, expected = (told(known_points(one, known, order=order)) for one in (city, without))
    np.testing.assert_array_equal(found, expected)


@given(timed_cities())
def test_an_hour_tells_no_less_of_the_originals(city: Published) -> None:
    """Against them the target's own points always pass, and others only drop out."""
    city = replace(city, subjects=None)
    for known in (1, 2):
        without = known_points(city.originals, known)
        timed = known_points(city.originals, known, hour=HOUR)
        assert (timed.rates >= without.rates - 1e-12).all()
        assert (timed.worst >= without.worst - 1e-12).all()


def test_an_hour_is_an_hour_to_the_second() -> None:
    hour = HOUR
    for apart, chance in ((hour, 0.5), (hour + 1.0, 1.0), (-hour, 0.5), (-hour - 1.0, 1.0)):
        city = one_way(30_000.0, 30_000.0 + apart)
        found = known_points(city, 2, hour=hour)
        assert found.rates.tolist() == [chance, chance]
        assert known_ends(city, hour=hour).rates.tolist() == [chance, chance]
        assert known_points(city, 2).rates.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("cycle", [DAY, WEEK])
def test_the_clock_goes_round(cycle: float) -> None:
    """Ten to midnight and ten past are twenty minutes apart, also where a day is a week."""
    city = one_way(cycle - 600.0, 600.0, 7_800.0 + 601.0, cycle=cycle)
    assert known_points(city, 1, hour=HOUR).rates.tolist() == [0.5, 0.5, 1.0]
    straight = replace(city, cycle=np.inf)
    assert known_points(straight, 1, hour=HOUR).rates.tolist() == [1.0, 1.0, 1.0]
    # Times beyond the fold count on: 24:10 is ten past midnight.
    beyond = one_way(cycle + 600.0, 600.0, cycle=cycle)
    assert known_points(beyond, 1, hour=0.0).rates.tolist() == [0.5, 0.5]


def test_the_hour_is_that_of_the_very_point() -> None:
    """Both pass both ends within the hour, but one end of each at another hour."""
    city = one_way(30_000.0, 30_000.0)
    slow = np.array([[30_000.0, 30_600.0], [30_000.0, 40_000.0]])
    city = replace(city, times=slow, line_times=slow)
    assert known_points(city, 1, hour=HOUR).rates.tolist() == [0.75, 0.75]
    assert known_points(city, 2, hour=HOUR).rates.tolist() == [1.0, 1.0]


def test_what_is_known_is_said() -> None:
    found = known_points(replace(one_way(0.0), unit="trip"), 2, tolerance=100.0, hour=HOUR)
    assert found.name == "2 known points and their hours"
    assert found.knows == (
        "2 points of the target's trip, and when it was there, within 100 m and 60 min"
    )
    assert known_ends(one_way(0.0), hour=1_800.0).name == "both ends and their hours"


@given(cities())
def test_the_suite_asks_for_hours_where_there_are_some(city: Published) -> None:
    names = [one.name for one in attacks(city)]
    assert not [name for name in names if "hours" in name]
    times, line_times = (np.zeros(each.shape[:2]) for each in (city.points, city.lines))
    timed = replace(city, times=times, line_times=line_times, cycle=DAY)
    for seen in (timed, timed.originals):
        found = [one.name for one in attacks(seen)]
        few = ["4 known points and their hours"] * (city.points.shape[1] >= 4)
        asked = ["2 known points and their hours", *few, "both ends and their hours"]
        forms = [f"{name}{how}" for name in asked for how in ("", ", nearest")]
        assert found[-len(forms) :] == forms
        assert found[: -len(forms)] == [one.name for one in attacks(replace(seen, times=None))]


@pytest.mark.parametrize(
    "change",
    [{"times": np.zeros((2, 3))}, {"line_times": np.zeros(2)}, {"times": np.full((2, 2), np.nan)}],
)
def test_what_cannot_be_used_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=NOT_ALIKE):
        replace(one_way(0.0, 1.0), **change)
