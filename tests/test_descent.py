import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import Floats, Ints

from trajanon.neighbours import nearest_records
from trajanon.partition import dense
from trajanon.refine.descent import NEIGHBOURS, descent

seeds = st.integers(0, 10**6)


def start(
    seed: int, n: int, k: int, people: int | None, grid: bool
) -> tuple[Floats, Ints, Ints]:
    """Records, random groups of at least k different subjects, and the subjects."""
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 2))
    if grid:
        records = records.round()
    labels = rng.permutation(np.arange(n) % max(n // k, 1))
    if people is None:
        return records, dense(labels), np.arange(n)
    subjects = rng.integers(0, people, n)
    labels = dense(labels)
    while not naive.holds(labels, subjects, k) and labels.max() > 0:
        labels = dense(np.maximum(labels - 1, 0))  # the first two groups become one
    return records, labels, dense(subjects)


@given(
    seed=seeds,
    n=st.integers(2, 30),
    k=st.integers(2, 5),
    people=st.none() | st.integers(2, 15),
    grid=st.booleans(),
)
def test_descent_ends_where_no_single_record_can_gain(
    seed: int, n: int, k: int, people: int | None, grid: bool
) -> None:
    k = min(k, n)
    records, labels, subjects = start(seed, n, k, people, grid)
    k = min(k, len(set(subjects.tolist())))
    before = labels.copy()
    after = descent(records, labels, k, subjects)
    assert np.array_equal(labels, before), "the input was changed"
    assert naive.holds(after, subjects, k)
    assert naive.sse(records, after) <= naive.sse(records, before) + 1e-9
    neighbours = nearest_records(records, NEIGHBOURS)
    left = naive.best_relocation(records, after, k, subjects, neighbours)
    assert left <= 1e-9


def test_descent_repeats_itself() -> None:
    records, labels, subjects = start(1, 200, 3, 40, grid=False)
    once = descent(records, labels, 3, subjects)
    assert np.array_equal(descent(records, labels, 3, subjects), once)
    assert np.array_equal(descent(records, once, 3, subjects), once)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_group_stays_one_group(n: int) -> None:
    labels = descent(np.zeros((n, 1)), np.zeros(n, dtype=np.int64), n, np.arange(n))
    assert labels.tolist() == [0] * n
