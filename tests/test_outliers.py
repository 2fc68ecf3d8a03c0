import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trajanon
from trajanon.errors import BadInput
from trajanon.privacy.outliers import outliers


def slow_choice(records: naive.Floats, labels: naive.Ints, many: int) -> naive.Ints:
    """Which go first, from the groups' SSE with and without each record."""
    there = list(range(len(records)))
    for _ in range(many):
        worth = []
        for record in there:
            group = [row for row in there if labels[row] == labels[record]]
            rest = [row for row in group if row != record]
            without = naive.group_sse(records[rest]) if rest else 0.0
            worth.append(naive.group_sse(records[group]) - without)
        there.pop(int(np.argmax(worth)))
    return np.setdiff1d(np.arange(len(records)), there)


@given(st.integers(3, 14), st.integers(1, 4), st.floats(0.0, 0.99), st.integers(0, 99))
def test_it_is_the_slow_twin(n: int, g: int, share: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    records, labels = random.standard_t(2, (n, 3)), random.integers(0, g, n)
    left_out = outliers(records, labels, share)
    many = int(share * n + 1e-9)
    expected = slow_choice(naive.standardise(records), labels, many)
    assert left_out.sum() == len(expected)
    # The last two of a group cost as much: either may have gone.
    remaining = [
        sum(
            naive.group_sse(naive.standardise(records)[kept & (labels == group)])
            for group in np.unique(labels[kept])
        )
        for kept in (~left_out, ~np.isin(np.arange(n), expected))
    ]
    assert remaining[0] == pytest.approx(remaining[1], abs=1e-9)


def test_the_one_far_from_its_group_goes_and_not_a_group_far_from_all() -> None:
    place = np.array([0.0, 1.0, 2.0, 12.0, 100.0, 101.0, 102.0, 103.0])
    left_out = outliers(place[:, None], np.repeat([0, 1], 4), 1 / 8)
    assert np.flatnonzero(left_out).tolist() == [3]


def test_those_who_bore_with_an_outlier_may_stay() -> None:
    """Beside it all are far from their mean; without it they are not."""
    place = np.array([0.0, 0.1, 0.2, 50.0, 20.0, 23.0, 26.0])
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    left_out = outliers(place[:, None], labels, 2 / 7)
    assert np.flatnonzero(left_out & (labels == 0)).tolist() == [3]


def test_trajectories_are_as_good_as_records() -> None:
    points = np.random.default_rng(0).normal(40.0, 0.1, (20, 5, 2))
    labels = np.arange(20) % 4
    np.testing.assert_array_equal(
        outliers(points, labels, 0.2), outliers(points.reshape(20, 10), labels, 0.2)
    )
    assert outliers(points, labels, 0.2).sum() == 4


def test_grouped_anew_without_them_less_is_lost() -> None:
    random = np.random.default_rng(1)
    records = random.standard_t(1.5, (300, 4))
    before = trajanon.microaggregate(records, 4, method="mdav", refine="none")
    left_out = outliers(records, before.labels, 0.05)
    assert left_out.sum() == 15
    after = trajanon.microaggregate(records[~left_out], 4, method="mdav", refine="none")
    assert after.information_loss < before.information_loss


@pytest.mark.parametrize(("n", "share", "many"), [(100, 0.29, 29), (99, 0.01, 0)])
def test_a_share_is_rounded_down(n: int, share: float, many: int) -> None:
    records = np.arange(float(n))[:, None]
    assert outliers(records, np.arange(n) // 4, share).sum() == many


def test_equal_records_cost_nothing_and_still_are_counted() -> None:
    assert outliers(np.ones((6, 2)), np.arange(6) // 3, 0.5).sum() == 3


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(BadInput, match="share must lie at 0 or above"):
        outliers(np.zeros((4, 2)), np.zeros(4, int), share)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInput, match="one group for each of the 4 records"):
        outliers(np.zeros((4, 2)), np.zeros(3, int), 0.5)
