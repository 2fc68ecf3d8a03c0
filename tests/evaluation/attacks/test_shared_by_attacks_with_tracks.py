"""What attacks with tracks share: the noise of lines, who is near a line, and whom they try."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streets_walked import grouped, walked

from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import (
    TARGETS_TRIED,
    KnownTracks,
    Movement,
    Noise,
    groups_drawn,
    targets_drawn,
)


def test_groups_of_every_size_are_drawn_from_a_seed() -> None:
    labels = np.append(np.arange(900) // 3, np.arange(40) % 4)  # the first groups are larger
    groups = groups_drawn(labels, 0)
    assert len(groups) == 200
    assert {len(group) for group in groups} == {3, 13}
    assert all((labels[group] == labels[group[0]]).all() for group in groups)
    assert len({int(labels[group[0]]) for group in groups}) == 200
    assert len({int(group[0] % 3) for group in groups}) == 3  # anybody may be hidden
    for other, same in ((0, True), (1, False)):
        again = groups_drawn(labels, other)
        assert all(map(np.array_equal, groups, again)) == same
    assert len(groups_drawn(np.arange(30) // 3, 0)) == 10  # all of few


def test_whitened_noise_is_of_independent_numbers_of_variance_1() -> None:
    """For a person's share of the line, and with what rounding adds."""
    random = np.random.default_rng(0)
    share, rounded = 0.25, 3.0
    covariance = 40.0**2 * np.exp(-np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 2.0)
    noise = Noise(covariance, rounded)
    drawn = share * random.multivariate_normal(np.zeros(5), covariance, 40_000)
    offsets = (drawn + random.normal(0.0, rounded, drawn.shape))[..., None]
    whitened = noise.whitened(offsets, share)[..., 0]
    assert np.cov(whitened.T) == pytest.approx(np.eye(5), abs=0.03)
    assert noise.covariance_times(2.0, share) == pytest.approx(
        4.0 * (share**2 * covariance + rounded**2 * np.eye(5))
    )


@given(st.integers(0, 99), st.integers(1, 40))
def test_the_nearest_tracks_are_those_of_a_sort(seed: int, count: int) -> None:
    city = grouped(walked(seed, 30, 5), 3)
    tracks = KnownTracks(city)
    for line in range(2):
        squares = ((tracks.points - tracks.lines[line]) ** 2).sum(axis=(1, 2))
        expected = np.lexsort((np.arange(30), squares))[: min(count, 30)]
        found = tracks.nearest(line, count)
        assert squares[found] == pytest.approx(squares[expected])
        assert tracks.squares(found, line) == pytest.approx(squares[found])


def test_members_are_as_far_as_measured_and_never_at_no_distance() -> None:
    city = grouped(walked(0, 30, 5), 3)
    tracks = KnownTracks(city)
    away = (tracks.points - tracks.lines[city.labels]) ** 2
    assert tracks.member_squares == pytest.approx(away.sum(axis=(1, 2)).mean())
    assert tracks.people.tolist() == city.group_sizes.tolist()
    naked = KnownTracks(city.originals)
    assert (naked.member_squares, naked.number_squares) == (0.0, 1.0)


def test_all_of_few_targets_are_tried_once_each() -> None:
    random = np.random.default_rng(0)
    assert sorted(targets_drawn(7, random).tolist()) == [*range(7)]
    assert len(set(targets_drawn(10_000, random).tolist())) == TARGETS_TRIED


def test_the_movement_of_some_is_that_of_their_lines_and_people() -> None:
    noise = Noise(np.eye(3), 0.3)
    whole = Movement(noise, np.array([0.5, 0.25, 0.2]), people=np.array([7, 8, 9, 7]))
    some = whole.of(np.array([1, 3]), np.array([2, 0]))
    assert some.shares.tolist() == [0.2, 0.5]
    assert some.people is not None
    assert some.people.tolist() == [8, 7]
    assert some.places is noise
    assert whole._replace(people=None).of(np.array([1]), np.array([0])).people is None
