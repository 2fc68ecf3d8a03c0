"""Lines that are verified by likelihood: those of weak writers all, and by the slow twin."""

from dataclasses import replace

import naive_verification as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streets_walked import SCALE, Writer, grouped, plain, walked

from trajanon.common.arrays import Floats, Ints
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import KnownTracks, Movement, Noise
from trajanon.evaluation.attacks.verification_with_all_tracks import (
    Verified,
    members_of,
    verification,
)
from trajanon.evaluation.intervals import Estimate
from trajanon.grouping.k_promise import member_weights
from trajanon.release.perturbed_places_and_times import (
    correlation,
    displacement_covariance,
    largest_shares,
    perturbed,
)

M, WIDTH, LATE = 12, 180.0, 300.0


def smooth(points: Floats, means: Floats, labels: Ints) -> Floats:
    return perturbed(points, means, labels, bytes(range(32)), WIDTH)


def movement(city: Published, covariance: Floats, rounded: float = 0.3) -> Movement:
    shares = largest_shares(city.labels, city.subjects)
    return Movement(Noise(covariance, rounded), shares, people=city.subjects)


def told(city: Published, how: Movement) -> Verified:
    found = verification(city, how)
    assert found is not None
    return found


def with_times(city: Published, seed: int) -> Published:
    """Times of each at the same speed, and of lines those of their members, a minute off."""
    random = np.random.default_rng(seed)
    begin = random.uniform(0.0, 3_000.0, (len(city.points), 1))
    times = begin + 60.0 * np.arange(city.points.shape[1])
    of_lines = np.stack([times[city.labels == g].mean(axis=0) for g in range(len(city.lines))])
    return replace(city, times=times, line_times=of_lines + random.normal(0.0, 60.0))


@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 9_999),
    k=st.integers(2, 4),
    people=st.sampled_from([None, 5]),
    timed=st.booleans(),
)
def test_it_is_the_slow_twin(seed: int, k: int, people: int | None, timed: bool) -> None:
    city = grouped(walked(seed, 9, 5), k, writer=smooth)
    if people is not None:
        city = replace(city, subjects=np.random.default_rng(seed).integers(0, people, 9))
    if timed:
        city = with_times(city, seed)
    places, seconds = displacement_covariance(5, WIDTH), LATE**2 * correlation(5)
    how = movement(city, places)
    if timed:
        how = how._replace(times=Noise(seconds, 90.0))
    tracks = KnownTracks(city)
    off = np.mean((tracks.points - tracks.lines[city.labels]) ** 2)
    late = 0.0
    if city.times is not None and city.line_times is not None:
        late = float(np.mean((city.times - city.line_times[city.labels]) ** 2))
    for number, share in enumerate(how.shares.tolist()):
        size = int(city.group_sizes[number])
        line = naive.Line(
            at=tracks.lines[number],
            when=None if city.line_times is None else city.line_times[number],
            points=tracks.points,
            times=city.times,
            owners=city.owners,
            size=size,
            apart=len({*city.owners[city.labels == number].tolist()}) == size,
            places=naive.covariance(places, share, 0.3),
            seconds=naive.covariance(seconds, share, 90.0) if timed else None,
            square=float(off),
            pace=float(max(np.sqrt(off), 1.0) / max(np.sqrt(late), 1.0)),
        )
        city_rows = sorted(range(9), key=lambda row: naive.away(line, row))
        best, sure = naive.members_of(line, city_rows)
        found, found_sure = members_of(tracks, how, number)
        assert set(found.tolist()) == best
        assert found_sure == sure


def by_a_constant(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Each line is moved as a whole, by the width over the members, in any direction."""
    angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, len(means))
    far = WIDTH / np.bincount(labels)
    moved = (far * np.array([np.cos(angle), np.sin(angle)])).T / SCALE
    return np.asarray(np.round(means + moved[:, None], 5))


def in_boxes(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Each line is put on a grid of 40 m."""
    return np.round(np.round(means * SCALE / 40.0) * 40.0 / SCALE, 5)


POINTS = walked(5, 400, M)


@pytest.fixture(scope="module")
def ours() -> Verified:
    city = grouped(POINTS, 6, writer=smooth)
    return told(city, movement(city, displacement_covariance(M, WIDTH)))


@pytest.mark.parametrize(
    ("writer", "covariance", "rounded"),
    [
        (plain, np.zeros((M, M)), 0.3),
        (by_a_constant, 0.5 * WIDTH**2 * np.ones((M, M)), 0.3),
        (in_boxes, np.zeros((M, M)), 12.0),
    ],
)
def test_weak_writers_are_caught(
    writer: Writer, covariance: Floats, rounded: float, ours: Verified
) -> None:
    city = grouped(POINTS, 6, writer=writer)
    found = told(city, movement(city, covariance, rounded))
    assert found.wrong < 0.05
    assert found.right.value > 0.9
    assert ours.verified.value < 0.9  # nobody can be certain


def test_people_with_several_trips_are_found_by_what_they_count() -> None:
    """Lines are exact means of people, of whom one has several trips in each."""
    city = grouped(POINTS[:120], 5)
    order = np.argsort(city.labels, kind="stable")
    subjects = np.empty(120, dtype=np.int64)
    subjects[order] = np.arange(120)
    first = np.searchsorted(city.labels[order], np.arange(len(city.lines)))
    subjects[order[first + 1]] = subjects[order[first]]
    weights = member_weights(city.labels, subjects)
    lines = np.zeros_like(city.lines)
    np.add.at(lines, city.labels, weights[:, None, None] * city.points)
    city = replace(city, lines=np.round(lines, 5), subjects=subjects)
    how = movement(city, np.zeros((M, M)))
    assert told(city, how).right.value > 0.9
    assert told(city, how._replace(people=None)).right.value < 0.5  # as if trips counted alike


def test_released_times_tell_members_apart() -> None:
    """Where everybody goes one way, times alone do."""
    points = np.broadcast_to(POINTS[:1], (60, M, 2)).copy()
    city = replace(grouped(POINTS[:60], 4), points=points)
    city = replace(city, lines=points[: len(city.lines)])
    random = np.random.default_rng(1)
    departs = 400.0 * city.labels[:, None] + random.normal(0.0, 200.0, (60, 1))
    times = departs + 60.0 * np.arange(M)
    means = np.stack([times[city.labels == g].mean(axis=0) for g in range(len(city.lines))])
    how = movement(city, np.zeros((M, M)))
    # Nothing is to be seen in the places.
    assert told(city, how).right.value < 0.2
    city = replace(city, times=times, line_times=means)
    exact = told(city, how._replace(times=Noise(np.zeros((M, M)), 1.0)))
    assert exact.right.value > 0.9
    moved = replace(city, line_times=means + random.normal(0.0, 100.0, (len(means), 1)))
    late = Noise(np.full((M, M), 400.0**2), 1.0)
    assert told(moved, how._replace(times=late)).right.high < exact.right.low


def test_words() -> None:
    found = Verified(200, Estimate(0.7, 0.65, 0.75), Estimate(0.5, 0.44, 0.56), 0.02)
    assert found.words == (
        "Somebody who holds all tracks, and knows how lines are moved, finds the people of "
        "70 % (65 % to 75 %) of 200 lines. This adversary is sure of 50 % (44 % to 56 %), and "
        "wrong in 2 % of these."
    )


def test_nothing_is_said_of_sure_lines_where_there_are_none() -> None:
    nothing = Estimate(0.0, 0.0, 0.01)
    assert Verified(200, nothing, nothing, 0.0).words.endswith("is sure of 0 % (0 % to 1 %).")
