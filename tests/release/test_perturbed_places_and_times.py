"""Lines moved smoothly by a secret: as far as they should, and unknown without the key."""

import naive_perturbation as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import member_weights
from trajanon.release import perturbed_places_and_times as perturbation
from trajanon.release.perturbed_places_and_times import (
    LEAST_METRES,
    GroupWidths,
    PublicWidths,
    ToldApart,
    correlation,
    displacement_covariance,
    group_widths,
    largest_shares,
    mu_of,
    odds_of,
    perturbed,
    perturbed_times,
    public_width,
    widths_of_times,
)
from trajanon.trajectories.clock_and_time_zones import DAY, DAY_BEGINS, Clock
from trajanon.trajectories.geodesy import metres_of_degrees

KEY = bytes(range(32))
WIDTH = 120.0
seeds = st.integers(0, 10**6)


def means_of(points: Floats, labels: Ints, people: Ints | None = None) -> Floats:
    records, weights = points.reshape(len(points), -1), member_weights(labels, people)
    return group_means(records, labels, weights).reshape(-1, *points.shape[1:])


def lines_of(
    points: Floats,
    labels: Ints,
    key: bytes = KEY,
    width: float = WIDTH,
    subjects: Ints | None = None,
) -> Floats:
    means = means_of(points, labels, subjects)
    return perturbed(points, means, labels, key, width, subjects)


def town(seed: int, groups: int = 3, size: int = 3, m: int = 8, spread: float = 0.001) -> Floats:
    """Members of groups about ways of their own, group by group."""
    random = np.random.default_rng(seed)
    ways = np.array([41.0, 2.0]) + np.cumsum(random.normal(0.0, 0.002, (groups, 1, m, 2)), axis=2)
    members: Floats = ways + random.normal(0.0, spread, (groups, size, 1, 2))
    members = members + random.normal(0.0, spread / 4.0, (groups, size, m, 2))
    return members.reshape(-1, m, 2)


@given(seed=seeds, m=st.integers(1, 40), people=st.sampled_from([None, 1, 2, 5]))
def test_it_is_the_slow_twin(seed: int, m: int, people: int | None) -> None:
    points, labels = town(seed, m=m), np.repeat(np.arange(3), 3)
    subjects = None if people is None else np.random.default_rng(seed).integers(0, people, 9)
    lines = lines_of(points, labels, subjects=subjects)
    everybody = np.arange(9) if subjects is None else subjects
    for group in range(3):
        here = everybody[labels == group].tolist()
        line = naive.line(points[labels == group], here, KEY, WIDTH * (1.0 / len(set(here))))
        assert np.abs(lines[group] - line).max() < 0.6e-5 + 1e-8


@given(seed=seeds)
def test_a_group_has_the_same_line_whatever_else_is_released(seed: int) -> None:
    points, labels = town(seed), np.repeat(np.arange(3), 3)
    lines = lines_of(points, labels)
    order = np.random.default_rng(seed).permutation(9)
    assert np.array_equal(lines_of(points[order], labels[order]), lines)
    alone = labels == 1
    assert np.array_equal(lines_of(points[alone], np.zeros(3, dtype=np.int64)), lines[1:2])


def displaced(points: Floats, labels: Ints, key: bytes, width: float = WIDTH) -> Floats:
    """Displacements in units of their standard deviation."""
    means = means_of(points, labels)
    degree = metres_of_degrees(means[..., 0].mean())
    metres = (perturbed(points, means, labels, key, width) - means) * degree
    return np.asarray(metres / (width * largest_shares(labels, None))[:, None, None])


def test_another_key_member_or_width_gives_another_displacement() -> None:
    points, labels = town(1), np.repeat(np.arange(3), 3)
    moved = displaced(points, labels, KEY)
    for other_key, width in ((KEY[::-1], WIDTH), (KEY, WIDTH + 1.0)):
        again = displaced(points, labels, other_key, width)
        assert np.abs(again - moved).max(axis=(1, 2)).min() > 0.3
    other = points.copy()
    other[0, 0, 0] += 1e-7  # a centimetre
    again = displaced(other, labels, KEY)
    assert np.abs(again - moved)[0].max() > 0.3
    assert np.allclose(again[1:], moved[1:])


