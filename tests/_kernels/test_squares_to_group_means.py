"""Squared distances to the means of groups, by a kernel, against plain sums."""

import numpy as np
import pytest

from trajanon._kernels.squares_to_group_means import measure_squares_to_means


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_squares_are_those_of_plain_sums_also_far_from_zero(offset: float) -> None:
    random = np.random.default_rng(4)
    records = random.integers(-50, 50, (12, 5)) + offset
    labels = np.array([0, 1, 0, 2, 2, 1, 0, 2, 1, 2, 3, 2])

    squares = np.full(len(records), np.nan)
    begin = np.append(0, np.cumsum(np.bincount(labels)))
    measure_squares_to_means(records, np.argsort(labels, kind="stable"), begin, squares)

    near_zero = records - offset
    means = np.array([near_zero[labels == group].mean(axis=0) for group in range(4)])
    expected = ((near_zero - means[labels]) ** 2).sum(axis=1)
    assert squares == pytest.approx(expected, rel=1e-9)
    assert squares[10] == 0.0  # alone in its group
