"""The information a partition loses: squares, their sum, and its share."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import renumbered
from trajanon.grouping import group_means as means_of_groups
from trajanon.grouping import loss
from trajanon.grouping.standardised_records import RECORDS_PER_SUM

seeds = st.integers(0, 10**6)


@given(seed=seeds, n=st.integers(1, 12), shift=st.sampled_from([0.0, 1e9]))
def test_the_sse_is_the_naive_one(seed: int, n: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 3)) + shift
    labels = renumbered(rng.integers(0, 4, n))
    assert loss.sse(records, labels) == pytest.approx(
        naive.sse(records - shift, labels), rel=1e-5, abs=1e-9
    )


@given(seed=seeds, n=st.integers(1, 80), groups=st.integers(1, 20))
def test_a_sum_in_parts_is_that_of_the_whole(seed: int, n: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    records, labels = rng.normal(size=(n, 3)), renumbered(rng.integers(0, groups, n))
    whole = loss.sse(records, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loss, "RECORDS_PER_SUM", 7)
        patch.setattr(means_of_groups, "RECORDS_PER_SUM", 7)
        assert loss.sse(records, labels) == pytest.approx(whole)


def test_squares_of_a_large_table_are_those_of_its_groups_alone() -> None:
    random = np.random.default_rng(2)
    records = random.normal(size=(RECORDS_PER_SUM + 50, 3))
    labels = renumbered(random.integers(0, 4_000, len(records)))

    squares = loss.squares_to_means(records, labels)

    for group in (0, 7, int(labels.max())):
        alone = records[labels == group]
        expected = ((alone - alone.mean(axis=0)) ** 2).sum(axis=1)
        assert squares[labels == group] == pytest.approx(expected, abs=1e-12)


def test_information_loss_of_equal_records_is_0() -> None:
    assert loss.information_loss(0.0, 0.0) == 0.0
    assert loss.information_loss(1.0, 4.0) == 25.0