def test_displacements_are_distributed_as_stated_whatever_the_members() -> None:
    groups, m = 4_000, 10
    labels = np.repeat(np.arange(groups), 3)
    stated = displacement_covariance(m, WIDTH) / WIDTH**2
    np.testing.assert_allclose(stated, correlation(m))
    for spread in (0.001, 1e-6):
        moved = displaced(town(2, groups, 3, m, spread), labels, KEY)
        assert np.abs(moved.mean(axis=0)).max() < 0.06
        for axis in range(2):
            measured = moved[..., axis].T @ moved[..., axis] / groups
            assert np.abs(measured - stated).max() < 0.08
        assert np.abs((moved[..., 0] * moved[..., 1]).mean(axis=0)).max() < 0.08


@given(seed=seeds, width=st.floats(-9, 7), lat=st.sampled_from([0.0, 41.0, -89.9999, 89.99999]))
def test_lines_are_on_earth_in_five_decimals(seed: int, width: float, lat: float) -> None:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), [2, 3, 4])
    points = np.array([lat, 179.99999]) + random.normal(0.0, 0.01, (9, 12, 2))
    points = points.clip((-90.0, -180.0), (90.0, 180.0))
    lines = lines_of(points, labels, width=10.0**width)
    assert np.array_equal(lines, np.round(lines, 5))
    assert np.abs(lines[..., 0]).max() <= 90.0
    assert np.abs(lines[..., 1]).max() <= 180.0


def test_copies_of_a_track_are_moved_too() -> None:
    points, labels = np.repeat(town(3)[:1], 4, axis=0), np.zeros(4, dtype=np.int64)
    weights = member_weights(labels, None)
    widths = PublicWidths.of(GroupWidths(group_widths(points, points[:1], labels, weights)))
    assert widths == (LEAST_METRES, 0.0, 0.0)
    moved = lines_of(points, labels, width=widths.places) - points[:1]
    assert 0.5 < np.abs(moved * metres_of_degrees(np.array(41.0))).max() < 5.0 * LEAST_METRES / 4.0


def test_each_person_counts_once() -> None:
    labels, people = np.repeat(np.arange(3), 4), np.array([0, 1, 2, 3, 0, 0, 1, 2, 5, 5, 5, 5])
    assert member_weights(labels, None).tolist() == [0.25] * 12
    assert largest_shares(labels, None).tolist() == [0.25, 0.25, 0.25]
    assert largest_shares(labels, people).tolist() == [0.25, 1.0 / 3.0, 1.0]


@given(seed=seeds)
def test_the_public_width_is_the_median_rounded_up_to_two_digits(seed: int) -> None:
    widths = 10.0 ** np.random.default_rng(seed).uniform(-2.0, 5.0, 7)
    width = public_width(widths, 10.0)
    median = float(np.median(widths))
    assert max(median, 10.0) <= width * (1.0 + 1e-9) < max(1.1 * median, 10.001)
    assert float(f"{width:.2g}") == width
    assert public_width(np.array([width]), 10.0) == width
    assert public_width(np.empty(0), 10.0) == 10.0


def test_widths_are_root_mean_squares_of_people_about_their_mean() -> None:
    points, labels, people = town(5), np.repeat(np.arange(3), 3), np.arange(9) % 4 % 3
    means = means_of(points, labels, people)
    widths = group_widths(points, means, labels, member_weights(labels, people))
    for group in range(3):
        scale = metres_of_degrees(means[group, :, 0].mean())
        away = ((points - means[group]) * scale)[labels == group]
        of_trips, who = (away**2).sum(axis=2).mean(axis=1), people[labels == group]
        of_people = [of_trips[who == person].mean() for person in set(who.tolist())]
        assert widths[group] == pytest.approx(np.sqrt(np.mean(of_people)))


def test_widths_do_not_depend_on_how_many_are_summed_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = town(6)
    labels = np.arange(9) % 3
    given = (points, means_of(points, labels), labels, member_weights(labels, None))
    widths = group_widths(*given)

    monkeypatch.setattr(perturbation, "_TRAJECTORIES_PER_SUM", 2)
    assert group_widths(*given) == pytest.approx(widths)


