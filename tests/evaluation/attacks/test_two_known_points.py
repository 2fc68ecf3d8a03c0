"""Two points known, and their hours: as slow twins find their lines, and by hand."""

from dataclasses import replace
from typing import Any

import naive_attacks as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities, timed_cities
from numpy.typing import NDArray

from trajanon.common import threads_and_dask
from trajanon.common.arrays import Floats
from trajanon.evaluation.attacks import two_known_points
from trajanon.evaluation.attacks.all_attacks import attacks
from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.two_known_points import (
    known_points,
    two_points,
    two_points_and_hours,
)
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR, WEEK

STEP = 0.001
"""Degrees of latitude: 111 m."""


def street(*numbers: float) -> Floats:
    """A trajectory along a meridian, at these numbers of steps."""
    return np.array([[40.0 + STEP * number, -3.0] for number in numbers])


def alone(points: Floats, subjects: Any = None) -> Published:
    """Trajectories published as they are."""
    return Published(points, points, np.arange(len(points)), 2, subjects, "originals")


def one_way(*departures: float, took: float = 600.0, cycle: float = np.inf) -> Published:
    """Trips along one street, published as they are."""
    times = np.array(departures)[:, None] + [0.0, took]
    points = np.tile([[40.0, -3.0], [40.0, -2.99]], (len(departures), 1, 1))
    return replace(alone(points), times=times, line_times=times, cycle=cycle)


def told(found: Attack) -> Floats:
    return np.column_stack([found.rates, found.line_rates, found.worst])


@given(
    st.one_of(cities(), timed_cities()),
    st.sampled_from([0.0, 50.0, 60.0, 130.0, 1e5]),
    st.sampled_from([np.inf, 0.0, 1_800.0, 3_600.0, 1e9]),
)
def test_it_is_the_slow_twin(city: Published, tolerance: float, hour: float) -> None:
    asked = None if city.times is None else hour
    found = known_points(city, tolerance=tolerance, time_tolerance=hour)
    expected = naive.known_points(city, tolerance, asked)
    np.testing.assert_allclose(told(found), expected, rtol=1e-9)


def test_the_nearest_line_is_taken_and_none_beyond_the_tolerance() -> None:
    """The own line passes within 45 m, another within 60."""
    lines = np.array([street(0.4, 1.4), street(0.5, 1.5)])
    seen = replace(alone(lines), points=lines - [0.4 * STEP, 0.0])
    assert known_points(seen, tolerance=60.0).rates[0] == 1.0
    assert known_points(seen, tolerance=40.0).rates[0] == 0.0
    assert (attacks(seen)[0].name, known_points(seen).name) == (
        "both ends, nearest",
        "2 known points",
    )


@pytest.mark.parametrize("latitude", [-89.9, -60.0, 0.0, 89.9])
@pytest.mark.parametrize("longitude", [-179.9, 0.0, 179.9])
def test_metres_are_metres_anywhere(latitude: float, longitude: float) -> None:
    east = 111_320.0 * np.cos(np.radians(latitude))  # metres of a degree, nearly
    here = np.array([[[latitude, longitude]] * 2] * 2)
    for off, rate in ((90.0, 0.5), (110.0, 0.0)):
        lines = here + np.array([0.0, off / east])
        assert known_points(replace(alone(here), lines=lines)).rates.tolist() == [rate] * 2


