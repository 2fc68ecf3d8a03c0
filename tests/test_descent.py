from dataclasses import replace

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_refine import grouped, random_groups

from trajanon.neighbours import nearest_records
from trajanon.refine.descent import NEIGHBOURS, descent

seeds = st.integers(0, 10**6)


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
    work = random_groups(seed, n, k, people, grid)
    before = work.labels.copy()
    after = descent(work)
    assert np.array_equal(work.labels, before), "the input was changed"
    assert naive.holds(after, work.subjects, work.k)
    assert naive.sse(work.records, after) <= naive.sse(work.records, before) + 1e-9
    left = naive.best_relocation(
        work.records,
        after,
        work.k,
        work.subjects,
        nearest_records(work.records, NEIGHBOURS),
    )
    assert left <= 1e-9


def test_descent_repeats_itself() -> None:
    work = random_groups(1, 200, 3, 40, grid=False)
    once = descent(work)
    assert np.array_equal(descent(work), once)
    assert np.array_equal(descent(replace(work, labels=once)), once)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_group_stays_one_group(n: int) -> None:
    labels = descent(grouped(np.zeros((n, 1)), np.zeros(n, dtype=np.int64), n))
    assert labels.tolist() == [0] * n