def test_how_well_a_way_is_told_from_another_is_their_distance_in_widths() -> None:
    assert mu_of(np.array([[3.0, 4.0]]), 2.5) == pytest.approx(2.0, rel=1e-3)
    shift = np.array([[30.0, 0.0], [60.0, -10.0], [0.0, 5.0]])
    exact = np.einsum("ij,ik,kj->", shift, np.linalg.inv(correlation(3)), shift)
    assert mu_of(shift, 120.0) == pytest.approx(np.sqrt(exact) / 120.0)

    assert odds_of(0.0) == 0.5
    assert odds_of(2.0) == pytest.approx(0.841345, abs=1e-6)

    aside = ToldApart.of(8, 120.0)
    east = np.array([[0.0, 100.0]] * 8)
    assert aside == (100.0, mu_of(east, 120.0), odds_of(mu_of(east, 120.0)))


CLOCK = Clock("of-day", "Europe/Madrid", 300)


@given(seed=seeds, dates=st.booleans())
def test_times_are_the_mean_ones_moved_by_the_key(seed: int, dates: bool) -> None:
    random = np.random.default_rng(seed)
    clock = Clock("date", "Europe/Madrid", 60) if dates else CLOCK
    points, labels = town(seed), np.repeat(np.arange(3), 3)
    seconds = random.uniform(DAY_BEGINS, DAY_BEGINS + DAY, (9, 1)) + np.cumsum(
        random.uniform(0.0, 300.0, (9, 8)), axis=1
    )
    seconds[:, 0] = seconds[:, 0].clip(DAY_BEGINS, DAY_BEGINS + DAY)
    widths = PublicWidths(WIDTH, 1_800.0, 90.0)
    people = random.integers(0, 3, 9)
    times = perturbed_times(points, seconds, labels, clock, KEY, widths, people)
    assert np.array_equal(times, clock.rounded(times))
    assert (np.diff(times, axis=1) >= 0.0).all()
    for group in range(3):
        members = labels == group
        here = people[members].tolist()
        right = naive.times(points[members], seconds[members], here, KEY, widths[1:])
        if not dates:
            right += min(max(right[0], DAY_BEGINS), DAY_BEGINS + DAY) - right[0]
        assert np.abs(times[group] - right).max() <= clock.step / 2 + 1e-6


def test_widths_of_times_are_of_departures_and_of_what_comes_after() -> None:
    seconds = np.array([[0.0, 60.0, 120.0], [600.0, 660.0, 840.0]])
    departures, elapsed = widths_of_times(seconds, np.zeros(2, dtype=np.int64), np.full(2, 0.5))
    assert departures.tolist() == [300.0]
    assert elapsed[0] == pytest.approx(np.sqrt((60.0**2) / 3.0))
    assert PublicWidths.of(GroupWidths(np.array([500.0]), departures, elapsed)) == (500, 300, 180)


def test_widths_of_times_are_those_of_people() -> None:
    """The first two trips are one person's, and count together as much as the third."""
    seconds = np.array([[0.0, 60.0, 90.0], [0.0, 60.0, 90.0], [600.0, 720.0, 900.0]])
    labels = np.zeros(3, dtype=np.int64)
    departures, elapsed = widths_of_times(seconds, labels, np.array([0.25, 0.25, 0.5]))
    assert departures.tolist() == [300.0]
    # From the departure on, each of the two is 0, 30 and 105 seconds from their mean.
    assert elapsed[0] == pytest.approx(np.sqrt((30.0**2 + 105.0**2) / 3.0))


def test_departures_stay_within_the_day_and_the_way_takes_as_long() -> None:
    edges = np.repeat([DAY_BEGINS, DAY_BEGINS + DAY], 20)
    seconds = edges[:, None] + np.array([0.0, 300.0, 600.0])
    points = town(9, groups=40, size=1, m=3)
    labels = np.arange(40)
    widths = PublicWidths(WIDTH, 1_800.0, 30.0)
    times = perturbed_times(points, seconds, labels, CLOCK, KEY, widths)

    departs = times[:, 0]
    assert {departs.min(), departs.max()} == {DAY_BEGINS, DAY_BEGINS + DAY}
    assert 5 < np.isin(departs, edges).sum() < 35  # about half would leave the day
    right = np.array(
        [
            naive.times(points[[row]], seconds[[row]], [row], KEY, widths[1:])
            for row in range(len(seconds))
        ]
    )
    assert np.abs(np.diff(times, axis=1) - np.diff(right, axis=1)).max() <= CLOCK.step
