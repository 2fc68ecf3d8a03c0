"""Lines moved smoothly by a secret: as large as they should, and unknown without the key."""

import naive_perturbation as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.loss import group_means
from trajanon.perturbation import (
    SIZE,
    correlation,
    displacement_root,
    group_parts,
    group_spread,
    new_key,
    perturbed,
    perturbed_times,
)
from trajanon.times import BEGINS, DAY, Clock

KEY = bytes(range(32))
seeds = st.integers(0, 10**6)


def means_of(points: Floats, labels: Ints) -> Floats:
    return group_means(points.reshape(len(points), -1), labels).reshape(-1, *points.shape[1:])


def lines_of(
    points: Floats, labels: Ints, key: bytes = KEY, subjects: Ints | None = None
) -> Floats:
    return perturbed(points, means_of(points, labels), labels, key, subjects)


def town(seed: int, groups: int = 3, size: int = 3, m: int = 8, spread: float = 0.001) -> Floats:
    """Members of groups about ways of their own, group by group."""
    random = np.random.default_rng(seed)
    ways = np.array([41.0, 2.0]) + np.cumsum(random.normal(0.0, 0.002, (groups, 1, m, 2)), axis=2)
    members: Floats = ways + random.normal(0.0, spread, (groups, size, 1, 2))
    members = members + random.normal(0.0, spread / 4.0, (groups, size, m, 2))
    return members.reshape(-1, m, 2)


@given(seed=seeds, m=st.integers(1, 40), people=st.sampled_from([None, 2, 5]))
def test_it_is_the_slow_twin(seed: int, m: int, people: int | None) -> None:
    points, labels = town(seed, m=m), np.repeat(np.arange(3), 3)
    subjects = None if people is None else np.random.default_rng(seed).integers(0, people, 9)
    lines = lines_of(points, labels, subjects=subjects)
    for group in range(3):
        held = [1] if subjects is None else np.bincount(subjects[labels == group])
        most = int(np.max(held))
        parts = 3 / most if most < 3 else 3
        line = naive.line(points[labels == group], KEY, parts)
        assert np.abs(lines[group] - line).max() < 0.6e-5 + 1e-8


@given(seed=seeds)
def test_a_group_has_the_same_line_whatever_else_is_released(seed: int) -> None:
    points, labels = town(seed), np.repeat(np.arange(3), 3)
    lines = lines_of(points, labels)
    order = np.random.default_rng(seed).permutation(9)
    assert np.array_equal(lines_of(points[order], labels[order]), lines)
    alone = labels == 1
    assert np.array_equal(lines_of(points[alone], np.zeros(3, dtype=np.int64)), lines[1:2])


def displaced(points: Floats, labels: Ints, key: bytes) -> Floats:
    """Displacements in their own units."""
    means = means_of(points, labels)
    root = displacement_root(group_spread(points, means, labels), group_parts(labels, None))
    degree = metres_of_degrees(means[..., 0].mean())
    metres = (perturbed(points, means, labels, key) - means) * degree
    return np.asarray(np.linalg.solve(root, metres[..., None])[..., 0])


def test_another_key_or_member_gives_another_displacement() -> None:
    points, labels = town(1), np.repeat(np.arange(3), 3)
    moved = displaced(points, labels, KEY)
    assert np.abs(displaced(points, labels, KEY[::-1]) - moved).max(axis=(1, 2)).min() > 0.3
    other = points.copy()
    other[0, 0, 0] += 1e-7  # a centimetre
    again = displaced(other, labels, KEY)
    assert np.abs(again - moved)[0].max() > 0.3
    assert np.allclose(again[1:], moved[1:])


def test_displacements_are_distributed_as_told() -> None:
    groups, m = 4_000, 10
    points, labels = town(2, groups, 3, m), np.repeat(np.arange(groups), 3)
    moved = displaced(points, labels, KEY)
    assert np.abs(moved.mean(axis=0)).max() < 0.06
    for axis in range(2):
        found = moved[..., axis].T @ moved[..., axis] / groups
        assert np.abs(found - correlation(m)).max() < 0.08
    assert np.abs((moved[..., 0] * moved[..., 1]).mean(axis=0)).max() < 0.06


