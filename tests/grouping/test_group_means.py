"""Means of groups, of records or of people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_perturbation import mean_of_people

from trajanon.common.arrays import renumbered
from trajanon.grouping import group_means as means_of_groups
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import member_weights

seeds = st.integers(0, 10**6)


@given(seed=seeds, n=st.integers(1, 12), shift=st.sampled_from([0.0, 1e9]))
def test_means_are_the_naive_ones(seed: int, n: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 3)) + shift
    labels = renumbered(rng.integers(0, 4, n))
    for group, mean in enumerate(group_means(records, labels)):
        assert mean == pytest.approx(records[labels == group].mean(axis=0), rel=1e-12)


@given(seed=seeds, n=st.integers(1, 80), groups=st.integers(1, 20))
def test_means_in_parts_are_those_of_the_whole(seed: int, n: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    records, labels = rng.normal(size=(n, 3)), renumbered(rng.integers(0, groups, n))
    whole = group_means(records, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(means_of_groups, "RECORDS_PER_SUM", 7)
        assert np.array_equal(group_means(records, labels), whole)


def test_no_records_have_no_means() -> None:
    none = np.empty(0, dtype=np.int64)
    assert group_means(np.empty((0, 3)), none).shape == (0, 3)


@given(seed=seeds)
def test_means_by_weights_are_means_of_people(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = renumbered(random.integers(0, 4, 20))
    records, people = random.normal(size=(20, 2)), random.integers(0, 6, 20)
    means = group_means(records, labels, member_weights(labels, people))
    for group, mean in enumerate(means):
        here = labels == group
        np.testing.assert_allclose(mean, mean_of_people(records[here], people[here].tolist()))
