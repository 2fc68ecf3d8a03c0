"""Somebody who holds all other tracks finds the companions that he can, and takes nobody else."""

import json
from dataclasses import replace

import naive_companions as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_sliding import town, tracks_of
from toy import town as timed_town
from toy import toy

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.loss import group_means
from trajanon.privacy.attack import Published
from trajanon.privacy.companions import Companions, Ranked, Rebuilt, companions, drawn
from trajanon.tracks import TrackPoints, Tracks

SPACING = 100.0
SCALE = metres_of_degrees(np.array(0.0))


def grouped(points: Floats, labels: Ints, k: int, subjects: Ints | None = None) -> Published:
    """A release of means to 7 decimals."""
    means = group_means(points.reshape(len(points), -1), labels)
    return Published(points, np.round(means, 7).reshape(-1, *points.shape[1:]), labels, k, subjects)


def walks(n: int, m: int = 8, seed: int = 0) -> Floats:
    """Ways in equal steps, at the equator."""
    random = np.random.default_rng(seed)
    heading = np.cumsum(random.normal(0.0, 0.7, (n, m)), axis=1) + random.uniform(0, 7, (n, 1))
    hops = SPACING * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    points: Floats = (np.cumsum(hops, axis=1) + random.normal(0.0, 300.0, (n, 1, 2))) / SCALE
    return points


def abreast(*north: float) -> Floats:
    """Straight ways to the east, so many metres to the north."""
    ways = [np.column_stack([np.full(5, way), SPACING * np.arange(5)]) for way in north]
    return np.array(ways) / SCALE


def told(found: Companions | None) -> Companions:
    assert found is not None
    return found


def same(city: Published, tracks: Tracks | None, spacing: float | None = None) -> None:
    found = companions(city, tracks, spacing=spacing, seed=3)
    owners = city.owners if city.subjects is not None or tracks is None else tracks.run
    members = drawn(city.labels, owners, city.k, 3)
    if not len(members):
        assert found is None
        return
    found = told(found)
    outcomes = [naive.tried(city, tracks, some, found.near, spacing) for some in members]
    assert found.groups == len(outcomes)
    assert found.within == np.mean([one.within for one in outcomes])
    for way in ("by_distance", "by_spacing"):
        ranked = [getattr(one, way) for one in outcomes]
        tried = [one for one in ranked if one is not None]
        first, rebuilt = getattr(found, way)
        assert first == pytest.approx(sum(right for right, _ in tried) / len(ranked))
        medians = np.median([off for _, off in tried], axis=0) if tried else None
        assert rebuilt == (None if medians is None else pytest.approx(medians, abs=1e-6))
    for name in ("told", "line"):
        median = np.median([getattr(one, name) for one in outcomes], axis=0)
        assert getattr(found, name) == pytest.approx(median, abs=1e-6)


@given(
    seed=st.integers(0, 9_999),
    k=st.integers(2, 4),
    people=st.sampled_from([None, 3, 6]),
    sets=st.sampled_from([6, 35_000]),
)
def test_it_is_the_slow_twin(seed: int, k: int, people: int | None, sets: int) -> None:
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr("trajanon.privacy.companions._SETS", sets)
        fewer.setattr("trajanon.privacy.companions._LOOKED_AT", 1_000)
        beside_twin(seed, k, people)


