"""Intervals of 90 % for means in clusters, for risks, and for how well members are found."""

from dataclasses import astuple

import naive_holdout as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Ints
from trajanon.evaluation.intervals import (
    area_under_curve,
    estimated,
    median,
    rate_with_interval,
    risk,
    share_of,
    variance_of_mean,
)


@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 99))
def test_clusters_of_one_size_have_the_variance_of_the_jackknife(
    clusters: int, size: int, seed: int
) -> None:
    values = np.random.default_rng(seed).integers(0, 3, clusters * size).astype(float)
    of = np.arange(clusters * size) % clusters
    assert variance_of_mean(values, of) == pytest.approx(naive.jackknife(values, of))


def test_distances_tell_who_is_in_it_only_where_they_differ() -> None:
    subjects, members = np.arange(40), np.arange(40) < 20
    rng = np.random.default_rng(0)
    away = rng.normal(100.0, 10.0, 40)
    for moved, auc in ((-100.0, 1.0), (100.0, 0.0)):
        assert area_under_curve(away + moved * members, members, subjects).value == auc
    assert area_under_curve(np.ones(40), members, subjects).value == 0.5
    alike = area_under_curve(away, members, subjects)
    assert alike.low < 0.5 < alike.high
    # The same answers, each counted twice, make no estimate surer.
    twice = area_under_curve(np.tile(away, 2), np.tile(members, 2), np.tile(subjects, 2))
    assert astuple(twice) == pytest.approx(astuple(alike))


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(300):
        people = np.repeat(np.arange(80), 3)
        main, control = ((rng.random(80) < share)[people].astype(float) for share in (0.6, 0.3))
        told = risk(main, control, people, people)
        held += told.low <= (0.6 - 0.3) / 0.7 <= told.high
    assert 0.85 < held / 300 < 0.96


@pytest.mark.parametrize(
    ("main", "control", "beyond"), [(1.0, 1.0, 0.0), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0)]
)
def test_risks_at_their_ends_are_not_certain(main: float, control: float, beyond: float) -> None:
    people: Ints = np.arange(10)
    told = risk(np.full(10, main), np.full(10, control), people, people)
    assert told.risk == beyond
    assert told.low < told.high <= 1.0
    assert told.low <= beyond <= told.high


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.7])
def test_a_rate_that_three_people_share_is_not_certain(rate: float) -> None:
    """A mean of 0.1 is off by rounding, which is no variance of people."""
    estimate = rate_with_interval(np.full(3, rate), np.arange(3))
    assert estimate.high - estimate.low > 0.5


def test_intervals_of_shares_hold_the_truth_as_often_as_they_say() -> None:
    random, held = np.random.default_rng(2), np.zeros(2)
    for _ in range(200):
        share = share_of(random.random(60) < 0.3)
        middle = estimated(median, random.exponential(1.0, 60))
        held += [share.low <= 0.3 <= share.high, middle.low <= np.log(2.0) <= middle.high]
    assert ((held / 200 > 0.84) & (held / 200 < 0.96)).all()
    always = share_of(np.ones(20, np.bool_))
    assert (always.value, always.high) == (1.0, 1.0)
    assert always.low == pytest.approx(0.905, abs=0.01)
    assert share_of(np.zeros(20, np.bool_)).low == 0.0
