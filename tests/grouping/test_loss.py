import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_perturbation import mean_of_people

from trajanon.common.arrays import renumbered
from trajanon.grouping import loss
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import member_weights, subjects_per_group
from trajanon.grouping.standardised_records import RECORDS_PER_SUM

seeds = st.integers(0, 10**6)


@given(seed=seeds, n=st.integers(1, 12), shift=st.sampled_from([0.0, 1e9]))
def test_sse_and_means_are_the_naive_ones(seed: int, n: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 3)) + shift
    labels = renumbered(rng.integers(0, 4, n))
    assert loss.sse(records, labels) == pytest.approx(
        naive.sse(records - shift, labels), rel=1e-5, abs=1e-9
    )
    for group, mean in enumerate(group_means(records, labels)):
        assert mean == pytest.approx(records[labels == group].mean(axis=0), rel=1e-12)


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


@given(st.lists(st.integers(-3, 9), min_size=1, max_size=20))
def test_dense_labels_appear_in_order_and_part_the_same(raw: list[int]) -> None:
    labels = renumbered(np.array(raw)).tolist()
    first_seen = list(dict.fromkeys(labels))
    assert first_seen == list(range(len(set(raw))))
    assert len(set(zip(raw, labels, strict=True))) == len(set(raw))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_subjects_of_a_group_are_counted_once(pairs: list[tuple[int, int]]) -> None:
    raw = np.array(pairs)
    labels = renumbered(raw[:, 0])
    expected = [len(set(raw[labels == g, 1])) for g in range(labels.max() + 1)]
    assert subjects_per_group(labels, raw[:, 1]).tolist() == expected


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
