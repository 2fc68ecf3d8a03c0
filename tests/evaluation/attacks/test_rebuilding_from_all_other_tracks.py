"""A hidden member rebuilt on the map of others: of weak writers nearly all; by slow twins."""

from dataclasses import replace
from itertools import pairwise

import naive_verification as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streets_walked import HOP, SCALE, Writer, grouped, plain, walked

from trajanon._kernels.rebuilt_ways import Hops, Places, likeliest_ways
from trajanon.common.arrays import Floats, Ints
from trajanon.evaluation.attacks import rebuilding_from_all_other_tracks as attack
from trajanon.evaluation.attacks.attack import Guessed
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.rebuilding_from_all_other_tracks import WAYS, Ways, rebuilding
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import (
    KnownTracks,
    Movement,
    Noise,
    groups_drawn,
)
from trajanon.evaluation.intervals import Estimate
from trajanon.release.perturbed_places_and_times import (
    correlation,
    displacement_covariance,
    largest_shares,
    perturbed,
)

M, WIDTH = 12, 180.0


def movement(city: Published, covariance: Floats, rounded: float = 0.3) -> Movement:
    return Movement(Noise(covariance, rounded), largest_shares(city.labels, city.subjects))


def told(found: Guessed | None) -> Guessed:
    assert found is not None
    return found


@settings(max_examples=20)
@given(seed=st.integers(0, 99_999), m=st.integers(1, 6))
def test_the_likeliest_way_is_that_of_the_slow_twin(seed: int, m: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 6, m)
    way = np.cumsum(random.normal(0.0, 60.0, (m, 2)), axis=0)
    at, own = [], []
    for point, size in zip(way, sizes, strict=True):
        angle = random.uniform(0.0, 7.0, size)
        place = point + random.normal(0.0, 30.0, (size, 2))
        at.append(np.column_stack([place, np.cos(angle), np.sin(angle)]))
        own.append(random.normal(0.0, 1.0, size))
    seen = way + random.normal(0.0, 20.0, (m, 2))
    factors = np.column_stack([random.normal(0.0, 0.7, (m, 3)), random.uniform(50.0, 900.0, m)])
    white = np.eye(2) + random.normal(0.0, 0.3, (m, 2, 2))
    hop = np.array([70.0, 0.05, 0.2])
    first = np.cumsum(np.append(0, sizes))
    places = Places(np.concatenate(at), np.concatenate(own), first)
    walk = likeliest_ways(places, seen, white, factors, Hops(*hop.tolist()))
    twin = naive.likeliest_ways(at, own, seen, white, factors, hop)
    np.testing.assert_allclose(walk.worth, [worth for row in twin for worth, _ in row])
    for point, row in enumerate(twin):
        for place, (_, way_there) in enumerate(row):
            found, now = [], first[point] + place
            for before in range(point, -1, -1):
                found.append(int(now - first[before]))
                now = walk.back[now]
            assert found[::-1] == way_there


@given(seed=st.integers(0, 999), most=st.sampled_from([3, 100_000]))
def test_the_map_has_the_cells_and_headings_of_the_slow_twin(seed: int, most: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 6, 4)
    owner = random.integers(0, 3, 4)
    points = random.normal(0.0, 60.0, (int(sizes.sum()), 2))
    points[1] = points[0]  # somebody stands still
    first = np.cumsum(np.append(0, sizes))
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(attack, "_HOPS_PER_BATCH", most)
        plan = attack._Map(Ways(points, first, owner))
    ways = [(points[a:b], int(who)) for (a, b), who in zip(pairwise(first), owner, strict=True)]
    low = points.min(axis=0)
    twin = naive.cells(ways, low, 12.0)
    assert len(plan.poses) == len(twin)
    for at, count, sole in zip(plan.poses, np.exp(plan.log_ways), plan.only_owner, strict=True):
        row, column = np.floor((at[:2] - low) / 12.0).astype(int)
        heading = round(np.arctan2(at[3], at[2]) / (2.0 * np.pi) * 16) % 16
        passed = twin[int(row), int(column), heading]
        assert count == pytest.approx(len({number for number, _ in passed}))
        owners = {who for _, who in passed}
        assert sole == (owners.pop() if len(owners) == 1 else attack._SEVERAL_PEOPLE)