def test_any_number_of_threads_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    points = 40.0 + random.normal(0.0, 0.01, (200, 5, 2))
    labels = np.arange(200) // 4
    lines = np.array([points[labels == group].mean(axis=0) for group in range(50)])
    city = Published(points, lines, labels, 2, np.arange(200) // 3)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(threads_and_dask, "cores", lambda cores=cores: cores)
        found.append(told(known_points(city, tolerance=500.0)))
    np.testing.assert_array_equal(found[0], found[1])


def test_an_account_holds_nothing_of_single_trajectories() -> None:
    points = np.array([street(0, 1)] * 3)
    found = known_points(Published(points, points[:1], np.zeros(3, int), 2), tolerance=5.0)
    assert found.account == {
        "name": "2 known points",
        "question": "singling out",
        "knows": "2 points of a person's trajectory, within 5 m",
        "against": "release",
        "k": 2,
        "targets": 3,
        "expected": pytest.approx(1 / 3),
        "worst_case": pytest.approx(1 / 3),
        "baseline": 0.5,
        "line_found": 1.0,
        "exposed": 0.0,
        "sampled": False,
    }


def test_what_is_above_1_in_k_is_counted() -> None:
    points = np.array([street(0, 1)] * 4)
    subjects = np.array([7, 7, 7, 9])
    released = known_points(Published(points, points[:1], np.zeros(4, int), 2, subjects))
    assert released.exposed == 0.75
    naked = known_points(alone(points, subjects))
    assert naked.exposed == 0.75
    none = np.empty(0)
    nobody = replace(naked, rates=none, worst=none, line_rates=none, targets=none.astype(int))
    assert nobody.expected == nobody.worst_case == nobody.exposed == 0.0


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


def test_of_many_targets_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    points = 40.0 + np.cumsum(random.normal(0.0, 0.0006, (60, 5, 2)), axis=1)
    city = alone(points, np.arange(60) // 2)
    whole = known_points(city)
    monkeypatch.setattr(two_known_points, "_MOST_TARGETS", 20)
    some, others = known_points(city), known_points(city, seed=1)
    assert len(some.targets) == len(np.unique(some.targets)) == 20
    np.testing.assert_array_equal(told(some), told(whole)[some.targets])
    np.testing.assert_array_equal(told(known_points(city)), told(some))
    assert set(others.targets.tolist()) != set(some.targets.tolist())
    assert some.sampled
    assert not whole.sampled
    assert some.knows == whole.knows  # a certificate repeats it: no number of trajectories


@pytest.mark.parametrize("apart", [3_600.0, 3_601.0])
def test_an_hour_is_an_hour_to_the_second(apart: float) -> None:
    """The line of the other is nearer, but for its hour."""
    city = one_way(30_000.0, 30_000.0 + apart)
    lines = city.points + np.array([[[1e-4]], [[0.0]]])
    rates = known_points(replace(city, lines=lines), time_tolerance=HOUR).rates.tolist()
    assert rates == ([0.0, 1.0] if apart <= HOUR else [1.0, 1.0])


@pytest.mark.parametrize("cycle", [DAY, WEEK])
def test_the_clock_goes_round(cycle: float) -> None:
    """Ten to midnight and ten past are twenty minutes apart, also where a day is a week."""
    city = one_way(cycle - 600.0, 600.0, 7_800.0 + 601.0, took=0.0, cycle=cycle)
    assert known_points(city, time_tolerance=HOUR).rates.tolist() == [0.5, 0.5, 1.0]
    straight = replace(city, cycle=np.inf)
    assert known_points(straight, time_tolerance=HOUR).rates.tolist() == [1.0, 1.0, 1.0]
    # Times beyond the fold count on: 24:10 is ten past midnight.
    beyond = one_way(cycle + 600.0, 600.0, cycle=cycle)
    assert known_points(beyond, time_tolerance=0.0).rates.tolist() == [0.5, 0.5]


def test_what_is_known_is_said() -> None:
    found = known_points(replace(one_way(0.0), unit="trip"), time_tolerance=HOUR)
    assert found.name == "2 known points and their hours"
    assert found.knows == (
        "2 points of a person's trip, and when it was there, within 100 m and 60 min"
    )


@given(timed_cities())
def test_the_suite_asks_for_hours_where_there_are_some(city: Published) -> None:
    told = {one.name for one in attacks(city)} - {one.name for one in attacks(city.originals)}
    assert told >= {"2 known points", "2 known points and their hours"}
    without = [one.name for one in attacks(replace(city, times=None))]
    assert not [name for name in without if "hours" in name]


def test_the_hours_of_a_line_without_times_do_not_rule_it_out() -> None:
    city = one_way(0.0, 5.0 * HOUR, 10.0 * HOUR)
    assert city.times is not None
    line_times = city.times.copy()
    line_times[1] = np.nan
    found = known_points(replace(city, line_times=line_times), time_tolerance=HOUR)
    # Somebody who was there at another hour may also be on the second line.
    assert found.rates.tolist() == [0.5, 1.0, 0.5]


def test_a_line_that_was_moved_farther_is_found_all_the_same() -> None:
    """Lines lie 300 m off, and two hours: whoever looks within 100 m and an hour finds none."""
    points = np.array([street(0, 10), street(100, 110)])
    times = np.array([[0.0, 600.0], [0.0, 600.0]])
    moved = points + np.array([0.0, 0.0035])
    city = replace(alone(points), lines=moved, times=times, line_times=times + 2.0 * HOUR)
    near = known_points(city), known_points(city, time_tolerance=HOUR)
    assert [attack.expected for attack in near] == [0.0, 0.0]
    for attack in (two_points(city), two_points_and_hours(city)):
        assert attack.expected == attack.worst_case == 1.0
        assert "within 500 m" in attack.knows

    # Lines where they were recorded are looked for near by.
    assert "within 100 m" in two_points(alone(points)).knows