@given(seed=seeds, spread=st.floats(-9, 1), lat=st.sampled_from([0.0, 41.0, -89.9999, 89.99999]))
def test_lines_are_on_earth_in_five_decimals(seed: int, spread: float, lat: float) -> None:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), [2, 3, 4])
    points = np.array([lat, 179.99999]) + random.normal(0.0, 10.0**spread, (9, 12, 2))
    lines = lines_of(points.clip((-90.0, -180.0), (90.0, 180.0)), labels)
    assert np.array_equal(lines, np.round(lines, 5))
    assert np.abs(lines[..., 0]).max() <= 90.0
    assert np.abs(lines[..., 1]).max() <= 180.0


def test_members_that_are_equal_are_not_moved() -> None:
    points = np.repeat(town(3)[:1], 4, axis=0)
    assert np.array_equal(lines_of(points, np.zeros(4, dtype=np.int64))[0], points[0].round(5))


def test_a_subject_of_several_members_counts_for_them() -> None:
    labels, subjects = np.repeat(np.arange(3), 4), np.array([0, 1, 2, 3, 0, 0, 1, 2, 5, 5, 5, 5])
    assert group_parts(labels, None).tolist() == [4.0, 4.0, 4.0]
    assert group_parts(labels, subjects).tolist() == [4.0, 2.0, 4.0]


def test_displacements_spread_as_the_group_does_around_a_point() -> None:
    spread = np.zeros((2, 30, 2, 2))
    spread[0] = np.diag([10_000.0, 0.0])
    spread[1, :10] = np.diag([0.0, 400.0])
    root = displacement_root(spread, np.array([4.0, 5.0]))
    of_each = root @ np.swapaxes(root, -1, -2)
    right = np.diag([9_000.0, 1_000.0]) * (SIZE / 4.0) ** 2
    np.testing.assert_allclose(of_each[0], np.tile(right, (30, 1, 1)), atol=1e-9)
    size = np.trace(of_each[1], axis1=1, axis2=2)
    assert (np.diff(size) <= 1e-9).all()
    assert size[0] == pytest.approx(400.0 * (SIZE / 5.0) ** 2, rel=0.01)
    assert size[-1] < 0.01


def test_keys_are_drawn_by_the_operating_system() -> None:
    keys = {new_key() for _ in range(9)}
    assert len(keys) == 9
    assert {len(key) for key in keys} == {32}


CLOCK = Clock("of-day", "Europe/Madrid", 300)


@given(seed=seeds, dates=st.booleans())
def test_times_are_the_mean_ones_moved_by_the_key(seed: int, dates: bool) -> None:
    random = np.random.default_rng(seed)
    clock = Clock("date", "Europe/Madrid", 60) if dates else CLOCK
    points, labels = town(seed), np.repeat(np.arange(3), 3)
    seconds = random.uniform(BEGINS, BEGINS + DAY, (9, 1)) + np.cumsum(
        random.uniform(0.0, 300.0, (9, 8)), axis=1
    )
    seconds[:, 0] = seconds[:, 0].clip(BEGINS, BEGINS + DAY)
    times = perturbed_times(points, seconds, labels, clock, KEY)
    assert np.array_equal(times, clock.rounded(times))
    assert (np.diff(times, axis=1) >= 0.0).all()
    for group in range(3):
        members, mean = seconds[labels == group], seconds[labels == group].mean(axis=0)
        both = [one.tobytes() for one in np.dstack([points[labels == group], members])]
        numbers = naive.drawn(both, 2, KEY, b"times")
        far = np.abs(members[:, 0] - mean[0]).mean()
        departs = mean[0] + SIZE * far / 3 * numbers[0]
        if not dates:
            departs = min(max(departs, BEGINS), BEGINS + DAY)
        takes = members[:, -1] - members[:, 0]
        longer = takes.mean() + SIZE * np.abs(takes - takes.mean()).mean() / 3 * numbers[1]
        share = min(max(longer / takes.mean(), 0.5), 2.0)
        right = departs + share * (mean - mean[0])
        assert np.abs(times[group] - right).max() <= clock.step / 2 + 1e-6


def test_times_of_one_moment_do_not_go_on() -> None:
    points, labels = town(4), np.repeat(np.arange(3), 3)
    seconds = np.full((9, 8), 36_000.0)
    assert (perturbed_times(points, seconds, labels, CLOCK, KEY) == 36_000.0).all()
