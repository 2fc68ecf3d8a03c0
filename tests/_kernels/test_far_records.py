"""The farthest record, the farthest pair, and the nearest to a group."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records_left import Some, some_left

from trajanon._kernels.far_records import farthest, farthest_pair, nearest_to_group

seeds = st.integers(0, 10**6)
sizes = st.integers(2, 40)
columns = st.integers(1, 4)


@given(seed=seeds, n=sizes, grid=st.booleans(), p=columns)
def test_the_farthest_pair_is_a_diameter_as_records_leave(
    seed: int, n: int, grid: bool, p: int
) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, p))
    records = records.round() if grid else records
    radius = np.sqrt(((records - rng.normal(size=p)) ** 2).sum(axis=1))
    outer_first = np.argsort(-radius, kind="stable")
    opposite, reach = np.full(n, -1), np.full(n, np.inf)
    labels = np.full(n, -1)
    while len(outer_first) >= 2:
        first, second = farthest_pair(records, outer_first, radius, opposite, reach, labels)
        assert first != second
        assert {first, second} <= set(outer_first.tolist())
        a, b = naive.diameter(records, outer_first.tolist())
        assert naive.distance(records[first], records[second]) == pytest.approx(
            naive.distance(records[a], records[b])
        )
        labels[rng.choice(outer_first, rng.integers(1, 4))] = 0
        labels[first] = 0
        outer_first = outer_first[labels[outer_first] < 0]


@given(some_left(), st.integers(1, 5))
def test_the_nearest_to_a_group_is_that_of_its_slow_twin(some: Some, size: int) -> None:
    records, rows, random = some
    members = random.permutation(rows)[:size]
    rest = np.setdiff1d(rows, members)
    record, near = naive.nearest_to_group(records, rest.tolist(), members.tolist())
    found, away = nearest_to_group(records, rest, members)
    assert found == record
    assert np.isclose(np.sqrt(away), near)


@given(some_left())
def test_the_farthest_from_a_point_is_the_first_of_equals(some: Some) -> None:
    records, rows, random = some
    for point in np.array([records[rows[0]], random.normal(size=records.shape[1])]):
        assert farthest(records, rows, point) == naive.farthest(records, rows.tolist(), point)
