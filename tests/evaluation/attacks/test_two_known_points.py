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
from trajanon.evaluation.attacks.two_known_points import two_points
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


@given(cities())
def test_it_is_the_slow_twin(city: Published) -> None:
    expected = naive.known_points(city, by_hour=False)
    np.testing.assert_allclose(told(two_points(city)), expected, rtol=1e-9)


@given(timed_cities(), st.booleans())
def test_with_hours_it_is_the_slow_twin(city: Published, by_hour: bool) -> None:
    found = two_points(city, with_hours=by_hour)
    expected = naive.known_points(city, by_hour=by_hour)
    np.testing.assert_allclose(told(found), expected, rtol=1e-9)


def test_the_nearest_line_is_taken_however_far() -> None:
    """The own line passes within 45 m, another within 60; and both are 2 km away."""
    lines = np.array([street(0.4, 1.4), street(0.5, 1.5)])
    for away in (0.4, 20.0):
        seen = replace(alone(lines), points=lines - [away * STEP, 0.0])
        assert two_points(seen).rates[0] == 1.0
    assert (attacks(seen)[0].name, two_points(seen).name) == (
        "both ends, nearest",
        "2 known points",
    )


def test_it_is_known_which_point_comes_first() -> None:
    """Two people go along one street, in both directions."""
    lines = np.array([street(0, 1, 2), street(2, 1, 0)])
    seen = alone(lines)
    assert two_points(seen).rates.tolist() == [1.0, 1.0]
    assert two_points(seen).knows == "2 points of a person's trajectory and which comes first"


def test_any_number_of_threads_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    points = 40.0 + random.normal(0.0, 0.01, (200, 5, 2))
    labels = np.arange(200) // 4
    lines = np.array([points[labels == group].mean(axis=0) for group in range(50)])
    city = Published(points, lines, labels, 2, np.arange(200) // 3)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(threads_and_dask, "cores", lambda cores=cores: cores)
        found.append(told(two_points(city)))
    np.testing.assert_array_equal(found[0], found[1])


def test_an_account_holds_nothing_of_single_trajectories() -> None:
    points = np.array([street(0, 1)] * 3)
    found = two_points(Published(points, points[:1], np.zeros(3, int), 2))
    assert found.account == {
        "name": "2 known points",
        "question": "singling out",
        "knows": "2 points of a person's trajectory and which comes first",
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
    released = two_points(Published(points, points[:1], np.zeros(4, int), 2, subjects))
    assert released.exposed == 0.75
    naked = two_points(alone(points, subjects))
    assert naked.exposed == 0.75


def test_subjects_may_be_any_values() -> None:
    random = np.random.default_rng(0)
    points = np.array([40.0, -3.0]) + random.normal(0, 0.01, (60, 5, 2))
    labels = np.repeat(np.arange(12), 5)
    released = np.array([points[labels == group].mean(axis=0) for group in range(12)])
    whose = random.integers(0, 20, 60)
    others: list[NDArray[Any]] = [whose - 10, whose + 0.5, whose.astype(str)]
    found = [
        two_points(Published(points, released, labels, 5, subjects))
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
    whole = two_points(city)
    monkeypatch.setattr(two_known_points, "_MOST_TARGETS", 20)
    some = two_points(city)
    assert len(some.targets) == len(np.unique(some.targets)) == 20
    np.testing.assert_array_equal(told(some), told(whole)[some.targets])
    np.testing.assert_array_equal(told(two_points(city)), told(some))
    assert some.sampled
    assert not whole.sampled
    assert some.knows == whole.knows  # a certificate repeats it: no number of trajectories


def test_of_many_points_some_are_known() -> None:
    """The first and the last are always among them."""
    lines = np.array([street(*range(40)), street(*range(1, 41))])
    found = two_points(alone(lines))
    assert found.sampled
    assert two_points(alone(lines[:, :10])).sampled is False
    assert found.worst.tolist() == [1.0, 1.0]


def test_a_minute_counts_as_four_metres() -> None:
    """The line of the other is 45 m nearer at both points, and 10 minutes farther; or 12."""
    for minutes, rate in ((10.0, 0.0), (12.0, 1.0)):
        city = one_way(30_000.0, 30_000.0 + 60.0 * minutes)
        lines = city.points + np.array([[[0.0, 45.0 / 85_400.0]], [[0.0, 0.0]]])
        assert two_points(replace(city, lines=lines), with_hours=True).rates[0] == rate


@pytest.mark.parametrize("cycle", [DAY, WEEK])
def test_the_clock_goes_round(cycle: float) -> None:
    """Ten to midnight and ten past are twenty minutes apart, also where a day is a week."""
    city = one_way(cycle - 600.0, 12_000.0, took=0.0, cycle=cycle)
    # The hour of ten past midnight is nearer to the first of these.
    late = replace(city, times=np.array([[600.0, 600.0]] * 2))
    assert two_points(late, with_hours=True).line_rates.tolist() == [1.0, 0.0]
    straight = replace(late, cycle=np.inf)
    assert two_points(straight, with_hours=True).line_rates.tolist() == [0.0, 1.0]
    # Times beyond the fold count on: 24:10 is ten past midnight.
    beyond = one_way(cycle + 600.0, 600.0, cycle=cycle)
    assert two_points(beyond, with_hours=True).rates.tolist() == [0.5, 0.5]


def test_what_is_known_is_said() -> None:
    found = two_points(replace(one_way(0.0), unit="trip"), with_hours=True)
    assert found.name == "2 known points and their hours"
    assert found.knows == "2 points of a person's trip and when it was there"


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
    found = two_points(replace(city, line_times=line_times), with_hours=True)
    # Somebody who was there at another hour may also be on the second line.
    assert found.rates.tolist() == [0.5, 1.0, 0.5]
