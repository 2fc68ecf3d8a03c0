"""Means as they are written, and what columns lose by them."""

import os
import subprocess
import sys
from typing import Any

import naive_tables
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import renumbered
from trajanon.tables.averages import (
    Units,
    averages_of,
    columns_of,
    losses,
    present_means,
    shares_of,
    units_of,
)


def test_losses_are_the_same_for_any_number_of_threads() -> None:
    code = (
        "import numpy as np\n"
        "from trajanon.tables.averages import losses\n"
        "X, written = np.random.default_rng(0).normal(size=(2, 200_000, 3))\n"
        "print(losses(X, written, np.arange(1.0, 200_001.0)).sse.tolist())\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in "12"
    }
    assert len(said) == 1


seeds = st.integers(0, 10**6)


def test_columns_are_standardised_over_the_values_there_are() -> None:
    X = np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 7.0], [np.nan, 5.0, np.nan], [6.0, 5.0, np.nan]])
    columns = columns_of(X)
    assert columns.mean.tolist() == [3.0, 5.0, 7.0]
    assert columns.sd == pytest.approx([np.std([1.0, 2.0, 6.0], ddof=1), 0.0, 0.0])
    expected = np.array([-2.0, -1.0, 0.0, 3.0]) / columns.sd[0]
    assert columns.standardised[:, 0] == pytest.approx(expected)
    assert not columns.standardised[:, 1:].any()


@pytest.mark.parametrize(("shift", "scale"), [(1e12, 1.0), (0.0, 1e300), (0.0, 1e-300)])
def test_columns_far_from_zero_or_very_large_keep_their_deviation(
    shift: float, scale: float
) -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    columns = columns_of((values * scale + shift)[:, None])
    assert columns.sd / scale == pytest.approx(np.std(values, ddof=1))
    assert columns.standardised[:, 0] == pytest.approx(
        (values - values.mean()) / np.std(values, ddof=1)
    )


def test_a_weight_of_2_counts_as_two_rows_in_the_mean() -> None:
    X = np.array([[1.0], [4.0], [7.0]])
    weighted = columns_of(X, np.array([1.0, 2.0, 1.0]))
    assert weighted.mean == pytest.approx(columns_of(X[[0, 1, 1, 2]]).mean)


@given(seed=seeds, n=st.integers(1, 30), k=st.integers(0, 4), share=st.sampled_from([0.0, 0.3]))
def test_means_of_groups_are_those_of_their_slow_twin(
    seed: int, n: int, k: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    records, labels = rng.normal(size=(n, 3)), renumbered(rng.integers(0, 4, n))
    records[rng.random(records.shape) < share] = np.nan
    weights, subjects = rng.uniform(0.5, 2.0, n), rng.integers(0, 5, n)
    found = present_means(records, labels, weights, subjects, k)
    expected = naive_tables.present_means(records, labels, weights, subjects, k)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    found = present_means(records, labels)
    expected = naive_tables.present_means(records, labels, np.ones(n), subjects, 0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_weights_of_a_group_add_up_to_1_however_large_they_are() -> None:
    shares = shares_of(np.array([0, 1, 0]), np.array([1e308, 3.0, 1e308]))
    assert shares.tolist() == [0.5, 1.0, 0.5]


def test_rows_of_a_subject_become_one_unit_of_their_means() -> None:
    records = np.array([[1.0, np.nan], [8.0, 2.0], [3.0, 6.0]])
    subjects, weights = np.array([0, 1, 0]), np.array([1.0, 5.0, 3.0])
    units = units_of(records, subjects, weights, per_subject=True)
    assert units.records.tolist() == [[2.5, 6.0], [8.0, 2.0]]
    assert units.of_row.tolist() == subjects.tolist()
    assert units.weights is not None
    assert units.weights.tolist() == [2.0, 5.0]
    alone = units_of(records, subjects, weights, per_subject=False)
    assert alone.records is records
    assert alone.of_row.tolist() == [0, 1, 2]


def test_what_too_few_have_a_value_of_is_left_empty_and_counted() -> None:
    records = np.array([[1.0, 4.0], [2.0, np.nan], [4.0, 9.0], [5.25, 1.0], [6.0, 3.0], [6.0, 5.0]])
    units = Units(records, np.arange(6), np.arange(6), None)
    found = averages_of(units, np.array([0, 0, 0, 1, 1, 1]), 3, [1, None])
    assert found.written[:, 0].tolist() == [2.3] * 3 + [5.8] * 3
    assert found.exact[:, 0] == pytest.approx([7.0 / 3.0] * 3 + [5.75] * 3)
    assert np.isnan(found.written[:3, 1]).all()
    assert found.written[3:, 1].tolist() == [3.0] * 3
    assert found.suppressed == 2  # the third of that group had no value


def test_an_empty_cell_loses_as_much_as_the_mean_of_its_column() -> None:
    values = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    written = np.array([[np.nan, 1.0], [2.0, 1.0], [np.nan, 1.5]])
    found = losses(values, written)
    assert found.sse.tolist() == found.sst.tolist() == [2.0, 0.0]
    assert found.by_column.tolist() == [100.0, 0.0]
    assert found.information_loss() == 100.0
    assert losses(values, values).information_loss() == 0.0


@pytest.mark.parametrize("importance", [None, [2.0, 1.0]])
def test_a_loss_weighs_columns_by_their_importance(importance: Any) -> None:
    rng = np.random.default_rng(0)
    values, written = rng.normal(size=(2, 9, 2))
    found = losses(values, written, np.full(9, 7.0))
    weights = np.ones(2) if importance is None else np.array(importance)
    away = (written - values) / values.std(axis=0, ddof=1)
    expected = 100.0 * (weights * away**2).sum() / (weights.sum() * 8)
    asked = None if importance is None else weights
    assert found.information_loss(asked) == pytest.approx(expected)
    assert found.weight.tolist() == [1.0] * 9