@given(seed=st.integers(0, 999), reach=st.floats(1.0, 200.0), most=st.sampled_from([20, 5_000]))
def test_cells_near_a_place_are_those_at_the_distance(seed: int, reach: float, most: int) -> None:
    random = np.random.default_rng(seed)
    points = random.normal(0.0, 60.0, (30, 2))
    plan = attack._Map(Ways(points, np.array([0, 15, 30]), np.array([0, 1])))
    at = random.normal(0.0, 120.0, 2)
    away = np.hypot(*(plan.poses[:, :2] - at).T)
    count = (away <= reach).sum()
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(attack, "_PLACES_NEAR", most)
        near = plan.near(at, reach)
    within = reach * min(most / max(count, 1), 1.0) ** 0.5
    assert near.tolist() == np.flatnonzero(away <= within).tolist()


def smooth(points: Floats, means: Floats, labels: Ints) -> Floats:
    return perturbed(points, means, labels, bytes(range(32)), WIDTH)


def hardly(points: Floats, means: Floats, labels: Ints) -> Floats:
    """A quarter of the movement."""
    return perturbed(points, means, labels, bytes(32), WIDTH / 4.0)


def in_boxes(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Each line is put on a grid of 40 m."""
    return np.round(np.round(means * SCALE / 40.0) * 40.0 / SCALE, 5)


def rebuilt(
    writer: Writer, covariance: Floats, rounded: float = 0.3, *, known: bool = True
) -> Guessed:
    city = grouped(walked(5, 160, M), 4, writer=writer)
    ways = Ways.of(city.points, city.owners)
    how = movement(city, covariance, rounded)
    return told(rebuilding(city, how, ways, spacing=HOP if known else None)[0])


PLAIN = np.zeros((M, M))


def test_weak_writers_are_caught() -> None:
    ours = rebuilt(smooth, displacement_covariance(M, WIDTH))
    assert ours.share.value > 0.6
    assert rebuilt(plain, PLAIN).share.high < 0.05
    assert rebuilt(in_boxes, PLAIN, 12.0).share.high < 0.4
    less = rebuilt(hardly, displacement_covariance(M, WIDTH / 4.0))
    assert less.share.high < ours.share.low


def test_the_length_of_hops_need_not_be_known() -> None:
    assert rebuilt(in_boxes, PLAIN, 12.0, known=False).share.value < 0.4


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 999), k=st.integers(2, 3), known=st.booleans(), timed=st.booleans())
def test_what_is_rebuilt_is_that_of_the_slow_twin(
    seed: int, k: int, known: bool, timed: bool
) -> None:
    with pytest.MonkeyPatch.context() as fewer:  # places, so that the twin can try all
        fewer.setattr(attack, "_REACH", 0.1)
        beside_twin(seed, k, known, timed)


def beside_twin(seed: int, k: int, known: bool, timed: bool) -> None:
    random = np.random.default_rng(seed)
    city = grouped(walked(seed, 10, 5, blocks=2), k, writer=smooth)
    city = replace(city, subjects=random.integers(0, 9, 10))
    places, seconds = displacement_covariance(5, WIDTH), 300.0**2 * correlation(5)
    how = movement(city, places)
    if timed:
        times, of_lines = random.uniform(0.0, 900.0, (10, 5)), random.uniform(0.0, 900.0, (9, 5))
        city = replace(city, times=times, line_times=of_lines[: len(city.lines)])
        how = how._replace(times=Noise(seconds, 90.0))
    ways = Ways.of(city.points, city.owners)
    found, late = rebuilding(city, how, ways, spacing=HOP if known else None, seed=7)

    tracks = KnownTracks(city)
    low = tracks.points.min(axis=(0, 1))
    passed = naive.cells(list(zip(tracks.points, city.owners.tolist(), strict=True)), low, 12.0)
    off, times_off = [], []
    for members in groups_drawn(city.labels, 7):
        line, size = int(city.labels[members[0]]), len(members)
        noise = size**2 * naive.covariance(places, how.shares[line], 0.3)
        hidden, *others = members
        guesses = naive.rebuilt(
            tracks.lines[line],
            tracks.points[others],
            noise,
            passed,
            low,
            int(city.owners[hidden]),
            HOP if known else None,
        )
        truth = tracks.points[hidden]
        of_each = [np.hypot(*(way - truth).T).mean() for way in (*guesses, tracks.lines[line])]
        off.append(of_each)
        if city.times is not None and city.line_times is not None:
            noise = size**2 * naive.covariance(seconds, how.shares[line], 90.0)
            when = naive.rebuilt_times(city.line_times[line], city.times[others], noise)
            both = [*when, city.line_times[line]]
            times_off.append([np.abs(each - city.times[hidden]).mean() for each in both])
    *right, of_line = np.median(off, axis=0)
    assert told(found).targets == len(off)
    for way, error in zip(WAYS, right, strict=True):
        assert told(found).off[way].median.value == pytest.approx(error, rel=1e-6)
    assert told(found).line.median.value == pytest.approx(of_line)
    if not timed:
        assert late is None
        return
    left, smoothed, of_line = np.median(times_off, axis=0)
    assert told(late).off["left"].median.value == pytest.approx(left)
    assert told(late).off["smooth"].median.value == pytest.approx(smoothed)
    assert told(late).line.median.value == pytest.approx(of_line)


def test_without_a_map_nothing_better_than_the_smooth_way_is_found() -> None:
    city = grouped(walked(2, 12, 5), 3, writer=smooth)
    far = Ways.of(city.points[:1] + 1.0, np.array([99]))
    how = movement(city, displacement_covariance(5, WIDTH))
    off = told(rebuilding(city, how, far)[0]).off
    assert off["on_map"] == off["between"] == off["smooth"]


def test_times_are_rebuilt_from_lines_that_hold_their_plain_means() -> None:
    city = grouped(walked(3, 40, 5), 4, writer=smooth)
    times = np.random.default_rng(0).uniform(0.0, 9_000.0, (40, 1)) + 60.0 * np.arange(5)
    of_lines = np.stack([times[city.labels == g].mean(axis=0) for g in range(len(city.lines))])
    city = replace(city, times=times, line_times=of_lines)
    ways = Ways.of(city.points, city.owners)
    how = movement(city, displacement_covariance(5, WIDTH))
    plain_means = how._replace(times=Noise(np.zeros((5, 5)), 1.0))
    assert told(rebuilding(city, plain_means, ways)[1]).share.high < 0.01
    moved = np.random.default_rng(1).normal(0.0, 900.0, (len(of_lines), 1))
    city, late = replace(city, line_times=of_lines + moved), 16.0 * 900.0**2 * np.ones((5, 5))
    assert told(rebuilding(city, how._replace(times=Noise(late, 1.0)), ways)[1]).share.low > 0.3


def test_words() -> None:
    off = {"left": np.full(9, 200.0), "on_map": np.full(9, 80.0)}
    found = Guessed.of("the others", off, np.full(9, 100.0))
    assert (found.best, found.targets) == (found.off["on_map"], 9)
    assert found.best.median == found.best.mean == Estimate(80.0, 80.0, 80.0)
    assert found.words == (
        "Anyone who knows the others is off by 80 m in the median of 9 cases; the line itself is "
        "off by 100 m. That leaves 80 % (80 % to 80 %) of its error."
    )
    late = Guessed.of("when", {"left": np.full(9, 300.0)}, np.full(9, 600.0), timed=True)
    assert (
        "is off by 5 min in the median of 9 cases; the line itself is off by 10 min" in late.words
    )
    exact = Guessed.of("all", {"left": np.zeros(9)}, np.zeros(9))
    assert exact.share.value == 0.0
