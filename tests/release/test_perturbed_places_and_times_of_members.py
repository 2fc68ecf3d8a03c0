"""Who is in a group is not told by its times: of 121 sets, the right one is seldom the best."""

from typing import NamedTuple

import numpy as np
import pytest

from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.group_means import group_means
from trajanon.release.perturbed_places_and_times import (
    GroupWidths,
    PublicWidths,
    perturbed_times,
    times_correlation,
    widths_of_times,
)
from trajanon.trajectories.clock_and_time_zones import HOUR, Clock

GROUPS, K, M, NEAR, STEP = 150, 4, 30, 30, 60


class Town(NamedTuple):
    """Trips of a morning, in groups of those that depart one after another."""

    points: Floats
    seconds: Floats
    labels: Ints
    widths: PublicWidths


@pytest.fixture(scope="module")
def town() -> Town:
    random = np.random.default_rng(0)
    count = GROUPS * K
    departures = np.sort(random.uniform(5 * HOUR, 20 * HOUR, count))
    stops = random.exponential(20.0, (count, M - 1)) * (random.random((count, M - 1)) < 0.3) * 4.0
    elapsed = np.cumsum(random.uniform(15.0, 40.0, (count, M - 1)) + stops, axis=1)
    seconds = departures[:, None] + np.column_stack([np.zeros(count), elapsed])
    labels = np.repeat(np.arange(GROUPS), K)
    weights = np.full(count, 1.0 / K)
    of_groups = widths_of_times(seconds, labels, weights)
    widths = PublicWidths.of(GroupWidths(np.full(GROUPS, 100.0), *of_groups))
    return Town(random.uniform(40.0, 41.0, (count, M, 2)), seconds, labels, widths)


def found(town: Town, times: Floats, covariance: Floats) -> float:
    """The share of groups of which the right members are the likeliest.

    One member of each is exchanged with each of 30 others that depart at about the same time; the
    adversary knows how times are moved and rounded.
    """
    inverse = np.linalg.inv(covariance + STEP**2 / 12.0 * np.eye(M))
    right = 0
    for group in range(GROUPS):
        members = np.flatnonzero(town.labels == group)
        apart = np.abs(town.seconds[:, 0] - town.seconds[members, 0].mean())
        apart[members] = np.inf
        others = np.argsort(apart)[:NEAR]
        total = town.seconds[members].sum(axis=0)
        exchanged = total - town.seconds[members, None] + town.seconds[others]
        sets = np.concatenate([total[None], exchanged.reshape(-1, M)]) / K
        away = times[group] - sets
        squares = np.einsum("si,ij,sj->s", away, inverse, away)
        right += int(squares[0] < squares[1:].min())
    return right / GROUPS


def test_times_alone_do_not_tell_who_is_in_a_group(town: Town) -> None:
    clock = Clock("of-day", "Europe/Madrid", STEP)
    moved = perturbed_times(
        town.points, town.seconds, town.labels, clock, bytes(range(32)), town.widths
    )
    departures = np.full((M, M), town.widths.departures**2)
    elapsed = town.widths.elapsed**2 * times_correlation(M)
    # Of cab trips, which stop less at random, it is 2 %.
    assert found(town, moved, (departures + elapsed) / K**2) < 0.15
    plain = clock.rounded(group_means(town.seconds, town.labels))
    assert found(town, plain, np.zeros((M, M))) > 0.9
