import re
from collections.abc import Callable
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_perturbation import mean_of_people
from numpy.typing import ArrayLike

from trajanon._kernels.common import squared_distance
from trajanon.common.arrays import Floats, dense
from trajanon.common.errors import BadInput
from trajanon.grouping import loss
from trajanon.grouping.k_promise import member_weights, subjects_per_group

seeds = st.integers(0, 10**6)


def test_the_distance_is_the_naive_one() -> None:
    rng = np.random.default_rng(0)
    for p in (1, 2, 3, 7, 60):
        a, b = rng.normal(size=(2, p))
        assert squared_distance(a, b) == pytest.approx(naive.squared_distance(a, b))


@given(
    seed=seeds,
    n=st.integers(1, 12),
    p=st.integers(1, 4),
    shift=st.sampled_from([0.0, 1e6, -1e12]),
    scale=st.sampled_from([1.0, 1e-150, 1e150]),
)
def test_columns_get_mean_0_and_deviation_1(
    seed: int, n: int, p: int, shift: float, scale: float
) -> None:
    X = (np.random.default_rng(seed).normal(size=(n, p)) * 9 + shift) * scale
    assert loss.standardise(X) == pytest.approx(naive.standardise(X), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1e300, 1e-300])
def test_a_constant_column_counts_nothing(value: float) -> None:
    X = np.column_stack([np.full(9, value), np.arange(9.0)])
    assert not loss.standardise(X)[:, 0].any()
    assert not np.array_equal(loss.standardise(X)[:, 1], np.zeros(9))


def read_only(X: Floats) -> Floats:
    X = X.copy()
    X.flags.writeable = False
    return X


@pytest.mark.parametrize(
    "convert",
    [
        read_only,
        lambda X: np.repeat(X, 2, axis=0)[::2],  # strided
        lambda X: np.asfortranarray(X),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(int),
        lambda X: X.tolist(),
    ],
)
def test_any_table_of_numbers_is_taken(convert: Callable[[Floats], ArrayLike]) -> None:
    X = np.arange(12.0).reshape(6, 2) ** 2
    assert np.array_equal(loss.standardise(convert(X)), loss.standardise(X))


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([1.0, 2.0], "shape (n, p) with p >= 1; got (2,)"),
        (np.zeros((2, 3, 4)), "got (2, 3, 4)"),
        (np.zeros((4, 0)), "got (4, 0)"),
        ([], "got (0,)"),
        (None, "must have shape"),
        ([[1.0 + 2.0j]], "records must be real numbers"),
        ([["a"], ["b"]], "records must be numbers, one row each"),
        ([[1.0], [1.0, 2.0]], "records must be numbers, one row each"),
        ([[1.0, 2.0], [3.0, np.nan]], "record 1, column 1 is nan"),
        ([[1.0, -np.inf], [3.0, 4.0]], "record 0, column 1 is -inf"),
        ([[1e308], [-1e308]], "column 0 spans more than a number can hold"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X: Any, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        loss.standardise(X)


@given(seed=seeds, n=st.integers(1, 12), shift=st.sampled_from([0.0, 1e9]))
def test_sse_and_means_are_the_naive_ones(seed: int, n: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 3)) + shift
    labels = dense(rng.integers(0, 4, n))
    assert loss.sse(records, labels) == pytest.approx(
        naive.sse(records - shift, labels), rel=1e-5, abs=1e-9
    )
    for group, mean in enumerate(loss.group_means(records, labels)):
        assert mean == pytest.approx(records[labels == group].mean(axis=0), rel=1e-12)


def test_information_loss_of_equal_records_is_0() -> None:
    assert loss.information_loss(0.0, 0.0) == 0.0
    assert loss.information_loss(1.0, 4.0) == 25.0


@given(st.lists(st.integers(-3, 9), min_size=1, max_size=20))
def test_dense_labels_appear_in_order_and_part_the_same(raw: list[int]) -> None:
    labels = dense(np.array(raw)).tolist()
    first_seen = list(dict.fromkeys(labels))
    assert first_seen == list(range(len(set(raw))))
    assert len(set(zip(raw, labels, strict=True))) == len(set(raw))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_subjects_of_a_group_are_counted_once(pairs: list[tuple[int, int]]) -> None:
    raw = np.array(pairs)
    labels = dense(raw[:, 0])
    expected = [len(set(raw[labels == g, 1])) for g in range(labels.max() + 1)]
    assert subjects_per_group(labels, raw[:, 1]).tolist() == expected


def test_no_records_have_no_means() -> None:
    none = np.empty(0, dtype=np.int64)
    assert loss.group_means(np.empty((0, 3)), none).shape == (0, 3)


@given(seed=seeds)
def test_means_by_weights_are_means_of_people(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = dense(random.integers(0, 4, 20))
    records, people = random.normal(size=(20, 2)), random.integers(0, 6, 20)
    means = loss.group_means(records, labels, member_weights(labels, people))
    for group, mean in enumerate(means):
        here = labels == group
        np.testing.assert_allclose(mean, mean_of_people(records[here], people[here].tolist()))
