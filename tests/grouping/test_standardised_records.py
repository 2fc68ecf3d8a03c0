import re
from collections.abc import Callable
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.grouping.standardised_records import standardise

seeds = st.integers(0, 10**6)


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
    assert standardise(X) == pytest.approx(naive.standardise(X), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1e300, 1e-300])
def test_a_constant_column_counts_nothing(value: float) -> None:
    X = np.column_stack([np.full(9, value), np.arange(9.0)])
    assert not standardise(X)[:, 0].any()
    assert not np.array_equal(standardise(X)[:, 1], np.zeros(9))


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
    assert np.array_equal(standardise(convert(X)), standardise(X))


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
        (np.ma.masked_equal([[1, 2], [3, -9]], -9), "record 1, column 1 is nan"),
        (np.array([["2020-01-01"], ["NaT"]], "M8[D]"), "record 1, column 0 is nan"),
        ([[10**400], [1]], "records must be numbers, one row each"),
        ([[1.0, -np.inf], [3.0, 4.0]], "record 0, column 1 is -inf"),
        ([[1e308], [-1e308]], "column 0 spans more than a number can hold"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X: Any, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        standardise(X)