def beside_twin(seed: int, k: int, people: int | None) -> None:
    some, random = town(seed, 11, 4), np.random.default_rng(seed)
    tracks = tracks_of(some)
    labels = random.permutation(np.arange(11) // k)
    subjects = None if people is None else tracks.run % people
    city = grouped(some.points, labels, k, subjects)
    same(city, tracks, spacing=SPACING)  # windows
    same(city, None)  # trips


@pytest.mark.parametrize("k", [2, 3, 4])
def test_exact_means_of_equally_spaced_points_betray_the_companions(k: int) -> None:
    points = walks(24)
    city = grouped(points, np.arange(24) // k, k)
    for spacing in (SPACING, None):
        found = told(companions(city, None, spacing=spacing))
        assert (found.groups, found.near, found.within) == (24 // k, 24, 1.0)
        assert found.by_spacing.first == 1.0
        assert found.told.as_left == pytest.approx(0.0, abs=0.1)
        assert found.by_spacing.rebuilt == pytest.approx(found.told)
        assert found.line > 100.0
        assert found.best == found.by_spacing
        assert found.by_distance.first < 1.0


@pytest.mark.parametrize(("k", "near"), [(2, 400), (4, 60), (50, 52), (420, 419)])
def test_as_many_candidates_as_their_sets_allow(k: int, near: int) -> None:
    labels = np.maximum(np.arange(430) - k + 1, 0)  # one group of k
    found = told(companions(grouped(walks(430), labels, k), None))
    assert (found.groups, found.near) == (1, near)
    assert found.by_distance.rebuilt is not None
    assert found.by_spacing.rebuilt is not None


def hidden_and_others(k: int) -> tuple[int, list[int]]:
    """Who is hidden where the first k are the only group of k."""
    hidden, *others = drawn(np.append(np.zeros(k, dtype=int), 1), np.arange(k + 1), k, 0)[0]
    return hidden, others


def runs(run: list[int]) -> Tracks:
    """Runs of which nothing matters but who is on them."""
    each, places = np.array(run), np.arange(max(run) + 2)
    return Tracks(TrackPoints.of(np.zeros((max(run) + 1, 2))), places, each, np.zeros_like(each))


def test_nothing_of_the_hidden_subject_is_a_candidate() -> None:
    """Another way is right on the line: it is taken unless it is the hidden one's own."""
    hidden, _ = hidden_and_others(2)
    for owner, first in ((hidden, 1.0), (2, 0.0)):
        city = grouped(abreast(-30.0, 30.0, 1.0), np.array([0, 0, 1]), 2, np.array([0, 1, owner]))
        assert told(companions(city, None)).by_distance.first == first
        assert told(companions(city, None)).by_spacing.rebuilt is not None
        alone = replace(city, subjects=None)
        assert told(companions(alone, runs([0, 1, owner]))).by_distance.first == first
        assert told(companions(alone, None)).by_distance.first == 0.0


def test_two_of_one_subject_are_never_taken_together() -> None:
    """Between two companions is a way of the nearer one's."""
    north = np.array([-50.0, 10.0, 40.0])  # of the line
    hidden, others = hidden_and_others(3)
    nearer = min(others, key=lambda other: abs(north[other]))
    between = np.abs(north[others]).mean()
    for owner, first in ((nearer, 1.0), (3, 0.0)):
        subjects = np.array([0, 1, 2, owner])
        city = grouped(abreast(*north, between), np.array([0, 0, 0, 1]), 3, subjects)
        assert told(companions(city, None)).by_distance.first == first
    # With one subject besides the hidden one there are no two to take.
    two = np.where(np.arange(4) == hidden, 0, 1)
    city = grouped(abreast(*north, between), np.array([0, 0, 0, 1]), 3, two)
    assert companions(city, None) is None


def test_nothing_is_tried_without_groups_of_k_subjects_or_hops() -> None:
    points, labels = walks(8), np.arange(8) // 4
    assert companions(grouped(points, labels, 4), None) is not None
    assert companions(grouped(points, labels, 3), None) is None
    assert companions(grouped(points, labels, 4, np.arange(8) // 2), None) is None
    assert companions(grouped(points[:, :1], labels, 4), None) is None


def test_a_hundred_groups_of_k_are_drawn_from_a_seed() -> None:
    labels = np.append(np.arange(600) // 3, [0, 0])  # the first group is larger
    members = drawn(labels, np.arange(602), 3, 0)
    assert members.shape == (100, 3)
    of = labels[members]
    assert (of == of[:, :1]).all()
    assert len(np.unique(of[:, 0])) == 100
    assert 0 not in of
    assert np.array_equal(members, drawn(labels, np.arange(602), 3, 0))
    assert not np.array_equal(members, drawn(labels, np.arange(602), 3, 1))
    assert len(np.unique(members[:, 0] % 3)) == 3  # anybody may be hidden


@pytest.mark.usefixtures("far_lines")
def test_page_and_verdict_say_what_came_out() -> None:
    release = trajanon.anonymize(toy(), 2, effort="fast")
    found = trajanon.evaluate(toy(), release)
    held = told(found.companions)
    assert (held.k, held.groups, held.within, held.by_distance.first) == (2, 2, 1.0, 1.0)
    assert held.found + "." in found.facts
    assert held.found.startswith(
        "Somebody who holds the tracks of everybody else finds the other member of a line in "
        "100 % of 2 groups. What is rebuilt of the missing one is "
    )
    assert held.words in found.html
    account = found.account["companions"]
    assert account == json.loads(json.dumps(account)) == held.account
    assert account["by_distance"]["first"] == 1.0
    rarely = replace(held, by_distance=Ranked(0.05, None), by_spacing=Ranked(0.0, held.told))
    good = replace(found, companions=rarely)
    sentence = "finds the other member of a line in 5 % of 2 groups."
    assert any(told.endswith(sentence) for told in good.facts)
    assert good.html.count("<td>–</td>") == found.html.count("<td>–</td>") + 3
    nearer = replace(rarely, by_distance=Ranked(0.05, Rebuilt(30.0, 20.0, 22.0)), line=25.0).found
    assert "What is rebuilt of the missing one is 20 m off in the median (" in nearer
    assert nearer.endswith("; the line itself is 25 m off")
    none = trajanon.evaluate(toy(), trajanon.anonymize(toy(), 3, effort="fast"))
    assert none.companions is none.account["companions"] is None
    assert "holds all other tracks" not in none.html


@pytest.mark.parametrize("k", [2, 3])
def test_departures_are_taken_from_k_times_the_lines(k: int) -> None:
    n = 12
    labels, hours = np.arange(n) // k, np.random.default_rng(k).uniform(20_000, 60_000, n)
    times = np.tile(hours[:, None], (1, 8))
    city = grouped(walks(n), labels, k)
    when = np.array([times[labels == group].mean(axis=0) for group in range(n // k)]) + 100.0
    seen = replace(city, times=times, line_times=when)
    found = told(companions(seen, None, seed=5))
    off = [
        abs(when[labels[some[0]], 0] - hours[some[0]]) for some in drawn(labels, np.arange(n), k, 5)
    ]
    assert found.departure is not None
    assert found.departure.told == pytest.approx(100.0 * k)
    assert found.departure.line == pytest.approx(np.median(off))
    assert told(companions(city, None)).departure is None


def test_the_page_tells_departures_where_times_are_released() -> None:
    some = timed_town(40)
    release = trajanon.anonymize(some, 3, times="of-day", timezone="Etc/UTC", effort="fast")
    found = trajanon.evaluate(some, release)
    held = told(found.companions)
    assert held.departure is not None
    assert "rebuilds the departure of the hidden member to" in found.html
    account = found.account["companions"]
    assert account == json.loads(json.dumps(account))
    assert account["departure"]["told"] == held.departure.told
